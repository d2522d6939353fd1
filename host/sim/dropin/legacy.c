/* Launches as they were before CUDA 4.0: block shape, shared bytes and parameters are set on the
 * function, one call each, and the launch names the grid alone. */
#include <string.h>

#include "sim/dropin/dropin.h"

CUresult dropin_cuFuncSetBlockShape(CUfunction function, int x, int y, int z)
{
    struct rung_sim_function *of;
    CUresult code = rung_sim_enter_function(function, &of);
    if (code == CUDA_SUCCESS && (x <= 0 || y <= 0 || z <= 0))
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS) {
        const uint32_t block[3] = {(uint32_t)x, (uint32_t)y, (uint32_t)z};
        memcpy(of->legacy.block, block, sizeof block);
    }
    return rung_sim_leave(code);
}

CUresult dropin_cuFuncSetSharedSize(CUfunction function, unsigned int bytes)
{
    struct rung_sim_function *of;
    CUresult code = rung_sim_enter_function(function, &of);
    if (code == CUDA_SUCCESS)
        of->legacy.dynamic_bytes = bytes;
    return rung_sim_leave(code);
}

CUresult dropin_cuParamSetSize(CUfunction function, unsigned int bytes)
{
    struct rung_sim_function *of;
    CUresult code = rung_sim_enter_function(function, &of);
    if (code == CUDA_SUCCESS && bytes > sizeof of->legacy.params)
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS)
        of->legacy.param_bytes = bytes;
    return rung_sim_leave(code);
}

CUresult dropin_cuParamSetv(CUfunction function, int offset, const void *value, size_t bytes)
{
    struct rung_sim_function *of;
    CUresult code = rung_sim_enter_function(function, &of);
    if (code == CUDA_SUCCESS && (!value || offset < 0 || bytes > sizeof of->legacy.params ||
                                 (size_t)offset > sizeof of->legacy.params - bytes))
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS)
        memcpy(of->legacy.params + offset, value, bytes);
    return rung_sim_leave(code);
}

CUresult dropin_launch_legacy(CUfunction function, int width, int height, CUstream stream)
{
    struct rung_sim_function *of;
    CUresult code = rung_sim_enter_function(function, &of);
    if (code == CUDA_SUCCESS && (width <= 0 || height <= 0))
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS) {
        size_t bytes = of->legacy.param_bytes;
        void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, of->legacy.params,
                         CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
        const uint32_t grid[3] = {(uint32_t)width, (uint32_t)height, 1};
        code = rung_sim_launch_submit(of->object.owner, function, grid, of->legacy.block,
                                      of->legacy.dynamic_bytes, stream, NULL, extra);
    }
    return rung_sim_leave(code);
}
