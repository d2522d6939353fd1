/* How long a complete reduction takes: the samples of one row, until they are enough. How a sample
 * is taken is the sampler's (sampler.h): the state of the caches, what lies between the stamps. */
#ifndef RUNG_BENCH_TIMING_H
#define RUNG_BENCH_TIMING_H

#include "bench/reduce.h"
#include "bench/row.h"
#include "bench/sampler.h"

/* What is timed: launches only. */
struct rung_timed {
    const struct rung_reduction *reduction;
    const struct rung_plan *plan;
    const struct rung_workspace *workspace; /* with as many places as the state needs */
};

struct rung_timing_options {
    struct rung_sampler *sampler;
    struct rung_sampling how;
    struct rung_stop_rule stop;
    double warm_up_ms; /* the work runs at least this long before the first sample */
};

/* What is to be known beside the times. */
struct rung_timing_facts {
    const char *stop; /* why sampling ended: "ci", "count", "timeout", ... */
    size_t throttled; /* samples thrown away because the card had lowered its clock */
    double sm_mhz;    /* median over the samples, NAN if unknown */
};

/* The places that a state needs for an input of so many bytes, so that it is never found in L2: the
 * others together are at least four times as large. 1 for every state but `rotate`. */
uint64_t rung_timing_places(enum rung_state state, uint64_t input_bytes, uint64_t l2_bytes);

/* Warms up, samples until the stop rule has enough, and summarises. RUNG_UNABLE when every sample
 * was throttled. `*out` is released with its row. */
enum rung_status rung_time_reduction(struct rung_times *out, struct rung_timing_facts *facts,
                                     const struct rung_timed *timed,
                                     const struct rung_timing_options *options,
                                     struct rung_error *err);

/* The same of any work. */
enum rung_status rung_time_work(struct rung_times *out, struct rung_timing_facts *facts,
                                const struct rung_work *work,
                                const struct rung_timing_options *options, struct rung_error *err);

/* Quartiles of samples in the order taken; takes `samples` over. */
enum rung_status rung_times_summarise(struct rung_times *out, double *samples, size_t n,
                                      struct rung_error *err);

#endif
