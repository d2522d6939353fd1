/* The counting model: what one block does, counted from the directives of its template before
 * anything runs. The simulator and the hardware counters are held against it.
 *
 * Units. An addition is one thread adding one element or partial sum to another, whether or not
 * the sum is used: the lanes that a warp step or a shuffle carries along add too. A body run is
 * one warp-wide execution of one addition of the tree: at least one lane of the warp is active.
 * Its serialised weight is the largest bank-conflict degree among its operands and the store of
 * its result: the most distinct 32-bit words that one of the 32 banks must serve (the same word is
 * a broadcast and free; 64-bit elements go by half-warps, of which the worse counts); 1 where no
 * shared memory moves.
 *
 * Counting runs the tree on weights, and refuses a template by which not every value reaches the
 * result exactly once: of the additions, then, exactly block - 1 matter. A negative control is
 * counted as it is. */
#ifndef RUNG_GEN_MODEL_H
#define RUNG_GEN_MODEL_H

#include <stdint.h>

#include "gen/template.h"

#define RUNG_MODEL_STEPS_MAX 32

struct rung_model_step {
    unsigned stride;     /* s of this step */
    unsigned active;     /* threads that add */
    unsigned body_runs;  /* warps with an active thread */
    unsigned serialised; /* those runs, weighted */
};

struct rung_model {
    uint64_t additions;      /* of one full block: those on load and those of the tree */
    uint64_t tree_additions; /* of the tree alone */
    uint64_t body_runs;
    uint64_t serialised;
    unsigned n_steps;
    struct rung_model_step steps[RUNG_MODEL_STEPS_MAX];
};

/* Counts one block whose every thread has all its elements. */
enum rung_status rung_model_block(struct rung_model *out, const struct rung_template *tpl,
                                  const struct rung_config *config, struct rung_error *err);

/* Counts one launch: `grid_blocks` blocks over `n` elements, the ragged end included. Adds to
 * `out`'s additions, body_runs and serialised; leaves the rest. */
enum rung_status rung_model_launch(struct rung_model *out, const struct rung_template *tpl,
                                   const struct rung_config *config, uint64_t n,
                                   uint64_t grid_blocks, struct rung_error *err);

#endif
