/* Statistics of samples: order statistics, rank-based intervals, tests of two samples. Pure
 * arithmetic over arrays; every random choice follows from a seed.
 *
 * The headline of a set of times is its median with an interval from binomial ranks: times are
 * skewed and quantised, so a mean with a standard deviation misleads (Hoefler and Belli, SC'15).
 * Outliers are counted by Tukey's fences and never dropped. */
#ifndef RUNG_BENCH_STATS_H
#define RUNG_BENCH_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define RUNG_CONFIDENCE 0.95

struct rung_interval {
    double low, high;
    double coverage; /* the confidence that it really has; below the one asked for when there are
                        too few samples, and then it is the whole range */
};

struct rung_summary {
    size_t n;
    double min, q1, median, q3, max;
    double mean, stdev, cv; /* stdev of the sample (n - 1); cv = stdev / mean */
    double mad, iqr;        /* median absolute deviation from the median, not scaled; q3 - q1 */
    struct rung_interval median_interval;
    size_t mild_outliers;   /* beyond 1.5 IQR, severe ones not included */
    size_t severe_outliers; /* beyond 3 IQR */
    bool slow_first;        /* the first sample lies beyond the upper severe fence: warm up more */
    double lag1;            /* autocorrelation of neighbours, 0 when the samples do not vary */
};

/* `samples` in the order taken. n = 0 gives a summary of zeros with n = 0. */
enum rung_status rung_stats_summarise(struct rung_summary *out, const double *samples, size_t n,
                                      struct rung_error *err);

/* Sorts ascending. */
void rung_stats_sort(double *values, size_t n);

/* The quantile `p` in 0 ... 1 of ascending values, interpolated linearly (R's type 7). n >= 1. */
double rung_stats_quantile(const double *sorted, size_t n, double p);

/* The interval of the median between two order statistics, symmetric in rank, the narrowest whose
 * binomial coverage reaches `confidence`. */
struct rung_interval rung_stats_median_interval(const double *sorted, size_t n, double confidence);

/* median(a) / median(b) with its interval from `resamples` bootstrap resamples of both. */
struct rung_ratio {
    double ratio, low, high;
};
enum rung_status rung_stats_ratio(struct rung_ratio *out, const double *a, size_t n_a,
                                  const double *b, size_t n_b, size_t resamples, uint64_t seed,
                                  struct rung_error *err);

/* The two-sided p of Mann and Whitney's U; ties share their mean rank. Exact up to 40 samples in
 * all, also with ties; beyond that the normal approximation with the corrections for ties and for
 * continuity. 1 when either sample is empty or all values are equal. `u` (may be NULL) is U of a.
 */
enum rung_status rung_stats_mann_whitney(double *p, double *u, const double *a, size_t n_a,
                                         const double *b, size_t n_b, struct rung_error *err);

/* Replaces p values by Holm's adjusted ones, in place: reject where the result is below alpha. */
enum rung_status rung_stats_holm(double *p, size_t n, struct rung_error *err);

/* A small generator for shuffles and resampling (SplitMix64): one step, and an unbiased number
 * below `bound` (>= 1). */
uint64_t rung_random_next(uint64_t *state);
uint64_t rung_random_below(uint64_t *state, uint64_t bound);

#endif
