/* The course of `rung sweep` behind its options. */
#ifndef RUNG_CLI_SWEEP_RUN_H
#define RUNG_CLI_SWEEP_RUN_H

#include "cli/select.h"
#include "cli/timing_options.h"
#include "sweep/results.h"

struct rung_sweep_arguments {
    struct rung_selection selection;
    struct rung_timing_selection timing;
    const char *where, *shard, *order; /* as typed, NULL where not given */
    size_t group, min_samples;         /* 0 where not given, as below */
    double width, timeout_s, kill_after_s;
    bool list, dry_run, noise, retry, counters;
    const char *verb; /* of the command, for what is told on standard error */
    const char
        *n_on_simulator; /* --n where it was not given and there is no card; NULL: the same */
    int argc;
    char **argv;
};

enum rung_status rung_sweep_run(const struct rung_sweep_arguments *arguments,
                                struct rung_error *err);

/* Measures the cells and prints nothing: the rows, and the environment for a document, are the
 * caller's to release. RUNG_INTERRUPTED leaves what was finished in `out`. */
enum rung_status rung_sweep_collect(struct rung_results *out, json_t **environment,
                                    const struct rung_sweep_arguments *arguments,
                                    struct rung_error *err);

#endif
