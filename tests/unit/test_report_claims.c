/* Each answer that a claim can get, from rows and evidence made for it. */
#define _GNU_SOURCE
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/claims.h"

static struct rung_result *rows;
static size_t n_rows;

static int tear_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_rows; i++)
        rung_row_release(&rows[i].row);
    free(rows);
    rows = NULL;
    n_rows = 0;
    return 0;
}

/* A row of which thirty samples lie within 0.1 % above `us`; no times for 0. */
static struct rung_row *add(unsigned version, unsigned block, enum rung_bound bound, double us)
{
    struct rung_cell cell = {
        .config = {.version = version, .block = block, .bound = bound},
        .n = 16776605,
        .target = 90
    };
    if (bound == RUNG_BOUND_RUNTIME)
        cell.config.unroll = RUNG_UNROLL_NONE;
    rows = realloc(rows, (n_rows + 1) * sizeof *rows);
    struct rung_result *result = &rows[n_rows++];
    memset(result, 0, sizeof *result);
    assert_int_equal(rung_cell_row(&result->row, &cell, NULL), RUNG_OK);
    rung_cell_key(&cell, result->key);
    if (us > 0) {
        struct rung_times *times = &result->row.time_ms;
        times->samples = malloc(30 * sizeof *times->samples);
        times->n_samples = 30;
        for (int i = 0; i < 30; i++)
            times->samples[i] = us / 1e3 * (1 + 1e-4 * (i % 10));
        times->median = us / 1e3 * 1.00045;
        times->known = true;
        result->row.gb_per_s = 67.1e6 / us / 1e3;
        result->row.of_ceiling = result->row.gb_per_s / 4500;
    }
    return &result->row;
}

static void expect(const struct rung_claim_evidence *more, enum rung_claim_number number,
                   enum rung_answer answer, const char *figure)
{
    struct rung_claim claims[RUNG_CLAIMS];
    struct rung_claim_evidence evidence = *more;
    evidence.rows = rows;
    evidence.n_rows = n_rows;
    assert_int_equal(rung_claims_decide(claims, &evidence, NULL), RUNG_OK);
    const struct rung_claim *claim = &claims[number];
    if (claim->answer != answer || !strstr(claim->figures, figure))
        fail_msg("%s: %s, '%s'; wanted %s with '%s'", claim->name, rung_answer_word(claim->answer),
                 claim->figures, rung_answer_word(answer), figure);
}

static const struct rung_claim_evidence nothing;

static void without_evidence_nothing_can_be_told(void **state)
{
    (void)state;
    struct rung_claim claims[RUNG_CLAIMS];
    assert_int_equal(rung_claims_decide(claims, &nothing, NULL), RUNG_OK);
    for (size_t i = 0; i < RUNG_CLAIMS; i++) {
        assert_int_equal(claims[i].answer, RUNG_CANNOT_TELL);
        assert_true(claims[i].figures[0] && claims[i].statement[0] && claims[i].command[0]);
    }
}

static void the_sign_of_the_first_step(void **state)
{
    (void)state;
    add(1, 256, RUNG_BOUND_CONST, 85.1);
    add(2, 256, RUNG_BOUND_CONST, 102.9);
    add(1, 256, RUNG_BOUND_RUNTIME, 172.8);
    add(2, 256, RUNG_BOUND_RUNTIME, 110.9);
    expect(&nothing, RUNG_CLAIM_v2_beats_v1_const, RUNG_REFUTED, "1.209 times as long");
    expect(&nothing, RUNG_CLAIM_v2_beats_v1_runtime, RUNG_CONFIRMED, "0.642 times as long");
    expect(&nothing, RUNG_CLAIM_conflicts_timed, RUNG_REFUTED, "1.209");
    expect(&nothing, RUNG_CLAIM_every_rung_is_faster, RUNG_REFUTED, "v1 to v2 const 0.83x");
}

static void equal_times_confirm_equal_costs(void **state)
{
    (void)state;
    add(1, 256, RUNG_BOUND_CONST, 100);
    add(2, 256, RUNG_BOUND_CONST, 100);
    add(1, 256, RUNG_BOUND_RUNTIME, 100);
    add(2, 256, RUNG_BOUND_RUNTIME, 100);
    expect(&nothing, RUNG_CLAIM_conflicts_timed, RUNG_CONFIRMED, "1.000");
    expect(&nothing, RUNG_CLAIM_v2_beats_v1_const, RUNG_REFUTED, "same");
}

static void bandwidth(void **state)
{
    (void)state;
    add(3, 256, RUNG_BOUND_CONST, 83.4);
    add(4, 256, RUNG_BOUND_CONST, 49.7);
    expect(&nothing, RUNG_CLAIM_v3_bandwidth_bound, RUNG_REFUTED, "18 %");
    tear_down(NULL);
    add(3, 256, RUNG_BOUND_CONST, 16);
    add(4, 256, RUNG_BOUND_CONST, 16);
    expect(&nothing, RUNG_CLAIM_v3_bandwidth_bound, RUNG_CONFIRMED, "93 %");
}

static void bytes_are_arithmetic(void **state)
{
    (void)state;
    struct rung_row *three = add(3, 256, RUNG_BOUND_CONST, 0);
    three->planned = true;
    three->passes = 3;
    three->bytes = 67633738;
    struct rung_row *four = add(4, 256, RUNG_BOUND_CONST, 0);
    four->planned = true;
    four->bytes = 67369566;
    expect(&nothing, RUNG_CLAIM_v4_fewer_bytes, RUNG_REFUTED, "0.39 % fewer");
    expect(&nothing, RUNG_CLAIM_first_launch_is_all, RUNG_REFUTED, "65534 partial sums; 3 passes");
    rows[1].row.bytes = 33000000;
    expect(&nothing, RUNG_CLAIM_v4_fewer_bytes, RUNG_CONFIRMED, "51.21 % fewer");
}

static void counts(void **state)
{
    (void)state;
    add(1, 256, RUNG_BOUND_CONST, 0)->executed = (struct rung_counts){true, 255, 47, 47};
    add(2, 256, RUNG_BOUND_CONST, 0)->executed = (struct rung_counts){true, 255, 12, 47};
    expect(&nothing, RUNG_CLAIM_conflicts_counted, RUNG_CONFIRMED, "as executed: 256: 47, 47");
    expect(&nothing, RUNG_CLAIM_same_additions, RUNG_CONFIRMED, "v1 255, v2 255");
    add(4, 256, RUNG_BOUND_CONST, 0)->executed = (struct rung_counts){true, 511, 12, 12};
    expect(&nothing, RUNG_CLAIM_same_additions, RUNG_REFUTED, "v4 511");
    rows[1].row.executed.serialised = 40;
    expect(&nothing, RUNG_CLAIM_conflicts_counted, RUNG_REFUTED, "47, 40");
}

static void larger_blocks(void **state)
{
    (void)state;
    add(1, 64, RUNG_BOUND_CONST, 110)->model = (struct rung_counts){true, 63, 11, 11};
    add(3, 64, RUNG_BOUND_CONST, 100)->model = (struct rung_counts){true, 63, 6, 6};
    add(1, 1024, RUNG_BOUND_CONST, 200)->model = (struct rung_counts){true, 1023, 191, 191};
    add(3, 1024, RUNG_BOUND_CONST, 100)->model = (struct rung_counts){true, 1023, 36, 36};
    expect(&nothing, RUNG_CLAIM_larger_block_saves_more, RUNG_CONFIRMED, "say 1.83 and 5.31");
    tear_down(NULL);
    add(1, 64, RUNG_BOUND_CONST, 200);
    add(3, 64, RUNG_BOUND_CONST, 100);
    add(1, 1024, RUNG_BOUND_CONST, 110);
    add(3, 1024, RUNG_BOUND_CONST, 100);
    expect(&nothing, RUNG_CLAIM_larger_block_saves_more, RUNG_REFUTED, "2.000");
}

static void compiled_code(void **state)
{
    (void)state;
    struct rung_claim_evidence evidence = {
        .code = {{90, "divide", "mask x8", "divide"}, {120, "mask", "mask x8", "mask"}},
        .n_code = 2
    };
    expect(&evidence, RUNG_CLAIM_runtime_keeps_modulo, RUNG_REFUTED, "sm_90: divide; sm_120: mask");
    expect(&evidence, RUNG_CLAIM_constant_makes_mask, RUNG_REFUTED, "not the constant");
    evidence.n_code = 1;
    expect(&evidence, RUNG_CLAIM_runtime_keeps_modulo, RUNG_CONFIRMED, "sm_90: divide");
    evidence.code[0] = evidence.code[1];
    expect(&evidence, RUNG_CLAIM_constant_makes_mask, RUNG_CONFIRMED, "loop kept mask");
}

static void the_control(void **state)
{
    (void)state;
    struct rung_claim_evidence evidence = {
        .on_simulator = {true, false, true, "told by race"}
    };
    expect(&evidence, RUNG_CLAIM_volatile_warp_is_right, RUNG_REFUTED, "told by race");
    evidence.on_card = (struct rung_claim_control){true, false, false, "no check told"};
    expect(&evidence, RUNG_CLAIM_volatile_warp_is_right, RUNG_REFUTED, "on this card: no check");
    evidence.on_simulator.caught = false;
    expect(&evidence, RUNG_CLAIM_volatile_warp_is_right, RUNG_CONFIRMED, "no check told");
    evidence.on_card.wrong_sum = true;
    expect(&evidence, RUNG_CLAIM_volatile_warp_is_right, RUNG_REFUTED, "on this card");
}

#define TEST(name) cmocka_unit_test_teardown(name, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(without_evidence_nothing_can_be_told),
        TEST(the_sign_of_the_first_step),
        TEST(equal_times_confirm_equal_costs),
        TEST(bandwidth),
        TEST(bytes_are_arithmetic),
        TEST(counts),
        TEST(larger_blocks),
        TEST(compiled_code),
        TEST(the_control),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
