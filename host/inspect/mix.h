/* The instruction mix of a kernel, for comparing two. */
#ifndef RUNG_INSPECT_MIX_H
#define RUNG_INSPECT_MIX_H

#include "inspect/code.h"

enum rung_mix_class {
#define MIX(name, key, title) RUNG_MIX_##name,
#include "inspect/mix.def"
#undef MIX
    RUNG_MIX_COUNT
};

struct rung_mix {
    unsigned total;   /* without the padding behind the last exit */
    unsigned guarded; /* under a predicate, branches not counted */
    unsigned counts[RUNG_MIX_COUNT];
};

void rung_mix_count(struct rung_mix *out, const struct rung_code *code);
const char *rung_mix_key(enum rung_mix_class class);   /* "load_shared" */
const char *rung_mix_title(enum rung_mix_class class); /* "shared loads" */

/* An instruction without what differs between two compilations of the same thing: which register,
 * which label or address, where the parameters lie. */
#define RUNG_MIX_TEXT 160
void rung_mix_normalise(char text[RUNG_MIX_TEXT], const struct rung_code *code,
                        uint32_t instruction);

/* What one kernel has more often than the other, after normalising. */
struct rung_mix_line {
    const char *text;
    unsigned a, b; /* how often in each; never equal */
};

/* Lines in the order of their text; they live in `arena`. False when out of memory. */
bool rung_mix_compare(struct rung_mix_line **lines, size_t *n, const struct rung_code *a,
                      const struct rung_code *b, struct rung_arena *arena);

#endif
