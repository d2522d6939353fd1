/* Verification on a card that is the host: a right kernel passes with every type and operation, and
 * every mistake is caught, by the checks that can see it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "bench/verify.h"
#include "support/host_cuda.h"

static struct rung_verdict verify(enum host_mistake mistake, unsigned version, unsigned block,
                                  enum rung_op op, enum rung_type type, uint64_t n)
{
    struct rung_device device;
    struct host_reduction host;
    struct rung_verdict verdict = {0};
    struct rung_error err = {0};
    const struct rung_config config = {.version = version, .block = block, .op = op, .type = type};
    host_cuda_device(&device, mistake);
    host_reduction_make(&host, &device, &config);
    const struct rung_subject subject = {.reduction = &host.reduction, .verdict = &verdict};
    const struct rung_verify_options options = {
        .n = n, .all_patterns = true, .awkward_sizes = true, .seed = 7};
    enum rung_status status = rung_verify(&subject, 1, &options, &err);
    if (status != RUNG_OK)
        fail_msg("%s", err.text);
    assert_int_equal(host_cuda.live, 0);
    return verdict;
}

static void right_kernels_pass(void **state)
{
    (void)state;
    for (unsigned version = 3; version <= 4; version++)
        for (int op = RUNG_OP_SUM; op <= RUNG_OP_DOT; op++)
            for (int type = RUNG_TYPE_F32; type <= RUNG_TYPE_I32; type++)
                for (unsigned block = 2; block <= 128; block *= 8) {
                    struct rung_verdict verdict = verify(
                        HOST_RIGHT, version, block, (enum rung_op)op, (enum rung_type)type, 10007);
                    if (verdict.status != RUNG_ROW_OK)
                        fail_msg("%s", verdict.reason);
                    assert_int_equal(verdict.caught, 0);
                    assert_true(verdict.summed);
                    assert_int_equal(verdict.n, 10007);
                    assert_true(verdict.sum == verdict.expected);
                    assert_true(verdict.sum == 10007); /* the ones speak for all */
                    assert_true(verdict.runs > 60);
                }
}

static bool has(const struct rung_verdict *verdict, enum rung_check check)
{
    return verdict->caught >> check & 1;
}

static void every_mistake_is_caught(void **state)
{
    (void)state;
    const struct {
        enum host_mistake mistake;
        unsigned version;
        enum rung_op op;
    } mistakes[] = {
        {HOST_DROPS_LAST,        3, RUNG_OP_SUM},
        {HOST_DROPS_AND_DOUBLES, 3, RUNG_OP_SUM},
        {HOST_SWAPS_PAIRS,       3, RUNG_OP_DOT},
        {HOST_WRONG_INDEX,       4, RUNG_OP_SUM},
        {HOST_WRITES_BEYOND,     3, RUNG_OP_SUM},
        {HOST_FORGETS_A_BLOCK,   3, RUNG_OP_SUM},
        {HOST_ZERO_FOR_EMPTY,    3, RUNG_OP_SUM},
        {HOST_READS_BEYOND,      3, RUNG_OP_SUM},
        {HOST_LATER_READS_INPUT, 3, RUNG_OP_SUM},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++)
        for (int type = RUNG_TYPE_F32; type <= RUNG_TYPE_I32; type++) {
            host_cuda.launches = 0;
            struct rung_verdict verdict = verify(mistakes[i].mistake, mistakes[i].version, 64,
                                                 mistakes[i].op, (enum rung_type)type, 5000);
            if (verdict.status != RUNG_ROW_WRONG)
                fail_msg("mistake %d in %s passed", (int)mistakes[i].mistake,
                         rung_type_word((enum rung_type)type));
            assert_non_null(strstr(verdict.reason, "block 64, n = "));
        }
}

/* One element read twice against one never read: the ones cannot see it, a bit of the index must.
 */
static void ones_alone_would_pass(void **state)
{
    (void)state;
    struct rung_device device;
    struct host_reduction host;
    struct rung_error err = {0};
    struct rung_workspace workspace;
    const struct rung_config config = {.version = 3, .block = 64};
    const struct rung_workspace_spec spec = {.n = 64, .room = 1};
    host_cuda_device(&device, HOST_DROPS_AND_DOUBLES);
    host_reduction_make(&host, &device, &config);
    assert_int_equal(rung_workspace_open(&workspace, &device, &spec, &err), RUNG_OK);
    unsigned caught[6] = {0};
    for (unsigned bit = 0; bit < 6; bit++) {
        struct rung_verdict verdict = {0};
        struct rung_expected expected;
        const struct rung_subject subject = {.reduction = &host.reduction, .verdict = &verdict};
        const struct rung_pattern ones = {.kind = RUNG_PATTERN_ONES};
        const struct rung_pattern pattern = {.kind = RUNG_PATTERN_BIT, .bit = bit};
        assert_int_equal(rung_pattern_upload(&expected, &workspace, &ones, &err), RUNG_OK);
        assert_int_equal(rung_verify_run(&subject, &workspace, &ones, &expected, &err), RUNG_OK);
        assert_int_equal(verdict.status, RUNG_ROW_OK);
        assert_int_equal(rung_pattern_upload(&expected, &workspace, &pattern, &err), RUNG_OK);
        assert_int_equal(rung_verify_run(&subject, &workspace, &pattern, &expected, &err), RUNG_OK);
        caught[bit] = has(&verdict, RUNG_CHECK_BIT);
    }
    rung_workspace_release(&workspace);
    /* 5 is 000101, 6 is 000110: exactly bits 0 and 1 tell. */
    const unsigned wanted[6] = {1, 1, 0, 0, 0, 0};
    assert_memory_equal(caught, wanted, sizeof wanted);
}

static void a_wrong_row_says_what_it_summed_to(void **state)
{
    (void)state;
    struct rung_verdict verdict =
        verify(HOST_FORGETS_A_BLOCK, 3, 256, RUNG_OP_SUM, RUNG_TYPE_F32, 1000);
    /* The first size with two blocks is 257: the second block's one is never written. */
    assert_non_null(strstr(verdict.reason, "version 3, block 256, n = 257, pattern ones"));
    assert_non_null(strstr(verdict.reason, "expected 257, got nan"));
    assert_int_equal(verdict.n, 257);
    assert_true(verdict.expected == 257);
    assert_true(isnan(verdict.sum));
}

static void writing_outside_names_the_buffer(void **state)
{
    (void)state;
    struct rung_verdict verdict =
        verify(HOST_WRITES_BEYOND, 3, 64, RUNG_OP_SUM, RUNG_TYPE_F64, 1000);
    assert_true(has(&verdict, RUNG_CHECK_GUARD));
    assert_non_null(strstr(verdict.reason, "guard behind the partial sums of odd passes"));
}

/* The bound is tight enough to mean something: an error of one hundred-thousandth is seen. */
static void the_rounding_bound_is_small(void **state)
{
    (void)state;
    struct rung_device device;
    struct host_reduction host;
    struct rung_plan plan;
    struct rung_error err = {0};
    const struct rung_config config = {.version = 3, .block = 256};
    host_cuda_device(&device, HOST_RIGHT);
    host_reduction_make(&host, &device, &config);
    assert_int_equal(rung_reduction_plan(&plan, &host.reduction, 16776605, &err), RUNG_OK);
    double bound = rung_rounding_bound(&host.reduction, &plan, 1);
    assert_true(bound > 24 * 0x1p-24 && bound < 25 * 0x1p-24); /* three passes of eight steps */
}

static void what_does_not_fit_is_told_in_bytes(void **state)
{
    (void)state;
    struct rung_device device;
    struct host_reduction host;
    struct rung_verdict verdict = {0};
    struct rung_error err = {0};
    const struct rung_config config = {.version = 3, .block = 256};
    host_cuda_device(&device, HOST_RIGHT);
    host_reduction_make(&host, &device, &config);
    host_cuda.free_bytes = (size_t)100 << 20;
    host_cuda.launches = 0;
    const struct rung_subject subject = {.reduction = &host.reduction, .verdict = &verdict};
    const struct rung_verify_options options = {
        .n = (uint64_t)1 << 30, .all_patterns = true, .awkward_sizes = true};
    assert_int_equal(rung_verify(&subject, 1, &options, &err), RUNG_USAGE);
    assert_non_null(strstr(err.text, "n = 1073741824"));
    assert_non_null(strstr(err.text, "4128.0 MiB are needed"));
    assert_non_null(strstr(err.text, "100.0 MiB of 8192.0 MiB are free"));
    assert_int_equal(host_cuda.launches, 0);
    assert_int_equal(host_cuda.live, 0);
}

/* A grid of at most 7 blocks: passes in parts sum the same. */
static void passes_in_parts_sum_the_same(void **state)
{
    (void)state;
    for (int op = RUNG_OP_SUM; op <= RUNG_OP_DOT; op++)
        for (unsigned version = 3; version <= 4; version++) {
            struct rung_device device;
            struct host_reduction host;
            struct rung_verdict verdict = {0};
            struct rung_error err = {0};
            const struct rung_config config = {
                .version = version, .block = 8, .op = (enum rung_op)op};
            host_cuda_device(&device, HOST_RIGHT);
            device.max_grid_x = 7;
            host_reduction_make(&host, &device, &config);
            const struct rung_subject subject = {.reduction = &host.reduction, .verdict = &verdict};
            const struct rung_verify_options options = {
                .n = 12345, .all_patterns = true, .awkward_sizes = true};
            assert_int_equal(rung_verify(&subject, 1, &options, &err), RUNG_OK);
            if (verdict.status != RUNG_ROW_OK)
                fail_msg("%s", verdict.reason);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_kernels_pass),
        cmocka_unit_test(every_mistake_is_caught),
        cmocka_unit_test(ones_alone_would_pass),
        cmocka_unit_test(a_wrong_row_says_what_it_summed_to),
        cmocka_unit_test(writing_outside_names_the_buffer),
        cmocka_unit_test(the_rounding_bound_is_small),
        cmocka_unit_test(what_does_not_fit_is_told_in_bytes),
        cmocka_unit_test(passes_in_parts_sum_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
