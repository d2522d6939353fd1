/* Control flow and definitions of a piece of code: basic blocks, what post-dominates what, and for
 * every use of a register the instructions whose result it may see. Registers are reused freely in
 * both languages, so definitions are followed along control flow, never taken by name alone.
 * Works on any input: calls that would cost too much set `exhausted` and return what they have. */
#ifndef RUNG_INSPECT_FLOW_H
#define RUNG_INSPECT_FLOW_H

#include "inspect/code.h"

struct rung_block {
    uint32_t start, end; /* instructions [start, end) */
    uint32_t *successors, *predecessors;
    uint32_t n_successors, n_predecessors;
    uint32_t post_dominator; /* immediate; RUNG_CODE_NOWHERE: only the end of the thread */
};

struct rung_arrival; /* flow.c */

struct rung_flow {
    const struct rung_code *code;
    struct rung_arena *arena;
    struct rung_block *blocks;
    uint32_t n_blocks;
    uint32_t *block_of;  /* by instruction */
    uint32_t *def_first; /* by register: definitions are def_list[def_first[r] .. [r + 1]) */
    uint32_t *def_list;  /* instruction indices, ascending for one register */
    uint32_t *visited;   /* by block: stamp of the walk that saw it last */
    uint32_t *queue;     /* blocks still to walk */
    uint32_t **heads;    /* by register: by block, what reaches its start; NULL not yet asked */
    struct rung_arrival *arrivals;
    size_t n_arrivals, arrivals_room;
    uint32_t stamp;
    uint64_t steps_left;
    bool exhausted;
};

/* Whether control may go on behind the instruction or elsewhere, by a predicate. */
bool rung_flow_is_conditional(const struct rung_code_instruction *instruction);

#define RUNG_FLOW_DEFS_MAX 32

struct rung_defs {
    uint32_t instructions[RUNG_FLOW_DEFS_MAX];
    uint32_t n; /* 0: nothing in this code defines it */
};

/* False when out of memory. Nothing to release but the arena. */
bool rung_flow_build(struct rung_flow *out, const struct rung_code *code, struct rung_arena *arena);

/* The definitions of `reg` that may reach instruction `at`, not counting its own. */
void rung_flow_definitions(struct rung_defs *out, struct rung_flow *flow, uint32_t at,
                           uint32_t reg);

/* Lists in `blocks`, which has room for all, those that run or do not run depending on the
 * conditional branch that ends `block`. Returns how many. */
uint32_t rung_flow_region(uint32_t *blocks, struct rung_flow *flow, uint32_t block);

#endif
