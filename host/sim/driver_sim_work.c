/* Work: what a stream does, run at once or recorded. A simulated stream is always idle when a call
 * returns; what a kernel did wrong is still told later, by the next call, as a card does it. */
#include <stdlib.h>
#include <string.h>

#include "sim/driver_state.h"

/* Where a transfer reaches the device, in host bytes; NULL if outside one allocation. */
static unsigned char *device_bytes(uint64_t address, uint64_t bytes)
{
    return rung_sim_memory_at(&rung_sim_process.memory, address, bytes);
}

static CUresult copy(void *to, const void *from, uint64_t bytes)
{
    if (!to || !from)
        return CUDA_ERROR_INVALID_VALUE;
    memmove(to, from, bytes);
    return CUDA_SUCCESS;
}

static CUresult run_set(const struct rung_sim_work *work)
{
    unsigned char *to = device_bytes(work->to, work->bytes);
    if (!to || work->to % work->width != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (work->width == 1) {
        memset(to, (int)(work->value & 0xff), work->bytes);
        return CUDA_SUCCESS;
    }
    for (uint64_t i = 0; i < work->bytes; i += work->width)
        memcpy(to + i, &work->value, work->width); /* little-endian, as the device is */
    return CUDA_SUCCESS;
}

static CUresult run_launch(struct rung_sim_context *context, const struct rung_sim_work *work)
{
    struct rung_sim_process *process = &rung_sim_process;
    const struct rung_sim_function *function =
        rung_sim_object_of(RUNG_SIM_HANDLE_FUNCTION, work->function);
    if (!function)
        return CUDA_ERROR_INVALID_HANDLE;
    struct rung_sim_launch launch = {
        .kernel = function->kernel,
        .dynamic_bytes = work->dynamic_bytes,
        .params = work->params,
        .memory = &process->memory,
        .options = process->options,
    };
    memcpy(launch.grid, work->grid, sizeof launch.grid);
    memcpy(launch.block, work->block, sizeof launch.block);
    uint64_t before = process->counters.warp_instructions;
    char why[256] = "";
    int code = rung_sim_run(&process->counters, &process->findings, &launch, why);
    process->clock += process->counters.warp_instructions - before;
    if (code != 0) {
        context->dead = (CUresult)code;
        memcpy(process->fault, why, sizeof process->fault);
    }
    return CUDA_SUCCESS;
}

CUresult rung_sim_work_run(struct rung_sim_context *context, const struct rung_sim_work *work)
{
    struct rung_sim_stamp *event;
    rung_sim_process.clock += work->bytes;
    switch (work->kind) {
    case RUNG_SIM_WORK_LAUNCH:
        return run_launch(context, work);
    case RUNG_SIM_WORK_COPY_TO_DEVICE:
        return copy(device_bytes(work->to, work->bytes), (const void *)(uintptr_t)work->from,
                    work->bytes);
    case RUNG_SIM_WORK_COPY_TO_HOST:
        return copy((void *)(uintptr_t)work->to, device_bytes(work->from, work->bytes),
                    work->bytes);
    case RUNG_SIM_WORK_COPY_ON_DEVICE:
        return copy(device_bytes(work->to, work->bytes), device_bytes(work->from, work->bytes),
                    work->bytes);
    case RUNG_SIM_WORK_SET:
        return run_set(work);
    case RUNG_SIM_WORK_RECORD:
        event = rung_sim_object_of(RUNG_SIM_HANDLE_EVENT, work->event);
        if (!event)
            return CUDA_ERROR_INVALID_HANDLE;
        event->recorded = true;
        event->clock = rung_sim_process.clock;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult rung_sim_submit(struct rung_sim_context *context, struct rung_sim_stream *stream,
                         struct rung_sim_work *work)
{
    if (stream->capture)
        return rung_sim_graph_record(stream->capture, work);
    CUresult code = rung_sim_work_run(context, work);
    free(work->params);
    work->params = NULL;
    return code;
}
