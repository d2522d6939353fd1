/* Modules, functions and launches, as far as only other programs ask for them. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "sim/dropin/dropin.h"

CUresult dropin_load_file(CUmodule *module, const char *path, unsigned int n_options,
                          CUjit_option *options, void **values)
{
    char *image = NULL;
    size_t length = 0;
    if (!module || !path)
        return CUDA_ERROR_INVALID_VALUE;
    if (rung_file_read(&image, &length, path, NULL) != RUNG_OK)
        return CUDA_ERROR_FILE_NOT_FOUND;
    CUresult code = rung_sim_cuModuleLoadDataEx(module, image, n_options, options, values);
    free(image);
    return code;
}

CUresult dropin_same_handle(void **out, void *handle)
{
    CUresult code = rung_sim_enter_driver();
    if (code == CUDA_SUCCESS && !out)
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS && !rung_sim_object_of(RUNG_SIM_HANDLE_MODULE, handle) &&
        !rung_sim_object_of(RUNG_SIM_HANDLE_FUNCTION, handle))
        code = CUDA_ERROR_INVALID_HANDLE;
    if (code == CUDA_SUCCESS)
        *out = handle;
    return rung_sim_leave(code);
}

static CUresult enter_module(CUmodule handle, struct rung_sim_module **module)
{
    struct rung_sim_context *context;
    CUresult code = rung_sim_enter(&context);
    *module = code == CUDA_SUCCESS ? rung_sim_object_of(RUNG_SIM_HANDLE_MODULE, handle) : NULL;
    return code == CUDA_SUCCESS && !*module ? CUDA_ERROR_INVALID_HANDLE : code;
}

CUresult dropin_cuModuleGetGlobal(CUdeviceptr *pointer, size_t *bytes, CUmodule module,
                                  const char *name)
{
    struct rung_sim_module *of;
    uint64_t address = 0, size = 0;
    CUresult code = enter_module(module, &of);
    if (code == CUDA_SUCCESS && !name)
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS && !rung_sim_program_global(of->program, name, &address, &size))
        code = CUDA_ERROR_NOT_FOUND;
    if (code == CUDA_SUCCESS && pointer)
        *pointer = address;
    if (code == CUDA_SUCCESS && bytes)
        *bytes = size;
    return rung_sim_leave(code);
}

CUresult dropin_cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
    CUresult code = rung_sim_enter_driver();
    if (code == CUDA_SUCCESS && !mode)
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS)
        *mode = CU_MODULE_EAGER_LOADING;
    return rung_sim_leave(code);
}

/* The entry after the first `*index` functions of a module's text, NULL at the end. */
static const char *next_entry(const struct rung_sim_module *module, uint32_t *index)
{
    const struct rung_ptx_module *ptx = rung_sim_program_module(module->program);
    while (*index < ptx->n_functions) {
        const struct rung_ptx_function *function = ptx->functions[(*index)++];
        if (function->is_entry && rung_sim_program_kernel(module->program, function->name))
            return function->name;
    }
    return NULL;
}

CUresult dropin_cuModuleGetFunctionCount(unsigned int *count, CUmodule module)
{
    struct rung_sim_module *of;
    CUresult code = enter_module(module, &of);
    if (code == CUDA_SUCCESS && !count)
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS) {
        *count = 0;
        for (uint32_t index = 0; next_entry(of, &index);)
            ++*count;
    }
    return rung_sim_leave(code);
}

CUresult dropin_cuModuleEnumerateFunctions(CUfunction *functions, unsigned int count,
                                           CUmodule module)
{
    struct rung_sim_module *of;
    const char *name;
    uint32_t index = 0;
    CUresult code = enter_module(module, &of);
    if (code == CUDA_SUCCESS && (!functions || count == 0))
        code = CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; code == CUDA_SUCCESS && i < count && (name = next_entry(of, &index)); i++)
        code = rung_sim_function_get(&functions[i], of, name);
    return rung_sim_leave(code);
}

/* --- functions ------------------------------------------------------------------------------ */
CUresult dropin_cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value)
{
    struct rung_sim_function *of;
    CUresult code = rung_sim_enter_function(function, &of);
    if (code == CUDA_SUCCESS && attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
        uint64_t most = rung_sim_process.settings.target->shared_bytes_optin;
        if (value < 0 || (uint64_t)value + of->facts.shared_bytes > most)
            code = CUDA_ERROR_INVALID_VALUE;
        else
            of->dynamic_bytes_max = (uint64_t)value;
    } else if (code == CUDA_SUCCESS &&
               attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) {
        if (value < -1 || value > 100)
            code = CUDA_ERROR_INVALID_VALUE;
        else
            of->carveout = value;
    } else if (code == CUDA_SUCCESS) {
        code = CUDA_ERROR_INVALID_VALUE;
    }
    return rung_sim_leave(code);
}

CUresult dropin_cuFuncLoad(CUfunction function)
{
    struct rung_sim_function *of;
    return rung_sim_leave(rung_sim_enter_function(function, &of));
}

CUresult dropin_cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config)
{
    (void)config; /* there are no caches */
    return dropin_cuFuncLoad(function);
}

CUresult dropin_cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig config)
{
    (void)config; /* banks are 4 bytes wide since compute capability 5.0 */
    return dropin_cuFuncLoad(function);
}

CUresult dropin_cuFuncGetName(const char **name, CUfunction function)
{
    struct rung_sim_function *of;
    CUresult code = rung_sim_enter_function(function, &of);
    if (code == CUDA_SUCCESS && !name)
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS)
        *name = of->facts.name;
    return rung_sim_leave(code);
}

CUresult dropin_cuFuncGetModule(CUmodule *module, CUfunction function)
{
    struct rung_sim_function *of;
    CUresult code = rung_sim_enter_function(function, &of);
    if (code == CUDA_SUCCESS && !module)
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS)
        *module = of->module->object.handle;
    return rung_sim_leave(code);
}

CUresult dropin_cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *bytes)
{
    struct rung_sim_function *of;
    CUresult code = rung_sim_enter_function(function, &of);
    if (code == CUDA_SUCCESS && (!offset || index >= of->facts.n_params))
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS) {
        *offset = of->facts.function->params[index]->offset;
        if (bytes)
            *bytes = of->facts.function->params[index]->bytes;
    }
    return rung_sim_leave(code);
}

CUresult dropin_cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction function)
{
    struct rung_sim_function *of;
    CUresult code = rung_sim_enter_function(function, &of);
    if (code == CUDA_SUCCESS && !state)
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS)
        *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return rung_sim_leave(code);
}

/* --- occupancy ------------------------------------------------------------------------------ */
CUresult dropin_cuOccupancyMaxPotentialBlockSize(int *grid_min, int *block_threads,
                                                 CUfunction function, CUoccupancyB2DSize dynamic_of,
                                                 size_t dynamic_bytes, int block_limit)
{
    int most = 0, best_threads = 0, best_blocks = 0;
    CUresult code =
        rung_sim_cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function);
    if (code != CUDA_SUCCESS)
        return code;
    if (!grid_min || !block_threads || block_limit < 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (block_limit > 0 && block_limit < most)
        most = block_limit;
    for (int threads = most; threads > 0; threads = (threads - 1) / 32 * 32) {
        int blocks = 0;
        size_t dynamic = dynamic_of ? dynamic_of(threads) : dynamic_bytes;
        code = rung_sim_cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, threads,
                                                                    dynamic);
        if (code != CUDA_SUCCESS)
            return code;
        if (blocks * threads > best_blocks * best_threads) {
            best_threads = threads;
            best_blocks = blocks;
        }
    }
    *block_threads = best_threads;
    *grid_min = best_blocks * RUNG_SIM_SM_COUNT;
    return CUDA_SUCCESS;
}

CUresult dropin_cuOccupancyAvailableDynamicSMemPerBlock(size_t *dynamic_bytes, CUfunction function,
                                                        int blocks, int block_threads)
{
    struct rung_sim_function *of;
    CUresult code = rung_sim_enter_function(function, &of);
    if (code == CUDA_SUCCESS && (!dynamic_bytes || blocks <= 0 || block_threads <= 0))
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS) {
        const struct rung_sim_target *target = rung_sim_process.settings.target;
        uint64_t taken = of->facts.shared_bytes + target->shared_bytes_reserved;
        uint64_t share = target->shared_bytes_per_sm / (uint64_t)blocks;
        *dynamic_bytes = share > taken ? share - taken : 0;
        if (*dynamic_bytes > of->dynamic_bytes_max)
            *dynamic_bytes = of->dynamic_bytes_max;
    }
    return rung_sim_leave(code);
}

/* --- launches ------------------------------------------------------------------------------- */
CUresult dropin_cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **params,
                                 void **extra)
{
    if (!config || (config->numAttrs && !config->attrs))
        return CUDA_ERROR_INVALID_VALUE;
    bool cooperative = false;
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const CUlaunchAttribute *attribute = &config->attrs[i];
        if (attribute->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION &&
            (uint64_t)attribute->value.clusterDim.x * attribute->value.clusterDim.y *
                    attribute->value.clusterDim.z >
                1)
            return CUDA_ERROR_NOT_SUPPORTED;
        if (attribute->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
            cooperative = attribute->value.cooperative != 0;
    }
    if (cooperative && extra)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (cooperative)
        return dropin_cuLaunchCooperativeKernel(
            function, config->gridDimX, config->gridDimY, config->gridDimZ, config->blockDimX,
            config->blockDimY, config->blockDimZ, config->sharedMemBytes, config->hStream, params);
    return rung_sim_cuLaunchKernel(function, config->gridDimX, config->gridDimY, config->gridDimZ,
                                   config->blockDimX, config->blockDimY, config->blockDimZ,
                                   config->sharedMemBytes, config->hStream, params, extra);
}

CUresult dropin_cuLaunchCooperativeKernel(CUfunction function, unsigned int grid_x,
                                          unsigned int grid_y, unsigned int grid_z,
                                          unsigned int block_x, unsigned int block_y,
                                          unsigned int block_z, unsigned int shared_bytes,
                                          CUstream stream, void **params)
{
    int resident = 0;
    uint64_t threads = (uint64_t)block_x * block_y * block_z;
    uint64_t blocks = (uint64_t)grid_x * grid_y * grid_z;
    if (threads == 0 || threads > RUNG_SIM_BLOCK_THREADS_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult code = rung_sim_cuOccupancyMaxActiveBlocksPerMultiprocessor(
        &resident, function, (int)threads, shared_bytes);
    if (code != CUDA_SUCCESS)
        return code;
    if (blocks > (uint64_t)resident * RUNG_SIM_SM_COUNT)
        return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    return rung_sim_cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z,
                                   shared_bytes, stream, params, NULL);
}
