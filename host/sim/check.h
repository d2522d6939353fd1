/* What the detectors remember; check*.c only.
 *
 * Order between threads is kept as clocks. Each warp has one that goes on at every synchronisation
 * it takes part in. known[v][w] is the last clock of warp w whose accesses come before whatever
 * warp v does now; a barrier joins them over its warps. Inside a warp the same is kept from lane to
 * lane, joined by bar.warp.sync and shfl.sync over their masks. Two accesses to one place by
 * different threads, one of them a write, not both atomic and neither before the other, are a race.
 *
 * Between blocks nothing orders but this: a fence, then an atomic publish what a block did; a block
 * that has executed an atomic itself has acquired what others published. Which location the atomics
 * name is not looked at, so an order may be assumed where there is none, never the reverse. */
#ifndef RUNG_SIM_CHECK_H
#define RUNG_SIM_CHECK_H

#include "sim/exec.h"

struct sim_clocks {
    uint32_t of[SIM_WARPS_MAX];
    bool acquired; /* behind an atomic on global memory */
};

struct sim_lane_order {
    uint32_t all;                         /* every lane knows every other up to here */
    uint32_t known[SIM_LANES][SIM_LANES]; /* [who knows][of whom] */
};

/* One access; block and line 0 where there was none. */
struct sim_mark {
    uint32_t clock;
    uint32_t line;
    uint32_t block;
    uint16_t thread;
    uint8_t bytes; /* of the word, a bit each */
    bool strong;
};

/* A word of 4 bytes: the last write, and the last reads by two different threads. */
struct sim_shadow {
    struct sim_mark write, reads[2];
    uint32_t value;  /* of the bytes that `write` names */
    uint8_t written; /* bytes */
};

struct sim_check {
    struct sim_clocks now[SIM_WARPS_MAX]; /* known; [w].of[w] is w's own clock */
    struct sim_clocks fenced[SIM_WARPS_MAX];
    struct sim_clocks barriers[SIM_BARRIERS];
    struct sim_lane_order *lanes; /* of each warp */
    struct sim_shadow *shared;    /* of each word */
    uint64_t shared_words;
    uint32_t n_warps;
    uint32_t **published; /* of each block, clocks of its warps; NULL: nothing */
    uint64_t n_blocks;
    struct sim_page *pages; /* of global memory, a hash table by address */
    size_t n_pages, room;
    bool dry; /* out of host memory: the launch fails */
};

/* The shadow of a word of global memory, NULL when memory is out. */
struct sim_shadow *rung_sim_check_global(struct sim_check *check, uint64_t address);
/* Whether an earlier access comes before what a lane of the warp does now. */
bool rung_sim_check_ordered(const struct sim_check *check, const struct sim_warp *warp,
                            uint32_t lane, const struct sim_mark *mark);

#endif
