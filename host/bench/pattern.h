/* Inputs whose sum is known, each made to reveal another mistake. A wrong kernel counts some
 * elements not at all and others twice; a sum of equal elements cannot tell, so no single pattern
 * is trusted.
 *
 *   ones      every element 1: how many are counted in all
 *   bit K     element i is bit K of i: with all K, a pair of one dropped and one doubled element is
 *             found whatever the two are, and the K that fail spell where
 *   random01  each element 0 or 1 by a hash of its index, the number of ones known
 *   weights   whole numbers that depend on the position, as large as exactness allows
 *   random    floats of [-1, 1), against a compensated sum and a derived bound
 *
 * All but `random` are exact: every partial sum in any order is a whole number that the type
 * holds (i32 wraps modulo 2^32 in every order alike). Where n ones would exceed 2^24 in f32, a hash
 * thins the elements to about 2^23 of them. For dot both vectors follow the pattern, from different
 * hashes; `bit` varies one vector against ones in the other, and then the other way round. */
#ifndef RUNG_BENCH_PATTERN_H
#define RUNG_BENCH_PATTERN_H

#include "bench/workspace.h"

enum rung_pattern_kind {
    RUNG_PATTERN_ONES,
    RUNG_PATTERN_BIT,
    RUNG_PATTERN_RANDOM01,
    RUNG_PATTERN_WEIGHTS,
    RUNG_PATTERN_RANDOM
};

struct rung_pattern {
    enum rung_pattern_kind kind;
    unsigned bit;    /* BIT */
    unsigned vector; /* BIT of dot: which vector varies, 0 or 1 */
    uint64_t seed;
};

/* "ones", "bit 5", "bit 5 of the second vector", ... */
void rung_pattern_word(const struct rung_pattern *pattern, char word[48]);

/* What a right kernel makes of it. */
struct rung_expected {
    double value;
    bool exact;
    double magnitude; /* sum of |x| or |a b|; the bound of an inexact one follows from it */
};

/* What to fill: `count` elements from index `first` of `vector` (0, or 1 for dot) of n. */
struct rung_pattern_part {
    enum rung_op op;
    enum rung_type type;
    uint64_t n;
    uint64_t first;
    size_t count;
    unsigned vector;
};
void rung_pattern_fill(void *elements, const struct rung_pattern *pattern,
                       const struct rung_pattern_part *part);

/* Fills the inputs of the workspace and tells what the result must be. */
enum rung_status rung_pattern_upload(struct rung_expected *out,
                                     const struct rung_workspace *workspace,
                                     const struct rung_pattern *pattern, struct rung_error *err);

#endif
