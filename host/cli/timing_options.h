/* The options that say how times are taken, shared by the commands that take them. */
#ifndef RUNG_CLI_TIMING_OPTIONS_H
#define RUNG_CLI_TIMING_OPTIONS_H

#include <argp.h>

#include "bench/sampler.h"

struct rung_timing_selection {
    const char *state, *timer, *stop, *samples; /* as typed, NULL where not given */
};

/* Child parser; its input is a struct rung_timing_selection. */
extern const struct argp rung_timing_argp;

/* Where only one of state and timer was given the other follows: a timer that repeats the work goes
 * with warm data. RUNG_USAGE names a word that is none, and two that do not go together. */
enum rung_status rung_timing_resolve(struct rung_sampling *how, struct rung_stop_rule *stop,
                                     const struct rung_timing_selection *selection,
                                     struct rung_error *err);

#endif
