/* Streams and events. Streams are in order and always idle between calls; an event notes the
 * simulator's clock, which counts work and is no time. */
#include <stdlib.h>

#include "sim/driver_state.h"

struct rung_sim_stream *rung_sim_stream_of(struct rung_sim_context *context, CUstream handle)
{
    if (!handle || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD)
        return &context->null_stream;
    struct rung_sim_stream *stream = rung_sim_object_of(RUNG_SIM_HANDLE_STREAM, handle);
    return stream && stream->object.owner == context ? stream : NULL;
}

CUresult rung_sim_stream_new(struct rung_sim_context *context, CUstream *out, unsigned flags,
                             int priority)
{
    if (!out || flags & ~(unsigned)CU_STREAM_NON_BLOCKING)
        return CUDA_ERROR_INVALID_VALUE;
    struct rung_sim_stream *stream = calloc(1, sizeof *stream);
    if (!stream || !rung_sim_object_add(&stream->object, RUNG_SIM_HANDLE_STREAM, context)) {
        free(stream);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    stream->flags = flags;
    stream->priority = priority;
    *out = stream->object.handle;
    return CUDA_SUCCESS;
}

CUresult rung_sim_stream_end(struct rung_sim_stream *stream)
{
    if (stream->capture)
        rung_sim_graph_free(stream->capture);
    rung_sim_object_remove(&stream->object);
    free(stream);
    return CUDA_SUCCESS;
}

CUresult rung_sim_cuStreamCreate(CUstream *stream, unsigned int flags)
{
    struct rung_sim_context *context;
    CUresult code = rung_sim_enter(&context);
    if (code == CUDA_SUCCESS)
        code = rung_sim_stream_new(context, stream, flags, 0);
    return rung_sim_leave(code);
}

CUresult rung_sim_cuStreamDestroy(CUstream stream)
{
    struct rung_sim_context *context;
    CUresult code = rung_sim_enter_release(&context);
    struct rung_sim_stream *old =
        code == CUDA_SUCCESS ? rung_sim_object_of(RUNG_SIM_HANDLE_STREAM, stream) : NULL;
    if (code == CUDA_SUCCESS)
        code = old ? rung_sim_stream_end(old) : CUDA_ERROR_INVALID_HANDLE;
    if (code == CUDA_SUCCESS)
        code = context->dead;
    return rung_sim_leave(code);
}

/* The stream of a call that a captured stream refuses. */
CUresult rung_sim_enter_idle_stream(CUstream stream)
{
    struct rung_sim_context *context;
    CUresult code = rung_sim_enter(&context);
    if (code != CUDA_SUCCESS)
        return code;
    const struct rung_sim_stream *on = rung_sim_stream_of(context, stream);
    if (!on)
        return CUDA_ERROR_INVALID_HANDLE;
    return on->capture ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}

CUresult rung_sim_cuStreamSynchronize(CUstream stream)
{
    return rung_sim_leave(rung_sim_enter_idle_stream(stream));
}

/* --- events --------------------------------------------------------------------------------- */
CUresult rung_sim_cuEventCreate(CUevent *event, unsigned int flags)
{
    const unsigned known = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
    struct rung_sim_context *context;
    CUresult code = rung_sim_enter(&context);
    if (code == CUDA_SUCCESS && (!event || flags & ~known))
        code = CUDA_ERROR_INVALID_VALUE;
    struct rung_sim_stamp *new = code == CUDA_SUCCESS ? calloc(1, sizeof *new) : NULL;
    if (code == CUDA_SUCCESS &&
        (!new || !rung_sim_object_add(&new->object, RUNG_SIM_HANDLE_EVENT, context))) {
        free(new);
        code = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (code == CUDA_SUCCESS) {
        new->flags = flags;
        *event = new->object.handle;
    }
    return rung_sim_leave(code);
}

CUresult rung_sim_cuEventDestroy(CUevent event)
{
    struct rung_sim_context *context;
    CUresult code = rung_sim_enter_release(&context);
    struct rung_sim_stamp *old =
        code == CUDA_SUCCESS ? rung_sim_object_of(RUNG_SIM_HANDLE_EVENT, event) : NULL;
    if (code == CUDA_SUCCESS && !old)
        code = CUDA_ERROR_INVALID_HANDLE;
    if (code == CUDA_SUCCESS) {
        rung_sim_object_remove(&old->object);
        free(old);
        code = context->dead;
    }
    return rung_sim_leave(code);
}

CUresult rung_sim_cuEventRecord(CUevent event, CUstream stream)
{
    struct rung_sim_context *context;
    CUresult code = rung_sim_enter(&context);
    struct rung_sim_stream *on = code == CUDA_SUCCESS ? rung_sim_stream_of(context, stream) : NULL;
    if (code == CUDA_SUCCESS && (!on || !rung_sim_object_of(RUNG_SIM_HANDLE_EVENT, event)))
        code = CUDA_ERROR_INVALID_HANDLE;
    if (code == CUDA_SUCCESS) {
        struct rung_sim_work work = {.kind = RUNG_SIM_WORK_RECORD, .event = event};
        code = rung_sim_submit(context, on, &work);
    }
    return rung_sim_leave(code);
}

static CUresult enter_event(CUevent event)
{
    struct rung_sim_context *context;
    CUresult code = rung_sim_enter(&context);
    if (code == CUDA_SUCCESS && !rung_sim_object_of(RUNG_SIM_HANDLE_EVENT, event))
        code = CUDA_ERROR_INVALID_HANDLE;
    return code;
}

CUresult rung_sim_cuEventQuery(CUevent event)
{
    return rung_sim_leave(enter_event(event));
}

CUresult rung_sim_cuEventSynchronize(CUevent event)
{
    return rung_sim_leave(enter_event(event));
}

/* Simulated milliseconds: a million units of work are one. Deterministic, positive between two
 * events with work between them, and nothing to compare with a card. */
CUresult rung_sim_cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{
    CUresult code = enter_event(start);
    const struct rung_sim_stamp *from = NULL, *to = NULL;
    if (code == CUDA_SUCCESS) {
        from = rung_sim_object_of(RUNG_SIM_HANDLE_EVENT, start);
        to = rung_sim_object_of(RUNG_SIM_HANDLE_EVENT, end);
        if (!milliseconds)
            code = CUDA_ERROR_INVALID_VALUE;
        else if (!to || !from->recorded || !to->recorded ||
                 (from->flags | to->flags) & CU_EVENT_DISABLE_TIMING)
            code = CUDA_ERROR_INVALID_HANDLE;
    }
    if (code == CUDA_SUCCESS)
        *milliseconds = (float)(((double)to->clock - (double)from->clock) / 1e6);
    return rung_sim_leave(code);
}
