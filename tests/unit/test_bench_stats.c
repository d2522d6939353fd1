/* Statistics against values computed by SciPy 1.x and against tables. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/stats.h"

static void close_to(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance))
        fail_msg("got %.17g, want %.17g", got, want);
}

static void summary_of_known_samples(void **state)
{
    (void)state;
    const double samples[] = {2.0, 1.0, 4.0, 3.0, 100.0, 5.0, 2.5, 3.5};
    struct rung_summary s;
    assert_int_equal(rung_stats_summarise(&s, samples, 8, NULL), RUNG_OK);
    assert_int_equal(s.n, 8);
    close_to(s.min, 1, 0);
    close_to(s.q1, 2.375, 1e-12);
    close_to(s.median, 3.25, 1e-12);
    close_to(s.q3, 4.25, 1e-12);
    close_to(s.max, 100, 0);
    close_to(s.mean, 15.125, 1e-12);
    close_to(s.stdev, 34.316541201001016, 1e-9);
    close_to(s.mad, 1.0, 1e-12);
    assert_int_equal(s.severe_outliers, 1);
    assert_int_equal(s.mild_outliers, 0);
    assert_false(s.slow_first);
}

static void summary_of_few_samples(void **state)
{
    (void)state;
    struct rung_summary s;
    assert_int_equal(rung_stats_summarise(&s, NULL, 0, NULL), RUNG_OK);
    assert_int_equal(s.n, 0);
    const double one = 7;
    assert_int_equal(rung_stats_summarise(&s, &one, 1, NULL), RUNG_OK);
    close_to(s.median, 7, 0);
    close_to(s.stdev, 0, 0);
    close_to(s.median_interval.coverage, 0, 1e-12);
    const double equal[] = {3, 3, 3, 3, 3, 3};
    assert_int_equal(rung_stats_summarise(&s, equal, 6, NULL), RUNG_OK);
    close_to(s.lag1, 0, 0);
    assert_int_equal(s.mild_outliers + s.severe_outliers, 0);
}

static void slow_first_sample_is_told(void **state)
{
    (void)state;
    const double samples[] = {50, 10, 10.1, 9.9, 10.2, 10, 9.8};
    struct rung_summary s;
    assert_int_equal(rung_stats_summarise(&s, samples, 7, NULL), RUNG_OK);
    assert_true(s.slow_first);
}

static void lag_tells_a_drift_from_noise(void **state)
{
    (void)state;
    double drift[50], alternating[50];
    for (int i = 0; i < 50; i++) {
        drift[i] = i;
        alternating[i] = i % 2;
    }
    struct rung_summary s;
    assert_int_equal(rung_stats_summarise(&s, drift, 50, NULL), RUNG_OK);
    assert_true(s.lag1 > 0.9);
    assert_int_equal(rung_stats_summarise(&s, alternating, 50, NULL), RUNG_OK);
    assert_true(s.lag1 < -0.9);
}

/* Ranks and coverages of the 95 % interval from the binomial distribution. */
static void median_interval_matches_the_table(void **state)
{
    (void)state;
    const struct {
        size_t n, rank;
        double coverage;
    } table[] = {
        {1,    1,   0                 },
        {5,    1,   0.9375            },
        {6,    1,   0.96875           },
        {10,   2,   0.978515625       },
        {20,   6,   0.9586105346679688},
        {30,   10,  0.9572260547429323},
        {100,  40,  0.9647997997822951},
        {1000, 469, 0.9537088026395019},
    };
    double sorted[1000];
    for (int i = 0; i < 1000; i++)
        sorted[i] = i + 1;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct rung_interval got = rung_stats_median_interval(sorted, table[i].n, 0.95);
        close_to(got.low, (double)table[i].rank, 0);
        close_to(got.high, (double)(table[i].n + 1 - table[i].rank), 0);
        close_to(got.coverage, table[i].coverage, 1e-9);
    }
}

static void mann_whitney_exact(void **state)
{
    (void)state;
    const double a[] = {12.1, 11.8, 12.4, 12.0, 11.9, 12.6, 12.2};
    const double b[] = {12.9, 12.5, 13.1, 12.3, 12.8, 13.4};
    double p, u;
    assert_int_equal(rung_stats_mann_whitney(&p, &u, a, 7, b, 6, NULL), RUNG_OK);
    close_to(u, 3, 0);
    close_to(p, 0.008158508158508158, 1e-12);
    assert_int_equal(rung_stats_mann_whitney(&p, &u, b, 6, a, 7, NULL), RUNG_OK);
    close_to(u, 39, 0);
    close_to(p, 0.008158508158508158, 1e-12);
}

/* 10 of the 35 ways to place the tied ranks lie at least as far out: counted by listing them. */
static void mann_whitney_exact_with_ties(void **state)
{
    (void)state;
    const double a[] = {1, 2, 2, 3}, b[] = {2, 3, 4};
    double p, u;
    assert_int_equal(rung_stats_mann_whitney(&p, &u, a, 4, b, 3, NULL), RUNG_OK);
    close_to(u, 2.5, 0);
    close_to(p, 0.2857142857142857, 1e-12);
    const double same[] = {5, 5, 5};
    assert_int_equal(rung_stats_mann_whitney(&p, NULL, same, 3, same, 3, NULL), RUNG_OK);
    close_to(p, 1, 0);
    assert_int_equal(rung_stats_mann_whitney(&p, NULL, same, 0, same, 3, NULL), RUNG_OK);
    close_to(p, 1, 0);
}

static void mann_whitney_large_with_ties(void **state)
{
    (void)state;
    double a[40], b[35], p, u;
    for (int i = 0; i < 40; i++)
        a[i] = i % 17;
    for (int i = 0; i < 35; i++)
        b[i] = (i * 7) % 19 + 1;
    assert_int_equal(rung_stats_mann_whitney(&p, &u, a, 40, b, 35, NULL), RUNG_OK);
    close_to(u, 509, 0);
    close_to(p, 0.04276172869985701, 1e-10);
    double equal[60];
    for (int i = 0; i < 60; i++)
        equal[i] = 1;
    assert_int_equal(rung_stats_mann_whitney(&p, &u, equal, 30, equal + 30, 30, NULL), RUNG_OK);
    close_to(p, 1, 0);
}

/* The worked example: 0.01, 0.04, 0.03, 0.005 become 0.03, 0.06, 0.06, 0.02. */
static void holm_corrects_in_place(void **state)
{
    (void)state;
    double p[] = {0.01, 0.04, 0.03, 0.005};
    assert_int_equal(rung_stats_holm(p, 4, NULL), RUNG_OK);
    close_to(p[0], 0.03, 1e-12);
    close_to(p[1], 0.06, 1e-12);
    close_to(p[2], 0.06, 1e-12);
    close_to(p[3], 0.02, 1e-12);
    double large[] = {0.9, 0.8};
    assert_int_equal(rung_stats_holm(large, 2, NULL), RUNG_OK);
    close_to(large[0], 1, 0);
    close_to(large[1], 1, 0);
    assert_int_equal(rung_stats_holm(NULL, 0, NULL), RUNG_OK);
}

/* The interval of a ratio of two samples of one distribution covers 1 about as often as it says. */
static void ratio_covers_what_it_says(void **state)
{
    (void)state;
    uint64_t random = 7;
    int covered = 0, trials = 200;
    for (int t = 0; t < trials; t++) {
        double a[25], b[25];
        for (int i = 0; i < 25; i++) {
            a[i] = 10 + (double)(rung_random_next(&random) >> 11) * 0x1p-53;
            b[i] = 10 + (double)(rung_random_next(&random) >> 11) * 0x1p-53;
        }
        struct rung_ratio r;
        assert_int_equal(rung_stats_ratio(&r, a, 25, b, 25, 400, (uint64_t)t, NULL), RUNG_OK);
        assert_true(r.low <= r.ratio && r.ratio <= r.high);
        covered += r.low <= 1 && 1 <= r.high;
    }
    assert_in_range(covered, 180, 200);
    struct rung_ratio r;
    assert_int_equal(rung_stats_ratio(&r, NULL, 0, NULL, 0, 10, 1, NULL), RUNG_USAGE);
}

static void ratio_of_known_samples(void **state)
{
    (void)state;
    const double a[] = {2, 2, 2}, b[] = {1, 1, 1};
    struct rung_ratio r, again;
    assert_int_equal(rung_stats_ratio(&r, a, 3, b, 3, 100, 1, NULL), RUNG_OK);
    close_to(r.ratio, 2, 0);
    close_to(r.low, 2, 0);
    close_to(r.high, 2, 0);
    const double c[] = {1, 5, 3, 8, 2};
    assert_int_equal(rung_stats_ratio(&r, c, 5, b, 3, 100, 42, NULL), RUNG_OK);
    assert_int_equal(rung_stats_ratio(&again, c, 5, b, 3, 100, 42, NULL), RUNG_OK);
    close_to(r.low, again.low, 0);
    close_to(r.high, again.high, 0);
}

static void random_numbers_stay_below_the_bound(void **state)
{
    (void)state;
    uint64_t random = 1, seen = 0;
    for (int i = 0; i < 1000; i++) {
        uint64_t value = rung_random_below(&random, 6);
        assert_true(value < 6);
        seen |= (uint64_t)1 << value;
    }
    assert_int_equal(seen, 63);
    assert_int_equal(rung_random_below(&random, 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(summary_of_known_samples),
        cmocka_unit_test(summary_of_few_samples),
        cmocka_unit_test(slow_first_sample_is_told),
        cmocka_unit_test(lag_tells_a_drift_from_noise),
        cmocka_unit_test(median_interval_matches_the_table),
        cmocka_unit_test(mann_whitney_exact),
        cmocka_unit_test(mann_whitney_exact_with_ties),
        cmocka_unit_test(mann_whitney_large_with_ties),
        cmocka_unit_test(holm_corrects_in_place),
        cmocka_unit_test(ratio_covers_what_it_says),
        cmocka_unit_test(ratio_of_known_samples),
        cmocka_unit_test(random_numbers_stay_below_the_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
