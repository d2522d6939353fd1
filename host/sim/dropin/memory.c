/* Memory, as far as only other programs ask for it: pitched and registered memory, questions about
 * a pointer, copies that tell device from host by the address, and two-dimensional ones. */
#include <string.h>

#include "sim/dropin/dropin.h"

#define PITCH 512

CUresult dropin_cuMemAllocPitch(CUdeviceptr *pointer, size_t *pitch, size_t width, size_t height,
                                unsigned int element_bytes)
{
    if (!pitch || (element_bytes != 4 && element_bytes != 8 && element_bytes != 16))
        return CUDA_ERROR_INVALID_VALUE;
    if (width > SIZE_MAX - PITCH)
        return CUDA_ERROR_OUT_OF_MEMORY;
    size_t row = (width + PITCH - 1) / PITCH * PITCH;
    if (height && row > SIZE_MAX / height)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult code = rung_sim_cuMemAlloc(pointer, row * height);
    if (code == CUDA_SUCCESS)
        *pitch = row;
    return code;
}

CUresult dropin_cuMemHostGetFlags(unsigned int *flags, void *host)
{
    struct rung_sim_context *context;
    CUresult code = rung_sim_enter(&context);
    if (code == CUDA_SUCCESS && (!flags || !rung_sim_memory_device_of(host)))
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS)
        *flags = CU_MEMHOSTALLOC_DEVICEMAP;
    return rung_sim_leave(code);
}

CUresult dropin_cuMemHostRegister(void *host, size_t bytes, unsigned int flags)
{
    struct rung_sim_context *context;
    uint64_t address;
    (void)flags;
    CUresult code = rung_sim_enter(&context);
    if (code == CUDA_SUCCESS && (!host || bytes == 0))
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS &&
        (rung_sim_memory_device_of(host) || rung_sim_memory_device_of((char *)host + bytes - 1)))
        code = CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    if (code == CUDA_SUCCESS)
        code = rung_sim_memory_take(context, RUNG_SIM_LENT_MEMORY, bytes, host, &address, NULL);
    return rung_sim_leave(code);
}

CUresult dropin_cuMemHostUnregister(void *host)
{
    return host ? rung_sim_memory_give_host(RUNG_SIM_LENT_MEMORY, host) : CUDA_ERROR_INVALID_VALUE;
}

static const struct rung_sim_range *range_of(uint64_t address)
{
    return rung_sim_memory_find(&rung_sim_process.memory, address);
}

CUresult dropin_cuMemGetAddressRange(CUdeviceptr *base, size_t *bytes, CUdeviceptr pointer)
{
    struct rung_sim_context *context;
    CUresult code = rung_sim_enter(&context);
    const struct rung_sim_range *range = code == CUDA_SUCCESS ? range_of(pointer) : NULL;
    if (code == CUDA_SUCCESS && !range)
        code = CUDA_ERROR_NOT_FOUND;
    if (code == CUDA_SUCCESS && base)
        *base = range->base;
    if (code == CUDA_SUCCESS && bytes)
        *bytes = range->bytes;
    return rung_sim_leave(code);
}

/* Under the lock. The address may be the device's, or the host's of mapped memory. */
static CUresult pointer_attribute(void *data, CUpointer_attribute attribute, uint64_t pointer)
{
    uint64_t mapped = rung_sim_memory_device_of((void *)(uintptr_t)pointer);
    uint64_t address = mapped ? mapped : pointer;
    const struct rung_sim_range *range = range_of(address);
    if (!data || !range)
        return CUDA_ERROR_INVALID_VALUE;
    switch ((int)attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: {
        const struct rung_sim_context *context = rung_sim_context_current();
        *(CUcontext *)data = context ? context->object.handle : NULL;
        return CUDA_SUCCESS;
    }
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned int *)data =
            rung_sim_memory_is_host(address) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *(CUdeviceptr *)data = address;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (!rung_sim_memory_is_host(address))
            return CUDA_ERROR_INVALID_VALUE;
        *(void **)data = range->host + (address - range->base);
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *(unsigned int *)data = 0;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)data = 0;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        *(CUdeviceptr *)data = range->base;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        *(size_t *)data = range->bytes;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
}

CUresult dropin_cuPointerGetAttribute(void *data, CUpointer_attribute attribute,
                                      CUdeviceptr pointer)
{
    CUresult code = rung_sim_enter_driver();
    if (code == CUDA_SUCCESS)
        code = pointer_attribute(data, attribute, pointer);
    return rung_sim_leave(code);
}

/* What one pointer lacks is left as it is, and is no failure. */
CUresult dropin_cuPointerGetAttributes(unsigned int count, CUpointer_attribute *attributes,
                                       void **data, CUdeviceptr pointer)
{
    CUresult code = rung_sim_enter_driver();
    if (code == CUDA_SUCCESS && (!attributes || !data))
        code = CUDA_ERROR_INVALID_VALUE;
    for (unsigned int i = 0; code == CUDA_SUCCESS && i < count; i++)
        pointer_attribute(data[i], attributes[i], pointer);
    return rung_sim_leave(code);
}

/* --- copies and sets ------------------------------------------------------------------------ */
static bool is_device(uint64_t address)
{
    rung_sim_lock();
    bool found = range_of(address) != NULL;
    rung_sim_unlock();
    return found;
}

static CUresult host_copy(uint64_t to, uint64_t from, size_t bytes)
{
    struct rung_sim_context *context;
    CUresult code = rung_sim_enter(&context);
    if (code == CUDA_SUCCESS &&
        (!to || !from || to >= RUNG_SIM_MEMORY_BASE || from >= RUNG_SIM_MEMORY_BASE))
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS)
        memmove((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
    return rung_sim_leave(code);
}

CUresult dropin_cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    if (is_device(to) && is_device(from))
        return rung_sim_cuMemcpyDtoDAsync(to, from, bytes, stream);
    if (is_device(to) && from < RUNG_SIM_MEMORY_BASE)
        return rung_sim_cuMemcpyHtoDAsync(to, (const void *)(uintptr_t)from, bytes, stream);
    if (is_device(from) && to < RUNG_SIM_MEMORY_BASE)
        return rung_sim_cuMemcpyDtoHAsync((void *)(uintptr_t)to, from, bytes, stream);
    return host_copy(to, from, bytes);
}

/* The address of the first byte of one side, 0 for the kinds of memory that there are not. */
static uint64_t first_byte(CUmemorytype type, const void *host, uint64_t device, size_t x, size_t y,
                           size_t pitch)
{
    switch (type) {
    case CU_MEMORYTYPE_HOST:
        return (uint64_t)(uintptr_t)host + y * pitch + x;
    case CU_MEMORYTYPE_DEVICE:
    case CU_MEMORYTYPE_UNIFIED:
        return device + y * pitch + x;
    default:
        return 0;
    }
}

CUresult dropin_cuMemcpy2DAsync(const CUDA_MEMCPY2D *copy, CUstream stream)
{
    if (!copy)
        return CUDA_ERROR_INVALID_VALUE;
    size_t from_pitch = copy->srcPitch ? copy->srcPitch : copy->WidthInBytes;
    size_t to_pitch = copy->dstPitch ? copy->dstPitch : copy->WidthInBytes;
    uint64_t from = first_byte(copy->srcMemoryType, copy->srcHost, copy->srcDevice,
                               copy->srcXInBytes, copy->srcY, from_pitch);
    uint64_t to = first_byte(copy->dstMemoryType, copy->dstHost, copy->dstDevice, copy->dstXInBytes,
                             copy->dstY, to_pitch);
    if (!from || !to || from_pitch < copy->WidthInBytes || to_pitch < copy->WidthInBytes)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult code = CUDA_SUCCESS;
    for (size_t row = 0; code == CUDA_SUCCESS && row < copy->Height; row++)
        code = dropin_cuMemcpyAsync(to + row * to_pitch, from + row * from_pitch,
                                    copy->WidthInBytes, stream);
    return code;
}

CUresult dropin_set_rows(CUdeviceptr to, size_t pitch, unsigned int value, unsigned int width,
                         size_t columns, size_t rows, CUstream stream)
{
    CUresult code = CUDA_SUCCESS;
    if (rows > 1 && (columns > SIZE_MAX / width || pitch < columns * width))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t row = 0; code == CUDA_SUCCESS && row < rows; row++) {
        uint64_t at = to + row * pitch;
        code = width == 1   ? rung_sim_cuMemsetD8Async(at, (unsigned char)value, columns, stream)
               : width == 2 ? rung_sim_cuMemsetD16Async(at, (unsigned short)value, columns, stream)
                            : rung_sim_cuMemsetD32Async(at, value, columns, stream);
    }
    return code;
}
