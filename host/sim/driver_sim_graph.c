/* Capture and replay: a graph is the list of what was recorded, an executable one a copy of it. */
#include <stdlib.h>
#include <string.h>

#include "sim/driver_state.h"

CUresult rung_sim_graph_record(struct rung_sim_graph *graph, struct rung_sim_work *work)
{
    if (graph->n_works == graph->room) {
        size_t room = graph->room ? graph->room * 2 : 16;
        struct rung_sim_work *works = realloc(graph->works, room * sizeof *works);
        if (!works) {
            free(work->params);
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        graph->works = works;
        graph->room = room;
    }
    graph->works[graph->n_works++] = *work;
    return CUDA_SUCCESS;
}

void rung_sim_graph_free(struct rung_sim_graph *graph)
{
    for (size_t i = 0; i < graph->n_works; i++)
        free(graph->works[i].params);
    free(graph->works);
    if (graph->object.handle)
        rung_sim_object_remove(&graph->object);
    free(graph);
}

static CUresult copy_works(struct rung_sim_graph *to, const struct rung_sim_graph *from)
{
    for (size_t i = 0; i < from->n_works; i++) {
        struct rung_sim_work work = from->works[i];
        const struct rung_sim_function *function =
            rung_sim_object_of(RUNG_SIM_HANDLE_FUNCTION, work.function);
        if (work.params) {
            if (!function)
                return CUDA_ERROR_INVALID_HANDLE;
            work.params = malloc(function->facts.param_bytes + 1);
            if (!work.params)
                return CUDA_ERROR_OUT_OF_MEMORY;
            memcpy(work.params, from->works[i].params, function->facts.param_bytes);
        }
        CUresult code = rung_sim_graph_record(to, &work);
        if (code != CUDA_SUCCESS)
            return code;
    }
    return CUDA_SUCCESS;
}

CUresult rung_sim_cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode)
{
    struct rung_sim_context *context;
    CUresult code = rung_sim_enter(&context);
    struct rung_sim_stream *on = code == CUDA_SUCCESS ? rung_sim_stream_of(context, stream) : NULL;
    if (code == CUDA_SUCCESS && !on)
        code = CUDA_ERROR_INVALID_HANDLE;
    else if (code == CUDA_SUCCESS && (unsigned)mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        code = CUDA_ERROR_INVALID_VALUE;
    else if (code == CUDA_SUCCESS && on == &context->null_stream)
        code = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    else if (code == CUDA_SUCCESS && on->capture)
        code = CUDA_ERROR_ILLEGAL_STATE;
    if (code == CUDA_SUCCESS) {
        on->capture = calloc(1, sizeof *on->capture);
        if (!on->capture)
            code = CUDA_ERROR_OUT_OF_MEMORY;
    }
    return rung_sim_leave(code);
}

CUresult rung_sim_cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
    struct rung_sim_context *context;
    CUresult code = rung_sim_enter(&context);
    struct rung_sim_stream *on = code == CUDA_SUCCESS ? rung_sim_stream_of(context, stream) : NULL;
    if (code == CUDA_SUCCESS && !graph)
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS && !on)
        code = CUDA_ERROR_INVALID_HANDLE;
    if (code == CUDA_SUCCESS && !on->capture)
        code = CUDA_ERROR_ILLEGAL_STATE;
    if (code != CUDA_SUCCESS)
        return rung_sim_leave(code);
    struct rung_sim_graph *captured = on->capture;
    on->capture = NULL;
    if (rung_sim_object_add(&captured->object, RUNG_SIM_HANDLE_GRAPH, context)) {
        *graph = captured->object.handle;
    } else {
        rung_sim_graph_free(captured);
        code = CUDA_ERROR_OUT_OF_MEMORY;
    }
    return rung_sim_leave(code);
}

CUresult rung_sim_cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph,
                                              unsigned long long flags)
{
    struct rung_sim_context *context;
    CUresult code = rung_sim_enter(&context);
    const struct rung_sim_graph *from =
        code == CUDA_SUCCESS ? rung_sim_object_of(RUNG_SIM_HANDLE_GRAPH, graph) : NULL;
    if (code == CUDA_SUCCESS && (!exec || !from || flags >= 16))
        code = CUDA_ERROR_INVALID_VALUE;
    if (code != CUDA_SUCCESS)
        return rung_sim_leave(code);
    struct rung_sim_graph *new = calloc(1, sizeof *new);
    code = new ? copy_works(new, from) : CUDA_ERROR_OUT_OF_MEMORY;
    if (code == CUDA_SUCCESS &&
        !rung_sim_object_add(&new->object, RUNG_SIM_HANDLE_GRAPH_EXEC, context))
        code = CUDA_ERROR_OUT_OF_MEMORY;
    if (code == CUDA_SUCCESS)
        *exec = new->object.handle;
    else if (new)
        rung_sim_graph_free(new);
    return rung_sim_leave(code);
}

CUresult rung_sim_cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
    struct rung_sim_context *context;
    CUresult code = rung_sim_enter(&context);
    if (code != CUDA_SUCCESS)
        return rung_sim_leave(code);
    const struct rung_sim_graph *graph = rung_sim_object_of(RUNG_SIM_HANDLE_GRAPH_EXEC, exec);
    const struct rung_sim_stream *on = rung_sim_stream_of(context, stream);
    if (!graph || !on)
        code = CUDA_ERROR_INVALID_HANDLE;
    else if (on->capture)
        code = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    for (size_t i = 0; code == CUDA_SUCCESS && !context->dead && i < graph->n_works; i++)
        code = rung_sim_work_run(context, &graph->works[i]);
    return rung_sim_leave(code);
}

static CUresult end_graph(enum rung_sim_handle_kind kind, void *handle)
{
    struct rung_sim_context *context;
    CUresult code = rung_sim_enter_release(&context);
    struct rung_sim_graph *old = code == CUDA_SUCCESS ? rung_sim_object_of(kind, handle) : NULL;
    if (code == CUDA_SUCCESS && !old)
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS) {
        rung_sim_graph_free(old);
        code = context->dead;
    }
    return rung_sim_leave(code);
}

CUresult rung_sim_cuGraphExecDestroy(CUgraphExec exec)
{
    return end_graph(RUNG_SIM_HANDLE_GRAPH_EXEC, exec);
}

CUresult rung_sim_cuGraphDestroy(CUgraph graph)
{
    return end_graph(RUNG_SIM_HANDLE_GRAPH, graph);
}
