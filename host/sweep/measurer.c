/* Requests and answers of the measuring process. The work itself is bench's; the inputs that cells
 * share are inputs.c's. */
#define _GNU_SOURCE
#include "sweep/measurer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/ceiling.h"
#include "sim/sim.h"
#include "sweep/hardware.h"
#include "sweep/inputs.h"
#include "sweep/made.h"
#include "sweep/slot.h"

#define SLOTS_MAX 1024 /* of one worker at a time; numbers of slots may be larger */
#define SAMPLES_MAX 4096

struct prepared {
    size_t number;
    struct rung_cell cell;
    struct rung_bench bench;
    struct rung_verdict verdict;
    struct rung_plan plan;
    struct rung_input *input; /* of a card */
};

struct rung_measurer {
    const struct rung_measurer_spec *spec;
    struct rung_arena arena;
    struct rung_ladder ladder;
    struct rung_device device;
    struct rung_nvrtc *nvrtc;
    struct rung_error no_nvrtc;
    struct rung_cache *cache;
    struct rung_image_source images;
    struct rung_sampler *sampler;   /* NULL on the simulator */
    struct rung_hardware *hardware; /* opened when the first counters are asked for */
    struct rung_error no_hardware;  /* why there are none */
    struct rung_inputs inputs;
    struct rung_made made;
    struct prepared *slots[SLOTS_MAX];
    size_t n_slots;
};

static json_t *failure(const struct rung_error *err, const char *word, bool dead)
{
    return json_pack("{s:s, s:s, s:i, s:b}", "error", err->text, "status", word, "code",
                     (int)err->status, "dead", (int)dead);
}

/* After a failed driver call the context may be dead; every later call would fail with it. */
static json_t *failed_call(const struct rung_error *err)
{
    bool timeout = err->native == CUDA_ERROR_LAUNCH_TIMEOUT;
    const char *word = timeout                       ? "timeout"
                       : err->status == RUNG_WRONG   ? "wrong"
                       : err->status == RUNG_USAGE   ? "unsupported"
                       : err->status == RUNG_UNABLE  ? "unsupported"
                       : err->status == RUNG_COMPILE ? "compile"
                                                     : "runtime";
    return failure(err, word, err->status == RUNG_DRIVER);
}

static void open_compiler(struct rung_measurer *m)
{
    char why[256];
    if (rung_nvrtc_open(&m->nvrtc, m->spec->nvrtc_path, &m->no_nvrtc) != RUNG_OK)
        m->nvrtc = NULL;
    rung_cache_open(&m->cache, NULL, why);
    m->images = (struct rung_image_source){
        .ladder = &m->ladder,
        .nvrtc = m->nvrtc,
        .nvrtc_why = m->no_nvrtc.text,
        .cache = m->cache,
        .ptx_only = m->device.driver.kind == RUNG_DRIVER_SIM,
    };
}

static json_t *describe_compiler(const struct rung_measurer *m)
{
    if (!m->nvrtc)
        return json_null();
    unsigned targets[RUNG_TARGETS_MAX];
    size_t n = rung_nvrtc_targets(m->nvrtc, targets);
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_integer(targets[i]));
    return json_pack("{s:s, s:s, s:o}", "version", rung_nvrtc_version(m->nvrtc), "build",
                     rung_nvrtc_build(m->nvrtc), "targets", list);
}

static json_t *describe_timer(struct rung_measurer *m)
{
    struct rung_timer_facts facts;
    if (!m->sampler || rung_sampler_facts(&facts, m->sampler, NULL) != RUNG_OK)
        return json_null();
    return json_pack("{s:f, s:f, s:b, s:s}", "event_pair_ms", facts.event_pair_ms, "step_ms",
                     facts.step_ms, "held", (int)facts.held, "why_not_held", facts.why_not);
}

static json_t *describe(struct rung_measurer *m, const char *no_card)
{
    const struct rung_device *device = &m->device;
    char pci[24] = "";
    if (device->driver.cuDeviceGetPCIBusId)
        device->driver.cuDeviceGetPCIBusId(pci, sizeof pci, device->handle);
    bool sim = device->driver.kind == RUNG_DRIVER_SIM;
    return json_pack("{s:s, s:s, s:s, s:s, s:i, s:i, s:i, s:I, s:I, s:I, s:i, s:o, s:o, s:s, s:s}",
                     "kind", sim ? "sim" : "cuda", "name", device->name, "uuid", device->uuid,
                     "pci", pci, "cc", (int)device->cc, "driver_version", device->driver_version,
                     "sm_count", device->sm_count, "l2_bytes", (json_int_t)device->l2_bytes,
                     "memory_bytes", (json_int_t)device->memory_bytes, "shared_bytes_per_block",
                     (json_int_t)device->shared_bytes_per_block, "warp_size", device->warp_size,
                     "nvrtc", describe_compiler(m), "timer", describe_timer(m), "no_card", no_card,
                     "no_nvrtc", m->no_nvrtc.text);
}

static json_t *answer_open(struct rung_measurer_spec *spec)
{
    struct rung_error err = {0};
    char no_card[512] = "";
    struct rung_measurer *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    spec->measurer = m;
    m->spec = spec;
    enum rung_status status = rung_ladder_load(&m->ladder, &m->arena, &err);
    if (status == RUNG_OK && spec->driver)
        status = rung_device_open_with(&m->device, spec->driver, 0, &err);
    else if (status == RUNG_OK)
        status = rung_device_open(&m->device, spec->device ? spec->device : "auto",
                                  spec->driver_path, no_card, &err);
    if (status != RUNG_OK)
        return failure(&err, "unsupported", true);
    m->inputs = (struct rung_inputs){.device = &m->device, .seed = spec->seed};
    if (m->device.driver.sim) {
        const struct rung_sim_options options = {.check = spec->check};
        m->device.driver.sim->set_options(&options);
    } else if (rung_sampler_open(&m->sampler, &m->device, &err) != RUNG_OK) {
        return failure(&err, "runtime", true);
    }
    open_compiler(m);
    return describe(m, no_card);
}

static json_t *answer_build(struct rung_measurer *m, const json_t *request)
{
    size_t i;
    json_t *object;
    json_array_foreach(json_object_get(request, "cells"), i, object)
    {
        struct rung_cell cell;
        if (rung_cell_from_json(&cell, object, NULL) == RUNG_OK)
            rung_made_want(&m->made, &cell.config, cell.target);
    }
    rung_made_build(&m->made, &m->images);
    return json_pack("{s:I}", "images", (json_int_t)m->made.n);
}

static json_t *answer_ceiling(struct rung_measurer *m)
{
    struct rung_ceiling ceiling;
    struct rung_error err = {0};
    if (!m->sampler)
        return json_pack("{s:n}", "gb_per_s");
    if (rung_ceiling_measure(&ceiling, &m->device, &m->images, &err) != RUNG_OK)
        return failed_call(&err);
    return json_pack("{s:f}", "gb_per_s", ceiling.gb_per_s);
}

static void release(struct rung_measurer *m, size_t index)
{
    struct prepared *slot = m->slots[index];
    rung_bench_close(&slot->bench);
    if (slot->input)
        slot->input->users--;
    free(slot);
    m->slots[index] = m->slots[--m->n_slots];
}

static size_t find(const struct rung_measurer *m, const json_t *request)
{
    json_int_t number = json_integer_value(json_object_get(request, "slot"));
    size_t i = 0;
    while (i < m->n_slots && m->slots[i]->number != (size_t)number)
        i++;
    return i;
}

static struct rung_subject subject_of(struct prepared *slot)
{
    return (struct rung_subject){.reduction = &slot->bench.entries[0].reduction,
                                 .tpl = slot->bench.entries[0].tpl,
                                 .verdict = &slot->verdict};
}

/* On the simulator the whole verification is made here, and its counts are the result. */
static enum rung_status verify_simulated(struct rung_measurer *m, struct prepared *slot,
                                         struct rung_error *err)
{
    struct rung_subject subject = subject_of(slot);
    const struct rung_verify_options options = {.n = slot->cell.n, .seed = m->spec->seed};
    return rung_verify(&subject, 1, &options, err);
}

/* On a card: the first run is a result of its own (it loads the code), then every pattern that the
 * shared input holds. */
static enum rung_status verify_on_card(struct rung_measurer *m, struct prepared *slot,
                                       double *first_ms, struct rung_error *err)
{
    struct rung_subject subject = subject_of(slot);
    enum rung_status status =
        rung_inputs_get(&slot->input, &m->inputs, &slot->cell, slot->plan.partials_room, err);
    if (status != RUNG_OK)
        return status;
    slot->input->users++;
    double sum, begin = rung_sweep_now_s();
    status =
        rung_reduction_run(&sum, subject.reduction, &slot->plan, &slot->input->workspaces[0], err);
    *first_ms = (rung_sweep_now_s() - begin) * 1e3;
    for (size_t i = 0; i < slot->input->n && status == RUNG_OK; i++)
        status = rung_verify_run(&subject, &slot->input->workspaces[i], &slot->input->patterns[i],
                                 &slot->input->expected[i], err);
    slot->verdict.executed = (struct rung_counts){0};
    return status;
}

static enum rung_status run_once(void *context, struct rung_error *err)
{
    struct prepared *slot = context;
    const struct rung_reduction *reduction = &slot->bench.entries[0].reduction;
    CUdeviceptr result;
    enum rung_status status =
        rung_reduction_enqueue(&result, reduction, &slot->plan, &slot->input->workspaces[0],
                               reduction->device->stream, err);
    if (status == RUNG_OK)
        RUNG_CU(&reduction->device->driver, done, cuStreamSynchronize, reduction->device->stream);
done:
    return status;
}

/* The card's counters of the first launch, before anything is timed: a profiler disturbs times. */
static json_t *read_hardware(struct rung_measurer *m, struct prepared *slot)
{
    struct rung_error err = {0};
    json_t *counters = NULL;
    if (!m->hardware && m->no_hardware.status == RUNG_OK)
        (void)rung_hardware_open(&m->hardware, &m->device, &m->no_hardware);
    if (!m->hardware)
        return json_pack("{s:s}", "unavailable", m->no_hardware.text);
    if (rung_hardware_read(&counters, m->hardware, run_once, slot, &err) != RUNG_OK)
        return json_pack("{s:s}", "unavailable", err.text);
    json_object_set_new(counters, "blocks", json_integer((json_int_t)slot->plan.passes[0].blocks));
    return counters;
}

static void add_provenance(struct rung_measurer *m, struct rung_row *row,
                           const struct prepared *slot, double first_ms)
{
    if (!row->extra)
        row->extra = json_object();
    json_t *made = rung_made_json(&m->made, &m->images, &slot->cell.config, slot->cell.target);
    json_object_update(row->extra, made);
    json_decref(made);
    const struct rung_bench_entry *entry = &slot->bench.entries[0];
    if (entry->status == RUNG_ROW_OK)
        json_object_set_new(row->extra, "load_ms", json_real(entry->reduction.first.load_ms));
    if (!isnan(first_ms))
        json_object_set_new(row->extra, "first_run_ms", json_real(first_ms));
}

/* Verifies a cell that is loaded. `dead` tells that nothing more can be asked of this process. */
static void verify(struct rung_measurer *m, struct prepared *slot, struct rung_row *row, bool *dead)
{
    struct rung_error err = {0};
    double first_ms = NAN;
    enum rung_status status =
        rung_reduction_plan(&slot->plan, &slot->bench.entries[0].reduction, slot->cell.n, &err);
    if (status == RUNG_OK)
        status =
            m->sampler ? verify_on_card(m, slot, &first_ms, &err) : verify_simulated(m, slot, &err);
    rung_row_take_verdict(row, &slot->verdict);
    add_provenance(m, row, slot, first_ms);
    if (m->spec->counters && m->sampler && status == RUNG_OK && row->status == RUNG_ROW_OK)
        json_object_set_new(row->extra, "hardware", read_hardware(m, slot));
    else if (m->spec->counters && !m->sampler)
        json_object_set_new(row->extra, "hardware",
                            json_pack("{s:s}", "unavailable", "the simulator counts itself"));
    if (status == RUNG_OK)
        return;
    *dead = status == RUNG_DRIVER;
    if (row->status == RUNG_ROW_OK) {
        row->status = status == RUNG_USAGE ? RUNG_ROW_UNSUPPORTED : RUNG_ROW_RUNTIME;
        snprintf(row->reason, sizeof row->reason, "%.500s", err.text);
    }
}

static json_t *answer_prepare(struct rung_measurer *m, const json_t *request)
{
    struct rung_error err = {0};
    struct rung_row row;
    bool dead = false;
    if (m->n_slots == SLOTS_MAX) {
        rung_fail(&err, RUNG_MEMORY, "more than %d cells at a time", SLOTS_MAX);
        return failure(&err, "runtime", false);
    }
    struct prepared *slot = calloc(1, sizeof *slot);
    if (!slot)
        return NULL;
    slot->number = (size_t)json_integer_value(json_object_get(request, "slot"));
    enum rung_status status =
        rung_cell_from_json(&slot->cell, json_object_get(request, "cell"), &err);
    const struct rung_bench_spec spec = {.device = &m->device,
                                         .ladder = &m->ladder,
                                         .images = &m->images,
                                         .image = slot->cell.image,
                                         .target = slot->cell.target};
    if (status == RUNG_OK)
        status = rung_bench_open(&slot->bench, &spec, &slot->cell.config, 1, &err);
    if (status != RUNG_OK) {
        free(slot);
        return failure(&err, "constraints", false);
    }
    m->slots[m->n_slots++] = slot;
    rung_bench_row(&row, &slot->bench.entries[0], slot->cell.n);
    if (row.status == RUNG_ROW_OK)
        verify(m, slot, &row, &dead);
    bool timed = row.status == RUNG_ROW_OK && m->sampler;
    json_t *reply = json_pack("{s:o, s:b, s:b}", "row", rung_row_to_json(&row), "timed", (int)timed,
                              "dead", (int)dead);
    rung_row_release(&row);
    if (!timed)
        release(m, m->n_slots - 1);
    return reply;
}

static enum rung_status enqueue(void *context, CUstream stream, uint64_t place,
                                struct rung_error *err)
{
    const struct prepared *slot = context;
    struct rung_workspace view = rung_workspace_view(&slot->input->workspaces[0], place);
    CUdeviceptr result;
    return rung_reduction_enqueue(&result, &slot->bench.entries[0].reduction, &slot->plan, &view,
                                  stream, err);
}

static json_t *not_prepared(void)
{
    return json_pack("{s:s, s:s}", "error", "this cell is not prepared", "status", "runtime");
}

static json_t *answer_sample(struct rung_measurer *m, const json_t *request)
{
    struct rung_error err = {0};
    size_t index = find(m, request), taken, throttled;
    size_t count = (size_t)json_integer_value(json_object_get(request, "count"));
    if (index == m->n_slots)
        return not_prepared();
    struct prepared *slot = m->slots[index];
    count = count > SAMPLES_MAX ? SAMPLES_MAX : count;
    struct rung_sample *samples = calloc(count + 1, sizeof *samples);
    if (!samples)
        return NULL;
    const struct rung_work work = {.enqueue = enqueue,
                                   .context = slot,
                                   .places = slot->input->workspaces[0].places,
                                   .launches = slot->plan.launches};
    const struct rung_sampling how = {slot->cell.state, slot->cell.timer};
    json_t *reply;
    if (rung_sampler_take(samples, &taken, &throttled, m->sampler, &work, how, count, &err) ==
        RUNG_OK) {
        json_t *times = json_array(), *clocks = json_array();
        for (size_t i = 0; i < taken; i++) {
            json_array_append_new(times, json_real(samples[i].time_ms));
            json_array_append_new(clocks, isnan(samples[i].sm_mhz) ? json_null()
                                                                   : json_real(samples[i].sm_mhz));
        }
        reply = json_pack("{s:o, s:o, s:I}", "time_ms", times, "sm_mhz", clocks, "throttled",
                          (json_int_t)throttled);
    } else {
        reply = failed_call(&err);
    }
    free(samples);
    return reply;
}

/* Verifies again on the very buffers that were timed: a row is right before and after. */
static json_t *answer_finish(struct rung_measurer *m, const json_t *request)
{
    struct rung_error err = {0};
    size_t index = find(m, request);
    if (index == m->n_slots)
        return not_prepared();
    struct prepared *slot = m->slots[index];
    struct rung_subject subject = subject_of(slot);
    enum rung_status status =
        rung_verify_run(&subject, &slot->input->workspaces[0], &slot->input->patterns[0],
                        &slot->input->expected[0], &err);
    json_t *reply;
    if (status != RUNG_OK)
        reply = failed_call(&err);
    else if (slot->verdict.status != RUNG_ROW_OK)
        reply = json_pack("{s:s, s:s}", "error", slot->verdict.reason, "status",
                          rung_row_status_word(slot->verdict.status));
    else
        reply = json_object();
    release(m, index);
    return reply;
}

json_t *rung_measurer_answer(void *context, const json_t *request)
{
    struct rung_measurer_spec *spec = context;
    const char *what = json_string_value(json_object_get(request, "do"));
    if (!what)
        return NULL;
    if (strcmp(what, "open") == 0)
        return answer_open(spec);
    if (!spec->measurer)
        return NULL;
    if (strcmp(what, "build") == 0)
        return answer_build(spec->measurer, request);
    if (strcmp(what, "ceiling") == 0)
        return answer_ceiling(spec->measurer);
    if (strcmp(what, "prepare") == 0)
        return answer_prepare(spec->measurer, request);
    if (strcmp(what, "sample") == 0)
        return answer_sample(spec->measurer, request);
    return strcmp(what, "finish") == 0 ? answer_finish(spec->measurer, request) : NULL;
}
