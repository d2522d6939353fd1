/* A trace as JSON. Lists of like things are columns of equal length, which both `jq` and a page
 * read well: additions.thread[i] added additions.right[i] to additions.left[i]. Lanes of a warp are
 * bit masks. */
#include "trace/trace.h"

#include <math.h>
#include <string.h>

static json_t *number(double value)
{
    bool whole = value == floor(value) && fabs(value) < 9007199254740992.0;
    return whole ? json_integer((json_int_t)value) : json_real(value);
}

static json_t *index_or_null(unsigned index)
{
    return index == RUNG_TRACE_UNKNOWN ? json_null() : json_integer(index);
}

static void add(json_t *list, json_t *item)
{
    json_array_append_new(list, item);
}

static json_t *text_line(const char *text, unsigned line)
{
    size_t length;
    const char *at = rung_trace_line(text ? text : "", line, &length);
    return length ? json_stringn(at, length) : json_null();
}

static const char *const kinds[] = {"load", "add", "write"};
static const char *const orders[] = {"none", "warp", "block", "end"};
static const char *const origins[] = {"register", "shared", "lane"};

static json_t *reads_json(const struct rung_trace_step *step)
{
    json_t *thread = json_array(), *vector = json_array(), *element = json_array();
    json_t *value = json_array();
    for (size_t i = 0; i < step->n_reads; i++) {
        add(thread, json_integer(step->reads[i].thread));
        add(vector, json_integer(step->reads[i].vector));
        add(element, json_integer((json_int_t)step->reads[i].element));
        add(value, number(step->reads[i].value));
    }
    return json_pack("{s:o, s:o, s:o, s:o}", "thread", thread, "vector", vector, "element", element,
                     "value", value);
}

/* "left", "left_from", "left_at" and the same of the right: value, where from, slot or thread. */
static void put_operands(json_t *object, const char *side, const struct rung_trace_step *step,
                         size_t offset)
{
    json_t *value = json_array(), *from = json_array(), *at = json_array();
    for (size_t i = 0; i < step->n_adds; i++) {
        const struct rung_trace_operand *operand =
            (const struct rung_trace_operand *)((const char *)&step->adds[i] + offset);
        add(value, number(operand->value));
        add(from, json_string(origins[operand->origin]));
        add(at,
            operand->origin == RUNG_TRACE_REGISTER ? json_null() : index_or_null(operand->index));
    }
    char key[32];
    json_object_set_new(object, side, value);
    snprintf(key, sizeof key, "%s_from", side);
    json_object_set_new(object, key, from);
    snprintf(key, sizeof key, "%s_at", side);
    json_object_set_new(object, key, at);
}

static json_t *additions_json(const struct rung_trace_step *step)
{
    json_t *object = json_object(), *thread = json_array(), *result = json_array();
    json_t *slot = json_array(), *stale = json_array();
    for (size_t i = 0; i < step->n_adds; i++) {
        const struct rung_trace_addition *addition = &step->adds[i];
        add(thread, json_integer(addition->thread));
        add(result, number(addition->result));
        add(slot, index_or_null(addition->slot));
        if (addition->left.stale || addition->right.stale)
            add(stale, json_integer(addition->thread));
    }
    json_object_set_new(object, "thread", thread);
    put_operands(object, "left", step, offsetof(struct rung_trace_addition, left));
    put_operands(object, "right", step, offsetof(struct rung_trace_addition, right));
    json_object_set_new(object, "result", result);
    json_object_set_new(object, "slot", slot);
    json_object_set_new(object, "stale_threads", stale);
    return object;
}

static json_t *stores_json(const struct rung_trace_step *step)
{
    json_t *thread = json_array(), *slot = json_array(), *value = json_array();
    for (size_t i = 0; i < step->n_stores; i++) {
        add(thread, json_integer(step->stores[i].thread));
        add(slot, json_integer(step->stores[i].slot));
        add(value, number(step->stores[i].value));
    }
    return json_pack("{s:o, s:o, s:o}", "thread", thread, "slot", slot, "value", value);
}

static json_t *warps_json(const struct rung_trace_step *step)
{
    json_t *list = json_array();
    for (size_t i = 0; i < step->n_warps; i++) {
        const struct rung_trace_warp *warp = &step->warps[i];
        add(list, json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "warp", (json_int_t)warp->warp,
                            "active", (json_int_t)warp->active, "body_runs",
                            (json_int_t)warp->body_runs, "serialised", (json_int_t)warp->serialised,
                            "ways", (json_int_t)warp->ways, "arrived", (json_int_t)warp->arrived));
    }
    return list;
}

static json_t *accesses_json(const struct rung_trace *trace, const struct rung_trace_step *step)
{
    unsigned words_per_slot = (unsigned)rung_type_size(trace->config.type) / 4;
    json_t *list = json_array();
    for (size_t i = 0; i < step->n_accesses; i++) {
        const struct rung_trace_access *access = &step->accesses[i];
        json_t *words = json_array();
        for (unsigned lane = 0; lane < RUNG_TRACE_LANES; lane++)
            if (access->lanes >> lane & 1)
                add(words, json_integer((json_int_t)access->slots[lane] * words_per_slot));
        add(list,
            json_pack("{s:I, s:s, s:I, s:I, s:I, s:o}", "warp", (json_int_t)access->warp, "kind",
                      access->store ? "store" : "load", "lanes", (json_int_t)access->lanes, "ways",
                      (json_int_t)access->ways, "line", (json_int_t)access->line, "words", words));
    }
    return list;
}

static json_t *shared_json(const struct rung_trace *trace, const struct rung_trace_step *step)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < trace->n_slots; i++)
        add(list, step && step->written[i] ? number(step->shared[i]) : json_null());
    return list;
}

static json_t *counts_json(uint64_t additions, uint64_t body_runs, uint64_t serialised)
{
    return json_pack("{s:I, s:I, s:I}", "additions", (json_int_t)additions, "body_runs",
                     (json_int_t)body_runs, "serialised", (json_int_t)serialised);
}

static json_t *step_json(const struct rung_trace *trace, size_t index, bool compact)
{
    const struct rung_trace_step *step = &trace->steps[index];
    json_t *object = json_pack("{s:I, s:s, s:o, s:b, s:I, s:I, s:I, s:s, s:b}", "index",
                               (json_int_t)index, "kind", kinds[step->kind], "stride",
                               step->stride ? json_integer(step->stride) : json_null(), "shuffle",
                               step->in_registers, "active", (json_int_t)step->active, "line",
                               (json_int_t)step->line, "source_line", (json_int_t)step->source_line,
                               "order", orders[step->order], "order_broken", step->order_broken);
    json_object_set_new(object, "source", text_line(trace->source, step->source_line));
    json_object_set_new(object, "ptx", text_line(trace->ptx, step->line));
    json_object_set_new(object, "counts",
                        counts_json(step->additions, step->body_runs, step->serialised));
    json_object_set_new(
        object, "so_far",
        counts_json(step->additions_so_far, step->body_runs_so_far, step->serialised_so_far));
    json_object_set_new(object, "reads", reads_json(step));
    json_object_set_new(object, "additions", additions_json(step));
    json_object_set_new(object, "stores", stores_json(step));
    json_object_set_new(object, "warps", warps_json(step));
    json_object_set_new(object, "accesses", accesses_json(trace, step));
    if (!compact) {
        json_object_set_new(object, "shared_before", shared_json(trace, index ? step - 1 : NULL));
        json_object_set_new(object, "shared_after", shared_json(trace, step));
    }
    return object;
}

static json_t *input_json(const struct rung_trace *trace)
{
    json_t *object = json_object();
    const char *const keys[2] = {"a", "b"};
    for (int vector = 0; vector < 2; vector++) {
        json_t *values = trace->inputs[vector] ? json_array() : json_null();
        for (uint64_t i = 0; trace->inputs[vector] && i < trace->n; i++)
            add(values, number(trace->inputs[vector][i]));
        json_object_set_new(object, keys[vector], values);
    }
    json_t *counts = json_array();
    for (uint64_t i = 0; i < trace->n; i++)
        add(counts, json_integer(trace->read_counts[i]));
    json_object_set_new(object, "read_counts", counts);
    return object;
}

static json_t *finding_threads(const struct rung_trace_finding *finding)
{
    json_t *threads = json_array();
    for (unsigned lane = 0; lane < RUNG_TRACE_LANES; lane++)
        if (finding->lanes >> lane & 1)
            add(threads, json_integer((json_int_t)finding->warp * RUNG_TRACE_LANES + lane));
    return threads;
}

static json_t *findings_json(const struct rung_trace *trace)
{
    json_t *list = json_array();
    for (size_t i = 0; i < trace->n_findings; i++) {
        const struct rung_trace_finding *finding = &trace->findings[i];
        add(list, json_pack("{s:s, s:I, s:I, s:o, s:I, s:I, s:s}", "kind", finding->kind, "step",
                            (json_int_t)finding->step, "warp", (json_int_t)finding->warp, "threads",
                            finding_threads(finding), "line", (json_int_t)finding->line,
                            "other_line", (json_int_t)finding->other_line, "text", finding->text));
    }
    return list;
}

json_t *rung_trace_to_json(const struct rung_trace *trace, bool compact)
{
    struct rung_text verification = {0};
    rung_trace_write_verification(&verification, trace, compact ? 16 : SIZE_MAX);
    json_t *steps = json_array();
    for (size_t i = 0; i < trace->n_steps; i++)
        add(steps, step_json(trace, i, compact));
    json_t *object = json_pack(
        "{s:s, s:b, s:s, s:s, s:s, s:I, s:I, s:I, s:s, s:b}", "title", trace->title, "control",
        trace->control, "executed_by", trace->where, "source_name", trace->source_name, "source",
        trace->source, "slots", (json_int_t)trace->n_slots, "warps", (json_int_t)trace->n_warps,
        "words_per_slot", (json_int_t)rung_type_size(trace->config.type) / 4, "verification",
        rung_text_string(&verification), "exact", trace->exact);
    rung_text_release(&verification);
    if (!object) {
        json_decref(steps);
        return NULL;
    }
    json_object_set_new(object, "input", input_json(trace));
    json_object_set_new(object, "steps", steps);
    json_object_set_new(object, "findings", findings_json(trace));
    return object;
}
