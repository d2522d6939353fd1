/* From events to steps: operands, strides, counts, shared memory, and the errors that show. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "support/trace_events.h"

static const double seed_a[8] = {1, 2, 3, 4, 5, 6, 7, 8};
static const double seed_b[8] = {2, 1, 2, 1, 2, 1, 2, 1};

static void build(struct rung_trace *trace, struct rung_arena *arena, struct events_block *block)
{
    struct rung_error err = {0};
    assert_int_equal(events_trace(trace, arena, block, &err), RUNG_OK);
}

static void check_shared(const struct rung_trace_step *step, const double expected[8])
{
    for (unsigned i = 0; i < 8; i++) {
        assert_true(step->written[i]);
        assert_true(step->shared[i] == expected[i]);
    }
}

static void check_addition(const struct rung_trace_step *step, unsigned thread, double left,
                           double right, double result)
{
    assert_true(thread < step->n_adds);
    const struct rung_trace_addition *addition = &step->adds[thread];
    assert_int_equal(addition->thread, thread);
    assert_true(addition->left.value == left);
    assert_true(addition->right.value == right);
    assert_true(addition->result == result);
    assert_int_equal(addition->slot, thread);
}

/* The published example: its sums and its 52, and the memory that those sums make. */
static void dot_of_eight_gives_52(void **state)
{
    (void)state;
    struct rung_arena arena = {0};
    struct rung_trace trace;
    struct events_block block = {.version = 3, .threads = 8, .n = 8, .a = seed_a, .b = seed_b};
    build(&trace, &arena, &block);
    assert_int_equal(trace.n_steps, 5);
    check_shared(&trace.steps[0], (const double[8]){2, 2, 6, 4, 10, 6, 14, 8});
    check_shared(&trace.steps[1], (const double[8]){12, 8, 20, 12, 10, 6, 14, 8});
    check_shared(&trace.steps[2], (const double[8]){32, 20, 20, 12, 10, 6, 14, 8});
    check_shared(&trace.steps[3], (const double[8]){52, 20, 20, 12, 10, 6, 14, 8});
    check_addition(&trace.steps[1], 0, 2, 10, 12);
    check_addition(&trace.steps[1], 1, 2, 6, 8);
    check_addition(&trace.steps[1], 2, 6, 14, 20);
    check_addition(&trace.steps[1], 3, 4, 8, 12);
    check_addition(&trace.steps[2], 0, 12, 20, 32);
    check_addition(&trace.steps[2], 1, 8, 12, 20);
    check_addition(&trace.steps[3], 0, 32, 20, 52);
    assert_int_equal(trace.steps[1].stride, 4);
    assert_int_equal(trace.steps[2].stride, 2);
    assert_int_equal(trace.steps[3].stride, 1);
    assert_int_equal(trace.steps[1].active, 4);
    assert_int_equal(trace.steps[1].source_line, 3);
    assert_int_equal(trace.steps[1].order, RUNG_TRACE_ORDER_BLOCK);
    assert_false(trace.steps[1].order_broken);
    assert_int_equal(trace.steps[0].n_reads, 16);
    assert_true(trace.result == 52 && trace.expected == 52 && trace.exact && trace.correct);
    assert_int_equal(trace.n_findings, 0);
    struct rung_text text = {0};
    rung_trace_write_verification(&text, &trace, 8);
    assert_string_equal(rung_text_string(&text),
                        "(1×2) + (2×1) + (3×2) + (4×1) + (5×2) + (6×1) + (7×2) + (8×1)\n"
                        "= 2 + 2 + 6 + 4 + 10 + 6 + 14 + 8 = 52 ✓");
    rung_text_release(&text);
    rung_arena_release(&arena);
}

/* Ones hide which operand is which; the slot that a thread owns stands left all the same. */
static void equal_values_keep_their_slots(void **state)
{
    (void)state;
    double ones[64];
    for (unsigned i = 0; i < 64; i++)
        ones[i] = 1;
    for (unsigned version = 1; version <= 3; version++) {
        struct rung_arena arena = {0};
        struct rung_trace trace;
        struct events_block block = {.version = version, .threads = 64, .n = 64, .a = ones};
        build(&trace, &arena, &block);
        for (size_t s = 1; s + 1 < trace.n_steps; s++)
            for (size_t i = 0; i < trace.steps[s].n_adds; i++) {
                const struct rung_trace_addition *addition = &trace.steps[s].adds[i];
                assert_int_equal(addition->left.origin, RUNG_TRACE_SHARED);
                assert_int_equal(addition->left.index, addition->slot);
                assert_int_equal(addition->right.index, addition->slot + trace.steps[s].stride);
            }
        assert_true(trace.correct);
        rung_arena_release(&arena);
    }
}

/* Body runs and serialised runs of whole blocks: the closed forms, for all sizes. */
static void counts_follow_the_closed_forms(void **state)
{
    (void)state;
    double iota[1024];
    for (unsigned i = 0; i < 1024; i++)
        iota[i] = i + 1;
    for (unsigned threads = 64; threads <= 1024; threads *= 2) {
        const unsigned wide = 6 * threads / 32 - 1, narrow = threads / 32 + 4;
        const unsigned runs[4] = {0, wide, narrow, narrow};
        const unsigned serialised[4] = {0, wide, wide, narrow};
        for (unsigned version = 1; version <= 3; version++) {
            struct rung_arena arena = {0};
            struct rung_trace trace;
            struct events_block block = {
                .version = version, .threads = threads, .n = threads, .a = iota};
            build(&trace, &arena, &block);
            assert_int_equal(trace.additions, threads - 1);
            assert_int_equal(trace.body_runs, runs[version]);
            assert_int_equal(trace.serialised, serialised[version]);
            assert_true(trace.correct);
            rung_arena_release(&arena);
        }
    }
}

static void shuffles_name_the_lane(void **state)
{
    (void)state;
    struct rung_arena arena = {0};
    struct rung_trace trace;
    struct events_block block = {.version = 8, .threads = 8, .n = 8, .a = seed_a};
    build(&trace, &arena, &block);
    assert_int_equal(trace.n_steps, 5);
    const struct rung_trace_addition *addition = &trace.steps[1].adds[2];
    assert_int_equal(addition->left.origin, RUNG_TRACE_SHARED);
    assert_int_equal(addition->right.origin, RUNG_TRACE_LANE);
    assert_int_equal(addition->right.index, 6);
    assert_int_equal(addition->slot, RUNG_TRACE_UNKNOWN);
    assert_true(addition->left.value == 3 && addition->right.value == 7);
    assert_int_equal(trace.steps[2].adds[0].left.origin, RUNG_TRACE_REGISTER);
    assert_int_equal(trace.steps[1].stride, 4);
    assert_true(trace.steps[1].in_registers);
    assert_int_equal(trace.steps[1].order, RUNG_TRACE_ORDER_WARP);
    assert_true(trace.result == 36 && trace.correct);
    rung_arena_release(&arena);
}

/* Without barriers the first warp adds what the second has not yet written. */
static void a_race_shows_at_the_operand(void **state)
{
    (void)state;
    double iota[64];
    for (unsigned i = 0; i < 64; i++)
        iota[i] = i + 1;
    struct rung_arena arena = {0};
    struct rung_trace trace;
    struct events_block block = {
        .version = 1, .threads = 64, .n = 64, .a = iota, .no_barriers = true};
    build(&trace, &arena, &block);
    assert_false(trace.correct);
    assert_int_equal(trace.n_findings, 1); /* T0 at stride 32 */
    assert_string_equal(trace.findings[0].kind, "stale");
    assert_int_equal(trace.findings[0].step, 6);
    assert_int_equal(trace.findings[0].warp, 0);
    assert_int_equal(trace.findings[0].lanes, 1);
    assert_true(rung_trace_is_marked(&trace, 6, 0) && !rung_trace_is_marked(&trace, 6, 1));
    assert_true(trace.steps[6].adds[0].right.stale);
    assert_true(trace.steps[6].adds[0].right.value == 33);
    assert_true(trace.result == 32 * 33 / 2 + 33);
    rung_arena_release(&arena);
}

/* Elements past the end are not read, and count as nothing. */
static void short_inputs_are_whole(void **state)
{
    (void)state;
    for (uint64_t n = 0; n < 8; n++) {
        struct rung_arena arena = {0};
        struct rung_trace trace;
        struct events_block block = {.version = 1, .threads = 8, .n = n, .a = seed_a};
        build(&trace, &arena, &block);
        assert_int_equal(trace.steps[0].n_reads, n);
        assert_int_equal(trace.steps[0].n_stores, 8);
        assert_true(trace.result == (double)(n * (n + 1) / 2) && trace.correct);
        rung_arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dot_of_eight_gives_52),
        cmocka_unit_test(equal_values_keep_their_slots),
        cmocka_unit_test(counts_follow_the_closed_forms),
        cmocka_unit_test(shuffles_name_the_lane),
        cmocka_unit_test(a_race_shows_at_the_operand),
        cmocka_unit_test(short_inputs_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
