/* Words of states, timers and rules, and when each rule stops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bench/sampling.h"

static bool stops(const struct rung_stop_rule *rule, const double *samples, size_t n,
                  double elapsed_s, const char *want)
{
    bool enough;
    const char *reason = "";
    assert_int_equal(rung_stop_check(&enough, &reason, rule, samples, n, elapsed_s, NULL), RUNG_OK);
    if (enough)
        assert_string_equal(reason, want);
    return enough;
}

static void interval_rule(void **state)
{
    (void)state;
    struct rung_stop_rule rule = rung_stop_rule_default();
    double steady[40], wide[40];
    rule.min_samples = 10;
    for (int i = 0; i < 40; i++) {
        steady[i] = 1 + 0.001 * (i % 3);
        wide[i] = 1 + 0.5 * (i % 7);
    }
    assert_false(stops(&rule, steady, 9, 0, "")); /* below the minimum */
    assert_true(stops(&rule, steady, 10, 0, "ci"));
    assert_false(stops(&rule, wide, 40, 0, ""));
    assert_true(stops(&rule, wide, 40, 15, "timeout"));
    rule.max_samples = 40;
    assert_true(stops(&rule, wide, 40, 1, "max"));
    rule.min_samples = 2; /* five samples cannot give an interval of 95 % */
    assert_false(stops(&rule, steady, 5, 0, ""));
    assert_true(stops(&rule, steady, 6, 0, "ci"));
}

/* The default minimum, and the ten long samples that stand for it. */
static void short_samples_are_many(void **state)
{
    (void)state;
    struct rung_stop_rule rule = rung_stop_rule_default();
    double samples[200];
    for (int i = 0; i < 200; i++)
        samples[i] = 0.08 + 1e-5 * (i % 3);
    assert_false(stops(&rule, samples, 199, 0, ""));
    assert_true(stops(&rule, samples, 200, 0, "ci"));
    for (int i = 0; i < 200; i++)
        samples[i] = 100 + 0.01 * (i % 3); /* ten are a second */
    assert_false(stops(&rule, samples, 9, 0, ""));
    assert_true(stops(&rule, samples, 10, 0, "ci"));
    rule.ample_ms = 0;
    assert_false(stops(&rule, samples, 10, 0, ""));
}

static void other_rules(void **state)
{
    (void)state;
    struct rung_stop_rule rule = rung_stop_rule_default();
    double samples[30];
    rule.min_samples = 10;
    for (int i = 0; i < 30; i++)
        samples[i] = 1 + 0.001 * (i % 2);
    rule.rule = RUNG_STOP_STDREL;
    assert_true(stops(&rule, samples, 10, 0, "stdrel"));
    rule.max_stdrel = 1e-5;
    assert_false(stops(&rule, samples, 30, 0, ""));
    rule.rule = RUNG_STOP_COUNT;
    assert_false(stops(&rule, samples, 29, 0, ""));
    assert_true(stops(&rule, samples, 30, 0, "count"));
    rule.count = 3; /* a count below the minimum is what was asked for */
    assert_true(stops(&rule, samples, 3, 0, "count"));
}

static void next_reaches_the_bounds_exactly(void **state)
{
    (void)state;
    struct rung_stop_rule rule = rung_stop_rule_default();
    size_t n = 0;
    while (n < rule.max_samples) {
        size_t step = rung_stop_next(&rule, n);
        assert_true(step >= 1);
        n += step;
    }
    assert_int_equal(n, rule.max_samples);
    rule.rule = RUNG_STOP_COUNT;
    for (n = 0; n < rule.count;)
        n += rung_stop_next(&rule, n);
    assert_int_equal(n, rule.count);
}

static void words(void **state)
{
    (void)state;
    enum rung_state cache;
    enum rung_timer timer;
    enum rung_stop stop;
    struct rung_error err = {0};
    assert_int_equal(rung_state_parse(&cache, "rotate", &err), RUNG_OK);
    assert_int_equal(cache, RUNG_STATE_ROTATE);
    assert_string_equal(rung_state_word(RUNG_STATE_DIRTY), "dirty");
    assert_int_equal(rung_timer_parse(&timer, "wall", &err), RUNG_OK);
    assert_int_equal(timer, RUNG_TIMER_WALL);
    assert_int_equal(rung_stop_parse(&stop, "count", &err), RUNG_OK);
    assert_int_equal(stop, RUNG_STOP_COUNT);
    assert_int_equal(rung_timer_parse(&timer, "cold", &err), RUNG_USAGE);
    assert_non_null(strstr(err.text, "'cold'"));
    assert_non_null(strstr(err.text, "isolated, batch, graph, wall"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interval_rule), cmocka_unit_test(short_samples_are_many),
        cmocka_unit_test(other_rules),   cmocka_unit_test(next_reaches_the_bounds_exactly),
        cmocka_unit_test(words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
