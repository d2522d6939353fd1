/* bar, barrier, membar and fence. The waiting is the block's (block.c); bar.warp.sync is done when
 * its lanes are together, which the warp sees to before it runs. */
#include "sim/decode.h"

static void warp_sync(struct sim_warp *warp, const struct sim_op *op)
{
    const uint32_t *members = sim_row(warp, op->rows[0]);
    if (!(members[sim_lowest(warp->active)] >> sim_lowest(warp->active) & 1))
        rung_sim_report(warp, RUNG_SIM_BARRIER, op, 0, warp->active,
                        "a lane waits at bar.warp.sync that is not in its mask");
}

/* Blocks interleave sequentially, so an access is never seen out of order: what a fence changes is
 * what the detectors know. */
static void fence(struct sim_warp *warp, const struct sim_op *op)
{
    bool block_only = rung_ptx_has(op->source->modifiers, RUNG_PTX_M_CTA);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (warp->block->worker->check && !block_only)
        rung_sim_check_fence(warp);
}

/* bar.sync a{, b}; bar.arrive a, b; bar.red.popc d, a{, b}, p. A barrier's number and count are
 * literals in all generated code; registers are taken too. */
static bool decode_block_barrier(struct sim_decoder *decoder)
{
    const struct rung_ptx_instruction *at = decoder->at;
    const struct rung_ptx_operand *operands = at->operands;
    struct sim_op *op = decoder->op;
    uint32_t n = at->n_operands;
    bool red = sim_has(decoder, RUNG_PTX_M_RED), arrive = sim_has(decoder, RUNG_PTX_M_ARRIVE);
    if (red) {
        int kinds = sim_has(decoder, RUNG_PTX_M_POPC) + sim_has(decoder, RUNG_PTX_M_AND) +
                    sim_has(decoder, RUNG_PTX_M_OR);
        bool count = sim_has(decoder, RUNG_PTX_M_POPC);
        if (kinds != 1 || n < 3 || at->n_types != 1 || (at->types[0] == RUNG_PTX_U32) != count)
            return rung_sim_refuse(decoder, "needs .popc.u32, .and.pred or .or.pred");
        if (!rung_sim_decode_destination(decoder, &op->d, &operands[0], count ? 32 : 1) ||
            !rung_sim_decode_predicate(decoder, &op->c, &op->negated, &operands[n - 1]))
            return false;
        operands++;
        n -= 2;
    } else if (at->n_types || n > 2 || (arrive && n != 2)) {
        return rung_sim_refuse(decoder, "another number of operands");
    }
    op->mode = n == 2; /* it names a count of threads */
    return rung_sim_decode_source(decoder, &op->a, &operands[0], RUNG_PTX_U32) &&
           (n < 2 || rung_sim_decode_source(decoder, &op->b, &operands[1], RUNG_PTX_U32));
}

bool rung_sim_decode_barrier(struct sim_decoder *decoder)
{
    const struct rung_ptx_instruction *at = decoder->at;
    struct sim_op *op = decoder->op;
    bool long_name = at->opcode == RUNG_PTX_OP_BARRIER;
    if (at->opcode == RUNG_PTX_OP_MEMBAR || at->opcode == RUNG_PTX_OP_FENCE) {
        op->run = fence;
        return true;
    }
    if (sim_has(decoder, RUNG_PTX_M_WARP)) {
        op->run = warp_sync;
        if (!sim_has(decoder, RUNG_PTX_M_SYNC) || at->n_operands != 1)
            return rung_sim_refuse(decoder, "needs .sync and a mask");
        return rung_sim_decode_source(decoder, &op->rows[0], &at->operands[0], RUNG_PTX_U32);
    }
    int kinds = sim_has(decoder, RUNG_PTX_M_SYNC) + sim_has(decoder, RUNG_PTX_M_ARRIVE) +
                sim_has(decoder, RUNG_PTX_M_RED);
    if (kinds != 1)
        return rung_sim_refuse(decoder, "needs one of .sync, .arrive and .red");
    if (long_name && !sim_has(decoder, RUNG_PTX_M_ALIGNED))
        return rung_sim_refuse(decoder, "parts of a warp at a barrier (without .aligned)");
    if (at->guarded)
        return rung_sim_refuse(decoder, "a guarded barrier");
    return decode_block_barrier(decoder);
}
