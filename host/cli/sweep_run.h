/* The course of `rung sweep` behind its options. */
#ifndef RUNG_CLI_SWEEP_RUN_H
#define RUNG_CLI_SWEEP_RUN_H

#include "cli/select.h"
#include "cli/timing_options.h"

struct rung_sweep_arguments {
    struct rung_selection selection;
    struct rung_timing_selection timing;
    const char *where, *shard, *order; /* as typed, NULL where not given */
    size_t group, min_samples;         /* 0 where not given, as below */
    double width, timeout_s, kill_after_s;
    bool list, dry_run, noise, retry, counters;
    int argc;
    char **argv;
};

enum rung_status rung_sweep_run(const struct rung_sweep_arguments *arguments,
                                struct rung_error *err);

#endif
