/* Two samples against each other: the bootstrap of a ratio of medians, Mann and Whitney's test,
 * and Holm's correction for many tests. */
#include "bench/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_UP_TO 40 /* samples of both together; C(40, 20) is exact in a double */

static double median_of(double *values, size_t n)
{
    rung_stats_sort(values, n);
    return rung_stats_quantile(values, n, 0.5);
}

static double resampled_median(double *work, const double *from, size_t n, uint64_t *state)
{
    for (size_t i = 0; i < n; i++)
        work[i] = from[rung_random_below(state, n)];
    return median_of(work, n);
}

enum rung_status rung_stats_ratio(struct rung_ratio *out, const double *a, size_t n_a,
                                  const double *b, size_t n_b, size_t resamples, uint64_t seed,
                                  struct rung_error *err)
{
    if (n_a == 0 || n_b == 0 || resamples == 0)
        return rung_fail(err, RUNG_USAGE, "a ratio of medians needs samples of both sides");
    size_t larger = n_a > n_b ? n_a : n_b;
    double *work = malloc((larger + resamples) * sizeof *work);
    if (!work)
        return rung_fail(err, RUNG_MEMORY, "no memory for %zu resamples", resamples);
    double *ratios = work + larger;
    memcpy(work, a, n_a * sizeof *work);
    double top = median_of(work, n_a);
    memcpy(work, b, n_b * sizeof *work);
    out->ratio = top / median_of(work, n_b);
    uint64_t state = seed;
    for (size_t i = 0; i < resamples; i++) {
        top = resampled_median(work, a, n_a, &state);
        ratios[i] = top / resampled_median(work, b, n_b, &state);
    }
    rung_stats_sort(ratios, resamples);
    out->low = rung_stats_quantile(ratios, resamples, (1 - RUNG_CONFIDENCE) / 2);
    out->high = rung_stats_quantile(ratios, resamples, (1 + RUNG_CONFIDENCE) / 2);
    free(work);
    return RUNG_OK;
}

struct ranked {
    double value;
    bool of_a;
    unsigned twice_rank; /* mean ranks of ties are multiples of one half */
};

static int by_value(const void *x, const void *y)
{
    double a = ((const struct ranked *)x)->value, b = ((const struct ranked *)y)->value;
    return (a > b) - (a < b);
}

/* Gives ties their mean rank; returns the sum of t^3 - t over groups of ties. */
static double rank(struct ranked *items, size_t n)
{
    double ties = 0;
    qsort(items, n, sizeof *items, by_value);
    for (size_t i = 0; i < n;) {
        size_t end = i + 1;
        while (end < n && items[end].value == items[i].value)
            end++;
        for (size_t k = i; k < end; k++)
            items[k].twice_rank = (unsigned)(i + 1 + end);
        double t = (double)(end - i);
        ties += t * t * t - t;
        i = end;
    }
    return ties;
}

/* The share of all ways to choose n_a of the ranks whose sum lies at least as far from its mean as
 * `twice_sum` does. ways[k][s]: subsets of k ranks that sum to s (ranks doubled). */
static double exact_p(const struct ranked *items, size_t n, size_t n_a, unsigned twice_sum,
                      double *ways)
{
    size_t room = n * (n + 1) + 1; /* the doubled ranks sum to n (n + 1) */
    memset(ways, 0, (n_a + 1) * room * sizeof *ways);
    ways[0] = 1;
    for (size_t i = 0; i < n; i++)
        for (size_t k = n_a; k > 0; k--)
            for (size_t s = room - 1; s >= items[i].twice_rank; s--)
                ways[k * room + s] += ways[(k - 1) * room + s - items[i].twice_rank];
    double mean = (double)n_a * (double)(n + 1);
    double distance = fabs((double)twice_sum - mean), far = 0, all = 0;
    for (size_t s = 0; s < room; s++) {
        all += ways[n_a * room + s];
        if (fabs((double)s - mean) >= distance)
            far += ways[n_a * room + s];
    }
    return far / all;
}

static double normal_p(double u, double n_a, double n_b, double ties)
{
    double n = n_a + n_b;
    double variance = n_a * n_b / 12 * (n + 1 - ties / (n * (n - 1)));
    if (variance <= 0)
        return 1;
    double distance = fabs(u - n_a * n_b / 2) - 0.5;
    return distance <= 0 ? 1 : erfc(distance / sqrt(2 * variance));
}

enum rung_status rung_stats_mann_whitney(double *p, double *u, const double *a, size_t n_a,
                                         const double *b, size_t n_b, struct rung_error *err)
{
    *p = 1;
    if (u)
        *u = 0;
    if (n_a == 0 || n_b == 0)
        return RUNG_OK;
    size_t n = n_a + n_b;
    bool exact = n <= EXACT_UP_TO;
    struct ranked *items = malloc(n * sizeof *items);
    double *ways = exact ? malloc((n_a + 1) * (n * (n + 1) + 1) * sizeof *ways) : NULL;
    enum rung_status status = RUNG_OK;
    if (!items || (exact && !ways)) {
        status = rung_fail(err, RUNG_MEMORY, "no memory to rank %zu samples", n);
        goto done;
    }
    for (size_t i = 0; i < n; i++)
        items[i] = (struct ranked){i < n_a ? a[i] : b[i - n_a], i < n_a, 0};
    double ties = rank(items, n);
    double twice_sum = 0;
    for (size_t i = 0; i < n; i++)
        if (items[i].of_a)
            twice_sum += items[i].twice_rank;
    double count_a = (double)n_a, statistic = twice_sum / 2 - count_a * (count_a + 1) / 2;
    if (u)
        *u = statistic;
    *p = exact ? exact_p(items, n, n_a, (unsigned)twice_sum, ways)
               : normal_p(statistic, count_a, (double)n_b, ties);
    *p = *p > 1 ? 1 : *p;
done:
    free(ways);
    free(items);
    return status;
}

struct indexed_p {
    double p;
    size_t index;
};

static int by_p(const void *x, const void *y)
{
    double a = ((const struct indexed_p *)x)->p, b = ((const struct indexed_p *)y)->p;
    return (a > b) - (a < b);
}

enum rung_status rung_stats_holm(double *p, size_t n, struct rung_error *err)
{
    if (n == 0)
        return RUNG_OK;
    struct indexed_p *order = malloc(n * sizeof *order);
    if (!order)
        return rung_fail(err, RUNG_MEMORY, "no memory to correct %zu tests", n);
    for (size_t i = 0; i < n; i++)
        order[i] = (struct indexed_p){p[i], i};
    qsort(order, n, sizeof *order, by_p);
    double largest = 0;
    for (size_t i = 0; i < n; i++) {
        double adjusted = order[i].p * (double)(n - i);
        largest = adjusted > largest ? adjusted : largest;
        p[order[i].index] = largest > 1 ? 1 : largest;
    }
    free(order);
    return RUNG_OK;
}
