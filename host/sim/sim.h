/* The PTX simulator seen from outside: what only a simulator can be asked, beside the Driver API
 * functions that it answers (driver/driver.h). Everything here acts on the simulator of the
 * process. It proves results, counts and the absence of races under its schedules; it tells no
 * times. */
#ifndef RUNG_SIM_SIM_H
#define RUNG_SIM_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/driver.h"

/* Counted since the last reset, over all launches. Units: warp instructions unless said. */
struct rung_sim_counters {
    uint64_t launches, blocks, warps;
    uint64_t warp_instructions;   /* issued: one per warp and instruction with an active lane */
    uint64_t thread_instructions; /* active lanes of those */
    /* by class; their sum is warp_instructions */
    uint64_t arithmetic, logic, compare, move, convert, branch, barrier, shared_load, shared_store,
        global_load, global_store, other_memory, shuffle, vote, atomic, control;
    uint64_t divergent_branches;
    /* The tree, as gen/model.h defines it, seen in the executed code. */
    uint64_t additions;  /* thread level: of data, those on load and those of the tree */
    uint64_t body_runs;  /* warp level: tree additions */
    uint64_t serialised; /* those, by the largest conflict degree of their operands */
    /* Shared and global traffic. */
    uint64_t shared_load_wavefronts, shared_store_wavefronts;
    uint64_t shared_load_conflicts, shared_store_conflicts; /* wavefronts above one per access */
    uint64_t global_load_sectors, global_store_sectors;     /* 32 bytes each */
    uint64_t block_barriers;                                /* bar.sync arrivals, by warp */
};

/* The kinds of report that the checking mode makes. */
enum rung_sim_finding_kind {
    RUNG_SIM_RACE,    /* two threads, one shared or global word, one writes, nothing orders */
    RUNG_SIM_BARRIER, /* divergent, or never reached by all */
    RUNG_SIM_BOUNDS,  /* outside an allocation or the block's shared memory */
    RUNG_SIM_MISALIGNED,
    RUNG_SIM_UNINITIALISED, /* a shared word read before it was written */
    RUNG_SIM_SHUFFLE,       /* a source lane that is inactive, exited or outside the mask */
    RUNG_SIM_TIMEOUT        /* the step budget is spent */
};

struct rung_sim_finding {
    enum rung_sim_finding_kind kind;
    unsigned line;       /* of the PTX text, from 1 */
    unsigned other_line; /* of the access it conflicts with, 0 if none */
    uint32_t block;      /* linear CTA index */
    uint32_t warp;       /* in the block */
    uint32_t lanes;      /* mask */
    char text[256];      /* one line for the reader */
};

/* One executed warp instruction, shown to an observer after it took effect. Pointers are borrowed
 * for the call. `addresses`, `values` are per lane, valid where `active` has the lane's bit;
 * values are the raw bits of the destination (load, arithmetic) or of what is stored. */
struct rung_sim_event {
    enum rung_sim_event_kind {
        RUNG_SIM_EVENT_INSTRUCTION, /* anything not named below */
        RUNG_SIM_EVENT_SHARED_LOAD,
        RUNG_SIM_EVENT_SHARED_STORE,
        RUNG_SIM_EVENT_GLOBAL_LOAD,
        RUNG_SIM_EVENT_GLOBAL_STORE,
        RUNG_SIM_EVENT_ADDITION, /* of data; `tree` tells load from tree */
        RUNG_SIM_EVENT_SHUFFLE,
        RUNG_SIM_EVENT_BARRIER,     /* a warp arrives at bar.sync */
        RUNG_SIM_EVENT_BARRIER_OPEN /* the block goes on */
    } kind;
    uint64_t step; /* counts the events of a block */
    uint32_t block, warp;
    uint32_t active;           /* lanes */
    unsigned line;             /* of the PTX text */
    unsigned source_line;      /* of the CUDA source by .loc, 0 without line information */
    unsigned width;            /* bytes of one lane's access or value */
    unsigned ways;             /* bank conflict degree of a shared access */
    bool tree;                 /* the addition is one of the tree */
    const uint64_t *addresses; /* shared: byte offset in the block's; shuffle: the source lane */
    const uint64_t *values;
    const uint64_t *left, *right; /* operands of an addition */
};
typedef void rung_sim_observer(void *context, const struct rung_sim_event *event);

/* What the simulator does from the next launch on. Zero-initialised is the default. */
struct rung_sim_options {
    bool check;           /* make findings */
    bool strict;          /* a finding fails the launch (719, 700, 716 as a card would) */
    uint64_t seed; /* not 0: warps and blocks run in an adversarial order from this seed. One
                    * block after the other: a block that waits for one before it needs seed 0, for
                    * on a card too blocks start in the order of their indices */
    uint64_t step_budget; /* warp instructions per block before it is stopped; 0: 2^32 */
    unsigned threads;     /* host threads over blocks; 0: all cores */
    rung_sim_observer *observer; /* called for `observed_block` only, which then runs alone */
    void *observer_context;
    uint32_t observed_block;
};

struct rung_sim_control {
    void (*set_options)(const struct rung_sim_options *options);
    void (*get_options)(struct rung_sim_options *options);
    void (*reset)(void);                                  /* counters and findings to nothing */
    void (*read_counters)(struct rung_sim_counters *out); /* after a synchronise */
    /* The findings so far, at most `room` of them; returns how many there were in all. */
    uint64_t (*read_findings)(struct rung_sim_finding *out, uint64_t room);
    /* What the host has not released: contexts, modules, streams, events, graphs, allocations, and
     * those that a context still held when it ended. 0 after a run that cleaned up. */
    uint64_t (*live_handles)(void);
};

#endif
