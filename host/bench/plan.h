/* The passes that reduce n elements to one value. Pure arithmetic: touches no device. */
#ifndef RUNG_BENCH_PLAN_H
#define RUNG_BENCH_PLAN_H

#include <stdint.h>

#include "config/config.h"
#include "gen/template.h"

#define RUNG_PASSES_MAX 42 /* 2^40 elements, halved by every pass, and one to spare */

struct rung_pass {
    uint64_t n_in;     /* elements (pairs, in the first pass of dot) that it reads */
    uint64_t blocks;   /* = values that it writes */
    uint64_t launches; /* a pass of more blocks than a grid holds is launched in parts */
};

struct rung_plan {
    unsigned n_passes; /* at least 1: of n = 0, too, one block writes the identity */
    struct rung_pass passes[RUNG_PASSES_MAX];
    uint64_t launches;
    uint64_t bytes_read, bytes_written; /* by all passes */
    uint64_t partials_room;             /* elements of the larger partial-sum buffer */
};

/* `max_grid`: the most blocks of one launch; `fixed_blocks`: the grid of a fixed-grid version on
 * this device (ignored by the others). */
enum rung_status rung_plan_make(struct rung_plan *out, const struct rung_config *config,
                                const struct rung_shape *shape, uint64_t n, uint64_t max_grid,
                                uint64_t fixed_blocks, struct rung_error *err);

#endif
