/* Contexts, as far as only other programs ask for them. */
#include "sim/dropin/dropin.h"

/* --- the primary context -------------------------------------------------------------------- */
CUresult dropin_cuDevicePrimaryCtxReset(CUdevice device)
{
    CUresult code = rung_sim_enter_device(device, &device);
    struct rung_sim_context *primary = rung_sim_process.primary;
    if (code == CUDA_SUCCESS && primary)
        rung_sim_context_end(primary);
    return rung_sim_leave(code);
}

CUresult dropin_cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned int flags)
{
    CUresult code = rung_sim_enter_device(device, &device);
    if (code == CUDA_SUCCESS && flags & ~(unsigned)CU_CTX_FLAGS_MASK)
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS) {
        rung_sim_process.primary_flags = flags;
        if (rung_sim_process.primary)
            rung_sim_process.primary->flags = flags;
    }
    return rung_sim_leave(code);
}

CUresult dropin_cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active)
{
    CUresult code = rung_sim_enter_device(device, flags);
    if (code == CUDA_SUCCESS && !active)
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS) {
        *flags = rung_sim_process.primary_flags;
        *active = rung_sim_process.primary != NULL;
    }
    return rung_sim_leave(code);
}

/* --- other contexts ------------------------------------------------------------------------- */
CUresult dropin_cuCtxCreate(CUcontext *context, unsigned int flags, CUdevice device)
{
    struct rung_sim_context *new = NULL;
    CUresult code = rung_sim_enter_device(device, context);
    if (code == CUDA_SUCCESS && flags & ~(unsigned)CU_CTX_FLAGS_MASK)
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS) {
        new = rung_sim_context_new(flags);
        if (!new || !rung_sim_context_push(new))
            code = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (code == CUDA_SUCCESS)
        *context = new->object.handle;
    else if (new)
        rung_sim_context_end(new);
    return rung_sim_leave(code);
}

static struct rung_sim_context *context_of(CUcontext handle)
{
    return rung_sim_object_of(RUNG_SIM_HANDLE_CONTEXT, handle);
}

CUresult dropin_cuCtxDestroy(CUcontext context)
{
    CUresult code = rung_sim_enter_driver();
    struct rung_sim_context *old = context_of(context);
    if (code == CUDA_SUCCESS && (!old || old->is_primary))
        code = CUDA_ERROR_INVALID_CONTEXT;
    if (code == CUDA_SUCCESS) {
        if (rung_sim_context_current() == old)
            rung_sim_context_pop();
        rung_sim_context_end(old);
    }
    return rung_sim_leave(code);
}

CUresult dropin_cuCtxAttach(CUcontext *context, unsigned int flags)
{
    struct rung_sim_context *current;
    CUresult code = rung_sim_enter(&current);
    if (code == CUDA_SUCCESS && (!context || flags != 0))
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS) {
        current->retained++;
        *context = current->object.handle;
    }
    return rung_sim_leave(code);
}

/* The last one to detach destroys. */
CUresult dropin_cuCtxDetach(CUcontext context)
{
    CUresult code = rung_sim_enter_driver();
    struct rung_sim_context *old = context_of(context);
    bool last = code == CUDA_SUCCESS && old && old->retained == 0;
    if (code == CUDA_SUCCESS && (!old || old->is_primary))
        code = CUDA_ERROR_INVALID_CONTEXT;
    if (code == CUDA_SUCCESS && !last)
        old->retained--;
    rung_sim_leave(code);
    return last ? dropin_cuCtxDestroy(context) : code;
}

CUresult dropin_cuCtxPushCurrent(CUcontext context)
{
    CUresult code = rung_sim_enter_driver();
    struct rung_sim_context *new = context_of(context);
    if (code == CUDA_SUCCESS && !new)
        code = CUDA_ERROR_INVALID_CONTEXT;
    if (code == CUDA_SUCCESS && !rung_sim_context_push(new))
        code = CUDA_ERROR_OUT_OF_MEMORY;
    return rung_sim_leave(code);
}

CUresult dropin_cuCtxPopCurrent(CUcontext *context)
{
    CUresult code = rung_sim_enter_driver();
    struct rung_sim_context *top = code == CUDA_SUCCESS ? rung_sim_context_pop() : NULL;
    if (code == CUDA_SUCCESS && !top)
        code = CUDA_ERROR_INVALID_CONTEXT;
    if (code == CUDA_SUCCESS && context)
        *context = top->object.handle;
    return rung_sim_leave(code);
}

/* Of the context given, NULL meaning the current one. */
static CUresult enter_context(CUcontext handle)
{
    struct rung_sim_context *context;
    if (!handle)
        return rung_sim_enter(&context);
    CUresult code = rung_sim_enter_driver();
    context = context_of(handle);
    if (code == CUDA_SUCCESS)
        code = context ? context->dead : CUDA_ERROR_INVALID_CONTEXT;
    return code;
}

CUresult dropin_cuCtxGetDevice_v2(CUdevice *device, CUcontext context)
{
    CUresult code = enter_context(context);
    if (code == CUDA_SUCCESS && !device)
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS)
        *device = 0;
    return rung_sim_leave(code);
}

CUresult dropin_cuCtxSynchronize_v2(CUcontext context)
{
    return rung_sim_leave(enter_context(context));
}

/* --- settings of a context, kept where they mean something and accepted where they do not ----- */
static CUresult enter_for(const void *out)
{
    struct rung_sim_context *context;
    CUresult code = rung_sim_enter(&context);
    return code == CUDA_SUCCESS && !out ? CUDA_ERROR_INVALID_VALUE : code;
}

CUresult dropin_cuCtxGetFlags(unsigned int *flags)
{
    CUresult code = enter_for(flags);
    if (code == CUDA_SUCCESS)
        *flags = rung_sim_context_current()->flags;
    return rung_sim_leave(code);
}

CUresult dropin_cuCtxSetFlags(unsigned int flags)
{
    CUresult code = enter_for(&flags);
    if (code == CUDA_SUCCESS)
        rung_sim_context_current()->flags = flags;
    return rung_sim_leave(code);
}

CUresult dropin_cuCtxGetId(CUcontext context, unsigned long long *id)
{
    CUresult code = enter_context(context);
    const struct rung_sim_context *of = context ? context_of(context) : rung_sim_context_current();
    if (code == CUDA_SUCCESS && !id)
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS)
        *id = (unsigned long long)(uintptr_t)of->object.handle;
    return rung_sim_leave(code);
}

CUresult dropin_cuCtxSetLimit(CUlimit limit, size_t value)
{
    (void)limit;
    return rung_sim_leave(enter_for(&value));
}

CUresult dropin_cuCtxGetLimit(size_t *value, CUlimit limit)
{
    CUresult code = enter_for(value);
    if (code == CUDA_SUCCESS && (unsigned)limit >= CU_LIMIT_MAX)
        code = CUDA_ERROR_UNSUPPORTED_LIMIT;
    if (code == CUDA_SUCCESS)
        *value = limit == CU_LIMIT_STACK_SIZE ? 1024 : 0;
    return rung_sim_leave(code);
}

CUresult dropin_cuCtxGetCacheConfig(CUfunc_cache *config)
{
    CUresult code = enter_for(config);
    if (code == CUDA_SUCCESS)
        *config = CU_FUNC_CACHE_PREFER_NONE;
    return rung_sim_leave(code);
}

CUresult dropin_cuCtxSetCacheConfig(CUfunc_cache config)
{
    return rung_sim_leave(enter_for(&config));
}

CUresult dropin_cuCtxGetSharedMemConfig(CUsharedconfig *config)
{
    CUresult code = enter_for(config);
    if (code == CUDA_SUCCESS)
        *config = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
    return rung_sim_leave(code);
}

CUresult dropin_cuCtxSetSharedMemConfig(CUsharedconfig config)
{
    return rung_sim_leave(enter_for(&config));
}

CUresult dropin_cuCtxGetApiVersion(CUcontext context, unsigned int *version)
{
    CUresult code = enter_context(context);
    if (code == CUDA_SUCCESS && !version)
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS)
        *version = 3020;
    return rung_sim_leave(code);
}

CUresult dropin_cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    CUresult code = enter_for(&least);
    if (code == CUDA_SUCCESS && least)
        *least = 0;
    if (code == CUDA_SUCCESS && greatest)
        *greatest = -5;
    return rung_sim_leave(code);
}
