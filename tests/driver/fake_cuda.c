/* A libcuda.so.1 that is wrong in one way, for the tests of the loader. FAKE_CUDA names the way:
 *   old      cuMemAlloc is not known at the version asked for: success, a status, no pointer
 *   null     cuMemAlloc is "found", and the pointer is NULL
 *   bare     every optional function is unknown
 *   stub     answers as the toolkit's link stub does
 *   nodevice complete, but cuInit says 100
 *   empty    complete, but shows no device */
#include <stdlib.h>
#include <string.h>

#include <cuda.h>
#undef cuGetProcAddress

static int is(const char *way)
{
    const char *asked = getenv("FAKE_CUDA");
    return asked && strcmp(asked, way) == 0;
}

static CUresult fake_init(unsigned int flags)
{
    (void)flags;
    return is("nodevice") ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS;
}

static CUresult fake_zero(int *value)
{
    *value = 0;
    return CUDA_SUCCESS;
}

static CUresult fake_any(void)
{
    return CUDA_ERROR_UNKNOWN;
}

static const char *const optional[] = {"cuGetErrorName", "cuGraphLaunch", "cuLinkCreate", NULL};

static int is_optional(const char *symbol)
{
    for (int i = 0; optional[i]; i++)
        if (strcmp(symbol, optional[i]) == 0)
            return 1;
    return 0;
}

static void *function_of(const char *symbol)
{
    if (strcmp(symbol, "cuInit") == 0)
        return (void *)fake_init;
    if (strcmp(symbol, "cuDriverGetVersion") == 0 || strcmp(symbol, "cuDeviceGetCount") == 0)
        return (void *)fake_zero;
    return (void *)fake_any;
}

CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *status)
{
    (void)version, (void)flags;
    int allocates = strcmp(symbol, "cuMemAlloc") == 0;
    *function = NULL;
    if (is("stub"))
        return CUDA_ERROR_STUB_LIBRARY;
    *status = CU_GET_PROC_ADDRESS_SUCCESS;
    if (is("old") && allocates)
        *status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
    else if (is("bare") && is_optional(symbol))
        *status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    else if (!(is("null") && allocates))
        *function = function_of(symbol);
    return CUDA_SUCCESS;
}
