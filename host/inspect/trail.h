/* Where values come from: the definitions behind every source, resolved once, and what follows from
 * them for each instruction. */
#ifndef RUNG_INSPECT_TRAIL_H
#define RUNG_INSPECT_TRAIL_H

#include "inspect/flow.h"

enum rung_trait {
    RUNG_TRAIT_TID = 1,     /* computed from the thread index, through registers alone */
    RUNG_TRAIT_RATIO = 2,   /* computed from the reciprocal of an integer */
    RUNG_TRAIT_NUDGED = 4,  /* ... whose bits were changed by an integer addition */
    RUNG_TRAIT_QUOTIENT = 8 /* ... and converted to an integer: inside a division */
};

struct rung_definitions {
    const uint32_t *at; /* instructions */
    uint32_t n;
};

struct rung_trail {
    struct rung_flow flow;
    struct rung_definitions **sources; /* by instruction, then source; n = 0 for constants */
    struct rung_definitions *guards;   /* by instruction */
    uint8_t *traits;                   /* by instruction: enum rung_trait of its results */
};

/* False when out of memory. */
bool rung_trail_build(struct rung_trail *out, const struct rung_code *code,
                      struct rung_arena *arena);

/* The traits that source `s` of instruction `i` brings. */
unsigned rung_trail_of_source(const struct rung_trail *trail, uint32_t i, uint32_t s);

/* The value of that source where it is the same constant on every way to `i`, directly or through
 * moves. */
bool rung_trail_constant(int64_t *out, const struct rung_trail *trail, uint32_t i, uint32_t s);

/* Sets `depends[i]` for every instruction whose mark has one of `bits`, and for those computed from
 * the result of such a one through registers. */
void rung_trail_spread(bool *depends, const struct rung_trail *trail, const uint8_t *marks,
                       uint8_t bits);

#endif
