/* Memory as the Driver API sees it: who owns an allocation, which call may free it, copies and
 * sets. Large allocations are mapped lazily, so that one costs what is touched of it. */
#define _GNU_SOURCE /* MAP_ANONYMOUS, MAP_NORESERVE */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sim/driver_state.h"

#define MAPPED_FROM (UINT64_C(1) << 20)

struct allocation {
    uint64_t address, bytes;
    enum rung_sim_memory_kind kind;
    const struct rung_sim_context *owner;
    void *host; /* ours, or lent; NULL where the simulated memory has its own */
};

/* Ascending by address, as addresses are handed out. */
static struct {
    struct allocation *items;
    size_t count, room;
} allocations;

static bool reserve(void)
{
    if (allocations.count < allocations.room)
        return true;
    size_t room = allocations.room ? allocations.room * 2 : 64;
    void *items = realloc(allocations.items, room * sizeof *allocations.items);
    if (!items)
        return false;
    allocations.items = items;
    allocations.room = room;
    return true;
}

static void *map(uint64_t bytes)
{
    void *host = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return host == MAP_FAILED ? NULL : host;
}

static void unmap(const struct allocation *old)
{
    if (old->host && old->kind != RUNG_SIM_LENT_MEMORY)
        munmap(old->host, old->bytes);
}

CUresult rung_sim_memory_take(struct rung_sim_context *owner, enum rung_sim_memory_kind kind,
                              uint64_t bytes, void *lent, uint64_t *address, void **host)
{
    struct rung_sim_process *process = &rung_sim_process;
    struct allocation new = {.bytes = bytes, .kind = kind, .owner = owner, .host = lent};
    if (bytes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (kind == RUNG_SIM_DEVICE_MEMORY &&
        bytes > process->settings.memory_bytes - process->memory_used)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (!reserve())
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (!lent && (kind == RUNG_SIM_HOST_MEMORY || bytes >= MAPPED_FROM)) {
        new.host = map(bytes);
        if (!new.host)
            return CUDA_ERROR_OUT_OF_MEMORY;
    }
    new.address = rung_sim_memory_alloc(&process->memory, bytes, new.host);
    if (!new.address) {
        unmap(&new);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (kind == RUNG_SIM_DEVICE_MEMORY)
        process->memory_used += bytes;
    allocations.items[allocations.count++] = new;
    *address = new.address;
    if (host)
        *host = new.host;
    return CUDA_SUCCESS;
}

static void erase(size_t at)
{
    const struct allocation old = allocations.items[at];
    rung_sim_memory_free(&rung_sim_process.memory, old.address);
    unmap(&old);
    if (old.kind == RUNG_SIM_DEVICE_MEMORY)
        rung_sim_process.memory_used -= old.bytes;
    allocations.count--;
    memmove(&allocations.items[at], &allocations.items[at + 1],
            (allocations.count - at) * sizeof old);
}

bool rung_sim_memory_give(enum rung_sim_memory_kind kind, uint64_t address)
{
    size_t low = 0, high = allocations.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (allocations.items[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == allocations.count || allocations.items[low].address != address ||
        allocations.items[low].kind != kind)
        return false;
    erase(low);
    return true;
}

uint64_t rung_sim_memory_give_all(const struct rung_sim_context *owner)
{
    uint64_t count = 0;
    for (size_t i = allocations.count; i-- > 0;) {
        if (allocations.items[i].owner != owner)
            continue;
        erase(i);
        count++;
    }
    return count;
}

uint64_t rung_sim_memory_device_of(const void *host)
{
    for (size_t i = 0; i < allocations.count; i++) {
        const struct allocation *item = &allocations.items[i];
        uint64_t offset = (uint64_t)((uintptr_t)host - (uintptr_t)item->host);
        if (item->kind != RUNG_SIM_DEVICE_MEMORY && (uintptr_t)host >= (uintptr_t)item->host &&
            offset < item->bytes)
            return item->address + offset;
    }
    return 0;
}

bool rung_sim_memory_is_host(uint64_t address)
{
    const struct rung_sim_range *range = rung_sim_memory_find(&rung_sim_process.memory, address);
    return range && range->borrowed && rung_sim_memory_device_of(range->host) != 0;
}

uint64_t rung_sim_memory_live(void)
{
    return allocations.count;
}

void rung_sim_memory_forget(void)
{
    while (allocations.count)
        erase(allocations.count - 1);
    free(allocations.items);
    memset(&allocations, 0, sizeof allocations);
    rung_sim_memory_release(&rung_sim_process.memory);
}

CUresult rung_sim_cuMemAlloc(CUdeviceptr_v2 *pointer, size_t bytes)
{
    struct rung_sim_context *context;
    uint64_t address = 0;
    CUresult code = rung_sim_enter(&context);
    if (code == CUDA_SUCCESS && !pointer)
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS)
        code = rung_sim_memory_take(context, RUNG_SIM_DEVICE_MEMORY, bytes, NULL, &address, NULL);
    if (code == CUDA_SUCCESS)
        *pointer = address;
    return rung_sim_leave(code);
}

/* A dead context gives its memory back, and says that it is dead. */
static CUresult give(enum rung_sim_memory_kind kind, uint64_t address)
{
    struct rung_sim_context *context;
    CUresult code = rung_sim_enter_release(&context);
    if (code == CUDA_SUCCESS && address && !rung_sim_memory_give(kind, address))
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS)
        code = context->dead;
    return rung_sim_leave(code);
}

CUresult rung_sim_cuMemFree(CUdeviceptr_v2 pointer)
{
    return give(RUNG_SIM_DEVICE_MEMORY, pointer);
}

CUresult rung_sim_cuMemHostAlloc(void **pointer, size_t bytes, unsigned int flags)
{
    struct rung_sim_context *context;
    uint64_t address = 0;
    const unsigned known =
        CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
    CUresult code = rung_sim_enter(&context);
    if (code == CUDA_SUCCESS && (!pointer || flags & ~known))
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS)
        code = rung_sim_memory_take(context, RUNG_SIM_HOST_MEMORY, bytes, NULL, &address, pointer);
    return rung_sim_leave(code);
}

CUresult rung_sim_cuMemHostGetDevicePointer(CUdeviceptr_v2 *device, void *host, unsigned int flags)
{
    struct rung_sim_context *context;
    CUresult code = rung_sim_enter(&context);
    uint64_t address = code == CUDA_SUCCESS ? rung_sim_memory_device_of(host) : 0;
    if (code == CUDA_SUCCESS && (!device || flags != 0 || !address))
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS)
        *device = address;
    return rung_sim_leave(code);
}

CUresult rung_sim_memory_give_host(enum rung_sim_memory_kind kind, const void *host)
{
    struct rung_sim_context *context;
    CUresult code = rung_sim_enter_release(&context);
    if (code == CUDA_SUCCESS && host &&
        !rung_sim_memory_give(kind, rung_sim_memory_device_of(host)))
        code = kind == RUNG_SIM_HOST_MEMORY ? CUDA_ERROR_INVALID_VALUE
                                            : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    if (code == CUDA_SUCCESS)
        code = context->dead;
    return rung_sim_leave(code);
}

CUresult rung_sim_cuMemFreeHost(void *pointer)
{
    return rung_sim_memory_give_host(RUNG_SIM_HOST_MEMORY, pointer);
}

/* --- copies and sets ------------------------------------------------------------------------ */
CUresult rung_sim_transfer(struct rung_sim_work work, CUstream stream)
{
    struct rung_sim_context *context;
    CUresult code = rung_sim_enter(&context);
    struct rung_sim_stream *on = code == CUDA_SUCCESS ? rung_sim_stream_of(context, stream) : NULL;
    if (code == CUDA_SUCCESS && !on)
        code = CUDA_ERROR_INVALID_HANDLE;
    if (code == CUDA_SUCCESS && work.bytes)
        code = rung_sim_submit(context, on, &work);
    return rung_sim_leave(code);
}

static uint64_t number_of(const void *host)
{
    return (uint64_t)(uintptr_t)host;
}

static CUresult set(uint64_t to, uint64_t value, unsigned width, uint64_t count, CUstream stream)
{
    if (count > UINT64_MAX / width)
        return CUDA_ERROR_INVALID_VALUE;
    return rung_sim_transfer((struct rung_sim_work){.kind = RUNG_SIM_WORK_SET,
                                                    .to = to,
                                                    .bytes = count * width,
                                                    .value = value,
                                                    .width = width},
                             stream);
}

CUresult rung_sim_cuMemcpyHtoDAsync(CUdeviceptr_v2 to, const void *from, size_t bytes,
                                    CUstream stream)
{
    return rung_sim_transfer((struct rung_sim_work){.kind = RUNG_SIM_WORK_COPY_TO_DEVICE,
                                                    .to = to,
                                                    .from = number_of(from),
                                                    .bytes = bytes},
                             stream);
}

CUresult rung_sim_cuMemcpyDtoHAsync(void *to, CUdeviceptr_v2 from, size_t bytes, CUstream stream)
{
    return rung_sim_transfer(
        (struct rung_sim_work){
            .kind = RUNG_SIM_WORK_COPY_TO_HOST, .to = number_of(to), .from = from, .bytes = bytes},
        stream);
}

CUresult rung_sim_cuMemcpyDtoDAsync(CUdeviceptr_v2 to, CUdeviceptr_v2 from, size_t bytes,
                                    CUstream stream)
{
    return rung_sim_transfer(
        (struct rung_sim_work){
            .kind = RUNG_SIM_WORK_COPY_ON_DEVICE, .to = to, .from = from, .bytes = bytes},
        stream);
}

CUresult rung_sim_cuMemcpyHtoD(CUdeviceptr_v2 to, const void *from, size_t bytes)
{
    return rung_sim_cuMemcpyHtoDAsync(to, from, bytes, NULL);
}

CUresult rung_sim_cuMemcpyDtoH(void *to, CUdeviceptr_v2 from, size_t bytes)
{
    return rung_sim_cuMemcpyDtoHAsync(to, from, bytes, NULL);
}

CUresult rung_sim_cuMemcpyDtoD(CUdeviceptr_v2 to, CUdeviceptr_v2 from, size_t bytes)
{
    return rung_sim_cuMemcpyDtoDAsync(to, from, bytes, NULL);
}

CUresult rung_sim_cuMemsetD8Async(CUdeviceptr_v2 pointer, unsigned char value, size_t count,
                                  CUstream stream)
{
    return set(pointer, value, 1, count, stream);
}

CUresult rung_sim_cuMemsetD16Async(CUdeviceptr_v2 pointer, unsigned short value, size_t count,
                                   CUstream stream)
{
    return set(pointer, value, 2, count, stream);
}

CUresult rung_sim_cuMemsetD32Async(CUdeviceptr_v2 pointer, unsigned int value, size_t count,
                                   CUstream stream)
{
    return set(pointer, value, 4, count, stream);
}

CUresult rung_sim_cuMemsetD8(CUdeviceptr_v2 pointer, unsigned char value, size_t count)
{
    return set(pointer, value, 1, count, NULL);
}

CUresult rung_sim_cuMemsetD32(CUdeviceptr_v2 pointer, unsigned int value, size_t count)
{
    return set(pointer, value, 4, count, NULL);
}
