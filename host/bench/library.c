/* Owns what is tried with librung before its time is believed. */
#include "bench/library.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/pattern.h"
#include "sim/sim.h"
#include "sum/open.h"

static const enum rung_sum_element elements[] = {
    [RUNG_TYPE_F32] = RUNG_SUM_F32,
    [RUNG_TYPE_F64] = RUNG_SUM_F64,
    [RUNG_TYPE_I32] = RUNG_SUM_I32,
};

#define ALL_PATTERNS_MAX ((uint64_t)1 << 26) /* beyond, one upload takes a second */

struct trial {
    const struct rung_library_request *request;
    struct rung_library_row *row;
    struct rung_sum *sum;
    struct rung_workspace workspace;
    struct rung_expected expected; /* of what is uploaded */
};

static enum rung_status told(const struct rung_sum *sum, enum rung_sum_code code,
                             struct rung_error *err)
{
    return code == RUNG_SUM_OK ? RUNG_OK
                               : rung_fail(err, code == RUNG_SUM_MEMORY ? RUNG_MEMORY : RUNG_DRIVER,
                                           "librung: %s", rung_sum_message(sum));
}

static const void *input(const struct rung_buffer *buffer, uint64_t bytes_past)
{
    return buffer->data ? (const char *)(uintptr_t)buffer->data + bytes_past : NULL;
}

/* The value of n elements from the place on that lies so many bytes past the first. */
static enum rung_status put_on(const struct trial *trial, CUdeviceptr out, uint64_t bytes_past,
                               uint64_t n, struct rung_error *err)
{
    const void *x = input(&trial->workspace.a, bytes_past);
    const void *y = input(&trial->workspace.b, bytes_past);
    void *to = (void *)(uintptr_t)out;
    return told(trial->sum,
                trial->request->op == RUNG_OP_DOT ? rung_sum_enqueue_dot(trial->sum, to, x, y, n)
                                                  : rung_sum_enqueue(trial->sum, to, x, n),
                err);
}

static double bound_of(const struct trial *trial)
{
    struct rung_sum_shape shape;
    struct rung_sum_call call;
    double eps = trial->request->type == RUNG_TYPE_F64 ? 0x1p-53 : 0x1p-24;
    if (trial->expected.exact)
        return 0;
    rung_sum_describe(&shape, &call, trial->sum, input(&trial->workspace.a, 0),
                      input(&trial->workspace.b, 0), trial->request->n);
    double k = (double)rung_sum_depth(&shape, &call) * eps;
    return k / (1 - k) * trial->expected.magnitude;
}

/* What was written outside the result is a row that is wrong, as in the ladder. */
static enum rung_status check_guards(struct trial *trial, const char *what, struct rung_error *err)
{
    struct rung_library_row *row = trial->row;
    struct rung_error guards = {0};
    enum rung_status status = rung_workspace_check_guards(&trial->workspace, &guards);
    if (status != RUNG_WRONG)
        return status == RUNG_OK ? status
                                 : rung_fail_native(err, status, guards.native, "%s", guards.text);
    row->status = RUNG_ROW_WRONG;
    snprintf(row->reason, sizeof row->reason, "n = %llu, %s: %.180s",
             (unsigned long long)trial->request->n, what, guards.text);
    return RUNG_OK;
}

/* Waits for the value, and holds it and the memory round it against what must be there. `what`:
 * the pattern, in words. */
static enum rung_status check_value(struct trial *trial, const char *what, struct rung_error *err)
{
    const struct rung_device *device = trial->workspace.device;
    struct rung_library_row *row = trial->row;
    double sum = 0, expected = trial->expected.value;
    enum rung_status status = RUNG_OK;
    RUNG_CU(&device->driver, failed, cuStreamSynchronize, device->stream);
    status =
        rung_value_read(&sum, device, trial->workspace.partials[0].data, trial->request->type, err);
    if (status == RUNG_OK)
        status = check_guards(trial, what, err);
    if (status != RUNG_OK)
        return status;
    bool good = fabs(sum - expected) <= bound_of(trial);
    row->runs++;
    if (row->runs == 1 || !good) {
        row->sum = sum;
        row->expected = expected;
    }
    if (!good) {
        row->status = RUNG_ROW_WRONG;
        snprintf(row->reason, sizeof row->reason, "n = %llu, %s: %.9g instead of %.9g",
                 (unsigned long long)trial->request->n, what, sum, expected);
    }
failed:
    return status;
}

static enum rung_status try_pattern(struct trial *trial, const struct rung_pattern *pattern,
                                    struct rung_error *err)
{
    char word[48];
    rung_pattern_word(pattern, word);
    enum rung_status status =
        rung_pattern_upload(&trial->expected, &trial->workspace, pattern, err);
    if (status == RUNG_OK)
        status = rung_workspace_poison(&trial->workspace, err);
    if (status == RUNG_OK)
        status = put_on(trial, trial->workspace.partials[0].data, 0, trial->request->n, err);
    return status == RUNG_OK ? check_value(trial, word, err) : status;
}

static bool interrupted(const struct trial *trial)
{
    return trial->request->interrupted && trial->request->interrupted(trial->request->context);
}

/* What the simulator's checks found, where they are on. */
static void ask_checks(const struct trial *trial)
{
    const struct rung_sim_control *sim = trial->workspace.device->driver.sim;
    struct rung_library_row *row = trial->row;
    struct rung_sim_finding finding;
    if (!sim || row->status != RUNG_ROW_OK || sim->read_findings(&finding, 1) == 0)
        return;
    row->status = RUNG_ROW_WRONG;
    snprintf(row->reason, sizeof row->reason, "n = %llu: %.200s",
             (unsigned long long)trial->request->n, finding.text);
}

/* The last block waits for those before it, so that the simulator must start them in order: with a
 * seed of its own it would run one block after the other in any, and for ever. */
static void start_in_order(const struct trial *trial)
{
    const struct rung_sim_control *sim = trial->workspace.device->driver.sim;
    struct rung_sim_options options = {0};
    if (!sim)
        return;
    sim->get_options(&options);
    options.seed = 0;
    sim->set_options(&options);
    sim->reset();
}

/* Exact ones first; the last leaves floats behind that the time is taken of. */
static enum rung_status verify(struct trial *trial, struct rung_error *err)
{
    const uint64_t seed = trial->request->seed ? trial->request->seed : 1;
    struct rung_pattern patterns[4 + 40];
    size_t count = 0;
    patterns[count++] = (struct rung_pattern){.kind = RUNG_PATTERN_RANDOM01, .seed = seed};
    if (trial->request->all_patterns && trial->request->n <= ALL_PATTERNS_MAX) {
        patterns[count++] = (struct rung_pattern){.kind = RUNG_PATTERN_ONES, .seed = seed};
        patterns[count++] = (struct rung_pattern){.kind = RUNG_PATTERN_WEIGHTS, .seed = seed};
        for (unsigned bit = 0; bit < 40 && trial->request->n >> bit; bit += 3)
            patterns[count++] = (struct rung_pattern){RUNG_PATTERN_BIT, bit, 0, seed};
    }
    if (trial->request->type != RUNG_TYPE_I32)
        patterns[count++] = (struct rung_pattern){.kind = RUNG_PATTERN_RANDOM, .seed = seed};
    enum rung_status status = RUNG_OK;
    start_in_order(trial);
    for (size_t i = 0; i < count && status == RUNG_OK && trial->row->status == RUNG_ROW_OK; i++)
        status = interrupted(trial) ? rung_fail(err, RUNG_INTERRUPTED, "interrupted")
                                    : try_pattern(trial, &patterns[i], err);
    ask_checks(trial);
    return status;
}

static enum rung_status enqueue(void *context, CUstream stream, uint64_t place,
                                struct rung_error *err)
{
    const struct trial *trial = context;
    (void)stream; /* the handle's own */
    return put_on(trial, trial->workspace.partials[0].data, place * trial->workspace.place_bytes,
                  trial->request->n, err);
}

static enum rung_status take_time(struct trial *trial, struct rung_error *err)
{
    const struct rung_library_request *request = trial->request;
    struct rung_library_row *row = trial->row;
    struct rung_timing_facts facts;
    const struct rung_work work = {enqueue, trial, trial->workspace.places, 1};
    enum rung_status status = rung_workspace_replicate(&trial->workspace, err);
    if (status == RUNG_OK)
        status = rung_time_work(&row->time_ms, &facts, &work, request->timing, err);
    if (status == RUNG_OK)
        status = check_value(trial, "while timed", err);
    if (status == RUNG_OK && row->status != RUNG_ROW_OK)
        rung_library_row_release(row); /* the time of a wrong sum is none */
    if (status == RUNG_OK && row->time_ms.known && row->time_ms.median > 0) {
        row->gb_per_s = (double)row->bytes / row->time_ms.median / 1e6;
        row->of_ceiling = row->gb_per_s / request->ceiling_gb_per_s;
    }
    return status;
}

static uint64_t input_bytes(const struct rung_library_request *request)
{
    return request->n * rung_type_size(request->type) * (request->op == RUNG_OP_DOT ? 2 : 1);
}

static struct rung_workspace_spec memory_of(const struct rung_library_request *request,
                                            const struct rung_device *device)
{
    return (struct rung_workspace_spec){
        .op = request->op,
        .type = request->type,
        .n = request->n,
        .places = request->timing ? rung_timing_places(request->timing->how.state,
                                                       input_bytes(request), device->l2_bytes)
                                  : 1,
        .room = 1,
        .without_guards = rung_device_checks(device),
    };
}

enum rung_status rung_library_fits(const struct rung_device *device,
                                   const struct rung_library_request *request,
                                   struct rung_error *err)
{
    const struct rung_workspace_spec spec = memory_of(request, device);
    return rung_workspace_fits(device, &spec, err);
}

enum rung_status rung_library_measure(struct rung_library_row *out,
                                      const struct rung_device *device,
                                      const struct rung_library_request *request,
                                      struct rung_error *err)
{
    struct trial trial = {.request = request, .row = out};
    const struct rung_workspace_spec spec = memory_of(request, device);
    *out = (struct rung_library_row){.op = request->op,
                                     .type = request->type,
                                     .n = request->n,
                                     .bytes = input_bytes(request),
                                     .gb_per_s = NAN,
                                     .of_ceiling = NAN};
    enum rung_status status = rung_workspace_open(&trial.workspace, device, &spec, err);
    if (status == RUNG_OK) {
        enum rung_sum_code code = rung_sum_open_with(&trial.sum, &device->driver,
                                                     elements[request->type], device->stream);
        status = told(trial.sum, code, err);
    }
    if (status == RUNG_OK) {
        struct rung_sum_shape shape;
        struct rung_sum_call call;
        rung_sum_describe(&shape, &call, trial.sum, input(&trial.workspace.a, 0),
                          input(&trial.workspace.b, 0), request->n);
        out->form = rung_sum_form_words[shape.form];
        out->blocks = shape.blocks;
        out->threads = shape.threads;
        status = verify(&trial, err);
    }
    if (status == RUNG_OK && out->status == RUNG_ROW_OK && request->timing)
        status = take_time(&trial, err);
    out->correct = status == RUNG_OK && out->status == RUNG_ROW_OK;
    rung_sum_close(trial.sum);
    rung_workspace_release(&trial.workspace);
    return status;
}

void rung_library_row_release(struct rung_library_row *row)
{
    free(row->time_ms.samples);
    row->time_ms = (struct rung_times){0};
}

/* --- as JSON ---------------------------------------------------------------------------------- */

static json_t *number_or_null(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *times_json(const struct rung_times *times)
{
    if (!times->known)
        return json_null();
    json_t *samples = json_array();
    for (size_t i = 0; i < times->n_samples; i++)
        json_array_append_new(samples, json_real(times->samples[i]));
    return json_pack("{s:f, s:f, s:f, s:f, s:o}", "median", times->median, "min", times->min, "q1",
                     times->q1, "q3", times->q3, "samples", samples);
}

json_t *rung_library_row_to_json(const struct rung_library_row *row)
{
    return json_pack(
        "{s:s, s:s, s:I, s:s, s:I, s:I, s:i, s:I, s:I, s:o, s:o, s:b, s:o, s:o, s:o, s:s, s:o}",
        "op", rung_op_word(row->op), "type", rung_type_word(row->type), "n", (json_int_t)row->n,
        "kernel", row->form, "blocks", (json_int_t)row->blocks, "threads", (json_int_t)row->threads,
        "launches", 1, "bytes", (json_int_t)row->bytes, "verified_runs", (json_int_t)row->runs,
        "sum", number_or_null(row->sum), "expected", number_or_null(row->expected), "correct",
        row->correct, "time_ms", times_json(&row->time_ms), "gb_per_s",
        number_or_null(row->gb_per_s), "of_ceiling", number_or_null(row->of_ceiling), "status",
        rung_row_status_word(row->status), "reason",
        row->reason[0] ? json_string(row->reason) : json_null());
}
