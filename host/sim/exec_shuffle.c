/* shfl.sync: a lane reads a register of another. A source lane that is not among those that take
 * part is undefined: it is reported, and what comes is poison, never the stale register. */
#include <string.h>

#include "sim/exec_rows.h"

enum direction { SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_BUTTERFLY, SHUFFLE_INDEX };

/* The source lane, and whether it lies in the segment; after the PTX manual's definition. */
static uint32_t source_lane(enum direction direction, uint32_t lane, uint32_t b, uint32_t c,
                            bool *inside)
{
    uint32_t mask = c >> 8 & 31, by = b & 31, clamp = c & 31;
    uint32_t last = (lane & mask) | (clamp & ~mask & 31), first = lane & mask, from;
    switch (direction) {
    case SHUFFLE_UP:
        from = lane - by;
        *inside = (int32_t)from >= (int32_t)last;
        break;
    case SHUFFLE_DOWN:
        from = lane + by;
        *inside = from <= last;
        break;
    case SHUFFLE_BUTTERFLY:
        from = lane ^ by;
        *inside = from <= last;
        break;
    default:
        from = first | (by & ~mask & 31);
        *inside = from <= last;
        break;
    }
    return *inside ? from : lane;
}

static void shuffle(struct sim_warp *warp, const struct sim_op *op)
{
    const uint32_t *values = sim_row(warp, op->a), *b = sim_row(warp, op->b),
                   *c = sim_row(warp, op->c), *members = sim_row(warp, op->rows[0]);
    uint32_t *d = sim_row(warp, op->d);
    uint32_t old[SIM_LANES], inside_mask = 0, undefined = 0;
    memcpy(old, values, sizeof old);
    SIM_EACH_ACTIVE(lane, warp->active)
    {
        bool inside;
        uint32_t from = source_lane(op->mode, lane, b[lane], c[lane], &inside);
        bool there = (warp->active & members[lane]) >> from & 1;
        inside_mask |= (uint32_t)inside << lane;
        undefined |= (uint32_t)!there << lane;
        d[lane] = there ? old[from] : UINT32_MAX;
    }
    if (op->rows[1])
        sim_mask_set(warp, op->rows[1], inside_mask);
    if (undefined)
        rung_sim_report(warp, RUNG_SIM_SHUFFLE, op, 0, undefined,
                        "the source lane of a shuffle does not take part");
}

void rung_sim_shuffle_sources(uint64_t out[SIM_LANES], struct sim_warp *warp,
                              const struct sim_op *op)
{
    const uint32_t *b = sim_row(warp, op->b), *c = sim_row(warp, op->c);
    SIM_EACH_ACTIVE(lane, warp->active)
    {
        bool inside;
        out[lane] = source_lane(op->mode, lane, b[lane], c[lane], &inside);
    }
}

bool rung_sim_decode_shuffle(struct sim_decoder *decoder)
{
    const struct rung_ptx_instruction *at = decoder->at;
    const struct rung_ptx_operand *to = &at->operands[0];
    struct sim_op *op = decoder->op;
    int up = sim_has(decoder, RUNG_PTX_M_UP), down = sim_has(decoder, RUNG_PTX_M_DOWN);
    int butterfly = sim_has(decoder, RUNG_PTX_M_BFLY), index = sim_has(decoder, RUNG_PTX_M_IDX);
    if (!sim_has(decoder, RUNG_PTX_M_SYNC) || at->n_types != 1 ||
        up + down + butterfly + index != 1)
        return rung_sim_refuse(decoder, "only with .sync and one direction");
    op->run = shuffle;
    op->kind = SIM_OP_SHUFFLE;
    op->width = 4;
    op->mode = up          ? SHUFFLE_UP
               : down      ? SHUFFLE_DOWN
               : butterfly ? SHUFFLE_BUTTERFLY
                           : SHUFFLE_INDEX;
    if (to->kind == RUNG_PTX_PAIR) {
        if (!rung_sim_decode_destination(decoder, &op->rows[1], &to->items[1], 1))
            return false;
        to = &to->items[0];
    }
    return rung_sim_decode_destination(decoder, &op->d, to, 32) &&
           rung_sim_decode_source(decoder, &op->a, &at->operands[1], RUNG_PTX_B32) &&
           rung_sim_decode_source(decoder, &op->b, &at->operands[2], RUNG_PTX_U32) &&
           rung_sim_decode_source(decoder, &op->c, &at->operands[3], RUNG_PTX_U32) &&
           rung_sim_decode_source(decoder, &op->rows[0], &at->operands[4], RUNG_PTX_U32);
}
