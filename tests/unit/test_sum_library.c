/* librung on the simulator, its checks on: every regime, type, operation and alignment against sums
 * worked out here, exact; calls that cannot be; drivers that fail. */
#include "support/sim_fixture.h"

#include "support/fault_driver.h"
#include "sum/images.h"
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

/* Captured once, replayed with other contents. */
static void replayed_from_a_graph(void **state)
{
    (void)state;
    struct rung_sum *sum;
    const uint64_t n = 50000;
    CUstream stream;
    CUgraph graph;
    CUgraphExec replay;
    CUdeviceptr x, out;
    assert_code(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    assert_code(cu.cuMemAlloc(&x, n * 4), CUDA_SUCCESS);
    assert_code(cu.cuMemAlloc(&out, 4), CUDA_SUCCESS);
    assert_int_equal(rung_sum_open_with(&sum, &cu, RUNG_SUM_I32, stream), RUNG_SUM_OK);
    assert_code(cu.cuStreamSynchronize(stream), CUDA_SUCCESS);
    assert_code(cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
    assert_int_equal(rung_sum_enqueue(sum, (void *)(uintptr_t)out, (void *)(uintptr_t)x, n),
                     RUNG_SUM_OK);
    assert_code(cu.cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
    assert_code(cu.cuGraphInstantiateWithFlags(&replay, graph, 0), CUDA_SUCCESS);
    for (unsigned value = 1; value <= 3; value++) {
        int found = 0;
        assert_code(cu.cuMemsetD32(x, value, n), CUDA_SUCCESS);
        assert_code(cu.cuGraphLaunch(replay, stream), CUDA_SUCCESS);
        assert_code(cu.cuStreamSynchronize(stream), CUDA_SUCCESS);
        assert_code(cu.cuMemcpyDtoH(&found, out, 4), CUDA_SUCCESS);
        assert_int_equal(found, value * n);
    }
    rung_sum_close(sum);
    cu.cuGraphExecDestroy(replay);
    cu.cuGraphDestroy(graph);
    cu.cuMemFree(out);
    cu.cuMemFree(x);
    cu.cuStreamDestroy(stream);
}

/* What a capture records is not done: the zeros of a handle would be missing. */
static void not_opened_in_a_capture(void **state)
{
    (void)state;
    struct rung_sum *sum;
    CUstream stream;
    CUgraph graph = NULL;
    assert_code(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    assert_code(cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
    assert_int_equal(rung_sum_open_with(&sum, &cu, RUNG_SUM_F32, stream), RUNG_SUM_DRIVER);
    assert_contains(rung_sum_message(sum), "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED");
    rung_sum_close(sum);
    assert_code(cu.cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
    cu.cuGraphDestroy(graph);
    cu.cuStreamDestroy(stream);
}

static void refuses(enum rung_sum_code got, const struct rung_sum *sum, const char *part)
{
    assert_int_equal(got, RUNG_SUM_INVALID);
    assert_contains(rung_sum_message(sum), part);
}

static void calls_that_cannot_be(void **state)
{
    (void)state;
    struct rung_sum *sum;
    float value = 5;
    void *odd = (void *)(uintptr_t)0x10002, *even = (void *)(uintptr_t)0x10000;
    enum rung_sum_code code = rung_sum_open_with(&sum, &cu, (enum rung_sum_element)9, NULL);
    refuses(code, sum, "element 9");
    refuses(rung_sum_value(sum, &value, even, 1), sum, "element 9"); /* the first cause stays */
    rung_sum_close(sum);
    assert_int_equal(rung_sum_open_with(&sum, &cu, RUNG_SUM_F32, NULL), RUNG_SUM_OK);
    assert_string_equal(rung_sum_message(sum), "");
    cu.sim->reset();
    refuses(rung_sum_value(sum, NULL, even, 1), sum, "result is NULL");
    refuses(rung_sum_value(sum, &value, NULL, 1), sum, "x is NULL");
    refuses(rung_sum_value(sum, &value, odd, 1), sum, "x is 0x10002, not a multiple of 4");
    refuses(rung_sum_dot_value(sum, &value, even, NULL, 1), sum, "y is NULL");
    refuses(rung_sum_enqueue(sum, odd, even, 1), sum, "result is 0x10002");
    refuses(rung_sum_enqueue_dot(sum, even, even, odd, 1), sum, "y is 0x10002");
    refuses(rung_sum_value(sum, &value, even, UINT64_MAX), sum, "n is 18446744073709551615");
    refuses(rung_sum_value(sum, &value, even, (UINT64_C(1) << 62) + 1), sum, "x = 0x10000");
    void *high = (void *)(uintptr_t)(UINT64_MAX - 15);
    refuses(rung_sum_dot_value(sum, &value, even, high, 4), sum, "from y = 0xfffffffffffffff0");
    assert_int_equal(rung_sum_open_with(NULL, &cu, RUNG_SUM_F32, NULL), RUNG_SUM_INVALID);
    assert_int_equal(value, 5);
    struct rung_sim_counters counters;
    cu.sim->read_counters(&counters);
    assert_int_equal(counters.launches, 0);
    assert_int_equal(rung_sum_value(sum, &value, NULL, 0), RUNG_SUM_OK); /* nothing to read */
    assert_int_equal(value, 0);
    assert_string_equal(rung_sum_message(sum), "");
    rung_sum_close(sum);
    assert_int_equal(rung_sum_value(NULL, &value, even, 1), RUNG_SUM_INVALID);
    assert_string_equal(rung_sum_message(NULL), "out of memory");
    rung_sum_close(NULL);
}

static void no_context(void **state)
{
    (void)state;
    struct rung_sum *sum;
    CUcontext context;
    assert_code(cu.cuCtxGetCurrent(&context), CUDA_SUCCESS);
    assert_code(cu.cuCtxSetCurrent(NULL), CUDA_SUCCESS);
    assert_int_equal(rung_sum_open_with(&sum, &cu, RUNG_SUM_F32, NULL), RUNG_SUM_UNABLE);
    assert_contains(rung_sum_message(sum), "no CUDA context is current");
    rung_sum_close(sum);
    assert_code(cu.cuCtxSetCurrent(context), CUDA_SUCCESS);
}

/* Whether this build carries code for the simulated card (-DRUNG_TARGETS=121). */
static bool has_cubin(void)
{
    int major = 0, minor = 0;
    cu.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0);
    cu.cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0);
    return rung_sum_cubin(rung_sum_images, rung_sum_image_count, RUNG_SUM_I32,
                          (unsigned)(10 * major + minor)) != NULL;
}

/* Each driver call made to fail in turn: told by its name, nothing left behind, and what was
 * opened still sums right afterwards. */
static void drivers_that_fail(void **state)
{
    (void)state;
    const uint64_t n = 40000;
    CUdeviceptr x;
    unsigned failures = 0, recovered = 0;
    assert_code(cu.cuMemAlloc(&x, n * 4), CUDA_SUCCESS);
    assert_code(cu.cuMemsetD32(x, 1, n), CUDA_SUCCESS);
    for (unsigned k = 0;; k++, failures++) {
        struct rung_driver driver;
        struct rung_sum *sum;
        int found = 0;
        fault_driver_make(&driver, &cu, k, CUDA_ERROR_ECC_UNCORRECTABLE);
        unsigned long long live = fault_driver_live();
        enum rung_sum_code code = rung_sum_open_with(&sum, &driver, RUNG_SUM_I32, NULL);
        bool opened = code == RUNG_SUM_OK;
        if (opened)
            code = rung_sum_value(sum, &found, (void *)(uintptr_t)x, n);
        if (code == RUNG_SUM_OK && fault_driver_fired()) { /* the cubin's load: there is PTX */
            assert_string_equal(fault_driver_fired(), "cuModuleLoadDataEx");
            assert_true(has_cubin());
            recovered++;
        } else if (fault_driver_fired()) {
            assert_int_equal(code, RUNG_SUM_DRIVER);
            assert_contains(rung_sum_message(sum), fault_driver_fired());
            assert_contains(rung_sum_message(sum), "CUDA_ERROR_ECC_UNCORRECTABLE");
        }
        bool fired = fault_driver_fired() != NULL;
        if (opened && fired)
            assert_int_equal(rung_sum_value(sum, &found, (void *)(uintptr_t)x, n), RUNG_SUM_OK);
        if (opened)
            assert_int_equal(found, n);
        rung_sum_close(sum);
        assert_int_equal(fault_driver_live(), live);
        if (!fired)
            break;
    }
    assert_in_range(failures, 20, 60);
    assert_int_equal(recovered, has_cubin());
    cu.cuMemFree(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        sim_test(sums_of_f32),           sim_test(sums_of_f64),
        sim_test(sums_of_i32),           sim_test(reads_nothing_behind),
        sim_test(integers_wrap),         sim_test(same_bits_in_any_order),
        sim_test(replayed_from_a_graph), sim_test(not_opened_in_a_capture),
        sim_test(calls_that_cannot_be),  sim_test(no_context),
        sim_test(drivers_that_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
