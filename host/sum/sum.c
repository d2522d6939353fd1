/* The handle of librung: its kernels in the driver, its partial sums, and its calls. */
#include "sum/rung.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "driver/driver.h"
#include "sum/images.h"
#include "sum/open.h"
#include "sum/shape.h"

#define OLDEST_CC 75

/* generated/library/sum_f32.ptx and its sisters */
extern const char rung_sum_f32_ptx[], rung_sum_f64_ptx[], rung_sum_i32_ptx[];

enum operation { SUM, DOT, OPERATIONS };

static const struct element {
    const char *ptx;
    uint32_t bytes;
} elements[] = {
    [RUNG_SUM_F32] = {rung_sum_f32_ptx, 4},
    [RUNG_SUM_F64] = {rung_sum_f64_ptx, 8},
    [RUNG_SUM_I32] = {rung_sum_i32_ptx, 4},
};

static const char *const kernels[OPERATIONS][RUNG_SUM_FORM_COUNT] = {
#define FORM(name, word, threads, sum_loads, dot_loads) "sum_" #word,
    {RUNG_SUM_FORMS(FORM)},
#undef FORM
#define FORM(name, word, threads, sum_loads, dot_loads) "dot_" #word,
    {RUNG_SUM_FORMS(FORM)},
#undef FORM
};

const char *const rung_sum_form_words[] = {
#define FORM(name, word, threads, sum_loads, dot_loads) #word,
    RUNG_SUM_FORMS(FORM)
#undef FORM
};

struct rung_sum {
    struct rung_driver driver;
    bool ready; /* to be called */
    const struct element *element;
    CUstream stream;
    CUmodule module;
    CUfunction functions[OPERATIONS][RUNG_SUM_FORM_COUNT];
    struct rung_sum_card card;
    unsigned cc; /* 90 for compute capability 9.0 */
    CUdeviceptr slots;
    void *value;              /* host memory that the device writes */
    CUdeviceptr value_device; /* the same, as the device sees it */
    struct rung_error error;
};

static enum rung_sum_code code_of(enum rung_status status)
{
    switch (status) {
    case RUNG_OK:
        return RUNG_SUM_OK;
    case RUNG_USAGE:
        return RUNG_SUM_INVALID;
    case RUNG_MEMORY:
        return RUNG_SUM_MEMORY;
    case RUNG_DRIVER:
        return RUNG_SUM_DRIVER;
    default:
        return RUNG_SUM_UNABLE;
    }
}

/* --- opening -----------------------------------------------------------------------------------
 */

static enum rung_status look_at_card(struct rung_sum *sum)
{
    const struct rung_driver *d = &sum->driver;
    struct rung_error *err = &sum->error;
    enum rung_status status = RUNG_OK;
    CUcontext context = NULL;
    CUdevice device;
    int major = 0, minor = 0, sm_count = 0, l2_bytes = 0;
    RUNG_CU(d, out, cuInit, 0);
    RUNG_CU(d, out, cuCtxGetCurrent, &context);
    if (!context)
        return rung_fail(err, RUNG_UNABLE,
                         "no CUDA context is current in this thread: make one so (cuCtxSetCurrent, "
                         "or any call of the runtime API, as cudaFree(0)) before rung_sum_open");
    RUNG_CU(d, out, cuCtxGetDevice, &device);
    RUNG_CU(d, out, cuDeviceGetAttribute, &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
            device);
    RUNG_CU(d, out, cuDeviceGetAttribute, &minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
            device);
    RUNG_CU(d, out, cuDeviceGetAttribute, &sm_count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
            device);
    RUNG_CU(d, out, cuDeviceGetAttribute, &l2_bytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, device);
    if (10 * major + minor < OLDEST_CC)
        return rung_fail(err, RUNG_UNABLE,
                         "the card has compute capability %d.%d: librung needs 7.5 or later", major,
                         minor);
    sum->cc = (unsigned)(10 * major + minor);
    sum->card = (struct rung_sum_card){(uint32_t)sm_count, (uint64_t)l2_bytes};
out:
    return status;
}

/* Code for the card itself if this build has it and the driver takes it, else PTX. */
static enum rung_status load_module(struct rung_sum *sum)
{
    const struct rung_driver *d = &sum->driver;
    struct rung_error *err = &sum->error;
    enum rung_status status = RUNG_OK;
    const unsigned char *cubin =
        rung_sum_cubin(rung_sum_images, rung_sum_image_count,
                       (enum rung_sum_element)(sum->element - elements), sum->cc);
    if (cubin && d->cuModuleLoadDataEx(&sum->module, cubin, 0, NULL, NULL) == CUDA_SUCCESS)
        return RUNG_OK;
    sum->module = NULL;
    RUNG_CU(d, out, cuModuleLoadDataEx, &sum->module, sum->element->ptx, 0, NULL, NULL);
out:
    return status;
}

static enum rung_status load(struct rung_sum *sum)
{
    const struct rung_driver *d = &sum->driver;
    struct rung_error *err = &sum->error;
    enum rung_status status = RUNG_OK;
    status = load_module(sum);
    if (status != RUNG_OK)
        return status;
    for (int op = 0; op < OPERATIONS; op++)
        for (int form = 0; form < RUNG_SUM_FORM_COUNT; form++)
            RUNG_CU(d, out, cuModuleGetFunction, &sum->functions[op][form], sum->module,
                    kernels[op][form]);
out:
    return status;
}

static enum rung_status allocate(struct rung_sum *sum)
{
    const struct rung_driver *d = &sum->driver;
    struct rung_error *err = &sum->error;
    enum rung_status status = RUNG_OK;
    size_t bytes = rung_sum_slots(&sum->card, sum->element->bytes) * sizeof(uint64_t);
    RUNG_CU(d, out, cuMemAlloc, &sum->slots, bytes);
    RUNG_CU(d, out, cuMemsetD8Async, sum->slots, 0, bytes, sum->stream);
    RUNG_CU(d, out, cuMemHostAlloc, &sum->value, sizeof(uint64_t), CU_MEMHOSTALLOC_DEVICEMAP);
    RUNG_CU(d, out, cuMemHostGetDevicePointer, &sum->value_device, sum->value, 0);
    /* A stream that is being captured has recorded the zeros and not written them: this tells. */
    RUNG_CU(d, out, cuStreamSynchronize, sum->stream);
out:
    return status;
}

static void release(struct rung_sum *sum)
{
    const struct rung_driver *d = &sum->driver;
    if (sum->ready)
        d->cuStreamSynchronize(sum->stream);
    if (sum->value)
        d->cuMemFreeHost(sum->value);
    if (sum->slots)
        d->cuMemFree(sum->slots);
    if (sum->module)
        d->cuModuleUnload(sum->module);
    rung_driver_close(&sum->driver);
    sum->ready = false;
    sum->value = NULL;
    sum->slots = 0;
    sum->module = NULL;
}

enum rung_sum_code rung_sum_open_with(struct rung_sum **out, const struct rung_driver *driver,
                                      enum rung_sum_element element, CUstream stream)
{
    if (!out)
        return RUNG_SUM_INVALID;
    struct rung_sum *sum = *out = calloc(1, sizeof *sum);
    if (!sum)
        return RUNG_SUM_MEMORY;
    enum rung_status status = RUNG_OK;
    if ((unsigned)element >= sizeof elements / sizeof *elements)
        return code_of(rung_fail(&sum->error, RUNG_USAGE,
                                 "element %d is none of RUNG_SUM_F32, RUNG_SUM_F64, RUNG_SUM_I32",
                                 (int)element));
    sum->element = &elements[element];
    sum->stream = stream;
    if (driver) {
        sum->driver = *driver;
        sum->driver.handle = NULL; /* the caller's to close */
    } else {
        status = rung_driver_open_cuda(&sum->driver, NULL, &sum->error);
    }
    if (status == RUNG_OK)
        status = look_at_card(sum);
    if (status == RUNG_OK)
        status = load(sum);
    if (status == RUNG_OK)
        status = allocate(sum);
    sum->ready = status == RUNG_OK;
    if (!sum->ready)
        release(sum);
    return code_of(status);
}

enum rung_sum_code rung_sum_open(struct rung_sum **out, enum rung_sum_element element,
                                 struct CUstream_st *stream)
{
    return rung_sum_open_with(out, NULL, element, stream);
}

void rung_sum_close(struct rung_sum *sum)
{
    if (!sum)
        return;
    release(sum);
    free(sum);
}

/* --- calls -------------------------------------------------------------------------------------
 */

static enum rung_status check_pointer(struct rung_sum *sum, const char *name, const void *pointer)
{
    if (!pointer)
        return rung_fail(&sum->error, RUNG_USAGE, "%s is NULL", name);
    if ((uintptr_t)pointer % sum->element->bytes)
        return rung_fail(&sum->error, RUNG_USAGE, "%s is %p, not a multiple of %u bytes", name,
                         pointer, sum->element->bytes);
    return RUNG_OK;
}

/* Of n elements that are there to be read. */
static enum rung_status check_input(struct rung_sum *sum, const char *name, const void *input,
                                    uint64_t n)
{
    enum rung_status status = check_pointer(sum, name, input);
    if (status == RUNG_OK && n > (UINT64_MAX - (uintptr_t)input) / sum->element->bytes)
        status = rung_fail(&sum->error, RUNG_USAGE,
                           "n is %llu: no address space has so many elements from %s = %p on",
                           (unsigned long long)n, name, input);
    return status;
}

static enum rung_status begin(struct rung_sum *sum)
{
    if (sum->ready) {
        rung_error_clear(&sum->error);
        return RUNG_OK;
    }
    return rung_fail(&sum->error, RUNG_USAGE, "the handle was never opened");
}

void rung_sum_describe(struct rung_sum_shape *shape, struct rung_sum_call *call,
                       const struct rung_sum *sum, const void *x, const void *y, uint64_t n)
{
    *shape = rung_sum_shape(call, &sum->card, sum->element->bytes, (uintptr_t)x, (uintptr_t)y, n);
}

static enum rung_status launch(struct rung_sum *sum, enum operation op, CUdeviceptr result,
                               const void *x, const void *y, uint64_t n)
{
    const struct rung_driver *d = &sum->driver;
    struct rung_error *err = &sum->error;
    struct rung_sum_call call;
    enum rung_status status = n ? check_input(sum, "x", x, n) : RUNG_OK;
    if (status == RUNG_OK && n && op == DOT)
        status = check_input(sum, "y", y, n);
    if (status != RUNG_OK)
        return status;
    struct rung_sum_shape shape;
    rung_sum_describe(&shape, &call, sum, x, y, n);
    call.out = result;
    call.slots = sum->slots;
    void *arguments[] = {&call};
    RUNG_CU(d, out, cuLaunchKernel, sum->functions[op][shape.form], shape.blocks, 1, 1,
            shape.threads, 1, 1, 0, sum->stream, arguments, NULL);
out:
    return status;
}

static enum rung_status enqueue(struct rung_sum *sum, enum operation op, void *result,
                                const void *x, const void *y, uint64_t n)
{
    enum rung_status status = begin(sum);
    if (status == RUNG_OK)
        status = check_pointer(sum, "result", result);
    return status == RUNG_OK ? launch(sum, op, (uintptr_t)result, x, y, n) : status;
}

static enum rung_status get_value(struct rung_sum *sum, enum operation op, void *result,
                                  const void *x, const void *y, uint64_t n)
{
    struct rung_error *err = &sum->error;
    enum rung_status status = begin(sum);
    if (status == RUNG_OK && !result)
        status = rung_fail(err, RUNG_USAGE, "result is NULL");
    if (status == RUNG_OK)
        status = launch(sum, op, sum->value_device, x, y, n);
    if (status != RUNG_OK)
        return status;
    RUNG_CU(&sum->driver, out, cuStreamSynchronize, sum->stream);
    memcpy(result, sum->value, sum->element->bytes);
out:
    return status;
}

enum rung_sum_code rung_sum_enqueue(struct rung_sum *sum, void *result, const void *x, uint64_t n)
{
    return sum ? code_of(enqueue(sum, SUM, result, x, NULL, n)) : RUNG_SUM_INVALID;
}

enum rung_sum_code rung_sum_enqueue_dot(struct rung_sum *sum, void *result, const void *x,
                                        const void *y, uint64_t n)
{
    return sum ? code_of(enqueue(sum, DOT, result, x, y, n)) : RUNG_SUM_INVALID;
}

enum rung_sum_code rung_sum_value(struct rung_sum *sum, void *result, const void *x, uint64_t n)
{
    return sum ? code_of(get_value(sum, SUM, result, x, NULL, n)) : RUNG_SUM_INVALID;
}

enum rung_sum_code rung_sum_dot_value(struct rung_sum *sum, void *result, const void *x,
                                      const void *y, uint64_t n)
{
    return sum ? code_of(get_value(sum, DOT, result, x, y, n)) : RUNG_SUM_INVALID;
}

const char *rung_sum_message(const struct rung_sum *sum)
{
    return sum ? sum->error.text : "out of memory";
}

const char *rung_sum_version(void)
{
    return RUNG_VERSION;
}
