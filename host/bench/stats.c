/* Order statistics of one sample, and the generator of random numbers. Tests of two samples are in
 * stats_pair.c. */
#include "bench/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MILD 1.5
#define SEVERE 3.0

uint64_t rung_random_next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint64_t rung_random_below(uint64_t *state, uint64_t bound)
{
    uint64_t reject = -bound % bound; /* 2^64 mod bound: the part that would favour small numbers */
    uint64_t value;
    do
        value = rung_random_next(state);
    while (value < reject);
    return value % bound;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void rung_stats_sort(double *values, size_t n)
{
    if (n > 1)
        qsort(values, n, sizeof *values, ascending);
}

double rung_stats_quantile(const double *sorted, size_t n, double p)
{
    double position = p * (double)(n - 1);
    size_t below = (size_t)position;
    if (below + 1 >= n)
        return sorted[n - 1];
    return sorted[below] + (position - (double)below) * (sorted[below + 1] - sorted[below]);
}

/* The chance that at most `k` of `n` fair coins fall heads. Summed from the largest term down, in
 * logarithms, so that n of many thousands does not underflow. */
static double coins_at_most(size_t n, size_t k)
{
    double log_term = lgamma((double)n + 1) - lgamma((double)k + 1) - lgamma((double)(n - k) + 1) -
                      (double)n * log(2);
    double term = exp(log_term), sum = term;
    for (size_t i = k; i > 0 && term > sum * 1e-17; i--) {
        term *= (double)i / (double)(n - i + 1);
        sum += term;
    }
    return sum;
}

struct rung_interval rung_stats_median_interval(const double *sorted, size_t n, double confidence)
{
    struct rung_interval interval = {0};
    if (n == 0)
        return interval;
    /* Between the order statistics k from either end (from 1) the median lies with a chance of
     * 1 - 2 P(B <= k - 1). P grows with k, so the largest k that still reaches `confidence` is
     * bisected; none does for fewer than six samples at 95 %, and then k = 1 is what there is. */
    double tail = (1 - confidence) / 2;
    size_t low = 0, high = n / 2;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (coins_at_most(n, middle) <= tail)
            low = middle + 1;
        else
            high = middle;
    }
    size_t cut = low ? low - 1 : 0;
    interval.low = sorted[cut];
    interval.high = sorted[n - 1 - cut];
    interval.coverage = 1 - 2 * coins_at_most(n, cut);
    return interval;
}

static void count_outliers(struct rung_summary *out, const double *samples, size_t n)
{
    double mild_low = out->q1 - MILD * out->iqr, mild_high = out->q3 + MILD * out->iqr;
    double severe_low = out->q1 - SEVERE * out->iqr, severe_high = out->q3 + SEVERE * out->iqr;
    for (size_t i = 0; i < n; i++) {
        if (samples[i] < severe_low || samples[i] > severe_high)
            out->severe_outliers++;
        else if (samples[i] < mild_low || samples[i] > mild_high)
            out->mild_outliers++;
    }
    out->slow_first = n >= 5 && samples[0] > severe_high;
}

static void moments(struct rung_summary *out, const double *samples, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += samples[i];
    out->mean = sum / (double)n;
    double squares = 0, neighbours = 0;
    for (size_t i = 0; i < n; i++) {
        double deviation = samples[i] - out->mean;
        squares += deviation * deviation;
        if (i)
            neighbours += deviation * (samples[i - 1] - out->mean);
    }
    out->stdev = n > 1 ? sqrt(squares / (double)(n - 1)) : 0;
    out->cv = out->mean != 0 ? out->stdev / out->mean : 0;
    out->lag1 = squares > 0 ? neighbours / squares : 0;
}

enum rung_status rung_stats_summarise(struct rung_summary *out, const double *samples, size_t n,
                                      struct rung_error *err)
{
    struct rung_summary summary = {.n = n};
    if (n == 0) {
        *out = summary;
        return RUNG_OK;
    }
    double *work = malloc(n * sizeof *work);
    if (!work)
        return rung_fail(err, RUNG_MEMORY, "no memory for %zu samples", n);
    memcpy(work, samples, n * sizeof *work);
    rung_stats_sort(work, n);
    summary.min = work[0];
    summary.q1 = rung_stats_quantile(work, n, 0.25);
    summary.median = rung_stats_quantile(work, n, 0.5);
    summary.q3 = rung_stats_quantile(work, n, 0.75);
    summary.max = work[n - 1];
    summary.iqr = summary.q3 - summary.q1;
    summary.median_interval = rung_stats_median_interval(work, n, RUNG_CONFIDENCE);
    moments(&summary, samples, n);
    count_outliers(&summary, samples, n);
    for (size_t i = 0; i < n; i++)
        work[i] = fabs(samples[i] - summary.median);
    rung_stats_sort(work, n);
    summary.mad = rung_stats_quantile(work, n, 0.5);
    free(work);
    *out = summary;
    return RUNG_OK;
}
