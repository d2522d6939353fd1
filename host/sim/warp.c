/* A warp runs: segment after segment, with a stack of paths where its lanes disagree.
 *
 * A branch that lanes take differently turns the top path into a join, which waits at the
 * branch's immediate post-dominator, and puts one path for each side on top. A path that reaches
 * its join is taken off; when the join is on top its lanes go on together. Lanes that leave are
 * taken out of every path.
 *
 * An instruction that needs lanes together (bar, shfl.sync ...) may find them elsewhere. Then its
 * path is blocked and another one has the turn, so that lanes which are about to end, or to come
 * here by another way, do so first; only when none can go on is the instruction executed with the
 * lanes that are there, and reported. */
#include "sim/exec.h"

#include <string.h>

SIM_ROWS static void spread(uint32_t *lanes, uint32_t active)
{
    SIM_EACH_LANE(i)
    lanes[i] = active >> i & 1 ? UINT32_MAX : 0;
}

void rung_sim_warp_set_active(struct sim_warp *warp, uint32_t active)
{
    if (warp->active == active)
        return;
    warp->active = active;
    warp->n_active = (uint32_t)__builtin_popcount(active);
    spread(warp->lanes, active);
}

void rung_sim_warp_start(struct sim_warp *warp, uint32_t live)
{
    warp->state = SIM_RUNNABLE;
    warp->exited = ~live;
    warp->depth = 1;
    warp->paths[0] = (struct sim_path){
        .mask = live, .segment = warp->block->kernel->n_segments ? 0 : SIM_NONE, .join = SIM_NONE};
    warp->reduction = NULL;
}

static void count(struct sim_warp *warp, uint32_t index, const struct sim_segment *segment)
{
    struct sim_tally *tally = &warp->block->worker->tally[index];
    tally->runs++;
    tally->lanes += warp->n_active;
    warp->block->steps += segment->n_ops + (segment->last != NULL);
    warp->slice -= segment->n_ops + 1;
}

/* Takes paths without lanes off the top. */
static void drop_empty(struct sim_warp *warp)
{
    while (warp->depth && !warp->paths[warp->depth - 1].mask)
        warp->depth--;
}

static void leave(struct sim_warp *warp, uint32_t lanes)
{
    warp->exited |= lanes;
    for (uint32_t i = 0; i < warp->depth; i++)
        warp->paths[i].mask &= ~lanes;
    drop_empty(warp);
}

/* Whether path `i` has no lanes above it: it is not a join that waits. */
static bool is_free(const struct sim_warp *warp, uint32_t i)
{
    uint32_t above = 0;
    for (uint32_t k = i + 1; k < warp->depth; k++)
        above |= warp->paths[k].mask;
    return !(above & warp->paths[i].mask);
}

static void raise_path(struct sim_warp *warp, uint32_t i)
{
    struct sim_path path = warp->paths[i];
    memmove(&warp->paths[i], &warp->paths[i + 1], (warp->depth - 1 - i) * sizeof path);
    warp->paths[warp->depth - 1] = path;
}

/* Gives the turn to another path that can go on; false if there is none. */
static bool switch_path(struct sim_warp *warp)
{
    for (uint32_t i = warp->depth - 1; i-- > 0;)
        if (!warp->paths[i].blocked && warp->paths[i].mask && is_free(warp, i)) {
            raise_path(warp, i);
            return true;
        }
    return false;
}

/* Blocked paths that wait at the same instruction become one. */
static void merge_blocked(struct sim_warp *warp)
{
    struct sim_path *top = &warp->paths[warp->depth - 1];
    for (uint32_t i = 0; i + 1 < warp->depth; i++) {
        struct sim_path *other = &warp->paths[i];
        if (other->blocked && other->segment == top->segment && other->join == top->join) {
            top->mask |= other->mask;
            other->mask = 0;
            other->blocked = false;
        }
    }
}

/* Lanes that wait at a join which is nothing but a ret may as well have left. */
static bool release_exits(struct sim_warp *warp)
{
    const struct sim_segment *segments = warp->block->kernel->segments;
    for (uint32_t i = 0; i + 1 < warp->depth; i++) {
        struct sim_path *path = &warp->paths[i];
        uint32_t above = 0;
        for (uint32_t k = i + 1; k < warp->depth; k++)
            above |= warp->paths[k].mask;
        uint32_t waiting = path->mask & ~above;
        if (!waiting || path->segment == SIM_NONE || !segments[path->segment].only_exit)
            continue;
        warp->block->worker->tally[path->segment].runs++;
        warp->block->worker->tally[path->segment].lanes += (uint64_t)__builtin_popcount(waiting);
        leave(warp, waiting);
        return true;
    }
    return false;
}

/* The lanes that the instruction wants together. */
static uint32_t wanted(struct sim_warp *warp, const struct sim_segment *segment)
{
    if (segment->sync == SIM_SYNC_BLOCK)
        return ~warp->exited;
    const uint32_t *members = sim_row(warp, segment->sync_op->rows[0]);
    return members[sim_lowest(warp->active)] & ~warp->exited;
}

static void report_apart(struct sim_warp *warp, const struct sim_segment *segment, uint32_t missing)
{
    bool block = segment->sync == SIM_SYNC_BLOCK;
    rung_sim_report(warp,
                    block || segment->sync_op->kind != SIM_OP_SHUFFLE ? RUNG_SIM_BARRIER
                                                                      : RUNG_SIM_SHUFFLE,
                    segment->sync_op, 0, missing,
                    block ? "lanes of the warp are not at this barrier: it stands in a branch"
                          : "lanes of the mask never come to this instruction");
}

/* True when the segment may begin; false when another path has the turn. */
static bool gather(struct sim_warp *warp, const struct sim_segment *segment)
{
    for (;;) {
        struct sim_path *top = &warp->paths[warp->depth - 1];
        rung_sim_warp_set_active(warp, top->mask);
        uint32_t missing = wanted(warp, segment) & ~warp->active;
        if (!missing)
            break;
        top->blocked = true;
        if (switch_path(warp))
            return false;
        uint32_t before = top->mask;
        merge_blocked(warp);
        if (top->mask != before || release_exits(warp))
            continue;
        report_apart(warp, segment, missing);
        break;
    }
    warp->paths[warp->depth - 1].blocked = false;
    if (segment->sync == SIM_SYNC_WARP && warp->block->worker->check)
        rung_sim_check_warp_sync(warp, wanted(warp, segment) & warp->active);
    return true;
}

/* Puts the sides of a branch on the stack; the side that goes first comes last. */
static void split(struct sim_warp *warp, const struct sim_segment *segment, uint32_t taken)
{
    struct sim_worker *worker = warp->block->worker;
    struct sim_path *top = &warp->paths[warp->depth - 1];
    struct sim_path sides[2] = {
        {.mask = taken,                 .segment = segment->target, .join = segment->join},
        {.mask = warp->active & ~taken, .segment = segment->next,   .join = segment->join},
    };
    if (warp->depth + 2 > SIM_PATHS_MAX) { /* cannot be: see SIM_PATHS_MAX */
        rung_sim_fault(warp, 719, RUNG_SIM_BARRIER, segment->last, warp->active,
                       "lanes diverge more often than there are lanes");
        return;
    }
    worker->counters.divergent_branches++;
    if (segment->join != SIM_NONE && segment->join != top->join)
        *top = (struct sim_path){.mask = warp->active, .segment = segment->join, .join = top->join};
    else
        warp->depth--;
    uint32_t first = worker->launch->options.seed ? (uint32_t)(rung_sim_random(worker) & 1) : 0;
    for (uint32_t k = 0; k < 2; k++) {
        const struct sim_path *side = &sides[k ^ first];
        if (side->segment != side->join || side->segment == SIM_NONE)
            warp->paths[warp->depth++] = *side;
    }
}

static uint32_t guard_of(struct sim_warp *warp, const struct sim_op *op)
{
    if (!op->guard)
        return warp->active;
    uint32_t mask = *sim_mask(warp, op->guard);
    return (op->guard_negated ? ~mask : mask) & warp->active;
}

/* The top path goes on at `segment`, or is over where that is its join. */
static void go_to(struct sim_warp *warp, uint32_t segment)
{
    struct sim_path *top = &warp->paths[warp->depth - 1];
    top->segment = segment;
    top->op = 0;
    if (segment == top->join && segment != SIM_NONE)
        warp->depth--;
}

static void branch(struct sim_warp *warp, const struct sim_segment *segment)
{
    uint32_t taken = guard_of(warp, segment->last);
    if (taken == warp->active)
        go_to(warp, segment->target);
    else if (!taken)
        go_to(warp, segment->next);
    else
        split(warp, segment, taken);
}

static void finish(struct sim_warp *warp, const struct sim_segment *segment)
{
    uint32_t lanes = guard_of(warp, segment->last);
    if (lanes && segment->end == SIM_END_TRAP)
        rung_sim_fault(warp, 719, RUNG_SIM_BARRIER, segment->last, lanes, "the kernel trapped");
    if (lanes != warp->active)
        go_to(warp, segment->next);
    leave(warp, lanes);
}

/* How the segment ends; false when the warp stops running for now. */
static bool end_segment(struct sim_warp *warp, const struct sim_segment *segment)
{
    switch (segment->end) {
    case SIM_END_FALL:
    case SIM_END_JUMP:
        go_to(warp, segment->end == SIM_END_JUMP ? segment->target : segment->next);
        return true;
    case SIM_END_BRANCH:
        branch(warp, segment);
        return true;
    case SIM_END_BARRIER:
        go_to(warp, segment->next);
        rung_sim_barrier_arrive(warp, segment->last);
        return warp->state == SIM_RUNNABLE;
    default:
        finish(warp, segment);
        return true;
    }
}

/* One instruction at a time: for observers, and for turns that change at memory accesses. False
 * when another warp has the turn. */
static bool run_slowly(struct sim_warp *warp, const struct sim_segment *segment)
{
    struct sim_worker *worker = warp->block->worker;
    struct sim_path *top = &warp->paths[warp->depth - 1];
    while (top->op < segment->n_ops && !worker->fault) {
        const struct sim_op *op = &segment->ops[top->op++];
        struct sim_before before;
        if (worker->observed)
            rung_sim_observe_before(&before, warp, op);
        op->run(warp, op);
        if (worker->observed)
            rung_sim_observe(warp, op, &before);
        if (worker->launch->options.seed && op->kind != SIM_OP_PLAIN &&
            !(rung_sim_random(worker) & 3)) {
            warp->slice = 0;
            return false;
        }
    }
    return true;
}

static bool out_of_steps(struct sim_warp *warp, const struct sim_segment *segment)
{
    struct sim_block *block = warp->block;
    uint64_t budget = block->worker->launch->options.step_budget;
    if (block->steps <= (budget ? budget : UINT64_C(1) << 32))
        return false;
    const struct sim_op *op = segment->last ? segment->last : segment->ops;
    rung_sim_fault(warp, 702, RUNG_SIM_TIMEOUT, op, warp->active,
                   "the block's budget of %llu warp instructions is spent",
                   (unsigned long long)(budget ? budget : UINT64_C(1) << 32));
    return true;
}

void rung_sim_warp_run(struct sim_warp *warp)
{
    struct sim_worker *worker = warp->block->worker;
    const struct sim_segment *segments = warp->block->kernel->segments;
    while (!worker->fault) {
        if (!warp->depth) {
            warp->state = SIM_DONE;
            return;
        }
        struct sim_path *top = &warp->paths[warp->depth - 1];
        uint32_t index = top->segment;
        if (index == SIM_NONE) { /* fell off the end of the code */
            leave(warp, top->mask);
            continue;
        }
        const struct sim_segment *segment = &segments[index];
        rung_sim_warp_set_active(warp, top->mask);
        if (!top->op) {
            if (segment->sync && !gather(warp, segment))
                continue;
            if (warp->slice < 0) { /* others first; lanes elsewhere too */
                switch_path(warp);
                return;
            }
            count(warp, index, segment);
            if (out_of_steps(warp, segment))
                return;
        }
        if (worker->slow) {
            if (!run_slowly(warp, segment))
                return;
        } else {
            for (const struct sim_op *op = segment->ops, *end = op + segment->n_ops; op < end; op++)
                op->run(warp, op);
        }
        if (!end_segment(warp, segment))
            return;
    }
}
