/* The best configurations: a set, not a winner. Among rows that answer the same question (one
 * operation, type, n, target, image, state and timer) the set is every row whose interval of the
 * median reaches that of the fastest; the others are behind, and the nearest of them says by how
 * much. */
#ifndef RUNG_REPORT_BEST_H
#define RUNG_REPORT_BEST_H

#include "bench/stats.h"
#include "sweep/results.h"

struct rung_best {
    char question[RUNG_QUESTION_SIZE]; /* "sum f32 n=16776605 sm_90 auto clean isolated" */
    const struct rung_result **set;    /* fastest first; owned array of borrowed rows */
    size_t n_set;
    size_t n_rows;                  /* timed rows that were compared */
    const struct rung_result *next; /* the fastest behind the set; NULL if none is */
    struct rung_ratio gap;          /* its time over the fastest's */
};

struct rung_bests {
    struct rung_best *bests; /* in the order in which the questions appear */
    size_t n;
};

/* Looks at timed rows that are right; there may be none. */
enum rung_status rung_best_find(struct rung_bests *out, const struct rung_result *rows,
                                size_t n_rows, struct rung_error *err);
void rung_bests_release(struct rung_bests *bests);

#endif
