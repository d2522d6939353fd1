/* The patterns: known values, any part as the whole, exactness at every size, and the reference sum
 * of random floats against one in extended precision. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/host_cuda.h"

#include "bench/pattern.h"

static struct rung_pattern_part part_of(enum rung_op op, enum rung_type type, uint64_t n,
                                        uint64_t first, size_t count, unsigned vector)
{
    return (struct rung_pattern_part){
        .op = op, .type = type, .n = n, .first = first, .count = count, .vector = vector};
}

static void any_part_is_as_the_whole(void **state)
{
    (void)state;
    enum { N = 10007 };
    static double whole[N], part[N];
    for (int kind = RUNG_PATTERN_ONES; kind <= RUNG_PATTERN_RANDOM; kind++) {
        const struct rung_pattern pattern = {
            .kind = (enum rung_pattern_kind)kind, .bit = 3, .seed = 99};
        struct rung_pattern_part all = part_of(RUNG_OP_SUM, RUNG_TYPE_F64, N, 0, N, 0);
        rung_pattern_fill(whole, &pattern, &all);
        for (size_t first = 0; first < N; first += 613) {
            size_t count = N - first < 613 ? N - first : 613;
            struct rung_pattern_part some = part_of(RUNG_OP_SUM, RUNG_TYPE_F64, N, first, count, 0);
            rung_pattern_fill(part + first, &pattern, &some);
        }
        assert_memory_equal(whole, part, sizeof whole);
    }
}

static void bits_are_those_of_the_index(void **state)
{
    (void)state;
    float values[64];
    const struct rung_pattern pattern = {.kind = RUNG_PATTERN_BIT, .bit = 33};
    uint64_t first = ((uint64_t)1 << 33) - 32; /* of an index that no 32 bits hold */
    struct rung_pattern_part part =
        part_of(RUNG_OP_SUM, RUNG_TYPE_F32, (uint64_t)1 << 23, first, 64, 0);
    rung_pattern_fill(values, &pattern, &part);
    for (int i = 0; i < 64; i++)
        assert_true(values[i] == (i < 32 ? 0 : 1));
}

/* A position that is used twice would not show: neighbours and far indices draw differently. */
static void draws_depend_on_all_of_the_index(void **state)
{
    (void)state;
    int32_t near[1024], far[1024];
    const struct rung_pattern pattern = {.kind = RUNG_PATTERN_WEIGHTS, .seed = 1};
    struct rung_pattern_part low = part_of(RUNG_OP_SUM, RUNG_TYPE_I32, RUNG_N_MAX, 0, 1024, 0);
    struct rung_pattern_part high =
        part_of(RUNG_OP_SUM, RUNG_TYPE_I32, RUNG_N_MAX, (uint64_t)1 << 32, 1024, 0);
    rung_pattern_fill(near, &pattern, &low);
    rung_pattern_fill(far, &pattern, &high);
    size_t same = 0;
    for (size_t i = 0; i < 1024; i++)
        same += near[i] == far[i] || (i && near[i] == near[i - 1]);
    assert_true(same < 3);
}

/* Where n ones pass 2^24 the elements are thinned: to about 2^23, here in a sample of 2^20. */
static void large_floats_are_thinned(void **state)
{
    (void)state;
    enum { COUNT = 1 << 20 };
    float *values = malloc(COUNT * sizeof *values);
    const struct rung_pattern pattern = {.kind = RUNG_PATTERN_ONES, .seed = 5};
    struct rung_pattern_part part =
        part_of(RUNG_OP_SUM, RUNG_TYPE_F32, (uint64_t)1 << 33, 12345678901, COUNT, 0);
    rung_pattern_fill(values, &pattern, &part);
    double ones = 0;
    for (size_t i = 0; i < COUNT; i++)
        ones += values[i];
    assert_true(fabs(ones - COUNT / 1024.0) < 200); /* 1024 expected, deviation 32 */
    part.n = (uint64_t)1 << 24;                     /* the largest n that is not */
    rung_pattern_fill(values, &pattern, &part);
    for (size_t i = 0; i < COUNT; i++)
        assert_true(values[i] == 1);
    free(values);
}

static struct rung_expected upload(float **a, struct rung_workspace *workspace,
                                   const struct rung_workspace_spec *spec,
                                   const struct rung_pattern *pattern)
{
    static struct rung_device device;
    struct rung_expected expected;
    struct rung_error err = {0};
    host_cuda_device(&device, HOST_RIGHT);
    assert_int_equal(rung_workspace_open(workspace, &device, spec, &err), RUNG_OK);
    if (rung_pattern_upload(&expected, workspace, pattern, &err) != RUNG_OK)
        fail_msg("%s", err.text);
    *a = (float *)(uintptr_t)workspace->a.data;
    return expected;
}

static void known_sums(void **state)
{
    (void)state;
    const struct {
        enum rung_pattern_kind kind;
        unsigned bit;
        double sum;
    } known[] = {
        {RUNG_PATTERN_ONES, 0,  16776605          },
        {RUNG_PATTERN_BIT,  0,  8388302           }, /* the odd indices */
        {RUNG_PATTERN_BIT,  23, 16776605 - 8388608},
        {RUNG_PATTERN_BIT,  24, 0                 },
    };
    const struct rung_workspace_spec spec = {.n = RUNG_N_DEFAULT, .room = 1};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct rung_workspace workspace;
        float *a;
        const struct rung_pattern pattern = {.kind = known[i].kind, .bit = known[i].bit};
        struct rung_expected expected = upload(&a, &workspace, &spec, &pattern);
        assert_true(expected.exact && expected.value == known[i].sum);
        rung_workspace_release(&workspace);
    }
}

/* Exact patterns say what the elements add up to, in every type, for sums and products. */
static void exact_sums_are_those_of_the_elements(void **state)
{
    (void)state;
    for (int op = RUNG_OP_SUM; op <= RUNG_OP_DOT; op++)
        for (int type = RUNG_TYPE_F32; type <= RUNG_TYPE_I32; type++)
            for (int kind = RUNG_PATTERN_ONES; kind <= RUNG_PATTERN_WEIGHTS; kind++) {
                struct rung_workspace workspace;
                float *memory;
                const struct rung_workspace_spec spec = {
                    .op = (enum rung_op)op, .type = (enum rung_type)type, .n = 70001, .room = 1};
                const struct rung_pattern pattern = {
                    .kind = (enum rung_pattern_kind)kind, .bit = 4, .vector = 1, .seed = 3};
                struct rung_expected expected = upload(&memory, &workspace, &spec, &pattern);
                const void *a = (void *)(uintptr_t)workspace.a.data;
                const void *b = (void *)(uintptr_t)workspace.b.data;
                long double sum = 0;
                uint32_t wrapped = 0;
                for (size_t i = 0; i < spec.n; i++) {
                    struct host_value x = {0}, y = {1, 1, 1};
                    host_load(&x, spec.type, a, i);
                    if (op == RUNG_OP_DOT)
                        host_load(&y, spec.type, b, i);
                    wrapped += type == RUNG_TYPE_I32 ? x.i32 * y.i32 : 0;
                    sum += type == RUNG_TYPE_F32   ? (long double)x.f32 * (long double)y.f32
                           : type == RUNG_TYPE_F64 ? (long double)x.f64 * (long double)y.f64
                                                   : 0;
                }
                double wanted = type == RUNG_TYPE_I32 ? (double)(int32_t)wrapped : (double)sum;
                if (expected.value != wanted)
                    fail_msg("op %d type %d kind %d: %.17g, not %.17g", op, type, kind,
                             expected.value, wanted);
                if (type == RUNG_TYPE_F32)
                    assert_true(expected.value <= 0x1p24);
                rung_workspace_release(&workspace);
            }
}

static void the_reference_of_random_floats_is_right(void **state)
{
    (void)state;
    for (int op = RUNG_OP_SUM; op <= RUNG_OP_DOT; op++) {
        struct rung_workspace workspace;
        float *memory;
        const struct rung_workspace_spec spec = {
            .op = (enum rung_op)op, .type = RUNG_TYPE_F64, .n = 200003, .room = 1};
        const struct rung_pattern pattern = {.kind = RUNG_PATTERN_RANDOM, .seed = 11};
        struct rung_expected expected = upload(&memory, &workspace, &spec, &pattern);
        const double *a = (double *)(uintptr_t)workspace.a.data;
        const double *b = (double *)(uintptr_t)workspace.b.data;
        long double sum = 0, magnitude = 0;
        for (size_t i = 0; i < spec.n; i++) {
            long double x = op == RUNG_OP_DOT ? (long double)a[i] * b[i] : (long double)a[i];
            assert_true(a[i] >= -1 && a[i] < 1);
            sum += x;
            magnitude += fabsl(x);
        }
        assert_false(expected.exact);
        assert_true(fabsl(expected.value - sum) <= 0x1p-50L * magnitude);
        assert_true(fabsl(expected.magnitude - magnitude) <= 1e-9L * magnitude);
        rung_workspace_release(&workspace);
    }
    assert_int_equal(host_cuda.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_part_is_as_the_whole),
        cmocka_unit_test(bits_are_those_of_the_index),
        cmocka_unit_test(draws_depend_on_all_of_the_index),
        cmocka_unit_test(large_floats_are_thinned),
        cmocka_unit_test(known_sums),
        cmocka_unit_test(exact_sums_are_those_of_the_elements),
        cmocka_unit_test(the_reference_of_random_floats_is_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
