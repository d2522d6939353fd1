/* One launch of one block: under an observer where the driver has one, else of the kernel that
 * writes down what it does. */
#include "trace/capture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/module.h"
#include "nvrtc/cache.h"
#include "sim/sim.h"
#include "trace/log.h"
#include "trace/traced.h"

#define OLDEST_TARGET 75
#define FINDINGS 64

/* Everything that a capture holds, released at one place. */
struct capture {
    const struct rung_device *device;
    const struct rung_driver *driver; /* the device's */
    const struct rung_trace_request *request;
    bool traced; /* the kernel writes down what it does */
    struct rung_text source;
    char symbol[RUNG_ID_SIZE];
    const char *ptx; /* in the arena */
    struct rung_module kernel;
    CUdeviceptr inputs[2], output, records;
    struct rung_trace_log log;
    struct rung_error stopped;       /* why the launch ended early, if it did */
    struct rung_sim_options options; /* as they were before */
    bool observing;
};

void rung_trace_capacity(uint64_t *usual, uint64_t *most, const struct rung_template *tpl,
                         const struct rung_config *config)
{
    struct rung_shape shape;
    rung_template_shape(&shape, tpl, config);
    uint64_t per_thread = shape.elements_per_thread;
    if (shape.grid_rule == RUNG_GRID_FIXED && per_thread < 2)
        per_thread = 2;
    *usual = config->block * per_thread;
    *most = shape.grid_rule == RUNG_GRID_FIXED ? config->block * RUNG_TRACE_ELEMENTS_PER_THREAD
                                               : *usual;
}

/* --- code ------------------------------------------------------------------------------------ */

unsigned rung_trace_target(const struct rung_device *device, const struct rung_nvrtc *nvrtc)
{
    unsigned targets[RUNG_TARGETS_MAX], target = OLDEST_TARGET;
    size_t n_targets = nvrtc && !device->driver.sim ? rung_nvrtc_targets(nvrtc, targets) : 0;
    for (size_t i = 0; i < n_targets; i++)
        if (targets[i] <= device->cc)
            target = targets[i];
    return target;
}

static unsigned target_of(const struct capture *capture, const struct rung_nvrtc *nvrtc)
{
    unsigned asked = capture->request->target;
    return asked ? asked : rung_trace_target(capture->device, nvrtc);
}

static enum rung_status keep_ptx(struct capture *capture, struct rung_arena *arena, const char *ptx,
                                 size_t length, struct rung_error *err)
{
    capture->ptx = rung_arena_copy(arena, ptx, length);
    return capture->ptx ? RUNG_OK : rung_fail(err, RUNG_MEMORY, "out of memory for PTX");
}

static enum rung_status compile(struct rung_compiled *out, const struct capture *capture,
                                const char *source, const char *architecture,
                                const struct rung_image_source *images, struct rung_error *err)
{
    char name[RUNG_ID_SIZE + 8], target[32];
    snprintf(name, sizeof name, "%s.cu", capture->symbol);
    snprintf(target, sizeof target, "%s_%u", architecture, target_of(capture, images->nvrtc));
    const char *const options[] = {"--std=c++17", "--generate-line-info"};
    struct rung_compile_job job = {
        .source = source, .name = name, .target = target, .options = options, .n_options = 2};
    return rung_cached_compile(out, images->cache, images->nvrtc, &job, err);
}

static enum rung_status compile_kernel(struct capture *capture, struct rung_arena *arena,
                                       const struct rung_image_source *images,
                                       struct rung_error *err)
{
    struct rung_compiled compiled = {0};
    enum rung_status status =
        compile(&compiled, capture, rung_text_string(&capture->source), "compute", images, err);
    if (status == RUNG_OK)
        status = keep_ptx(capture, arena, compiled.ptx, compiled.ptx_length, err);
    rung_compiled_release(&compiled);
    return status;
}

static enum rung_status find_image(struct capture *capture, struct rung_arena *arena,
                                   const struct rung_image_source *images, struct rung_error *err)
{
    struct rung_image image = {0};
    enum rung_status status = RUNG_OK;
    struct rung_image_source ptx_only = *images;
    ptx_only.ptx_only = true;
    if (capture->request->control)
        return rung_fail(err, RUNG_UNABLE, "%s needs NVRTC: %s", capture->request->id,
                         images->nvrtc_why ? images->nvrtc_why : "there is none");
    rung_images_get(&image, &status, err, &ptx_only, &capture->request->config, 1,
                    target_of(capture, NULL));
    if (status == RUNG_OK)
        status = keep_ptx(capture, arena, image.ptx, image.ptx_length, err);
    rung_image_release(&image);
    return status;
}

static enum rung_status load_kernel(struct capture *capture, const char *ptx, size_t ptx_length,
                                    const struct rung_compiled *compiled, struct rung_error *err)
{
    /* Both are borrowed, and only looked at. */
    struct rung_image image = {.ptx = (char *)ptx, .ptx_length = ptx_length};
    struct rung_image_facts facts;
    enum rung_status status = RUNG_OK;
    if (compiled && compiled->cubin) {
        image.cubin = compiled->cubin;
        image.cubin_length = compiled->cubin_length;
        status = rung_image_check(&facts, image.cubin, image.cubin_length, err);
        image.cubin_target = status == RUNG_OK ? facts.target : 0;
    }
    if (status == RUNG_OK)
        status = rung_module_load(&capture->kernel, capture->device, &image,
                                  capture->request->image, capture->symbol, err);
    return status;
}

static enum rung_status load_traced(struct capture *capture, const struct rung_image_source *images,
                                    struct rung_error *err)
{
    struct rung_text source = {0};
    struct rung_compiled compiled = {0};
    enum rung_status status =
        rung_template_emit_traced(&source, capture->request->tpl, &capture->request->config, err);
    if (status == RUNG_OK) /* the simulator has no use for a cubin */
        status = compile(&compiled, capture, rung_text_string(&source),
                         capture->driver->sim ? "compute" : "sm", images, err);
    if (status == RUNG_OK)
        status = load_kernel(capture, compiled.ptx, compiled.ptx_length, &compiled, err);
    rung_compiled_release(&compiled);
    rung_text_release(&source);
    return status;
}

static enum rung_status load_code(struct capture *capture, struct rung_arena *arena,
                                  const struct rung_image_source *images, struct rung_error *err)
{
    if (capture->traced && !images->nvrtc)
        return rung_fail(err, RUNG_UNABLE, "a trace on a card needs NVRTC: %s",
                         images->nvrtc_why ? images->nvrtc_why : "there is none");
    rung_config_symbol(&capture->request->config, capture->symbol);
    enum rung_status status =
        rung_template_emit(&capture->source, capture->request->tpl, &capture->request->config, err);
    if (status == RUNG_OK)
        status = images->nvrtc ? compile_kernel(capture, arena, images, err)
                               : find_image(capture, arena, images, err);
    if (status != RUNG_OK)
        return status;
    return capture->traced ? load_traced(capture, images, err)
                           : load_kernel(capture, capture->ptx, strlen(capture->ptx), NULL, err);
}

/* --- data ------------------------------------------------------------------------------------ */

static void encode(void *to, double value, enum rung_type type)
{
    if (type == RUNG_TYPE_F64) {
        memcpy(to, &value, sizeof value);
    } else if (type == RUNG_TYPE_F32) {
        float narrow = (float)value;
        memcpy(to, &narrow, sizeof narrow);
    } else {
        int32_t whole = (int32_t)value;
        memcpy(to, &whole, sizeof whole);
    }
}

static enum rung_status load_input(struct capture *capture, unsigned vector, struct rung_error *err)
{
    const struct rung_trace_request *request = capture->request;
    size_t size = rung_type_size(request->config.type);
    unsigned char *bytes = malloc(request->n * size + 1);
    if (!bytes)
        return rung_fail(err, RUNG_MEMORY, "out of memory for the input");
    for (uint64_t i = 0; i < request->n; i++)
        encode(bytes + i * size, request->inputs[vector][i], request->config.type);
    enum rung_status status = RUNG_OK;
    /* An empty input still has an address. */
    RUNG_CU(capture->driver, done, cuMemAlloc, &capture->inputs[vector],
            request->n ? request->n * size : size);
    if (request->n)
        RUNG_CU(capture->driver, done, cuMemcpyHtoD, capture->inputs[vector], bytes,
                request->n * size);
done:
    free(bytes);
    return status;
}

static size_t log_bytes(const struct capture *capture)
{
    return (size_t)capture->request->config.block * RUNG_TRACED_ROOM *
           sizeof(struct rung_traced_record);
}

static enum rung_status load_data(struct capture *capture, struct rung_error *err)
{
    size_t size = rung_type_size(capture->request->config.type);
    enum rung_status status = RUNG_OK;
    for (unsigned vector = 0; vector < 2 && capture->request->inputs[vector]; vector++)
        if ((status = load_input(capture, vector, err)) != RUNG_OK)
            goto done;
    RUNG_CU(capture->driver, done, cuMemAlloc, &capture->output, size);
    RUNG_CU(capture->driver, done, cuMemsetD8, capture->output, 0xFF, size);
    if (capture->traced) {
        RUNG_CU(capture->driver, done, cuMemAlloc, &capture->records, log_bytes(capture));
        RUNG_CU(capture->driver, done, cuMemsetD8, capture->records, 0, log_bytes(capture));
    }
done:
    return status;
}

/* --- the launch ------------------------------------------------------------------------------ */

static void observe(struct capture *capture)
{
    const struct rung_sim_control *sim = capture->driver->sim;
    sim->get_options(&capture->options);
    struct rung_sim_options options = {.check = true,
                                       .seed = capture->request->schedule_seed,
                                       .threads = 1,
                                       .observer = rung_trace_log_observe,
                                       .observer_context = &capture->log};
    sim->reset();
    sim->set_options(&options);
    capture->observing = true;
}

static enum rung_status launch(struct capture *capture, struct rung_error *err)
{
    struct rung_traced_argument log = {.records = capture->records, .room = RUNG_TRACED_ROOM};
    unsigned long long n = capture->request->n;
    unsigned step = 2;
    struct rung_shape shape;
    rung_template_shape(&shape, capture->request->tpl, &capture->request->config);
    void *params[6];
    unsigned count = 0;
    for (unsigned vector = 0; vector < 2 && capture->request->inputs[vector]; vector++)
        params[count++] = &capture->inputs[vector];
    params[count++] = &capture->output;
    params[count++] = &n;
    if (shape.takes_step)
        params[count++] = &step;
    if (capture->traced)
        params[count++] = &log;
    enum rung_status status = RUNG_OK;
    RUNG_CU(capture->driver, done, cuLaunchKernel, capture->kernel.function, 1, 1, 1,
            capture->request->config.block, 1, 1, 0, capture->device->stream, params, NULL);
    RUNG_CU(capture->driver, done, cuStreamSynchronize, capture->device->stream);
done:
    return status;
}

static const char *finding_word(enum rung_sim_finding_kind kind)
{
    switch (kind) {
    case RUNG_SIM_RACE:
        return "race";
    case RUNG_SIM_BARRIER:
        return "barrier";
    case RUNG_SIM_BOUNDS:
        return "bounds";
    case RUNG_SIM_MISALIGNED:
        return "misaligned";
    case RUNG_SIM_UNINITIALISED:
        return "uninitialised";
    case RUNG_SIM_SHUFFLE:
        return "shuffle";
    case RUNG_SIM_TIMEOUT:
        return "timeout";
    }
    return "finding";
}

/* A launch that was stopped for no finding is one itself. */
static enum rung_status add_stop(struct rung_trace *trace, struct rung_arena *arena,
                                 const struct capture *capture, struct rung_error *err)
{
    if (capture->stopped.status == RUNG_OK || capture->driver->sim->read_findings(NULL, 0) > 0)
        return RUNG_OK;
    struct rung_trace_finding finding = {.kind = "stopped", .text = capture->stopped.text};
    return rung_trace_add_finding(trace, arena, &finding, err);
}

static enum rung_status add_findings(struct rung_trace *trace, struct rung_arena *arena,
                                     const struct capture *capture, struct rung_error *err)
{
    struct rung_sim_finding *found = calloc(FINDINGS, sizeof *found);
    if (!found)
        return rung_fail(err, RUNG_MEMORY, "out of memory for findings");
    uint64_t count = capture->driver->sim->read_findings(found, FINDINGS);
    enum rung_status status = RUNG_OK;
    for (uint64_t i = 0; i < count && i < FINDINGS && status == RUNG_OK; i++) {
        struct rung_trace_finding finding = {.kind = finding_word(found[i].kind),
                                             .warp = found[i].warp,
                                             .lanes = found[i].lanes,
                                             .line = found[i].line,
                                             .other_line = found[i].other_line,
                                             .text = found[i].text};
        status = rung_trace_add_finding(trace, arena, &finding, err);
    }
    if (count > FINDINGS)
        trace->n_findings_all += count - FINDINGS;
    free(found);
    return status == RUNG_OK ? add_stop(trace, arena, capture, err) : status;
}

/* --- all of it ------------------------------------------------------------------------------- */

static enum rung_status build(struct rung_trace *out, struct rung_arena *arena,
                              const struct capture *capture, struct rung_error *err)
{
    const struct rung_trace_request *request = capture->request;
    const char *where = capture->device->name;
    struct rung_model model;
    struct rung_error no_model = {0};
    bool has_model = !request->control &&
                     rung_model_block(&model, request->tpl, &request->config, &no_model) == RUNG_OK;
    const char *source = rung_text_string(&capture->source);
    char name[RUNG_ID_SIZE + 8];
    snprintf(name, sizeof name, "%s.cu", capture->symbol);
    struct rung_trace_subject subject = {.config = request->config,
                                         .id = request->id,
                                         .title = request->title,
                                         .control = request->control,
                                         .source = rung_arena_copy(arena, source, strlen(source)),
                                         .source_name = rung_arena_copy(arena, name, strlen(name)),
                                         .ptx = capture->ptx,
                                         .where = rung_arena_copy(arena, where, strlen(where)),
                                         .n = request->n,
                                         .output_address = capture->output,
                                         .model = has_model ? &model : NULL};
    for (int i = 0; i < 2; i++) {
        subject.input_names[i] = request->input_names[i];
        subject.inputs[i] = request->inputs[i];
        subject.input_addresses[i] = capture->inputs[i];
    }
    if (!subject.source || !subject.source_name || !subject.where)
        return rung_fail(err, RUNG_MEMORY, "out of memory for the trace of %s", request->id);
    enum rung_status status = rung_trace_build(out, arena, &capture->log, &subject, err);
    memcpy(out->image, capture->kernel.image, sizeof out->image);
    return status == RUNG_OK && capture->observing ? add_findings(out, arena, capture, err)
                                                   : status;
}

static void release(struct capture *capture)
{
    if (capture->observing)
        capture->driver->sim->set_options(&capture->options);
    const CUdeviceptr buffers[] = {capture->inputs[0], capture->inputs[1], capture->output,
                                   capture->records};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        if (buffers[i])
            capture->driver->cuMemFree(buffers[i]);
    rung_module_release(&capture->kernel);
    rung_trace_log_release(&capture->log);
    rung_text_release(&capture->source);
}

/* A launch that fails half-way is no failure here: what was seen until then is worth showing. */
static enum rung_status run_observed(struct capture *capture, struct rung_error *err)
{
    observe(capture);
    enum rung_status status = launch(capture, &capture->stopped);
    if (status == RUNG_OK || capture->log.n_records > 0)
        return RUNG_OK;
    return rung_fail_native(err, status, capture->stopped.native, "%s", capture->stopped.text);
}

static enum rung_status run_traced(struct capture *capture, struct rung_error *err)
{
    struct rung_traced_record *records = malloc(log_bytes(capture));
    if (!records)
        return rung_fail(err, RUNG_MEMORY, "out of memory for a trace");
    enum rung_status status = launch(capture, err);
    if (status == RUNG_OK)
        RUNG_CU(capture->driver, done, cuMemcpyDtoH, records, capture->records, log_bytes(capture));
    if (status == RUNG_OK)
        status = rung_traced_read(&capture->log, records, &capture->request->config, err);
done:
    free(records);
    return status;
}

enum rung_status rung_trace_capture(struct rung_trace *out, struct rung_arena *arena,
                                    const struct rung_device *device,
                                    const struct rung_image_source *images,
                                    const struct rung_trace_request *request,
                                    struct rung_error *err)
{
    struct capture capture = {.device = device,
                              .driver = &device->driver,
                              .request = request,
                              .traced = request->traced || !device->driver.sim};
    if (capture.traced && request->control)
        return rung_fail(err, RUNG_UNABLE,
                         "%s is wrong on purpose: the simulator shows it, --device sim",
                         request->id);
    enum rung_status status = load_code(&capture, arena, images, err);
    if (status == RUNG_OK)
        status = load_data(&capture, err);
    if (status == RUNG_OK)
        status = rung_trace_log_init(&capture.log, capture.ptx, err);
    if (status == RUNG_OK)
        status = capture.traced ? run_traced(&capture, err) : run_observed(&capture, err);
    if (status == RUNG_OK)
        status = build(out, arena, &capture, err);
    release(&capture);
    return status;
}
