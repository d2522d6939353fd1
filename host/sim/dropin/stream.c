/* Streams and graphs, as far as only other programs ask for them. */
#include "sim/dropin/dropin.h"

CUresult dropin_cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority)
{
    struct rung_sim_context *context;
    CUresult code = rung_sim_enter(&context);
    if (code == CUDA_SUCCESS) /* outside the range means its nearest end, as on a card */
        code = rung_sim_stream_new(context, stream, flags,
                                   priority > 0    ? 0
                                   : priority < -5 ? -5
                                                   : priority);
    return rung_sim_leave(code);
}

static CUresult enter_stream(CUstream handle, struct rung_sim_stream **stream, const void *out)
{
    struct rung_sim_context *context;
    CUresult code = rung_sim_enter(&context);
    *stream = code == CUDA_SUCCESS ? rung_sim_stream_of(context, handle) : NULL;
    if (code == CUDA_SUCCESS && !*stream)
        code = CUDA_ERROR_INVALID_HANDLE;
    return code == CUDA_SUCCESS && !out ? CUDA_ERROR_INVALID_VALUE : code;
}

/* Streams are in order, and idle when a call returns: every event has happened already. */
CUresult dropin_cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags)
{
    struct rung_sim_stream *on;
    CUresult code = enter_stream(stream, &on, &flags);
    if (code == CUDA_SUCCESS && !rung_sim_object_of(RUNG_SIM_HANDLE_EVENT, event))
        code = CUDA_ERROR_INVALID_HANDLE;
    return rung_sim_leave(code);
}

/* A host function runs outside the lock, so that one that breaks the rule of making no CUDA calls
 * does not hang. */
CUresult dropin_cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data)
{
    CUresult code = rung_sim_leave(rung_sim_enter_idle_stream(stream));
    if (code == CUDA_SUCCESS && !function)
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS)
        function(data);
    return code;
}

CUresult dropin_cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void *data,
                                    unsigned int flags)
{
    CUresult code = rung_sim_leave(rung_sim_enter_idle_stream(stream));
    if (code == CUDA_SUCCESS && (!callback || flags != 0))
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS)
        callback(stream, CUDA_SUCCESS, data);
    return code;
}

CUresult dropin_cuStreamGetPriority(CUstream stream, int *priority)
{
    struct rung_sim_stream *on;
    CUresult code = enter_stream(stream, &on, priority);
    if (code == CUDA_SUCCESS)
        *priority = on->priority;
    return rung_sim_leave(code);
}

CUresult dropin_cuStreamGetFlags(CUstream stream, unsigned int *flags)
{
    struct rung_sim_stream *on;
    CUresult code = enter_stream(stream, &on, flags);
    if (code == CUDA_SUCCESS)
        *flags = on->flags;
    return rung_sim_leave(code);
}

CUresult dropin_cuStreamGetId(CUstream stream, unsigned long long *id)
{
    struct rung_sim_stream *on;
    CUresult code = enter_stream(stream, &on, id);
    if (code == CUDA_SUCCESS)
        *id = (unsigned long long)(uintptr_t)on->object.handle;
    return rung_sim_leave(code);
}

CUresult dropin_cuStreamGetCtx(CUstream stream, CUcontext *context)
{
    struct rung_sim_stream *on;
    CUresult code = enter_stream(stream, &on, context);
    if (code == CUDA_SUCCESS)
        *context = rung_sim_context_current()->object.handle;
    return rung_sim_leave(code);
}

CUresult dropin_cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
    struct rung_sim_stream *on;
    CUresult code = enter_stream(stream, &on, status);
    if (code == CUDA_SUCCESS)
        *status = on->capture ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    return rung_sim_leave(code);
}

/* The mode decides which unrelated calls a capture forbids; the simulator forbids none. */
CUresult dropin_cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    static _Thread_local CUstreamCaptureMode current = CU_STREAM_CAPTURE_MODE_GLOBAL;
    if (!mode || (unsigned)*mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    CUstreamCaptureMode before = current;
    current = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}

CUresult dropin_cuGraphUpload(CUgraphExec graph, CUstream stream)
{
    struct rung_sim_stream *on;
    CUresult code = enter_stream(stream, &on, &graph);
    if (code == CUDA_SUCCESS && !rung_sim_object_of(RUNG_SIM_HANDLE_GRAPH_EXEC, graph))
        code = CUDA_ERROR_INVALID_VALUE;
    return rung_sim_leave(code);
}
