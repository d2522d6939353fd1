/* Decoded instructions into segments: the blocks of the control flow, cut again where lanes must be
 * together. */
#include "sim/decode.h"

static enum sim_sync sync_of(const struct rung_ptx_instruction *at)
{
    bool warp = rung_ptx_has(at->modifiers, RUNG_PTX_M_WARP);
    switch (at->opcode) {
    case RUNG_PTX_OP_BAR:
    case RUNG_PTX_OP_BARRIER:
        if (!warp)
            return SIM_SYNC_BLOCK;
        return at->guarded ? SIM_SYNC_NONE : SIM_SYNC_WARP;
    case RUNG_PTX_OP_SHFL:
    case RUNG_PTX_OP_VOTE:
    case RUNG_PTX_OP_MATCH:
    case RUNG_PTX_OP_REDUX:
        return at->guarded ? SIM_SYNC_NONE : SIM_SYNC_WARP;
    default:
        return SIM_SYNC_NONE;
    }
}

static enum sim_end end_of(const struct rung_ptx_instruction *at)
{
    switch (at->opcode) {
    case RUNG_PTX_OP_BRA:
        return at->guarded ? SIM_END_BRANCH : SIM_END_JUMP;
    case RUNG_PTX_OP_RET:
    case RUNG_PTX_OP_EXIT:
        return SIM_END_EXIT;
    case RUNG_PTX_OP_TRAP:
        return SIM_END_TRAP;
    default:
        return sync_of(at) == SIM_SYNC_BLOCK ? SIM_END_BARRIER : SIM_END_FALL;
    }
}

/* Whether a segment begins at an instruction: a block does, a sync does, and what follows a
 * barrier. */
static bool begins(const struct rung_ptx_flow *flow, uint32_t i)
{
    const struct rung_ptx_instruction *all = flow->function->instructions;
    return flow->blocks[flow->block_of[i]].first == i || sync_of(&all[i]) ||
           sync_of(&all[i - 1]) == SIM_SYNC_BLOCK;
}

static void count_op(struct sim_segment *segment, const struct sim_op *op)
{
    if (op->guard && end_of(op->source) == SIM_END_FALL)
        return; /* counts itself when a lane executes it */
    segment->counts[op->class]++;
    segment->n_counted++;
}

/* Instructions first .. end-1; the one that ends it is not among the ops that run. */
static void make_segment(struct sim_segment *segment, const struct rung_sim_kernel *kernel,
                         uint32_t first, uint32_t end)
{
    const struct rung_ptx_instruction *all = kernel->function->instructions;
    segment->ops = &kernel->ops[first];
    segment->end = end_of(&all[end - 1]);
    segment->n_ops = end - first - (segment->end != SIM_END_FALL);
    segment->last = segment->end != SIM_END_FALL ? &kernel->ops[end - 1] : NULL;
    segment->sync = sync_of(&all[first]);
    segment->sync_op = &kernel->ops[first];
    segment->only_exit = end - first == 1 && segment->end == SIM_END_EXIT && !all[first].guarded;
    for (uint32_t i = first; i < end; i++)
        count_op(segment, &kernel->ops[i]);
}

static void link_segment(struct sim_segment *segment, const struct rung_ptx_flow *flow,
                         const uint32_t *segment_of, uint32_t end)
{
    const struct rung_ptx_function *function = flow->function;
    const struct rung_ptx_instruction *last = &function->instructions[end - 1];
    uint32_t meet = flow->blocks[flow->block_of[end - 1]].post_dominator;
    segment->next = end < function->n_instructions ? segment_of[end] : SIM_NONE;
    segment->target = segment->join = SIM_NONE;
    if (last->opcode == RUNG_PTX_OP_BRA) {
        uint32_t target = function->labels[last->operands[0].index].target;
        segment->target = target < function->n_instructions ? segment_of[target] : SIM_NONE;
    }
    if (meet != RUNG_PTX_NO_BLOCK)
        segment->join = segment_of[flow->blocks[meet].first];
}

bool rung_sim_kernel_segments(struct rung_sim_kernel *kernel, const struct rung_ptx_flow *flow,
                              struct rung_arena *arena)
{
    uint32_t n = kernel->function->n_instructions, at = 0;
    uint32_t *segment_of = rung_arena_array(arena, (size_t)n + 1, sizeof *segment_of);
    if (!segment_of)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        kernel->n_segments += begins(flow, i);
        segment_of[i] = kernel->n_segments - 1;
    }
    kernel->segments = rung_arena_array(arena, kernel->n_segments, sizeof *kernel->segments);
    if (!kernel->segments)
        return false;
    for (uint32_t first = 0, end; first < n; first = end, at++) {
        for (end = first + 1; end < n && !begins(flow, end); end++)
            ;
        make_segment(&kernel->segments[at], kernel, first, end);
        link_segment(&kernel->segments[at], flow, segment_of, end);
    }
    return true;
}
