/* A block that is computed here, by plain loops over the definition of a version, and shown to an
 * observer in the simulator's events: an independent source for the tests of host/trace. */
#ifndef RUNG_TESTS_TRACE_EVENTS_H
#define RUNG_TESTS_TRACE_EVENTS_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "trace/log.h"
#include "trace/trace.h"

#define EVENTS_A 0x10000u
#define EVENTS_B 0x20000u
#define EVENTS_OUT 0x30000u

struct events_block {
    unsigned version; /* 1, 2, 3; 8: shuffles in the last warp, block of at most 32 */
    unsigned threads;
    uint64_t n;
    const double *a, *b; /* b NULL for a sum */
    bool no_barriers;    /* between the levels of the tree: warp 0 runs ahead of the others */
    rung_sim_observer *observer;
    void *context;
    float shared[1024]; /* afterwards: what the block left there */
    float result;
};

static inline uint64_t events_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* The most distinct words that one of 32 banks serves. */
static inline unsigned events_ways(const uint64_t *addresses, uint32_t active)
{
    unsigned ways = 1;
    for (unsigned bank = 0; bank < 32; bank++) {
        uint64_t seen[32];
        unsigned count = 0;
        for (unsigned lane = 0; lane < 32; lane++) {
            uint64_t word = addresses[lane] / 4;
            bool fresh = (active >> lane & 1) && word % 32 == bank;
            for (unsigned i = 0; fresh && i < count; i++)
                fresh = seen[i] != word;
            if (fresh)
                seen[count++] = word;
        }
        ways = count > ways ? count : ways;
    }
    return ways;
}

static inline void events_send(struct events_block *block, enum rung_sim_event_kind kind,
                               unsigned warp, uint32_t active, const uint64_t *addresses,
                               const uint64_t *values, const uint64_t *left, const uint64_t *right)
{
    bool shared = kind == RUNG_SIM_EVENT_SHARED_LOAD || kind == RUNG_SIM_EVENT_SHARED_STORE;
    struct rung_sim_event event = {.kind = kind,
                                   .warp = warp,
                                   .active = active,
                                   .line = 10 + (unsigned)kind,
                                   .source_line = kind == RUNG_SIM_EVENT_ADDITION ? 3 : 2,
                                   .width = 4,
                                   .ways = shared ? events_ways(addresses, active) : 0,
                                   .tree = kind == RUNG_SIM_EVENT_ADDITION,
                                   .addresses = addresses,
                                   .values = values,
                                   .left = left,
                                   .right = right};
    if (active)
        block->observer(block->context, &event);
}

static inline uint32_t events_all_lanes(const struct events_block *block)
{
    return block->threads >= 32 ? UINT32_MAX : ((uint32_t)1 << block->threads) - 1;
}

static inline void events_load(struct events_block *block, unsigned warp)
{
    uint64_t a[32] = {0}, b[32] = {0}, slots[32] = {0};
    uint64_t a_values[32] = {0}, b_values[32] = {0}, stored[32] = {0};
    uint32_t read = 0;
    for (unsigned lane = 0; lane < 32 && lane < block->threads; lane++) {
        unsigned thread = warp * 32 + lane;
        float value = 0;
        if (thread < block->n) {
            read |= (uint32_t)1 << lane;
            value = (float)block->a[thread];
            a_values[lane] = events_bits(value);
            if (block->b) {
                b_values[lane] = events_bits((float)block->b[thread]);
                value *= (float)block->b[thread];
            }
        }
        a[lane] = EVENTS_A + 4u * thread;
        b[lane] = EVENTS_B + 4u * thread;
        slots[lane] = 4u * thread;
        stored[lane] = events_bits(value);
        block->shared[thread] = value;
    }
    events_send(block, RUNG_SIM_EVENT_GLOBAL_LOAD, warp, read, a, a_values, NULL, NULL);
    if (block->b)
        events_send(block, RUNG_SIM_EVENT_GLOBAL_LOAD, warp, read, b, b_values, NULL, NULL);
    events_send(block, RUNG_SIM_EVENT_SHARED_STORE, warp, events_all_lanes(block), slots, stored,
                NULL, NULL);
}

/* The slot that thread `tid` adds into at stride s, or -1 when it is idle. */
static inline int events_target(const struct events_block *block, unsigned tid, unsigned s)
{
    switch (block->version) {
    case 1:
        return tid % (2 * s) == 0 ? (int)tid : -1;
    case 2:
        return 2 * s * tid < block->threads ? (int)(2 * s * tid) : -1;
    default:
        return tid < s ? (int)tid : -1;
    }
}

static inline void events_level(struct events_block *block, unsigned warp, unsigned s)
{
    uint64_t own[32] = {0}, other[32] = {0}, own_values[32] = {0}, other_values[32] = {0};
    uint64_t sums[32] = {0};
    uint32_t active = 0;
    for (unsigned lane = 0; lane < 32 && lane < block->threads; lane++) {
        int target = events_target(block, warp * 32 + lane, s);
        if (target < 0)
            continue;
        active |= (uint32_t)1 << lane;
        own[lane] = 4u * (unsigned)target;
        other[lane] = 4u * ((unsigned)target + s);
        own_values[lane] = events_bits(block->shared[target]);
        other_values[lane] = events_bits(block->shared[(unsigned)target + s]);
        sums[lane] = events_bits(block->shared[target] + block->shared[(unsigned)target + s]);
    }
    for (unsigned lane = 0; lane < 32; lane++)
        if (active >> lane & 1)
            memcpy(&block->shared[own[lane] / 4], &sums[lane], 4);
    /* As compilers emit it: the partner first. */
    events_send(block, RUNG_SIM_EVENT_SHARED_LOAD, warp, active, other, other_values, NULL, NULL);
    events_send(block, RUNG_SIM_EVENT_SHARED_LOAD, warp, active, own, own_values, NULL, NULL);
    events_send(block, RUNG_SIM_EVENT_ADDITION, warp, active, NULL, sums, other_values, own_values);
    events_send(block, RUNG_SIM_EVENT_SHARED_STORE, warp, active, own, sums, NULL, NULL);
}

static inline void events_barrier(struct events_block *block)
{
    for (unsigned warp = 0; warp * 32 < block->threads; warp++)
        events_send(block, RUNG_SIM_EVENT_BARRIER, warp, events_all_lanes(block), NULL, NULL, NULL,
                    NULL);
    events_send(block, RUNG_SIM_EVENT_BARRIER_OPEN, 0, events_all_lanes(block), NULL, NULL, NULL,
                NULL);
}

/* Version 8 in one warp: each lane keeps its sum in a register and adds that of lane + s. */
static inline void events_shuffle_tree(struct events_block *block)
{
    float sums[64] = {0};
    memcpy(sums, block->shared, 32 * sizeof *sums);
    uint64_t slots[32], loaded[32];
    for (unsigned lane = 0; lane < 32; lane++) {
        slots[lane] = 4u * lane;
        loaded[lane] = events_bits(sums[lane]);
    }
    uint32_t all = events_all_lanes(block);
    events_send(block, RUNG_SIM_EVENT_SHARED_LOAD, 0, all, slots, loaded, NULL, NULL);
    for (unsigned s = block->threads / 2; s > 0; s /= 2) {
        uint64_t from[32], moved[32], own[32], added[32];
        float next[32];
        for (unsigned lane = 0; lane < 32; lane++) {
            unsigned source = lane + s < block->threads ? lane + s : lane;
            from[lane] = source;
            moved[lane] = events_bits(sums[source]);
            own[lane] = events_bits(sums[lane]);
            next[lane] = sums[lane] + sums[source];
            added[lane] = events_bits(next[lane]);
        }
        memcpy(sums, next, sizeof next);
        events_send(block, RUNG_SIM_EVENT_SHUFFLE, 0, all, from, moved, NULL, NULL);
        events_send(block, RUNG_SIM_EVENT_ADDITION, 0, all, NULL, added, own, moved);
    }
    block->shared[0] = sums[0];
}

static inline void events_tree(struct events_block *block)
{
    unsigned warps = (block->threads + 31) / 32;
    bool down = block->version >= 3;
    if (block->no_barriers) {
        for (unsigned warp = 0; warp < warps; warp++)
            for (unsigned i = 1; i < block->threads; i *= 2)
                events_level(block, warp, down ? block->threads / 2 / i : i);
        return;
    }
    for (unsigned i = 1; i < block->threads; i *= 2) {
        for (unsigned warp = 0; warp < warps; warp++)
            events_level(block, warp, down ? block->threads / 2 / i : i);
        events_barrier(block);
    }
}

static inline void events_run(struct events_block *block)
{
    for (unsigned warp = 0; warp * 32 < block->threads; warp++)
        events_load(block, warp);
    events_barrier(block);
    if (block->version == 8)
        events_shuffle_tree(block);
    else
        events_tree(block);
    block->result = block->shared[0];
    uint64_t out[32] = {EVENTS_OUT}, slot[32] = {0}, value[32] = {events_bits(block->result)};
    if (block->version != 8)
        events_send(block, RUNG_SIM_EVENT_SHARED_LOAD, 0, 1, slot, value, NULL, NULL);
    events_send(block, RUNG_SIM_EVENT_GLOBAL_STORE, 0, 1, out, value, NULL, NULL);
}

/* Runs the block and builds its trace in `arena`; what the trace borrows is static or `block`'s. */
static inline enum rung_status events_trace(struct rung_trace *out, struct rung_arena *arena,
                                            struct events_block *block, struct rung_error *err)
{
    struct rung_trace_log log;
    enum rung_status status = rung_trace_log_init(&log, "", err);
    if (status != RUNG_OK)
        return status;
    block->observer = rung_trace_log_observe;
    block->context = &log;
    events_run(block);
    static char ids[4][RUNG_ID_SIZE];
    static unsigned used;
    struct rung_trace_subject subject = {
        .config = {.version = block->version,
                   .block = block->threads,
                   .op = block->b ? RUNG_OP_DOT : RUNG_OP_SUM},
        .title = "computed by the test",
        .source = "first\nshared[tid] = value;\nshared[own] += shared[own + s];\n",
        .source_name = "test.cu",
        .ptx = "",
        .where = "test",
        .n = block->n,
        .input_names = {"a",                         block->b ? "b" : NULL                  },
        .inputs = {block->a,                         block->b},
        .input_addresses = {EVENTS_A,                         EVENTS_B                  },
        .output_address = EVENTS_OUT
    };
    char *id = ids[used++ % 4];
    rung_config_id(&subject.config, id);
    subject.id = id;
    status = rung_trace_build(out, arena, &log, &subject, err);
    rung_trace_log_release(&log);
    return status;
}

#endif
