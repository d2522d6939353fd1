/* Rows that answer one question together: one operation, type, n, target, image, state and timer.
 * A page has one part for each. */
#ifndef RUNG_REPORT_GROUPS_H
#define RUNG_REPORT_GROUPS_H

#include "sweep/results.h"

#define RUNG_GROUP_BLOCKS 16
#define RUNG_GROUP_VERSIONS 32

struct rung_group {
    char question[RUNG_QUESTION_SIZE]; /* "sum f32 n=16776605 sm_90 auto clean isolated" */
    const struct rung_result **rows;   /* owned array of borrowed rows, right ones only */
    size_t n_rows;
    bool timed;                                                        /* any row has times */
    unsigned blocks[RUNG_GROUP_BLOCKS], versions[RUNG_GROUP_VERSIONS]; /* ascending */
    size_t n_blocks, n_versions;
    bool has_bound[2]; /* by enum rung_bound */
};

struct rung_groups {
    struct rung_group *groups; /* in the order in which they appear */
    size_t n;
};

enum rung_status rung_groups_make(struct rung_groups *out, const struct rung_result *rows,
                                  size_t n_rows, struct rung_error *err);
void rung_groups_release(struct rung_groups *groups);

/* The row of version, block and bound in its plain form (predicate mod, variant base, unrolled
 * where the bound is constant); NULL if there is none. */
const struct rung_result *rung_group_find(const struct rung_group *group, unsigned version,
                                          unsigned block, enum rung_bound bound);

#endif
