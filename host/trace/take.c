/* What one event adds to its step. */
#include "trace/build.h"

static struct rung_trace_warp *step_warp(struct rung_trace_step *step, unsigned warp)
{
    step->warps[warp].warp = warp;
    return &step->warps[warp];
}

static void take_access(const struct rung_trace_builder *builder, struct rung_trace_step *step,
                        const struct rung_trace_record *record)
{
    struct rung_trace_access *access = &step->accesses[step->n_accesses++];
    access->warp = record->warp;
    access->store = record->kind == RUNG_SIM_EVENT_SHARED_STORE;
    access->lanes = record->active;
    access->ways = record->ways;
    access->line = record->line;
    for (unsigned lane = 0; lane < RUNG_TRACE_LANES; lane++) {
        if (!(record->active >> lane & 1))
            continue;
        unsigned slot = (unsigned)(record->addresses[lane] / builder->element_bytes);
        access->slots[lane] = slot;
        if (slot >= builder->trace->n_slots && slot < RUNG_BLOCK_MAX * 2)
            builder->trace->n_slots = slot + 1;
    }
    struct rung_trace_warp *warp = step_warp(step, record->warp);
    if (access->ways > warp->ways)
        warp->ways = access->ways;
}

/* Reads of the two inputs; an address outside both is none of ours. */
static void take_global_load(const struct rung_trace_builder *builder, struct rung_trace_step *step,
                             const struct rung_trace_record *record)
{
    const struct rung_trace_subject *subject = builder->subject;
    for (unsigned lane = 0; lane < RUNG_TRACE_LANES; lane++) {
        if (!(record->active >> lane & 1))
            continue;
        for (unsigned vector = 0; vector < 2 && subject->inputs[vector]; vector++) {
            uint64_t offset = record->addresses[lane] - subject->input_addresses[vector];
            uint64_t element = offset / builder->element_bytes;
            if (record->addresses[lane] < subject->input_addresses[vector] || element >= subject->n)
                continue;
            step->reads[step->n_reads++] = (struct rung_trace_read){
                record->warp * RUNG_TRACE_LANES + lane, vector, element,
                rung_trace_value(record->values[lane], subject->config.type)};
            break;
        }
    }
    step_warp(step, record->warp)->active |= record->active;
}

static unsigned pending_weight(const struct rung_trace_builder *builder,
                               const struct rung_trace_under_way *warp, bool *shuffled)
{
    unsigned weight = 1;
    for (unsigned i = 0; i < warp->n_pending; i++) {
        const struct rung_trace_record *access = &builder->log->records[warp->pending[i]];
        *shuffled |= access->kind == RUNG_SIM_EVENT_SHUFFLE;
        if (access->kind == RUNG_SIM_EVENT_SHARED_LOAD && access->ways > weight)
            weight = access->ways;
    }
    return weight;
}

static void take_addition(struct rung_trace_builder *builder, struct rung_trace_step *step,
                          const struct rung_trace_record *record)
{
    step->additions += rung_trace_lane_count(record->active);
    if (!record->tree)
        return;
    struct rung_trace_under_way *under_way = &builder->warps[record->warp];
    struct rung_trace_warp *warp = step_warp(step, record->warp);
    unsigned weight = pending_weight(builder, under_way, &step->in_registers);
    warp->active |= record->active;
    warp->body_runs++;
    warp->serialised += weight;
    if (!step->line) {
        step->line = record->line;
        step->source_line = record->source_line;
    }
    under_way->step = step;
    for (unsigned lane = 0; lane < RUNG_TRACE_LANES; lane++) {
        under_way->last_add[lane] = SIZE_MAX;
        if (!(record->active >> lane & 1))
            continue;
        under_way->last_add[lane] = step->n_adds;
        rung_trace_match_operands(&step->adds[step->n_adds++], builder, under_way, record, lane);
        under_way->registers[lane] = record->values[lane];
    }
    under_way->n_pending = 0;
}

/* A store tells where the addition before it left its result, and which operand stood there. */
static void settle_result(struct rung_trace_addition *addition, unsigned slot, double value)
{
    if (addition->result != value)
        return;
    addition->slot = slot;
    if (addition->left.origin == RUNG_TRACE_SHARED && addition->right.origin == RUNG_TRACE_SHARED &&
        addition->right.index == slot && addition->left.index != slot) {
        struct rung_trace_operand left = addition->left;
        addition->left = addition->right;
        addition->right = left;
    }
}

static void take_store(struct rung_trace_builder *builder, struct rung_trace_step *step,
                       const struct rung_trace_record *record)
{
    struct rung_trace_under_way *under_way = &builder->warps[record->warp];
    take_access(builder, step, record);
    struct rung_trace_warp *warp = step_warp(step, record->warp);
    bool of_addition = under_way->step == step;
    if (of_addition && warp->body_runs == 1 && record->ways > warp->serialised)
        warp->serialised = record->ways;
    if (step->kind == RUNG_TRACE_LOAD && !step->line) {
        step->line = record->line;
        step->source_line = record->source_line;
    }
    for (unsigned lane = 0; lane < RUNG_TRACE_LANES; lane++) {
        if (!(record->active >> lane & 1))
            continue;
        unsigned slot = (unsigned)(record->addresses[lane] / builder->element_bytes);
        double value = rung_trace_value(record->values[lane], builder->subject->config.type);
        step->stores[step->n_stores++] =
            (struct rung_trace_store){record->warp * RUNG_TRACE_LANES + lane, slot, value};
        if (of_addition && under_way->last_add[lane] != SIZE_MAX)
            settle_result(&step->adds[under_way->last_add[lane]], slot, value);
        else
            under_way->registers[lane] = record->values[lane];
    }
}

static void take_result(struct rung_trace_builder *builder, struct rung_trace_step *step,
                        const struct rung_trace_record *record)
{
    const struct rung_trace_subject *subject = builder->subject;
    step_warp(step, record->warp)->active |= record->active;
    if (!step->line) {
        step->line = record->line;
        step->source_line = record->source_line;
    }
    for (unsigned lane = 0; lane < RUNG_TRACE_LANES; lane++)
        if ((record->active >> lane & 1) && record->addresses[lane] == subject->output_address) {
            builder->trace->result = rung_trace_value(record->values[lane], subject->config.type);
            builder->trace->wrote = true;
        }
    builder->warps[record->warp].n_pending = 0;
}

void rung_trace_take_record(struct rung_trace_builder *builder, struct rung_trace_step *step,
                            size_t index)
{
    const struct rung_trace_record *record = &builder->log->records[index];
    switch (record->kind) {
    case RUNG_SIM_EVENT_GLOBAL_LOAD:
        take_global_load(builder, step, record);
        break;
    case RUNG_SIM_EVENT_SHARED_LOAD:
        take_access(builder, step, record);
        rung_trace_push_pending(&builder->warps[record->warp], index);
        break;
    case RUNG_SIM_EVENT_SHUFFLE:
        rung_trace_push_pending(&builder->warps[record->warp], index);
        break;
    case RUNG_SIM_EVENT_ADDITION:
        take_addition(builder, step, record);
        break;
    case RUNG_SIM_EVENT_SHARED_STORE:
        take_store(builder, step, record);
        break;
    case RUNG_SIM_EVENT_GLOBAL_STORE:
        take_result(builder, step, record);
        break;
    case RUNG_SIM_EVENT_BARRIER:
        step_warp(step, record->warp)->arrived |= record->active;
        step->order = RUNG_TRACE_ORDER_BLOCK;
        step->barrier_line = record->line;
        break;
    case RUNG_SIM_EVENT_INSTRUCTION: /* only bar.warp.sync is kept */
        if (step->order == RUNG_TRACE_ORDER_NONE)
            step->order = RUNG_TRACE_ORDER_WARP;
        break;
    case RUNG_SIM_EVENT_BARRIER_OPEN:
        break;
    }
}
