/* Owns the opening and closing of what a run needs. */
#include "cli/stage.h"

#include <stdlib.h>
#include <string.h>

#include "sim/sim.h"

/* What was typed, before anything is opened. */
static enum rung_status read_selection(struct rung_stage *stage, enum rung_format *format,
                                       const struct rung_selection *selection, const char *command,
                                       struct rung_error *err)
{
    enum rung_status status = rung_format_parse(format, selection->format, err);
    if (status == RUNG_OK)
        status = rung_selection_image(&stage->image, selection, err);
    if (status == RUNG_OK)
        status = rung_ladder_load(&stage->ladder, &stage->arena, err);
    if (status == RUNG_OK)
        status = rung_selection_expand(&stage->expanded, selection, &stage->ladder, err);
    if (status == RUNG_OK)
        rung_expanded_report(&stage->expanded, command, stderr);
    return status;
}

static enum rung_status set_checks(struct rung_stage *stage, const struct rung_selection *selection,
                                   struct rung_error *err)
{
    const struct rung_sim_control *sim = stage->device.driver.sim;
    if (!sim && selection->check)
        return rung_fail(err, RUNG_USAGE,
                         "--check: only the simulator has checks; add --device sim");
    if (!sim)
        return RUNG_OK;
    const struct rung_sim_options options = {.check = selection->check, .seed = selection->seed};
    sim->set_options(&options);
    return RUNG_OK;
}

static enum rung_status open_device(struct rung_stage *stage,
                                    const struct rung_selection *selection, struct rung_error *err)
{
    enum rung_status status =
        rung_device_open(&stage->device, selection->device ? selection->device : "auto",
                         selection->driver, stage->no_card, err);
    return status == RUNG_OK ? set_checks(stage, selection, err) : status;
}

enum rung_status rung_stage_reopen_device(struct rung_stage *stage,
                                          const struct rung_selection *selection,
                                          struct rung_error *err)
{
    rung_device_close(&stage->device);
    return open_device(stage, selection, err);
}

/* No compiler is no failure yet: images may have been made ahead of time. */
static void open_compiler(struct rung_stage *stage, const struct rung_selection *selection,
                          const char *command)
{
    char why[256] = "";
    if (rung_nvrtc_open(&stage->nvrtc, selection->nvrtc, &stage->no_nvrtc) != RUNG_OK)
        stage->nvrtc = NULL;
    rung_cache_open(&stage->cache, NULL, why);
    if (why[0])
        fprintf(stderr, "rung %s: no compile cache: %s\n", command, why);
    stage->images = (struct rung_image_source){
        .ladder = &stage->ladder,
        .nvrtc = stage->nvrtc,
        .nvrtc_why = stage->no_nvrtc.text,
        .cache = stage->cache,
        .ptx_only = stage->device.driver.kind == RUNG_DRIVER_SIM,
    };
}

static enum rung_status choose_targets(struct rung_stage *stage,
                                       const struct rung_selection *selection,
                                       struct rung_error *err)
{
    unsigned supported[RUNG_TARGETS_MAX];
    size_t n = stage->nvrtc ? rung_nvrtc_targets(stage->nvrtc, supported) : 0;
    bool sim = stage->device.driver.kind == RUNG_DRIVER_SIM;
    return rung_selection_targets(&stage->targets, &stage->n_targets, selection,
                                  sim ? 75 : stage->device.cc, supported, n, err);
}

enum rung_status rung_stage_open(struct rung_stage *out, const struct rung_selection *selection,
                                 const char *command, struct rung_error *err)
{
    *out = (struct rung_stage){0};
    enum rung_format format = RUNG_FORMAT_TABLE;
    rung_progress_begin(&out->progress);
    enum rung_status status = read_selection(out, &format, selection, command, err);
    if (status == RUNG_OK)
        status = rung_output_open(&out->output, format, selection->output, err);
    if (status == RUNG_OK) /* before the driver makes threads of its own */
        status = rung_interrupt_watch(&out->interrupt, err);
    if (status == RUNG_OK)
        status = open_device(out, selection, err);
    if (status == RUNG_OK) {
        open_compiler(out, selection, command);
        status = choose_targets(out, selection, err);
    }
    if (status != RUNG_OK)
        rung_stage_close(out, false, NULL);
    return status;
}

enum rung_status rung_stage_close(struct rung_stage *stage, bool keep, struct rung_error *err)
{
    rung_progress_clear(&stage->progress);
    enum rung_status status = rung_output_close(&stage->output, keep, err);
    free(stage->targets);
    rung_cache_close(stage->cache);
    rung_nvrtc_close(stage->nvrtc);
    rung_device_close(&stage->device);
    rung_interrupt_stop(stage->interrupt);
    rung_expanded_release(&stage->expanded);
    rung_arena_release(&stage->arena);
    *stage = (struct rung_stage){0};
    return status;
}

void rung_stage_progress(void *context, const char *text)
{
    struct rung_stage *stage = context;
    rung_progress_show(&stage->progress, text);
}

bool rung_stage_interrupted(void *context)
{
    const struct rung_stage *stage = context;
    return rung_interrupted(stage->interrupt);
}

void rung_stage_print(const struct rung_stage *stage, FILE *to)
{
    const struct rung_device *device = &stage->device;
    fprintf(to, "%s (compute capability %u.%u), %d SMs, warp size %d\n", device->name,
            device->cc / 10, device->cc % 10, device->sm_count, device->warp_size);
    fprintf(to, "Shared memory per block: %llu bytes\n",
            (unsigned long long)device->shared_bytes_per_block);
    if (device->driver.kind == RUNG_DRIVER_CUDA)
        fprintf(to, "Driver for CUDA %d.%d, ", device->driver_version / 1000,
                device->driver_version % 1000 / 10);
    if (stage->nvrtc)
        fprintf(to, "NVRTC %s\n", rung_nvrtc_version(stage->nvrtc));
    else
        fputs("no NVRTC: images made ahead of time\n", to);
    if (stage->no_card[0])
        fprintf(to, "No GPU is used, and nothing is timed: %s\n", stage->no_card);
}
