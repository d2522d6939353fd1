/* Inside of the verdict: the kernel under judgement, what is known about it, and the three
 * searches. */
#ifndef RUNG_INSPECT_JUDGE_H
#define RUNG_INSPECT_JUDGE_H

#include "inspect/trail.h"
#include "inspect/verdict.h"

/* Marks of an instruction. */
enum { RUNG_MARK_EVIDENCE = 1, RUNG_MARK_DECIDES = 2, RUNG_MARK_SEEN = 4 };

/* A condition, and what is done to memory where it holds or where it does not. */
struct rung_guard {
    uint32_t predicate; /* the instruction that computes it */
    uint32_t guarded;   /* the branch, or the first guarded access */
    bool updates;       /* loads and stores the same memory, at an address of the thread's own */
};

struct rung_judge {
    const struct rung_code *code;
    struct rung_trail trail;
    struct rung_arena *arena;
    uint8_t *marks; /* by instruction */
    struct rung_guard *guards;
    uint32_t n_guards;
};

const struct rung_code_instruction *rung_judge_at(const struct rung_judge *judge, uint32_t i);
bool rung_judge_source_has(const struct rung_judge *judge, uint32_t i, uint32_t s, unsigned trait);
bool rung_judge_any_source_has(const struct rung_judge *judge, uint32_t i, unsigned trait);

/* Marks what decides, once; false if it was marked before. */
bool rung_judge_decide(struct rung_judge *judge, uint32_t i);

/* Fills the guards. False when out of memory. */
bool rung_judge_find_guards(struct rung_judge *judge);

/* Each tells how many instructions it decided; the last is false when out of memory. */
uint32_t rung_judge_find_masks(struct rung_judge *judge);
uint32_t rung_judge_find_multiplications(struct rung_judge *judge);
bool rung_judge_find_divisions(uint32_t *found, struct rung_judge *judge);

/* Whether source `s` of `i` is a run of low bits that the code computes: x - 1 of a multiple x of
 * some one value, up to multiples of 1024, the most threads that a block has; or all ones shifted
 * left and inverted. */
bool rung_judge_is_low_mask(const struct rung_judge *judge, uint32_t i, uint32_t s);

#endif
