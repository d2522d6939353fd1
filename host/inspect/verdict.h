/* What became of a modulo of the thread index. The question is put to every condition under which
 * data is updated, and to everything computed from the thread index:
 *
 *   divide    an integer division or remainder with the thread index in it. In SASS: an integer
 *             conversion of a reciprocal whose bits were nudged as the expansion of a division
 *             does it, or a call of the compiler's own division routine
 *   multiply  the thread index multiplied by the fixed-point reciprocal of a constant (high half,
 *             or a product that is shifted down), or by its modular inverse and then compared
 *   mask      the thread index and-ed with 2^k - 1, a constant or x - 1, compared for equality,
 *             where that guards a load and a store of the same memory
 *   mixed     several of these
 *   none      none of them: plain comparisons
 *
 * Not masks: an and with 2^22 - 1 or more (v2's last step, `256 * tid < 256`, folds to one), an and
 * that only forms an address or a lane number, a guard that only stores or only shuffles. */
#ifndef RUNG_INSPECT_VERDICT_H
#define RUNG_INSPECT_VERDICT_H

#include "inspect/code.h"

enum rung_verdict_word {
    RUNG_VERDICT_NONE,
    RUNG_VERDICT_MASK,
    RUNG_VERDICT_MULTIPLY,
    RUNG_VERDICT_DIVIDE,
    RUNG_VERDICT_MIXED
};

const char *rung_verdict_text(enum rung_verdict_word word); /* "divide" */

struct rung_evidence {
    uint32_t instruction; /* index into the code */
    bool decides;         /* the division, multiplication or mask itself; else the guard round it */
};

struct rung_modulo {
    enum rung_verdict_word word;
    uint32_t divide, mask, multiply; /* instructions of each kind found */
    uint32_t barriers;
    uint32_t guards;                /* conditions under which data is updated */
    struct rung_evidence *evidence; /* in the order of the code */
    uint32_t n_evidence;
    bool incomplete; /* too large to follow everything */
};

/* Judges one kernel. Evidence lives in `arena`. False when out of memory. */
bool rung_verdict_reach(struct rung_modulo *out, const struct rung_code *code,
                        struct rung_arena *arena);

/* "divide", "mask x8", "multiply", ... in at most 24 characters. */
void rung_verdict_short(const struct rung_modulo *verdict, char text[24]);

#endif
