/* Launches: the shape tested as a card tests it, the parameters gathered, the work handed on. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "sim/driver_state.h"

static CUresult check_shape(const struct rung_sim_function *function, const uint32_t grid[3],
                            const uint32_t block[3], uint64_t dynamic_bytes)
{
    static const uint32_t grid_max[3] = {INT_MAX, 65535, 65535}, block_max[3] = {1024, 1024, 64};
    for (int i = 0; i < 3; i++)
        if (grid[i] == 0 || grid[i] > grid_max[i] || block[i] == 0 || block[i] > block_max[i])
            return CUDA_ERROR_INVALID_VALUE;
    uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    if (threads > RUNG_SIM_BLOCK_THREADS_MAX || dynamic_bytes > function->dynamic_bytes_max)
        return CUDA_ERROR_INVALID_VALUE;
    return threads > function->facts.max_threads ? CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES
                                                 : CUDA_SUCCESS;
}

/* `extra`: pairs of a key and a pointer, ended by CU_LAUNCH_PARAM_END. */
static CUresult gather_buffer(unsigned char *to, uint32_t bytes, void **extra)
{
    const void *buffer = NULL;
    size_t size = 0;
    for (size_t i = 0; extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
        if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[i + 1];
        else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[i + 1])
            size = *(const size_t *)extra[i + 1];
        else
            return CUDA_ERROR_INVALID_VALUE;
    }
    if (bytes == 0)
        return CUDA_SUCCESS;
    if (!buffer || size < bytes)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(to, buffer, bytes);
    return CUDA_SUCCESS;
}

static CUresult gather(unsigned char *to, const struct rung_sim_kernel_facts *facts, void **params,
                       void **extra)
{
    if (params && extra)
        return CUDA_ERROR_INVALID_VALUE;
    if (extra)
        return gather_buffer(to, facts->param_bytes, extra);
    for (uint32_t i = 0; i < facts->n_params; i++) {
        const struct rung_ptx_symbol *param = facts->function->params[i];
        if (!params || !params[i])
            return CUDA_ERROR_INVALID_VALUE;
        memcpy(to + param->offset, params[i], param->bytes);
    }
    return CUDA_SUCCESS;
}

CUresult rung_sim_launch_submit(struct rung_sim_context *context, CUfunction handle,
                                const uint32_t grid[3], const uint32_t block[3],
                                uint64_t dynamic_bytes, CUstream stream, void **params,
                                void **extra)
{
    const struct rung_sim_function *function = rung_sim_object_of(RUNG_SIM_HANDLE_FUNCTION, handle);
    struct rung_sim_stream *on = rung_sim_stream_of(context, stream);
    if (!function || !on || function->object.owner != context)
        return CUDA_ERROR_INVALID_HANDLE;
    CUresult code = check_shape(function, grid, block, dynamic_bytes);
    if (code != CUDA_SUCCESS)
        return code;
    struct rung_sim_work work = {.kind = RUNG_SIM_WORK_LAUNCH,
                                 .function = handle,
                                 .dynamic_bytes = dynamic_bytes,
                                 .params = calloc(1, function->facts.param_bytes + 1)};
    if (!work.params)
        return CUDA_ERROR_OUT_OF_MEMORY;
    code = gather(work.params, &function->facts, params, extra);
    if (code != CUDA_SUCCESS) {
        free(work.params);
        return code;
    }
    memcpy(work.grid, grid, sizeof work.grid);
    memcpy(work.block, block, sizeof work.block);
    return rung_sim_submit(context, on, &work);
}

CUresult rung_sim_cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                                 unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                 unsigned int block_z, unsigned int shared_bytes, CUstream stream,
                                 void **params, void **extra)
{
    struct rung_sim_context *context;
    CUresult code = rung_sim_enter(&context);
    if (code == CUDA_SUCCESS)
        code = rung_sim_launch_submit(context, function, (uint32_t[]){grid_x, grid_y, grid_z},
                                      (uint32_t[]){block_x, block_y, block_z}, shared_bytes, stream,
                                      params, extra);
    return rung_sim_leave(code);
}

/* Resident blocks of one SM: the least of what block slots, threads, registers and shared memory
 * allow. Registers go to a warp in units of 8 a thread, and from compute capability 8.0 on 1 KiB of
 * shared memory to the system (CUDA C++ Programming Guide). PTX has more registers than a card:
 * they never keep out the only block, for which ptxas would have spilled them. */
static int occupancy(const struct rung_sim_function *function, unsigned threads, uint64_t dynamic)
{
    const struct rung_sim_target *target = rung_sim_process.settings.target;
    uint64_t warps = (threads + 31) / 32;
    uint64_t registers = ((uint64_t)function->facts.registers + 7) / 8 * 8 * 32 * warps;
    uint64_t shared = function->facts.shared_bytes + dynamic + target->shared_bytes_reserved;
    uint64_t blocks = target->blocks_per_sm;
    const uint64_t limits[] = {target->threads_per_sm / (warps * 32),
                               registers == 0      ? blocks
                               : registers > 65536 ? 1
                                                   : 65536 / registers,
                               shared ? target->shared_bytes_per_sm / shared : blocks};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        if (limits[i] < blocks)
            blocks = limits[i];
    return (int)blocks;
}

CUresult rung_sim_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function,
                                                              int block_threads,
                                                              size_t dynamic_bytes)
{
    struct rung_sim_function *of;
    CUresult code = rung_sim_enter_function(function, &of);
    if (code == CUDA_SUCCESS && (!blocks || block_threads <= 0))
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS)
        *blocks = (unsigned)block_threads > of->facts.max_threads
                      ? 0
                      : occupancy(of, (unsigned)block_threads, dynamic_bytes);
    return rung_sim_leave(code);
}
