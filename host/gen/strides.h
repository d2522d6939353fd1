/* The strides of a phase, one after the other. Used inside host/gen only. */
#ifndef RUNG_GEN_STRIDES_H
#define RUNG_GEN_STRIDES_H

#include "gen/kernel.h"

/* While `more`, the kernel's values hold the loop variable of this step. */
struct rung_strides {
    struct rung_kernel *kernel;
    const struct rung_phase *phase;
    unsigned n_steps; /* passed so far */
    bool more;
};

/* RUNG_USAGE where the loop runs on for more than RUNG_MODEL_STEPS_MAX steps or cannot be
 * evaluated. */
enum rung_status rung_strides_begin(struct rung_strides *out, struct rung_kernel *kernel,
                                    const struct rung_phase *phase, struct rung_error *err);
enum rung_status rung_strides_next(struct rung_strides *strides, struct rung_error *err);

/* Sets tid and the lets of the phase in the kernel's values. */
enum rung_status rung_lets_eval(struct rung_kernel *kernel, const struct rung_phase *phase,
                                unsigned tid, struct rung_error *err);

/* Evaluates over the kernel's values; RUNG_USAGE names file and line and the thread. */
enum rung_status rung_kernel_eval(uint64_t *out, const struct rung_kernel *kernel,
                                  const struct rung_expr *expr, unsigned line,
                                  struct rung_error *err);

#endif
