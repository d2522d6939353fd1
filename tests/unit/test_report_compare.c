/* Classes of a comparison on made samples, and the rate of false alarms on identical ones. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/compare.h"

static uint64_t random_state;

/* About normal: the sum of twelve uniform numbers. */
static double noise(void)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += (double)(rung_random_next(&random_state) >> 11) * 0x1p-53;
    return sum;
}

/* A row of v`version` with samples round `ms`, skewed upwards as times are; none for ms = 0. */
static void add(struct rung_results *results, unsigned version, unsigned target, double ms,
                double relative_noise, double sm_mhz)
{
    results->rows = realloc(results->rows, (results->n_rows + 1) * sizeof *results->rows);
    struct rung_result *result = &results->rows[results->n_rows++];
    memset(result, 0, sizeof *result);
    struct rung_cell cell = {
        .config = {.version = version, .block = 256},
          .n = 1000, .target = target
    };
    assert_int_equal(rung_cell_row(&result->row, &cell, NULL), RUNG_OK);
    rung_cell_key(&cell, result->key);
    if (sm_mhz > 0)
        json_object_set_new(result->row.extra, "timing", json_pack("{s:f}", "sm_mhz", sm_mhz));
    if (ms == 0)
        return;
    struct rung_times *times = &result->row.time_ms;
    times->known = true;
    times->n_samples = 30;
    times->samples = malloc(30 * sizeof *times->samples);
    for (int i = 0; i < 30; i++)
        times->samples[i] = ms * (1 + relative_noise * fabs(noise()));
}

static void release(struct rung_results *results)
{
    for (size_t i = 0; i < results->n_rows; i++)
        rung_row_release(&results->rows[i].row);
    free(results->rows);
}

static void compare(struct rung_comparison *out, const struct rung_results *a,
                    const struct rung_results *b)
{
    struct rung_compare_options options = rung_compare_default();
    struct rung_error err = {0};
    if (rung_compare(out, a, b, &options, &err) != RUNG_OK)
        fail_msg("%s", err.text);
}

static void classes(void **state)
{
    (void)state;
    struct rung_results a = {0}, b = {0};
    random_state = 1;
    add(&a, 1, 90, 1.00, 0.001, 1980);
    add(&a, 2, 90, 1.00, 0.001, 1980);
    add(&a, 3, 90, 1.00, 0.001, 1980);
    add(&a, 4, 90, 1.00, 0.05, 1980);
    add(&a, 5, 90, 1.00, 0.001, 1980);
    add(&b, 6, 90, 1.00, 0.001, 1980);
    add(&b, 4, 90, 1.01, 0.05, 1980);
    add(&b, 3, 90, 1.10, 0.001, 1980);
    add(&b, 2, 90, 0.90, 0.001, 1980);
    add(&b, 1, 90, 1.00, 0.001, 1980);
    struct rung_comparison c;
    compare(&c, &a, &b);
    assert_int_equal(c.n_rows, 6);
    const enum rung_change want[] = {RUNG_CHANGE_SAME,    RUNG_CHANGE_FASTER,  RUNG_CHANGE_SLOWER,
                                     RUNG_CHANGE_UNCLEAR, RUNG_CHANGE_MISSING, RUNG_CHANGE_NEW};
    for (size_t i = 0; i < 6; i++)
        if (c.rows[i].change != want[i])
            fail_msg("%s: %s (%s)", c.rows[i].key, rung_change_word(c.rows[i].change),
                     c.rows[i].reason);
    assert_true(fabs(c.rows[1].ratio.ratio - 0.9) < 0.003);
    assert_true(c.rows[1].ratio.low <= 0.9005 && c.rows[1].ratio.high >= 0.8995);
    assert_non_null(strstr(c.rows[3].reason, "spread"));
    assert_int_equal(c.counts[RUNG_CHANGE_SAME], 1);
    rung_comparison_release(&c);
    release(&a);
    release(&b);
}

static void a_slower_clock_is_not_a_slower_kernel(void **state)
{
    (void)state;
    struct rung_results a = {0}, b = {0};
    random_state = 2;
    add(&a, 1, 90, 1.00, 0.001, 1980);
    add(&b, 1, 90, 1.10, 0.001, 1800);
    struct rung_comparison c;
    compare(&c, &a, &b);
    assert_int_equal(c.rows[0].change, RUNG_CHANGE_UNCLEAR);
    assert_non_null(strstr(c.rows[0].reason, "1980 and 1800 MHz"));
    rung_comparison_release(&c);
    release(&a);
    release(&b);
}

static void two_cards_are_matched_without_their_targets(void **state)
{
    (void)state;
    struct rung_results a = {0}, b = {0};
    random_state = 3;
    add(&a, 1, 90, 1.0, 0.001, 0);
    add(&b, 1, 100, 0.5, 0.001, 0);
    struct rung_comparison c;
    compare(&c, &a, &b);
    assert_int_equal(c.n_rows, 1);
    assert_int_equal(c.rows[0].change, RUNG_CHANGE_FASTER);
    rung_comparison_release(&c);
    add(&b, 1, 90, 1.0, 0.001, 0); /* now targets are an axis of B */
    compare(&c, &a, &b);
    assert_int_equal(c.n_rows, 2);
    assert_int_equal(c.rows[0].change, RUNG_CHANGE_SAME);
    assert_int_equal(c.rows[1].change, RUNG_CHANGE_NEW);
    rung_comparison_release(&c);
    release(&a);
    release(&b);
}

static void rows_without_times(void **state)
{
    (void)state;
    struct rung_results a = {0}, b = {0};
    for (unsigned version = 1; version <= 3; version++) {
        add(&a, version, 75, 0, 0, 0);
        add(&b, version, 75, 0, 0, 0);
        a.rows[version - 1].row.executed = (struct rung_counts){true, 255, 12, 12};
        b.rows[version - 1].row.executed = (struct rung_counts){true, 255, 12, 12};
    }
    b.rows[1].row.executed.serialised = 47;
    b.rows[2].row.status = RUNG_ROW_TIMEOUT;
    struct rung_comparison c;
    compare(&c, &a, &b);
    assert_int_equal(c.rows[0].change, RUNG_CHANGE_SAME);
    assert_int_equal(c.rows[1].change, RUNG_CHANGE_UNCLEAR);
    assert_non_null(strstr(c.rows[1].reason, "12 and 47"));
    assert_int_equal(c.rows[2].change, RUNG_CHANGE_MISSING);
    assert_non_null(strstr(c.rows[2].reason, "timeout"));
    rung_comparison_release(&c);
    release(&a);
    release(&b);
}

static void few_samples_decide_nothing(void **state)
{
    (void)state;
    struct rung_results a = {0}, b = {0};
    random_state = 4;
    add(&a, 1, 90, 1.0, 0.001, 0);
    add(&b, 1, 90, 2.0, 0.001, 0);
    b.rows[0].row.time_ms.n_samples = 5;
    struct rung_comparison c;
    compare(&c, &a, &b);
    assert_int_equal(c.rows[0].change, RUNG_CHANGE_UNCLEAR);
    assert_non_null(strstr(c.rows[0].reason, "5 samples"));
    rung_comparison_release(&c);
    release(&a);
    release(&b);
}

/* A hundred identical pairs, fifty times over, at three levels of noise: at most one false alarm a
 * hundred, and a floor that follows the noise. */
static void identical_builds_raise_no_alarm(void **state)
{
    (void)state;
    const double levels[] = {0.0005, 0.003, 0.02};
    double floor_before = 0;
    for (size_t level = 0; level < 3; level++) {
        size_t alarms = 0;
        double floor = 0;
        for (int trial = 0; trial < 10; trial++) {
            struct rung_results a = {0}, b = {0};
            random_state = (uint64_t)trial * 17 + level;
            for (unsigned version = 1; version <= 100; version++) {
                add(&a, version, 90, 0.1 * version, levels[level], 0);
                add(&b, version, 90, 0.1 * version, levels[level], 0);
            }
            struct rung_comparison c;
            compare(&c, &a, &b);
            alarms += c.counts[RUNG_CHANGE_FASTER] + c.counts[RUNG_CHANGE_SLOWER];
            floor = rung_noise_floor(&c);
            rung_comparison_release(&c);
            release(&a);
            release(&b);
        }
        assert_true(alarms <= 1);
        assert_true(floor > floor_before && floor < 2 * levels[level]);
        floor_before = floor;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes),
        cmocka_unit_test(a_slower_clock_is_not_a_slower_kernel),
        cmocka_unit_test(two_cards_are_matched_without_their_targets),
        cmocka_unit_test(rows_without_times),
        cmocka_unit_test(few_samples_decide_nothing),
        cmocka_unit_test(identical_builds_raise_no_alarm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
