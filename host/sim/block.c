/* A block runs: its warps in turn, and the barriers between them. */
#include "sim/exec.h"

#include <string.h>

#define SLICE 20000 /* warp instructions of one turn; a warp that spins lets others go on */

/* xorshift64*: the schedule of a seed is the same on every machine. */
uint64_t rung_sim_random(struct sim_worker *worker)
{
    worker->random ^= worker->random >> 12;
    worker->random ^= worker->random << 25;
    worker->random ^= worker->random >> 27;
    return worker->random * UINT64_C(2685821657736338717) >> 11;
}

/* The rows that depend on the block. Those of the lanes were filled once (machine.c). */
static void fill_block_rows(struct sim_block *block)
{
    const uint32_t *specials = block->kernel->specials;
    const uint32_t values[][2] = {
        {specials[RUNG_PTX_SR_CTAID_X], block->ctaid[0]                              },
        {specials[RUNG_PTX_SR_CTAID_Y], block->ctaid[1]                              },
        {specials[RUNG_PTX_SR_CTAID_Z], block->ctaid[2]                              },
        {specials[RUNG_PTX_SR_SMID],    (uint32_t)(block->linear % RUNG_SIM_SM_COUNT)},
    };
    for (size_t k = 0; k < sizeof values / sizeof *values; k++)
        for (uint32_t w = 0; values[k][0] && w < block->n_warps; w++) {
            uint32_t *row = sim_row(&block->warps[w], values[k][0]);
            for (int lane = 0; lane < SIM_LANES; lane++)
                row[lane] = values[k][1];
        }
}

static void start(struct sim_block *block)
{
    fill_block_rows(block);
    if (block->shared_bytes) /* garbage, but the same on every run */
        memset(block->shared, SIM_POISON, block->shared_bytes);
    memset(block->barriers, 0, sizeof block->barriers);
    block->n_done = 0;
    block->steps = block->event = 0;
    for (uint32_t w = 0; w < block->n_warps; w++) {
        uint32_t left = block->n_threads - w * SIM_LANES;
        rung_sim_warp_start(&block->warps[w], left >= SIM_LANES ? SIM_ALL : (1u << left) - 1);
    }
    if (block->worker->check)
        rung_sim_check_block(block);
}

static void open_barrier(struct sim_block *block, uint32_t number)
{
    struct sim_barrier *barrier = &block->barriers[number];
    if (block->worker->check)
        rung_sim_check_open(block, number, barrier->waiting);
    SIM_EACH_ACTIVE(w, barrier->waiting)
    {
        struct sim_warp *warp = &block->warps[w];
        const struct sim_op *op = warp->reduction;
        warp->state = SIM_RUNNABLE;
        warp->reduction = NULL;
        if (!op)
            continue;
        if (rung_ptx_has(op->source->modifiers, RUNG_PTX_M_POPC)) {
            uint32_t *row = sim_row(warp, op->d);
            SIM_EACH_ACTIVE(lane, warp->active)
            row[lane] = barrier->count;
        } else {
            bool yes =
                rung_ptx_has(op->source->modifiers, RUNG_PTX_M_AND) ? barrier->all : barrier->any;
            uint32_t *mask = sim_mask(warp, op->d);
            *mask = (*mask & ~warp->active) | (yes ? warp->active : 0);
        }
    }
    memset(barrier, 0, sizeof *barrier);
    if (block->worker->observed)
        rung_sim_observe_barrier(block, NULL, NULL);
}

/* Without a count every warp that has not ended is expected. */
static void check_barrier(struct sim_block *block, uint32_t number)
{
    struct sim_barrier *barrier = &block->barriers[number];
    if (!barrier->arrived)
        return;
    uint32_t expected =
        barrier->expected ? barrier->expected : (block->n_warps - block->n_done) * SIM_LANES;
    if (barrier->arrived >= expected)
        open_barrier(block, number);
}

void rung_sim_barrier_check_all(struct sim_block *block)
{
    for (uint32_t number = 0; number < SIM_BARRIERS; number++)
        check_barrier(block, number);
}

static void note_predicate(struct sim_barrier *barrier, struct sim_warp *warp,
                           const struct sim_op *op)
{
    uint32_t yes = (*sim_mask(warp, op->c) ^ (op->negated ? SIM_ALL : 0)) & warp->active;
    if (!barrier->arrived)
        barrier->all = true;
    barrier->count += (uint32_t)__builtin_popcount(yes);
    barrier->all = barrier->all && yes == warp->active;
    barrier->any = barrier->any || yes;
    warp->reduction = op;
}

void rung_sim_barrier_arrive(struct sim_warp *warp, const struct sim_op *op)
{
    struct sim_block *block = warp->block;
    struct sim_worker *worker = block->worker;
    int lane = sim_lowest(warp->active);
    uint32_t number = ((uint32_t *)sim_row(warp, op->a))[lane];
    uint32_t expected = op->mode ? ((uint32_t *)sim_row(warp, op->b))[lane] : 0;
    if (number >= SIM_BARRIERS || expected % SIM_LANES ||
        (op->mode && (!expected || expected > RUNG_SIM_BLOCK_THREADS_MAX))) {
        rung_sim_fault(warp, 719, RUNG_SIM_BARRIER, op, warp->active,
                       "barrier %u for %u threads: barriers are 0 to 15, threads a multiple of 32",
                       number, expected);
        return;
    }
    struct sim_barrier *barrier = &block->barriers[number];
    if (barrier->arrived && barrier->expected != expected)
        rung_sim_report(warp, RUNG_SIM_BARRIER, op, barrier->line, warp->active,
                        "barrier %u is met with different numbers of threads", number);
    if (rung_ptx_has(op->source->modifiers, RUNG_PTX_M_RED))
        note_predicate(barrier, warp, op);
    if (!barrier->arrived)
        barrier->line = op->source->line;
    barrier->expected = expected;
    barrier->arrived += SIM_LANES;
    worker->counters.block_barriers++;
    if (worker->check)
        rung_sim_check_arrive(warp, number);
    if (worker->observed)
        rung_sim_observe_barrier(block, warp, op);
    if (!rung_ptx_has(op->source->modifiers, RUNG_PTX_M_ARRIVE)) {
        barrier->waiting |= 1u << warp->index;
        warp->state = SIM_WAITING;
        warp->barrier = number;
    }
    check_barrier(block, number);
}

/* Nobody can go on: the barrier's threads will never all come. */
static void report_deadlock(struct sim_block *block)
{
    for (uint32_t w = 0; w < block->n_warps; w++) {
        struct sim_warp *warp = &block->warps[w];
        const struct sim_barrier *barrier = &block->barriers[warp->barrier];
        if (warp->state != SIM_WAITING)
            continue;
        uint32_t expected =
            barrier->expected ? barrier->expected : (block->n_warps - block->n_done) * SIM_LANES;
        rung_sim_fault(warp, 702, RUNG_SIM_BARRIER, NULL, warp->active,
                       "barrier %u (line %u) waits for ever: %u of %u threads came", warp->barrier,
                       barrier->line, barrier->arrived, expected);
        return;
    }
}

static uint32_t order_of(struct sim_block *block, uint32_t turn, uint32_t shift)
{
    return block->worker->launch->options.seed ? (turn + shift) % block->n_warps : turn;
}

static void take_turns(struct sim_block *block, bool *moved)
{
    struct sim_worker *worker = block->worker;
    bool seeded = worker->launch->options.seed;
    uint32_t shift = seeded ? (uint32_t)(rung_sim_random(worker) % block->n_warps) : 0;
    bool backwards = seeded && (rung_sim_random(worker) & 1);
    for (uint32_t turn = 0; turn < block->n_warps && !worker->fault; turn++) {
        uint32_t w = order_of(block, backwards ? block->n_warps - 1 - turn : turn, shift);
        struct sim_warp *warp = &block->warps[w];
        if (warp->state != SIM_RUNNABLE)
            continue;
        *moved = true;
        warp->slice = seeded ? (int64_t)(rung_sim_random(worker) % 64) : SLICE;
        rung_sim_warp_run(warp);
        if (warp->state == SIM_DONE) {
            block->n_done++;
            rung_sim_barrier_check_all(block);
        }
    }
}

void rung_sim_block_run(struct sim_block *block)
{
    start(block);
    while (block->n_done < block->n_warps && !block->worker->fault) {
        bool moved = false;
        take_turns(block, &moved);
        if (!moved && !block->worker->fault)
            report_deadlock(block);
    }
}
