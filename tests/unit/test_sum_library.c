/* librung on the simulator, its checks on: every regime, type, operation and alignment against sums
 * worked out here, exact; its reads, its bits and its slots. */
#include "support/sim_fixture.h"

#include "sum/open.h"
#include "sum/rung.h"

/* The simulated card: 16 SMs, 4 MiB of L2. Every border of sum/shape.c for it, in f32. */
static const uint64_t sizes[] = {0,      1,      2,      3,      4,      5,      7,      31,
                                 32,     33,     127,    1000,   4095,   4096,   8191,   8192,
                                 8193,   8195,   8196,   8200,   20000,  32768,  32773,  131071,
                                 131072, 131080, 262144, 262150, 600001, 917503, 917504, 1048583};
#define SIZE_COUNT (sizeof sizes / sizeof *sizes)
#define LARGEST 1048583

static unsigned random_word(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* A device array whose values are small whole numbers, so that every order of additions is exact,
 * and what those are. */
struct array {
    CUdeviceptr device;
    int *values; /* of the elements from `lead` on */
};

static size_t bytes_of(enum rung_sum_element element)
{
    return element == RUNG_SUM_F64 ? 8 : 4;
}

#define LEAD 4 /* the most elements that an array's start is off by */

static void put(void *at, enum rung_sum_element element, int value)
{
    float f32 = (float)value;
    double f64 = value;
    if (element == RUNG_SUM_F32)
        memcpy(at, &f32, 4);
    else if (element == RUNG_SUM_F64)
        memcpy(at, &f64, 8);
    else
        memcpy(at, &value, 4);
}

static struct array make_array(enum rung_sum_element element, size_t n, unsigned seed)
{
    struct array array = {0};
    size_t bytes = bytes_of(element);
    unsigned char *host = malloc((n + LEAD) * bytes);
    array.values = malloc((n + LEAD) * sizeof *array.values);
    assert_true(host && array.values);
    for (size_t i = 0; i < n + LEAD; i++) {
        array.values[i] = (int)(random_word(&seed) % 5) - 2;
        put(host + i * bytes, element, array.values[i]);
    }
    assert_code(cu.cuMemAlloc(&array.device, (n + LEAD) * bytes), CUDA_SUCCESS);
    assert_code(cu.cuMemcpyHtoD(array.device, host, (n + LEAD) * bytes), CUDA_SUCCESS);
    free(host);
    return array;
}

static void free_array(struct array *array)
{
    cu.cuMemFree(array->device);
    free(array->values);
}

static double value_of(const void *at, enum rung_sum_element element)
{
    float f32;
    double f64;
    int i32;
    memcpy(&f32, at, 4);
    memcpy(&i32, at, 4);
    if (element != RUNG_SUM_F64)
        return element == RUNG_SUM_F32 ? (double)f32 : (double)i32;
    memcpy(&f64, at, 8);
    return f64;
}

static void check_sum(struct rung_sum *sum, enum rung_sum_element element,
                      const struct array *array, size_t offset, uint64_t n)
{
    long long expected = 0;
    double found = 0;
    for (uint64_t i = 0; i < n; i++)
        expected += array->values[offset + i];
    const char *x = (const char *)(uintptr_t)(array->device + offset * bytes_of(element));
    if (rung_sum_value(sum, &found, x, n) != RUNG_SUM_OK)
        fail_msg("n = %llu: %s", (unsigned long long)n, rung_sum_message(sum));
    if (value_of(&found, element) != (double)expected)
        fail_msg("n = %llu at %zu: %g instead of %lld", (unsigned long long)n, offset,
                 value_of(&found, element), expected);
}

static void check_dot(struct rung_sum *sum, enum rung_sum_element element, const struct array *a,
                      const struct array *b, const size_t offsets[2], uint64_t n)
{
    long long expected = 0;
    double found = 0;
    size_t bytes = bytes_of(element);
    for (uint64_t i = 0; i < n; i++)
        expected += (long long)a->values[offsets[0] + i] * b->values[offsets[1] + i];
    const void *x = (const void *)(uintptr_t)(a->device + offsets[0] * bytes);
    const void *y = (const void *)(uintptr_t)(b->device + offsets[1] * bytes);
    if (rung_sum_dot_value(sum, &found, x, y, n) != RUNG_SUM_OK)
        fail_msg("n = %llu: %s", (unsigned long long)n, rung_sum_message(sum));
    if (value_of(&found, element) != (double)expected)
        fail_msg("dot, n = %llu at %zu and %zu: %g instead of %lld", (unsigned long long)n,
                 offsets[0], offsets[1], value_of(&found, element), expected);
}

static void no_findings(void)
{
    struct rung_sim_finding finding;
    if (cu.sim->read_findings(&finding, 1))
        fail_msg("line %u: %s", finding.line, finding.text);
}

static void check_element(enum rung_sum_element element)
{
    struct rung_sum *sum;
    cu.sim->set_options(&(struct rung_sim_options){.threads = 2, .check = true});
    if (rung_sum_open_with(&sum, &cu, element, NULL))
        fail_msg("%s", rung_sum_message(sum));
    struct array a = make_array(element, LARGEST, 1), b = make_array(element, LARGEST, 2);
    for (size_t i = 0; i < SIZE_COUNT; i++)
        for (size_t offset = 0; offset < LEAD; offset++)
            if (sizes[i] < 10000 || offset == i % LEAD) {
                const size_t together[] = {offset, offset}, apart[] = {offset, 3 - offset};
                check_sum(sum, element, &a, offset, sizes[i]);
                check_dot(sum, element, &a, &b, i % 3 ? together : apart, sizes[i]);
            }
    no_findings();
    free_array(&a);
    free_array(&b);
    rung_sum_close(sum);
}

static void sums_of_f32(void **state)
{
    (void)state;
    check_element(RUNG_SUM_F32);
}

static void sums_of_f64(void **state)
{
    (void)state;
    check_element(RUNG_SUM_F64);
}

static void sums_of_i32(void **state)
{
    (void)state;
    check_element(RUNG_SUM_I32);
}

/* The last element is the last of its allocation, so that a read behind it is a fault: exact to the
 * byte here, to a page on a card. */
static void reads_nothing_behind(void **state)
{
    (void)state;
    struct rung_sum *sum;
    const size_t bytes = bytes_of(RUNG_SUM_F64);
    assert_int_equal(rung_sum_open_with(&sum, &cu, RUNG_SUM_F64, NULL), RUNG_SUM_OK);
    for (size_t i = 1; i < SIZE_COUNT && sizes[i] < 300000; i++)
        for (size_t lead = 0; lead < 2; lead++) {
            const uint64_t n = sizes[i];
            double found = 0, one = 1;
            CUdeviceptr all, other;
            assert_code(cu.cuMemAlloc(&all, (lead + n) * bytes), CUDA_SUCCESS);
            assert_code(cu.cuMemAlloc(&other, n * bytes), CUDA_SUCCESS);
            assert_code(cu.cuMemsetD32(all, 0, (lead + n) * 2), CUDA_SUCCESS);
            assert_code(cu.cuMemsetD32(other, 0, n * 2), CUDA_SUCCESS);
            assert_code(cu.cuMemcpyHtoD(all + (lead + n - 1) * bytes, &one, bytes), CUDA_SUCCESS);
            assert_code(cu.cuMemcpyHtoD(other + (n - 1) * bytes, &one, bytes), CUDA_SUCCESS);
            const void *x = (const void *)(uintptr_t)(all + lead * bytes);
            const void *y = (const void *)(uintptr_t)other;
            if (rung_sum_value(sum, &found, x, n) || found != 1 ||
                rung_sum_dot_value(sum, &found, x, y, n) || found != 1 ||
                rung_sum_dot_value(sum, &found, y, x, n) || found != 1)
                fail_msg("n = %llu: %g: %s", (unsigned long long)n, found, rung_sum_message(sum));
            cu.cuMemFree(other);
            cu.cuMemFree(all);
        }
    rung_sum_close(sum);
}

static void integers_wrap(void **state)
{
    (void)state;
    struct rung_sum *sum;
    const int values[] = {2147483647, 2147483647, 5};
    int found = 0;
    CUdeviceptr x;
    assert_code(cu.cuMemAlloc(&x, sizeof values), CUDA_SUCCESS);
    assert_code(cu.cuMemcpyHtoD(x, values, sizeof values), CUDA_SUCCESS);
    assert_int_equal(rung_sum_open_with(&sum, &cu, RUNG_SUM_I32, NULL), RUNG_SUM_OK);
    assert_int_equal(rung_sum_value(sum, &found, (void *)(uintptr_t)x, 3), RUNG_SUM_OK);
    assert_int_equal(found, 3);
    rung_sum_close(sum);
    cu.cuMemFree(x);
}

/* The bits do not depend on which block ends first: host threads run blocks side by side. */
static void same_bits_in_any_order(void **state)
{
    (void)state;
    struct rung_sum *sum;
    const uint64_t n = 1000007;
    float *host = malloc(n * sizeof *host), first = 0, again = 0;
    unsigned seed = 7;
    CUdeviceptr x;
    assert_non_null(host);
    for (uint64_t i = 0; i < n; i++)
        host[i] = (float)random_word(&seed) * 1e-4f;
    assert_code(cu.cuMemAlloc(&x, n * sizeof *host), CUDA_SUCCESS);
    assert_code(cu.cuMemcpyHtoD(x, host, n * sizeof *host), CUDA_SUCCESS);
    assert_int_equal(rung_sum_open_with(&sum, &cu, RUNG_SUM_F32, NULL), RUNG_SUM_OK);
    assert_int_equal(rung_sum_value(sum, &first, (void *)(uintptr_t)x, n), RUNG_SUM_OK);
    for (unsigned k = 1; k <= 8; k++) {
        cu.sim->set_options(&(struct rung_sim_options){.threads = k});
        assert_int_equal(rung_sum_value(sum, &again, (void *)(uintptr_t)x, n), RUNG_SUM_OK);
        assert_memory_equal(&first, &again, sizeof first);
    }
    rung_sum_close(sum);
    cu.cuMemFree(x);
    free(host);
}

static CUdeviceptr slots;
static size_t slots_bytes;

static CUresult note_slots(CUdeviceptr *pointer, size_t bytes)
{
    CUresult code = cu.cuMemAlloc(pointer, bytes);
    slots = *pointer;
    slots_bytes = bytes;
    return code;
}

static void check_slots(uint64_t n)
{
    unsigned char *words = malloc(slots_bytes);
    assert_non_null(words);
    assert_code(cu.cuMemcpyDtoH(words, slots, slots_bytes), CUDA_SUCCESS);
    for (size_t i = 0; i < slots_bytes; i++)
        if (words[i])
            fail_msg("n = %llu leaves byte %zu of %zu at %u", (unsigned long long)n, i, slots_bytes,
                     words[i]);
    free(words);
}

/* Every launch empties what it filled, whatever grid the next one has: forwards, then backwards
 * through the sizes. */
static void slots_are_empty_between_launches(void **state)
{
    (void)state;
    const enum rung_sum_element all[] = {RUNG_SUM_F32, RUNG_SUM_F64, RUNG_SUM_I32};
    struct rung_driver driver = cu;
    driver.cuMemAlloc = note_slots;
    cu.sim->set_options(&(struct rung_sim_options){.threads = 4});
    for (size_t e = 0; e < 3; e++) {
        struct rung_sum *sum;
        double found;
        assert_int_equal(rung_sum_open_with(&sum, &driver, all[e], NULL), RUNG_SUM_OK);
        struct array a = make_array(all[e], LARGEST, 3);
        const void *x = (const void *)(uintptr_t)a.device;
        check_slots(0);
        for (size_t i = 0; i < 2 * SIZE_COUNT; i++) {
            uint64_t n = sizes[i < SIZE_COUNT ? i : 2 * SIZE_COUNT - 1 - i];
            assert_int_equal(rung_sum_value(sum, &found, x, n), RUNG_SUM_OK);
            check_slots(n);
            assert_int_equal(rung_sum_dot_value(sum, &found, x, x, n), RUNG_SUM_OK);
            check_slots(n);
        }
        free_array(&a);
        rung_sum_close(sum);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        sim_test(sums_of_f32),
        sim_test(sums_of_f64),
        sim_test(sums_of_i32),
        sim_test(reads_nothing_behind),
        sim_test(integers_wrap),
        sim_test(same_bits_in_any_order),
        sim_test(slots_are_empty_between_launches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
