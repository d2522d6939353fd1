/* From the log of a block to its steps. */
#include "trace/build.h"

#include <stdlib.h>
#include <string.h>

double rung_trace_value(uint64_t bits, enum rung_type type)
{
    if (type == RUNG_TYPE_F64) {
        double value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    uint32_t low = (uint32_t)bits;
    if (type == RUNG_TYPE_F32) {
        float value;
        memcpy(&value, &low, sizeof value);
        return value;
    }
    int32_t value;
    memcpy(&value, &low, sizeof value);
    return value;
}

static int compare_keys(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

static bool makes_step(const struct rung_trace_record *record)
{
    return (record->kind == RUNG_SIM_EVENT_ADDITION && record->tree) ||
           record->kind == RUNG_SIM_EVENT_GLOBAL_STORE;
}

/* The distinct keys in order. The load is always a step, even of an empty input. */
static bool list_steps(struct rung_trace_builder *builder)
{
    const struct rung_trace_log *log = builder->log;
    uint64_t *keys = rung_arena_array(builder->arena, log->n_records + 1, sizeof *keys);
    if (!keys)
        return false;
    size_t count = 1; /* keys[0] is RUNG_TRACE_KEY_LOAD */
    for (size_t i = 0; i < log->n_records; i++)
        if (makes_step(&log->records[i]))
            keys[count++] = builder->keys[i];
    qsort(keys, count, sizeof *keys, compare_keys);
    size_t distinct = 0;
    for (size_t i = 0; i < count; i++)
        if (i == 0 || keys[i] != keys[distinct - 1])
            keys[distinct++] = keys[i];
    builder->step_keys = keys;
    builder->trace->n_steps = distinct;
    builder->trace->steps =
        rung_arena_array(builder->arena, distinct, sizeof *builder->trace->steps);
    return builder->trace->steps != NULL;
}

/* The step of a key: that of the key itself, or the last one before it. */
static struct rung_trace_step *find_step(const struct rung_trace_builder *builder, uint64_t key)
{
    size_t low = 0, high = builder->trace->n_steps;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (builder->step_keys[middle] <= key)
            low = middle;
        else
            high = middle;
    }
    return &builder->trace->steps[low];
}

static bool size_steps(struct rung_trace_builder *builder)
{
    for (size_t i = 0; i < builder->log->n_records; i++) {
        const struct rung_trace_record *record = &builder->log->records[i];
        struct rung_trace_step *step = find_step(builder, builder->keys[i]);
        unsigned lanes = rung_trace_lane_count(record->active);
        switch (record->kind) {
        case RUNG_SIM_EVENT_ADDITION:
            step->n_adds += record->tree ? lanes : 0;
            break;
        case RUNG_SIM_EVENT_GLOBAL_LOAD:
            step->n_reads += lanes;
            break;
        case RUNG_SIM_EVENT_SHARED_STORE:
            step->n_stores += lanes;
            step->n_accesses++;
            break;
        case RUNG_SIM_EVENT_SHARED_LOAD:
            step->n_accesses++;
            break;
        default:
            break;
        }
    }
    for (size_t i = 0; i < builder->trace->n_steps; i++) {
        struct rung_trace_step *step = &builder->trace->steps[i];
        step->adds = rung_arena_array(builder->arena, step->n_adds, sizeof *step->adds);
        step->reads = rung_arena_array(builder->arena, step->n_reads, sizeof *step->reads);
        step->stores = rung_arena_array(builder->arena, step->n_stores, sizeof *step->stores);
        step->accesses = rung_arena_array(builder->arena, step->n_accesses, sizeof *step->accesses);
        step->warps =
            rung_arena_array(builder->arena, builder->trace->n_warps, sizeof *step->warps);
        if (!step->adds || !step->reads || !step->stores || !step->accesses || !step->warps)
            return false;
        step->n_adds = step->n_reads = step->n_stores = step->n_accesses = 0;
    }
    return true;
}

static unsigned distance(unsigned a, unsigned b)
{
    return a == RUNG_TRACE_UNKNOWN || b == RUNG_TRACE_UNKNOWN ? 0 : a > b ? a - b : b - a;
}

static unsigned stride_of(const struct rung_trace_addition *addition)
{
    if (addition->right.origin == RUNG_TRACE_LANE)
        return distance(addition->right.index, addition->thread);
    if (addition->right.origin != RUNG_TRACE_SHARED)
        return 0;
    if (addition->left.origin == RUNG_TRACE_SHARED)
        return distance(addition->left.index, addition->right.index);
    unsigned own = addition->slot != RUNG_TRACE_UNKNOWN ? addition->slot : addition->thread;
    return distance(own, addition->right.index);
}

/* A shuffle from past the last lane gives a lane its own value back. */
static bool adds_itself(const struct rung_trace_addition *addition)
{
    return addition->right.origin == RUNG_TRACE_LANE && addition->right.index == addition->thread;
}

/* Sorts by the unsigned that stands first in every item; equal ones keep the order of execution. */
static bool sort_items(struct rung_arena *arena, void *items, size_t count, size_t size,
                       unsigned keys)
{
    unsigned char *from = items, *sorted = rung_arena_array(arena, count, size);
    size_t *starts = rung_arena_array(arena, keys + 1, sizeof *starts);
    if (!sorted || !starts)
        return false;
    for (size_t i = 0; i < count; i++)
        starts[*(const unsigned *)(from + i * size) + 1]++;
    for (unsigned key = 0; key < keys; key++)
        starts[key + 1] += starts[key];
    for (size_t i = 0; i < count; i++) {
        size_t to = starts[*(const unsigned *)(from + i * size)]++;
        memcpy(sorted + to * size, from + i * size, size);
    }
    memcpy(items, sorted, count * size);
    return true;
}

/* Whatever order the warps ran in, a step reads the same: by thread, accesses by warp. */
static bool sort_step(struct rung_arena *arena, struct rung_trace_step *step, unsigned n_warps)
{
    _Static_assert(offsetof(struct rung_trace_read, thread) == 0, "sort_items reads it there");
    _Static_assert(offsetof(struct rung_trace_store, thread) == 0, "sort_items reads it there");
    _Static_assert(offsetof(struct rung_trace_access, warp) == 0, "sort_items reads it there");
    unsigned threads = n_warps * RUNG_TRACE_LANES;
    return sort_items(arena, step->reads, step->n_reads, sizeof *step->reads, threads) &&
           sort_items(arena, step->stores, step->n_stores, sizeof *step->stores, threads) &&
           sort_items(arena, step->accesses, step->n_accesses, sizeof *step->accesses, n_warps);
}

static int compare_adds(const void *a, const void *b)
{
    const struct rung_trace_addition *left = a, *right = b;
    return left->thread < right->thread ? -1 : left->thread > right->thread;
}

/* Drops the warps that did nothing and sums up the step. */
static void finish_step(struct rung_trace_builder *builder, struct rung_trace_step *step)
{
    size_t kept = 0;
    unsigned arrived = 0;
    for (unsigned w = 0; w < builder->trace->n_warps; w++) {
        struct rung_trace_warp warp = step->warps[w];
        step->active += rung_trace_lane_count(warp.active);
        step->body_runs += warp.body_runs;
        step->serialised += warp.serialised;
        arrived += rung_trace_lane_count(warp.arrived);
        if (warp.active || warp.arrived || warp.ways)
            step->warps[kept++] = warp;
    }
    step->n_warps = kept;
    step->order_broken =
        step->order == RUNG_TRACE_ORDER_BLOCK && arrived != builder->subject->config.block;
    qsort(step->adds, step->n_adds, sizeof *step->adds, compare_adds);
    step->stride = step->n_adds ? stride_of(&step->adds[0]) : 0;
    for (size_t i = 1; i < step->n_adds; i++)
        if (!adds_itself(&step->adds[i]) && stride_of(&step->adds[i]) != step->stride)
            step->stride = 0;
}

static void finish_steps(struct rung_trace_builder *builder)
{
    struct rung_trace *trace = builder->trace;
    for (size_t i = 0; i < trace->n_steps; i++) {
        struct rung_trace_step *step = &trace->steps[i];
        finish_step(builder, step);
        if (i + 1 == trace->n_steps)
            step->order = RUNG_TRACE_ORDER_END;
        else if (step->order == RUNG_TRACE_ORDER_NONE && trace->steps[i + 1].in_registers)
            step->order = RUNG_TRACE_ORDER_WARP;
        trace->additions += step->additions;
        trace->body_runs += step->body_runs;
        trace->serialised += step->serialised;
        step->additions_so_far = trace->additions;
        step->body_runs_so_far = trace->body_runs;
        step->serialised_so_far = trace->serialised;
    }
}

static void copy_subject(struct rung_trace *trace, const struct rung_trace_subject *subject)
{
    *trace = (struct rung_trace){.config = subject->config,
                                 .id = subject->id,
                                 .title = subject->title,
                                 .control = subject->control,
                                 .source = subject->source,
                                 .source_name = subject->source_name,
                                 .ptx = subject->ptx,
                                 .where = subject->where,
                                 .n = subject->n,
                                 .n_warps = (subject->config.block + 31) / 32,
                                 .has_model = subject->model != NULL};
    for (int i = 0; i < 2; i++) {
        trace->input_names[i] = subject->input_names[i];
        trace->inputs[i] = subject->inputs[i];
    }
    if (subject->model)
        trace->model = *subject->model;
}

enum rung_status rung_trace_build(struct rung_trace *out, struct rung_arena *arena,
                                  const struct rung_trace_log *log,
                                  const struct rung_trace_subject *subject, struct rung_error *err)
{
    if (log->n_records == 0)
        return rung_fail(err, RUNG_UNABLE, "%s: nothing was seen running", subject->id);
    copy_subject(out, subject);
    for (size_t i = 0; i < log->n_records; i++)
        if (log->records[i].warp >= out->n_warps)
            return rung_fail(err, RUNG_UNABLE, "%s: warp %u ran in a block of %u threads",
                             subject->id, log->records[i].warp, subject->config.block);
    struct rung_trace_builder builder = {
        .log = log,
        .subject = subject,
        .arena = arena,
        .trace = out,
        .keys = rung_arena_array(arena, log->n_records, sizeof *builder.keys),
        .warps = rung_arena_array(arena, out->n_warps, sizeof *builder.warps),
        .element_bytes = (unsigned)rung_type_size(subject->config.type)};
    bool ready = !log->failed && builder.keys && builder.warps;
    if (ready)
        rung_trace_assign_keys(&builder);
    if (!ready || !list_steps(&builder) || !size_steps(&builder))
        return rung_fail(err, RUNG_MEMORY, "out of memory for the trace of %s", subject->id);
    for (size_t i = 0; i < out->n_steps; i++)
        out->steps[i].kind = builder.step_keys[i] == RUNG_TRACE_KEY_LOAD    ? RUNG_TRACE_LOAD
                             : builder.step_keys[i] == RUNG_TRACE_KEY_WRITE ? RUNG_TRACE_WRITE
                                                                            : RUNG_TRACE_ADD;
    for (size_t i = 0; i < log->n_records; i++)
        rung_trace_take_record(&builder, find_step(&builder, builder.keys[i]), i);
    finish_steps(&builder);
    enum rung_status status = rung_trace_replay(&builder, err); /* in the order of execution */
    for (size_t i = 0; i < out->n_steps && status == RUNG_OK; i++)
        if (!sort_step(arena, &out->steps[i], out->n_warps))
            status = rung_fail(err, RUNG_MEMORY, "out of memory for the trace of %s", subject->id);
    return status == RUNG_OK ? rung_trace_check(&builder, err) : status;
}
