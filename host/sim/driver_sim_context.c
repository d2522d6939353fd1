/* Contexts: the primary one with its count of retainers, which of them is current, how one ends. */
#include <stdlib.h>
#include <string.h>

#include "sim/driver_state.h"

struct rung_sim_context *rung_sim_context_new(unsigned flags)
{
    struct rung_sim_context *context = calloc(1, sizeof *context);
    if (context && !rung_sim_object_add(&context->object, RUNG_SIM_HANDLE_CONTEXT, NULL)) {
        free(context);
        return NULL;
    }
    if (context)
        context->flags = flags;
    return context;
}

static void end_object(struct rung_sim_object *object)
{
    switch (object->kind) {
    case RUNG_SIM_HANDLE_MODULE:
        rung_sim_module_free((struct rung_sim_module *)object);
        break;
    case RUNG_SIM_HANDLE_STREAM:
        rung_sim_stream_end((struct rung_sim_stream *)object);
        break;
    case RUNG_SIM_HANDLE_GRAPH:
    case RUNG_SIM_HANDLE_GRAPH_EXEC:
        rung_sim_graph_free((struct rung_sim_graph *)object);
        break;
    case RUNG_SIM_HANDLE_EVENT:
        rung_sim_object_remove(object);
        free(object);
        break;
    case RUNG_SIM_HANDLE_FUNCTION: /* goes with its module */
    case RUNG_SIM_HANDLE_CONTEXT:
    case RUNG_SIM_HANDLE_KINDS:
        break;
    }
}

void rung_sim_context_end(struct rung_sim_context *context)
{
    struct rung_sim_object *object;
    for (size_t cursor = 0; (object = rung_sim_object_next(context, &cursor));) {
        rung_sim_process.leaked += object->kind != RUNG_SIM_HANDLE_FUNCTION;
        end_object(object);
    }
    rung_sim_process.leaked += rung_sim_memory_give_all(context);
    if (context == rung_sim_process.primary)
        rung_sim_process.primary = NULL;
    rung_sim_object_remove(&context->object);
    free(context);
}

void rung_sim_process_end(void)
{
    struct rung_sim_object *object;
    rung_sim_lock();
    for (size_t cursor = 0; (object = rung_sim_object_next(NULL, &cursor));)
        rung_sim_context_end((struct rung_sim_context *)object);
    rung_sim_memory_forget();
    rung_sim_objects_forget();
    rung_sim_findings_release(&rung_sim_process.findings);
    memset(&rung_sim_process, 0, sizeof rung_sim_process);
    rung_sim_unlock();
}

CUresult rung_sim_cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice_v1 device)
{
    struct rung_sim_process *process = &rung_sim_process;
    CUresult code = rung_sim_enter_device(device, context);
    if (code == CUDA_SUCCESS && !process->primary) {
        process->primary = rung_sim_context_new(process->primary_flags);
        if (process->primary)
            process->primary->is_primary = true;
        else
            code = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (code == CUDA_SUCCESS) {
        process->primary->retained++;
        *context = process->primary->object.handle;
    }
    return rung_sim_leave(code);
}

CUresult rung_sim_cuDevicePrimaryCtxRelease(CUdevice_v1 device)
{
    CUresult code = rung_sim_enter_device(device, &device);
    struct rung_sim_context *primary = rung_sim_process.primary;
    if (code == CUDA_SUCCESS && !primary)
        code = CUDA_ERROR_INVALID_CONTEXT;
    if (code == CUDA_SUCCESS && --primary->retained == 0)
        rung_sim_context_end(primary);
    return rung_sim_leave(code);
}

CUresult rung_sim_cuCtxSetCurrent(CUcontext context)
{
    CUresult code = rung_sim_enter_driver();
    struct rung_sim_context *wanted = rung_sim_object_of(RUNG_SIM_HANDLE_CONTEXT, context);
    if (code == CUDA_SUCCESS && context && !wanted)
        code = CUDA_ERROR_INVALID_CONTEXT;
    if (code == CUDA_SUCCESS)
        rung_sim_context_set(wanted);
    return rung_sim_leave(code);
}

CUresult rung_sim_cuCtxGetCurrent(CUcontext *context)
{
    CUresult code = rung_sim_enter_driver();
    struct rung_sim_context *top = code == CUDA_SUCCESS ? rung_sim_context_current() : NULL;
    if (code == CUDA_SUCCESS && !context)
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS)
        *context = top ? top->object.handle : NULL;
    return rung_sim_leave(code);
}

CUresult rung_sim_cuCtxGetDevice(CUdevice_v1 *device)
{
    struct rung_sim_context *context;
    CUresult code = rung_sim_enter(&context);
    if (code == CUDA_SUCCESS && !device)
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS)
        *device = 0;
    return rung_sim_leave(code);
}

CUresult rung_sim_cuCtxSynchronize(void)
{
    struct rung_sim_context *context;
    return rung_sim_leave(rung_sim_enter(&context));
}

CUresult rung_sim_cuCtxResetPersistingL2Cache(void)
{
    struct rung_sim_context *context;
    return rung_sim_leave(rung_sim_enter(&context));
}
