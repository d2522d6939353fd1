/* How samples are taken and when they are enough. The words of the axes stand in sampling.def; the
 * device side is sampler.h. Pure: touches no device. */
#ifndef RUNG_BENCH_SAMPLING_H
#define RUNG_BENCH_SAMPLING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum rung_state { /* of the cache before a sample */
#define AXIS_STATE(name, word, help) RUNG_STATE_##name,
#include "bench/sampling.def"
};
enum rung_timer { /* what lies between the two time stamps */
#define AXIS_TIMER(name, word, help) RUNG_TIMER_##name,
#include "bench/sampling.def"
};
enum rung_stop {
#define AXIS_STOP(name, word, help) RUNG_STOP_##name,
#include "bench/sampling.def"
};

const char *rung_state_word(enum rung_state value);
const char *rung_timer_word(enum rung_timer value);
const char *rung_stop_word(enum rung_stop value);

/* RUNG_USAGE names the word and those that the axis has. */
enum rung_status rung_state_parse(enum rung_state *out, const char *word, struct rung_error *err);
enum rung_status rung_timer_parse(enum rung_timer *out, const char *word, struct rung_error *err);
enum rung_status rung_stop_parse(enum rung_stop *out, const char *word, struct rung_error *err);

/* When to stop. Whatever the rule, at least `min_samples` (or 10, once they add up to `ample_ms`)
 * and at most `max_samples` are taken, and none once `timeout_s` have passed since the first. */
struct rung_stop_rule {
    enum rung_stop rule;
    double max_width;   /* ci: half the interval's width over the median, 0.01 */
    double max_stdrel;  /* stdrel: stdev / mean, 0.005 */
    size_t count;       /* count: samples */
    size_t min_samples; /* 200: on an H200 they halve the noise of 10 (0.4 % against 1 %) */
    double ample_ms;    /* 1000: long samples are few; 0: they are not */
    size_t max_samples; /* 10000: a bound on memory and journals, not a goal */
    double timeout_s;   /* 15 */
};
struct rung_stop_rule rung_stop_rule_default(void);

/* Whether the samples so far are enough; then `reason` is the word for the journal: "ci", "stdrel",
 * "count", "timeout", "max". RUNG_MEMORY only. */
enum rung_status rung_stop_check(bool *enough, const char **reason,
                                 const struct rung_stop_rule *rule, const double *samples, size_t n,
                                 double elapsed_s, struct rung_error *err);

/* How many more samples to take before asking again: few at first, then a growing share of those
 * there are, so that asking costs nothing; never past a bound of the rule. At least 1. */
size_t rung_stop_next(const struct rung_stop_rule *rule, size_t n);

#endif
