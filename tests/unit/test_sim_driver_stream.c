/* Run alone: build/tests/test_sim_driver_stream
 * Streams, events and graphs of the simulator. */
#include "support/kernels.h"
#include "support/sim_fixture.h"

static void events_order_and_measure_work(void **state)
{
    (void)state;
    CUmodule module;
    CUstream stream;
    CUevent start, end, untimed;
    CUdeviceptr out = 0;
    uint32_t value = 0;
    float first = -1, second = -1;
    void *params[] = {&out, &value};
    CUfunction fill = load_function(&module, PTX_FILL, "fill");
    assert_code(cu.cuMemAlloc(&out, 4096), CUDA_SUCCESS);
    assert_code(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    assert_code(cu.cuEventCreate(&start, 0), CUDA_SUCCESS);
    assert_code(cu.cuEventCreate(&end, 0), CUDA_SUCCESS);
    assert_code(cu.cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
    assert_code(cu.cuEventElapsedTime(&first, start, end), CUDA_ERROR_INVALID_HANDLE);
    for (int i = 0; i < 2; i++) {
        assert_code(cu.cuEventRecord(start, stream), CUDA_SUCCESS);
        assert_code(launch(fill, 4, 256, stream, params), CUDA_SUCCESS);
        assert_code(cu.cuEventRecord(end, stream), CUDA_SUCCESS);
        assert_code(cu.cuEventSynchronize(end), CUDA_SUCCESS);
        assert_code(cu.cuEventQuery(end), CUDA_SUCCESS);
        assert_code(cu.cuEventElapsedTime(i ? &second : &first, start, end), CUDA_SUCCESS);
    }
    assert_true(first > 0);
    assert_true(first == second); /* counted, not timed */
    assert_code(cu.cuEventRecord(untimed, stream), CUDA_SUCCESS);
    assert_code(cu.cuEventElapsedTime(&first, start, untimed), CUDA_ERROR_INVALID_HANDLE);
    assert_code(cu.cuStreamSynchronize(stream), CUDA_SUCCESS);
    assert_code(cu.cuEventDestroy(untimed), CUDA_SUCCESS);
    assert_code(cu.cuEventDestroy(end), CUDA_SUCCESS);
    assert_code(cu.cuEventDestroy(start), CUDA_SUCCESS);
    assert_code(cu.cuEventDestroy(start), CUDA_ERROR_INVALID_HANDLE);
    assert_code(cu.cuStreamDestroy(stream), CUDA_SUCCESS);
    assert_code(cu.cuStreamDestroy(stream), CUDA_ERROR_INVALID_HANDLE);
    assert_code(cu.cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
    assert_code(cu.cuMemFree(out), CUDA_SUCCESS);
    assert_code(cu.cuModuleUnload(module), CUDA_SUCCESS);
}

static void handle_of_a_dead_object_is_not_the_next_one(void **state)
{
    (void)state;
    CUevent one, two;
    assert_code(cu.cuEventCreate(&one, 0), CUDA_SUCCESS);
    assert_code(cu.cuEventDestroy(one), CUDA_SUCCESS);
    assert_code(cu.cuEventCreate(&two, 0), CUDA_SUCCESS);
    assert_ptr_not_equal(one, two);
    assert_code(cu.cuEventDestroy(one), CUDA_ERROR_INVALID_HANDLE);
    assert_code(cu.cuEventDestroy(two), CUDA_SUCCESS);
    assert_code(cu.cuEventDestroy(NULL), CUDA_ERROR_INVALID_HANDLE);
    assert_code(cu.cuEventDestroy((CUevent)&one), CUDA_ERROR_INVALID_HANDLE);
}

static void captured_work_runs_when_the_graph_does(void **state)
{
    (void)state;
    CUmodule module;
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    CUdeviceptr out = 0;
    uint32_t value = 5, result[64];
    void *params[] = {&out, &value};
    CUfunction fill = load_function(&module, PTX_FILL, "fill");
    assert_code(cu.cuMemAlloc(&out, sizeof result), CUDA_SUCCESS);
    assert_code(cu.cuMemsetD8(out, 0, sizeof result), CUDA_SUCCESS);
    assert_code(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    assert_code(cu.cuStreamBeginCapture(NULL, CU_STREAM_CAPTURE_MODE_GLOBAL),
                CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    assert_code(cu.cuStreamEndCapture(stream, &graph), CUDA_ERROR_ILLEGAL_STATE);
    assert_code(cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
    assert_code(cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL),
                CUDA_ERROR_ILLEGAL_STATE);
    assert_code(launch(fill, 1, 32, stream, params), CUDA_SUCCESS);
    assert_code(cu.cuMemsetD8Async(out, 0xff, 4, stream), CUDA_SUCCESS);
    assert_code(cu.cuStreamSynchronize(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    value = 1000; /* the parameter was taken at the launch */
    assert_code(cu.cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
    assert_code(cu.cuMemcpyDtoH(result, out, sizeof result), CUDA_SUCCESS);
    assert_int_equal(result[1], 0); /* nothing ran */
    assert_code(cu.cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
    assert_code(cu.cuGraphDestroy(graph), CUDA_SUCCESS);
    for (int i = 0; i < 2; i++) {
        assert_code(cu.cuMemsetD8(out, 0, sizeof result), CUDA_SUCCESS);
        assert_code(cu.cuGraphLaunch(exec, stream), CUDA_SUCCESS);
        assert_code(cu.cuMemcpyDtoH(result, out, sizeof result), CUDA_SUCCESS);
        assert_int_equal(result[0], UINT32_MAX);
        assert_int_equal(result[31], 36);
        assert_int_equal(result[32], 0);
    }
    assert_code(cu.cuModuleUnload(module), CUDA_SUCCESS);
    assert_code(cu.cuGraphLaunch(exec, stream), CUDA_ERROR_INVALID_HANDLE);
    assert_code(cu.cuGraphExecDestroy(exec), CUDA_SUCCESS);
    assert_code(cu.cuGraphExecDestroy(exec), CUDA_ERROR_INVALID_VALUE);
    assert_code(cu.cuStreamDestroy(stream), CUDA_SUCCESS);
    assert_code(cu.cuMemFree(out), CUDA_SUCCESS);
}

/* A stream that goes in the middle of a capture takes it along. */
static void abandoned_capture_is_released(void **state)
{
    (void)state;
    CUmodule module;
    CUstream stream;
    CUdeviceptr out = 0;
    uint32_t value = 5;
    void *params[] = {&out, &value};
    CUfunction fill = load_function(&module, PTX_FILL, "fill");
    assert_code(cu.cuStreamCreate(&stream, 0), CUDA_SUCCESS);
    assert_code(cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
    for (int i = 0; i < 40; i++)
        assert_code(launch(fill, 1, 32, stream, params), CUDA_SUCCESS);
    assert_code(cu.cuStreamDestroy(stream), CUDA_SUCCESS);
    assert_code(cu.cuModuleUnload(module), CUDA_SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        sim_test(events_order_and_measure_work),
        sim_test(handle_of_a_dead_object_is_not_the_next_one),
        sim_test(captured_work_runs_when_the_graph_does),
        sim_test(abandoned_capture_is_released),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
