/* librung's calls on the simulator: captured, impossible, without a context, by drivers that fail.
 */
#include "support/sim_fixture.h"

#include "support/fault_driver.h"
#include "sum/images.h"
#include "sum/open.h"

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
        sim_test(replayed_from_a_graph), sim_test(not_opened_in_a_capture),
        sim_test(calls_that_cannot_be),  sim_test(no_context),
        sim_test(drivers_that_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
