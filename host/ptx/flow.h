/* Control flow and data flow of one function: basic blocks with their immediate post-dominators,
 * and for every register the instructions that define it and those that use it. PTX registers are
 * not in single-assignment form: a loop variable has several definitions.
 *
 * Everything lives in the flow's arena; it borrows the function. */
#ifndef RUNG_PTX_FLOW_H
#define RUNG_PTX_FLOW_H

#include "ptx/module.h"

#define RUNG_PTX_NO_BLOCK UINT32_MAX /* the virtual exit behind every ret */

struct rung_ptx_block {
    uint32_t first, end;    /* instructions first .. end-1 */
    uint32_t successors[2]; /* fall-through first, then the branch's target */
    uint32_t n_successors;  /* 0 behind ret, exit, trap; brx targets are not followed */
    const uint32_t *predecessors;
    uint32_t n_predecessors;
    uint32_t post_dominator; /* immediate; RUNG_PTX_NO_BLOCK for the virtual exit */
    bool reachable;          /* from the entry */
};

struct rung_ptx_list {
    const uint32_t *items; /* instruction indices, ascending */
    uint32_t count;
};

struct rung_ptx_flow {
    struct rung_arena arena;
    const struct rung_ptx_function *function;
    struct rung_ptx_block *blocks;
    uint32_t n_blocks;
    uint32_t *block_of;                /* instruction -> block */
    struct rung_ptx_list *definitions; /* by register */
    struct rung_ptx_list *uses;        /* by register; guards and addresses are uses */
};

/* RUNG_MEMORY is the only failure. Released by the caller in every case. */
enum rung_status rung_ptx_flow_make(struct rung_ptx_flow *out,
                                    const struct rung_ptx_function *function,
                                    struct rung_error *err);
void rung_ptx_flow_release(struct rung_ptx_flow *flow);

/* Calls `visit` for every register operand of an instruction, those inside addresses, vectors,
 * pairs and lists too, and the guard. `defines` tells a destination from a source. */
typedef void rung_ptx_register_visitor(void *context, uint32_t reg, bool defines);
void rung_ptx_registers_visit(const struct rung_ptx_instruction *instruction,
                              rung_ptx_register_visitor *visit, void *context);

/* How many leading operands are destinations: 0 for stores, branches, barriers; else 1. */
uint32_t rung_ptx_destinations(const struct rung_ptx_instruction *instruction);

/* Whether the instruction is a load from memory other than .param, or an atomic: a slice stops
 * there. */
bool rung_ptx_is_load(const struct rung_ptx_instruction *instruction);

/* The definitions of `reg` that can reach an instruction, in `arena`, in no particular order: those
 * from which a way leads to it without another that always takes effect. RUNG_MEMORY is the only
 * failure. */
enum rung_status rung_ptx_reaching(struct rung_ptx_list *out, struct rung_arena *arena,
                                   const struct rung_ptx_flow *flow, uint32_t instruction,
                                   uint32_t reg, struct rung_error *err);

/* The backward slice of a register: every instruction that any definition of it depends on through
 * registers, in ascending order. Stops at loads (which are in the slice, their addresses are not)
 * and at special registers. `follow` may be NULL; else it is asked for each definition found
 * whether the slice goes on behind it. The result lives in `arena`; RUNG_MEMORY is the only
 * failure. */
typedef bool rung_ptx_slice_filter(void *context, const struct rung_ptx_instruction *definition);
enum rung_status rung_ptx_slice(struct rung_ptx_list *out, struct rung_arena *arena,
                                const struct rung_ptx_flow *flow, uint32_t reg,
                                rung_ptx_slice_filter *follow, void *context,
                                struct rung_error *err);

#endif
