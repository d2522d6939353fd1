/* Where the two operands of an addition came from. The events give values, not registers; the
 * accesses under way, the partial sum that the lane holds, and the slot that the result goes to
 * decide, so equal values are told apart by what the thread owns. */
#include "trace/build.h"

static bool claim(struct rung_trace_operand *out, const struct rung_trace_builder *builder,
                  struct rung_trace_under_way *warp, enum rung_sim_event_kind kind, uint64_t bits,
                  unsigned lane)
{
    for (unsigned i = 0; i < warp->n_pending; i++) {
        const struct rung_trace_record *access = &builder->log->records[warp->pending[i]];
        bool fits = access->kind == kind && (access->active >> lane & 1) &&
                    !(warp->claimed[i] >> lane & 1) && access->values[lane] == bits;
        if (!fits)
            continue;
        warp->claimed[i] |= (uint32_t)1 << lane;
        if (kind == RUNG_SIM_EVENT_SHARED_LOAD) {
            out->origin = RUNG_TRACE_SHARED;
            out->index = (unsigned)(access->addresses[lane] / builder->element_bytes);
        } else {
            out->origin = RUNG_TRACE_LANE;
            out->index = access->has_addresses
                             ? access->warp * RUNG_TRACE_LANES + (unsigned)access->addresses[lane]
                             : RUNG_TRACE_UNKNOWN;
        }
        return true;
    }
    return false;
}

/* A shuffle under way for this lane whose value was not recognised: a 64-bit value moves in two
 * halves. */
static const struct rung_trace_record *unclaimed_shuffle(const struct rung_trace_builder *builder,
                                                         const struct rung_trace_under_way *warp,
                                                         unsigned lane)
{
    for (unsigned i = 0; i < warp->n_pending; i++) {
        const struct rung_trace_record *access = &builder->log->records[warp->pending[i]];
        if (access->kind == RUNG_SIM_EVENT_SHUFFLE && (access->active >> lane & 1) &&
            !(warp->claimed[i] >> lane & 1))
            return access;
    }
    return NULL;
}

static void swap(struct rung_trace_addition *addition)
{
    struct rung_trace_operand left = addition->left;
    addition->left = addition->right;
    addition->right = left;
}

static void match_halves(struct rung_trace_addition *out, const struct rung_trace_builder *builder,
                         const struct rung_trace_under_way *warp,
                         const struct rung_trace_record *record, unsigned lane)
{
    const struct rung_trace_record *half = unclaimed_shuffle(builder, warp, lane);
    bool found = out->left.origin == RUNG_TRACE_LANE || out->right.origin == RUNG_TRACE_LANE;
    if (!half || found) /* a half of zeros is recognised as such */
        return;
    if (out->right.origin == RUNG_TRACE_REGISTER && out->left.origin == RUNG_TRACE_REGISTER &&
        record->right[lane] == warp->registers[lane] && record->left[lane] != record->right[lane])
        swap(out);
    struct rung_trace_operand *fetched =
        out->right.origin == RUNG_TRACE_REGISTER ? &out->right : &out->left;
    fetched->origin = RUNG_TRACE_LANE;
    fetched->index = half->has_addresses
                         ? half->warp * RUNG_TRACE_LANES + (unsigned)half->addresses[lane]
                         : RUNG_TRACE_UNKNOWN;
}

void rung_trace_match_operands(struct rung_trace_addition *out,
                               const struct rung_trace_builder *builder,
                               struct rung_trace_under_way *warp,
                               const struct rung_trace_record *record, unsigned lane)
{
    enum rung_type type = builder->subject->config.type;
    out->thread = record->warp * RUNG_TRACE_LANES + lane;
    out->slot = RUNG_TRACE_UNKNOWN;
    out->left.value = rung_trace_value(record->left[lane], type);
    out->right.value = rung_trace_value(record->right[lane], type);
    out->result = rung_trace_value(record->values[lane], type);
    struct rung_trace_operand *sides[2] = {&out->left, &out->right};
    const uint64_t bits[2] = {record->left[lane], record->right[lane]};
    for (int i = 0; i < 2; i++)
        if (!claim(sides[i], builder, warp, RUNG_SIM_EVENT_SHARED_LOAD, bits[i], lane))
            claim(sides[i], builder, warp, RUNG_SIM_EVENT_SHUFFLE, bits[i], lane);
    if (builder->element_bytes == 8)
        match_halves(out, builder, warp, record, lane);
    if (out->left.origin == RUNG_TRACE_LANE && out->right.origin == RUNG_TRACE_LANE) {
        out->left.origin = RUNG_TRACE_REGISTER; /* two halves of zeros are one fetched zero */
        out->left.index = 0;
    }
    /* What a thread owns stands left: its register, what was not shuffled to it, or, until the
     * store of the result tells, the slot of its own number. */
    bool both_shared =
        out->left.origin == RUNG_TRACE_SHARED && out->right.origin == RUNG_TRACE_SHARED;
    if (out->left.origin == RUNG_TRACE_LANE ||
        (out->right.origin == RUNG_TRACE_REGISTER && out->left.origin == RUNG_TRACE_SHARED) ||
        (both_shared && out->right.index == out->thread))
        swap(out);
}
