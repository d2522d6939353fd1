/* Holds the steps against each other and against the input: what shared memory held when a step
 * began, how often each element was read, and what the result must be. */
#include "trace/build.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define FINDINGS_MAX 64

static enum rung_status no_memory(struct rung_error *err)
{
    return rung_fail(err, RUNG_MEMORY, "out of memory for a trace");
}

static enum rung_status add_finding(struct rung_trace *trace, struct rung_arena *arena,
                                    const struct rung_trace_finding *finding,
                                    struct rung_error *err)
{
    trace->n_findings_all++;
    if (trace->n_findings == FINDINGS_MAX)
        return RUNG_OK;
    if (!trace->findings)
        trace->findings = rung_arena_array(arena, FINDINGS_MAX, sizeof *trace->findings);
    struct rung_trace_finding copy = *finding;
    copy.kind = rung_arena_copy(arena, finding->kind, strlen(finding->kind));
    copy.text = rung_arena_copy(arena, finding->text, strlen(finding->text));
    if (!trace->findings || !copy.kind || !copy.text)
        return no_memory(err);
    trace->findings[trace->n_findings++] = copy;
    return RUNG_OK;
}

static bool step_has_line(const struct rung_trace_step *step, unsigned line)
{
    if (line == 0)
        return false;
    if (step->line == line || step->barrier_line == line)
        return true;
    for (size_t i = 0; i < step->n_accesses; i++)
        if (step->accesses[i].line == line)
            return true;
    return false;
}

enum rung_status rung_trace_add_finding(struct rung_trace *trace, struct rung_arena *arena,
                                        const struct rung_trace_finding *finding,
                                        struct rung_error *err)
{
    struct rung_trace_finding placed = *finding;
    placed.step = 0;
    while (placed.step < trace->n_steps &&
           !step_has_line(&trace->steps[placed.step], finding->line))
        placed.step++;
    if (placed.step == trace->n_steps) /* of no step's code: it is where the trace ends */
        placed.step = trace->n_steps - 1;
    return add_finding(trace, arena, &placed, err);
}

bool rung_trace_is_marked(const struct rung_trace *trace, size_t step, unsigned thread)
{
    for (size_t i = 0; i < trace->n_findings; i++) {
        const struct rung_trace_finding *finding = &trace->findings[i];
        if (finding->step == step && finding->warp == thread / RUNG_TRACE_LANES &&
            (finding->lanes >> thread % RUNG_TRACE_LANES & 1))
            return true;
    }
    return false;
}

/* --- shared memory, replayed ----------------------------------------------------------------- */

static bool same_value(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static bool is_stale(const struct rung_trace_operand *operand, const double *shared,
                     const bool *written, unsigned n_slots)
{
    return operand->origin == RUNG_TRACE_SHARED && operand->index < n_slots &&
           written[operand->index] && !same_value(operand->value, shared[operand->index]);
}

static enum rung_status report_stale(struct rung_trace_builder *builder, size_t step,
                                     const struct rung_trace_addition *addition,
                                     const double *shared, struct rung_error *err)
{
    const struct rung_trace_operand *operand =
        addition->left.stale ? &addition->left : &addition->right;
    char read[32], held[32], text[192];
    enum rung_type type = builder->subject->config.type;
    rung_trace_format_value(read, operand->value, type);
    rung_trace_format_value(held, shared[operand->index], type);
    snprintf(text, sizeof text,
             "T%u read %s from slot %u, where the step before leaves %s: nothing orders the two",
             addition->thread, read, operand->index, held);
    struct rung_trace_finding finding = {.kind = "stale",
                                         .step = step,
                                         .warp = addition->thread / RUNG_TRACE_LANES,
                                         .lanes = (uint32_t)1
                                                  << addition->thread % RUNG_TRACE_LANES,
                                         .line = builder->trace->steps[step].line,
                                         .text = text};
    return add_finding(builder->trace, builder->arena, &finding, err);
}

static enum rung_status mark_stale(struct rung_trace_builder *builder, size_t index,
                                   const double *shared, const bool *written,
                                   struct rung_error *err)
{
    struct rung_trace_step *step = &builder->trace->steps[index];
    unsigned n_slots = builder->trace->n_slots;
    for (size_t i = 0; i < step->n_adds; i++) {
        struct rung_trace_addition *addition = &step->adds[i];
        addition->left.stale = is_stale(&addition->left, shared, written, n_slots);
        addition->right.stale = is_stale(&addition->right, shared, written, n_slots);
        if (!addition->left.stale && !addition->right.stale)
            continue;
        enum rung_status status = report_stale(builder, index, addition, shared, err);
        if (status != RUNG_OK)
            return status;
    }
    return RUNG_OK;
}

enum rung_status rung_trace_replay(struct rung_trace_builder *builder, struct rung_error *err)
{
    struct rung_trace *trace = builder->trace;
    const double *shared = rung_arena_array(builder->arena, trace->n_slots, sizeof *shared);
    const bool *written = rung_arena_array(builder->arena, trace->n_slots, sizeof *written);
    if (!shared || !written)
        return no_memory(err);
    for (size_t s = 0; s < trace->n_steps; s++) {
        struct rung_trace_step *step = &trace->steps[s];
        enum rung_status status = mark_stale(builder, s, shared, written, err);
        if (status != RUNG_OK)
            return status;
        step->shared = rung_arena_array(builder->arena, trace->n_slots, sizeof *step->shared);
        step->written = rung_arena_array(builder->arena, trace->n_slots, sizeof *step->written);
        if (!step->shared || !step->written)
            return no_memory(err);
        memcpy(step->shared, shared, trace->n_slots * sizeof *shared);
        memcpy(step->written, written, trace->n_slots * sizeof *written);
        for (size_t i = 0; i < step->n_stores; i++) {
            if (step->stores[i].slot >= trace->n_slots)
                continue;
            step->shared[step->stores[i].slot] = step->stores[i].value;
            step->written[step->stores[i].slot] = true;
        }
        shared = step->shared;
        written = step->written;
    }
    return RUNG_OK;
}

/* --- the input and the result ---------------------------------------------------------------- */

static double term(const struct rung_trace *trace, uint64_t i)
{
    return trace->inputs[1] ? trace->inputs[0][i] * trace->inputs[1][i] : trace->inputs[0][i];
}

/* Integers whose every partial sum the type holds exactly are compared exactly; otherwise every
 * rounding may move the result by half a unit of the running sum (Higham, gamma_k * sum |x|). */
static void expect(struct rung_trace *trace)
{
    long double sum = 0, magnitude = 0;
    uint32_t wrapped = 0;
    bool whole = true;
    for (uint64_t i = 0; i < trace->n; i++) {
        double value = term(trace, i);
        whole &= trace->inputs[0][i] == floor(trace->inputs[0][i]) && value == floor(value);
        sum += value;
        magnitude += fabs(value);
        if (trace->config.type == RUNG_TYPE_I32) {
            uint32_t a = (uint32_t)(int32_t)trace->inputs[0][i];
            wrapped += trace->inputs[1] ? a * (uint32_t)(int32_t)trace->inputs[1][i] : a;
        }
    }
    trace->expected = (double)sum;
    if (trace->config.type == RUNG_TYPE_I32) {
        trace->expected = rung_trace_value(wrapped, RUNG_TYPE_I32);
        trace->exact = true;
    } else {
        bool is_float = trace->config.type == RUNG_TYPE_F32;
        double unit = (is_float ? (double)FLT_EPSILON : DBL_EPSILON) / 2;
        trace->exact = whole && magnitude < 1 / unit;
        double depth = 12 + (double)(trace->n / trace->config.block);
        trace->tolerance = trace->exact ? 0 : depth * unit * (double)magnitude;
    }
    trace->correct = trace->wrote && fabs(trace->result - trace->expected) <= trace->tolerance;
}

static bool count_reads(struct rung_trace_builder *builder)
{
    struct rung_trace *trace = builder->trace;
    unsigned *counts = rung_arena_array(builder->arena, trace->n, sizeof *counts);
    if (!counts)
        return false;
    for (size_t i = 0; i < trace->steps[0].n_reads; i++)
        if (trace->steps[0].reads[i].vector == 0)
            counts[trace->steps[0].reads[i].element]++;
    trace->read_counts = counts;
    return true;
}

/* One finding for all elements read `how` often, naming the first of them. */
static enum rung_status report_reads(struct rung_trace_builder *builder, const char *kind,
                                     const char *how, uint64_t first, uint64_t count,
                                     struct rung_error *err)
{
    if (!count)
        return RUNG_OK;
    struct rung_text text = {0};
    rung_text_format(&text, "element %llu is %s", (unsigned long long)first, how);
    const struct rung_trace_step *load = &builder->trace->steps[0];
    const char *before = " (by T";
    for (size_t i = 0; i < load->n_reads; i++)
        if (load->reads[i].element == first && load->reads[i].vector == 0) {
            rung_text_format(&text, "%s%u", before, load->reads[i].thread);
            before = " and T";
        }
    if (strcmp(before, " and T") == 0)
        rung_text_append(&text, ")");
    if (count > 1)
        rung_text_format(&text, ", and so are %llu more", (unsigned long long)count - 1);
    struct rung_trace_finding finding = {.kind = kind, .text = rung_text_string(&text)};
    enum rung_status status = rung_text_ok(&text)
                                  ? add_finding(builder->trace, builder->arena, &finding, err)
                                  : no_memory(err);
    rung_text_release(&text);
    return status;
}

enum rung_status rung_trace_check(struct rung_trace_builder *builder, struct rung_error *err)
{
    struct rung_trace *trace = builder->trace;
    expect(trace);
    if (!count_reads(builder))
        return no_memory(err);
    uint64_t again = 0, first_again = 0, never = 0, first_never = 0;
    for (uint64_t i = 0; i < trace->n; i++) {
        if (trace->read_counts[i] > 1 && again++ == 0)
            first_again = i;
        if (trace->read_counts[i] == 0 && never++ == 0)
            first_never = i;
    }
    enum rung_status status =
        report_reads(builder, "reread", "read more than once", first_again, again, err);
    if (status == RUNG_OK)
        status = report_reads(builder, "unread", "never read", first_never, never, err);
    return status;
}
