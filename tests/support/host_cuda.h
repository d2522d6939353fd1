/* A card that is the host: memory is malloc, and a launch of a reduction kernel adds up the tiles
 * in pairs, in the kernel's own type. It can be told to make one of the mistakes that kernels make.
 * For the tests of what drives a card and judges it; the real kernels run on the simulator.
 * One at a time, since the functions of a driver table carry no context. */
#ifndef RUNG_TESTS_SUPPORT_HOST_CUDA_H
#define RUNG_TESTS_SUPPORT_HOST_CUDA_H

#include <stdlib.h>
#include <string.h>

#include "bench/reduce.h"

enum host_mistake {
    HOST_RIGHT,
    HOST_DROPS_LAST,        /* the last element of every ragged tile */
    HOST_DROPS_AND_DOUBLES, /* element 6 of the input not read, element 5 twice */
    HOST_SWAPS_PAIRS,       /* dot: b read at the other element of each pair */
    HOST_WRONG_INDEX,       /* a thread of version 4 takes 2t and 2t + block */
    HOST_READS_BEYOND,      /* one element behind the end */
    HOST_WRITES_BEYOND,     /* one value behind the last block's */
    HOST_FORGETS_A_BLOCK,   /* the last block of a grid of several writes nothing */
    HOST_ZERO_FOR_EMPTY,    /* right, but writes nothing for n = 0 */
    HOST_LATER_READS_INPUT  /* the second pass sums the input again */
};

struct host_function {
    struct rung_config config;
    unsigned elements_per_thread;
};

static struct {
    enum host_mistake mistake;
    size_t live; /* allocations */
    size_t launches;
    const void *input; /* what was uploaded last, for HOST_LATER_READS_INPUT */
    size_t free_bytes;
} host_cuda;

static CUresult host_mem_alloc(CUdeviceptr *pointer, size_t bytes)
{
    void *memory = malloc(bytes);
    host_cuda.live++;
    *pointer = (CUdeviceptr)(uintptr_t)memory;
    return memory ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult host_mem_free(CUdeviceptr pointer)
{
    host_cuda.live--;
    free((void *)(uintptr_t)pointer);
    return CUDA_SUCCESS;
}

static CUresult host_mem_info(size_t *available, size_t *total)
{
    *available = host_cuda.free_bytes;
    *total = (size_t)8 << 30;
    return CUDA_SUCCESS;
}

static CUresult host_set(CUdeviceptr at, unsigned char value, size_t count)
{
    memset((void *)(uintptr_t)at, value, count);
    return CUDA_SUCCESS;
}

static CUresult host_to_device(CUdeviceptr to, const void *from, size_t bytes)
{
    host_cuda.input = (const void *)(uintptr_t)to;
    memcpy((void *)(uintptr_t)to, from, bytes);
    return CUDA_SUCCESS;
}

static CUresult host_to_host(void *to, CUdeviceptr from, size_t bytes)
{
    memcpy(to, (const void *)(uintptr_t)from, bytes);
    return CUDA_SUCCESS;
}

static CUresult host_synchronize(CUstream stream)
{
    (void)stream;
    return CUDA_SUCCESS;
}

struct host_value {
    float f32;
    double f64;
    uint32_t i32;
};

static void host_load(struct host_value *out, enum rung_type type, const void *from, uint64_t i)
{
    if (type == RUNG_TYPE_F32)
        out->f32 = ((const float *)from)[i];
    else if (type == RUNG_TYPE_F64)
        out->f64 = ((const double *)from)[i];
    else
        out->i32 = ((const uint32_t *)from)[i];
}

static void host_store(void *to, enum rung_type type, uint64_t i, const struct host_value *value)
{
    if (type == RUNG_TYPE_F32)
        ((float *)to)[i] = value->f32;
    else if (type == RUNG_TYPE_F64)
        ((double *)to)[i] = value->f64;
    else
        ((uint32_t *)to)[i] = value->i32;
}

struct host_launch {
    const struct host_function *function;
    const void *a, *b; /* b: dot */
    void *out;
    uint64_t n, tile;
};

/* Where element i of the tile that begins at `begin` is read. */
static uint64_t host_index(const struct host_launch *launch, uint64_t begin, uint64_t i)
{
    uint64_t block = launch->function->config.block;
    if (host_cuda.mistake == HOST_DROPS_AND_DOUBLES && begin + i == 6 && launch->n > 6)
        return 5;
    if (host_cuda.mistake == HOST_WRONG_INDEX && launch->function->elements_per_thread == 2)
        return begin + 2 * (i % block) + (i >= block ? block : 0);
    return begin + i;
}

static struct host_value host_element(const struct host_launch *launch, uint64_t begin, uint64_t i)
{
    enum rung_type type = launch->function->config.type;
    struct host_value value = {0}, other = {0};
    uint64_t at = host_index(launch, begin, i);
    uint64_t end = launch->n + (host_cuda.mistake == HOST_READS_BEYOND);
    if (host_cuda.mistake == HOST_DROPS_LAST && end % launch->tile)
        end -= end > 0;
    if (at >= end)
        return value;
    host_load(&value, type, launch->a, at);
    if (!launch->b)
        return value;
    if (host_cuda.mistake == HOST_SWAPS_PAIRS && (at ^ 1) < launch->n)
        at ^= 1;
    host_load(&other, type, launch->b, at);
    value.f32 *= other.f32;
    value.f64 *= other.f64;
    value.i32 *= other.i32;
    return value;
}

static struct host_value host_tile(const struct host_launch *launch, uint64_t begin, uint64_t first,
                                   uint64_t count)
{
    if (count == 1)
        return host_element(launch, begin, first);
    struct host_value left = host_tile(launch, begin, first, count / 2);
    struct host_value right = host_tile(launch, begin, first + count / 2, count - count / 2);
    left.f32 += right.f32;
    left.f64 += right.f64;
    left.i32 += right.i32;
    return left;
}

static CUresult host_launch_kernel(CUfunction handle, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned shared, CUstream stream,
                                   void **params, void **extra)
{
    (void)grid_y, (void)grid_z, (void)block_y, (void)block_z, (void)shared, (void)stream;
    (void)extra;
    const struct host_function *function = (const struct host_function *)handle;
    struct host_launch launch = {.function = function};
    unsigned next = 0;
    if (block_x != function->config.block || grid_x == 0)
        return CUDA_ERROR_INVALID_VALUE;
    launch.a = *(void **)params[next++];
    if (function->config.op == RUNG_OP_DOT)
        launch.b = *(void **)params[next++];
    launch.out = *(void **)params[next++];
    launch.n = *(unsigned long long *)params[next];
    launch.tile = (uint64_t)function->config.block * function->elements_per_thread;
    host_cuda.launches++;
    if (host_cuda.mistake == HOST_LATER_READS_INPUT)
        launch.a = host_cuda.input;
    for (uint64_t block = 0; block < grid_x; block++) {
        bool forgotten =
            host_cuda.mistake == HOST_FORGETS_A_BLOCK && grid_x > 1 && block == grid_x - 1;
        if (forgotten || (host_cuda.mistake == HOST_ZERO_FOR_EMPTY && launch.n == 0))
            continue;
        struct host_value sum = host_tile(&launch, block * launch.tile, 0, launch.tile);
        host_store(launch.out, function->config.type, block, &sum);
        if (host_cuda.mistake == HOST_WRITES_BEYOND && block == grid_x - 1)
            host_store(launch.out, function->config.type, grid_x, &sum);
    }
    return CUDA_SUCCESS;
}

/* A device over the host, and a reduction on it that no image stands behind. */
static inline void host_cuda_device(struct rung_device *out, enum host_mistake mistake)
{
    *out = (struct rung_device){
        .max_grid_x = 2147483647, .sm_count = 2, .cc = 90, .max_threads_per_block = 1024};
    host_cuda.mistake = mistake;
    host_cuda.free_bytes = (size_t)4 << 30;
    out->driver = (struct rung_driver){
        .kind = RUNG_DRIVER_CUDA,
        .cuMemAlloc = host_mem_alloc,
        .cuMemFree = host_mem_free,
        .cuMemGetInfo = host_mem_info,
        .cuMemsetD8 = host_set,
        .cuMemcpyHtoD = host_to_device,
        .cuMemcpyDtoH = host_to_host,
        .cuStreamSynchronize = host_synchronize,
        .cuLaunchKernel = host_launch_kernel,
    };
}

struct host_reduction {
    struct host_function first, later;
    struct rung_reduction reduction;
};

static inline void host_reduction_make(struct host_reduction *out, const struct rung_device *device,
                                       const struct rung_config *config)
{
    unsigned per_thread = config->version == 4 ? 2 : 1;
    *out = (struct host_reduction){
        .first = {*config,                   per_thread},
          .later = {rung_later_config(config), per_thread}
    };
    out->reduction = (struct rung_reduction){
        .device = device,
        .config = *config,
        .shape = {.grid_rule = RUNG_GRID_TILES, .elements_per_thread = per_thread}
    };
    out->reduction.first.function = (CUfunction)&out->first;
    if (config->op == RUNG_OP_DOT)
        out->reduction.later.function = (CUfunction)&out->later;
}

#endif
