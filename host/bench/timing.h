/* How long a complete reduction takes: warm-up, samples, and what is kept of them. How one sample
 * is taken (state of the caches, what lies between the stamps) is a function that is plugged in;
 * the one here is the plain way: events round every complete reduction, the data left where the
 * reduction before left them. */
#ifndef RUNG_BENCH_TIMING_H
#define RUNG_BENCH_TIMING_H

#include "bench/reduce.h"
#include "bench/row.h"
#include "bench/sampling.h"

/* What is timed: launches only. */
struct rung_timed {
    const struct rung_reduction *reduction;
    const struct rung_plan *plan;
    const struct rung_workspace *workspace;
};

/* Takes `n` samples in ms, each of one complete reduction. */
typedef enum rung_status rung_sampler_fn(double *samples, size_t n, const struct rung_timed *work,
                                         void *context, struct rung_error *err);

/* Event pairs round complete reductions that are queued back to back, so that the host's launch
 * rate is not in the figure as long as a reduction takes longer than its launches. No context. */
rung_sampler_fn rung_sample_events;

struct rung_timing_options {
    rung_sampler_fn *sampler; /* NULL: rung_sample_events */
    void *context;
    struct rung_stop_rule stop;
    double warm_up_ms; /* the work runs at least this long before the first sample */
};
struct rung_timing_options rung_timing_default(void); /* warm-up 20 ms, the default stop rule */

/* Runs the work until `ms` have passed on the host's clock, at least once; waits for its end. The
 * clock of an idle card needs about 100 ms to ramp, a module's first launch loads its code. */
enum rung_status rung_warm_up(const struct rung_timed *work, double ms, struct rung_error *err);

/* Warms up, samples until the stop rule has enough, and summarises. RUNG_UNABLE on the simulator:
 * its times say nothing of any card. `*out` is released with its row. */
enum rung_status rung_time_reduction(struct rung_times *out, const struct rung_timed *work,
                                     const struct rung_timing_options *options,
                                     struct rung_error *err);

/* Quartiles of samples in the order taken; takes `samples` over. */
enum rung_status rung_times_summarise(struct rung_times *out, double *samples, size_t n,
                                      struct rung_error *err);

#endif
