/* Run alone: build/tests/test_sim_driver_launch
 * Launches on the simulator: what is refused, what a kernel's mistake does to the context, and
 * several host threads. */
#include <pthread.h>

#include "support/kernels.h"
#include "support/sim_fixture.h"

#define N 1000

static void a_kernel_runs(void **state)
{
    (void)state;
    CUmodule module;
    CUdeviceptr out = 0;
    uint32_t value = 7, result[N];
    CUfunction fill = load_function(&module, PTX_FILL, "fill");
    assert_code(cu.cuMemAlloc(&out, sizeof result), CUDA_SUCCESS);
    void *params[] = {&out, &value};
    assert_code(launch(fill, N / 100, 100, NULL, params), CUDA_SUCCESS);
    assert_code(cu.cuCtxSynchronize(), CUDA_SUCCESS);
    assert_code(cu.cuMemcpyDtoH(result, out, sizeof result), CUDA_SUCCESS);
    for (uint32_t i = 0; i < N; i++)
        assert_int_equal(result[i], 7 + i);
    struct rung_sim_counters counters;
    cu.sim->read_counters(&counters);
    assert_int_equal(counters.launches, 1);
    assert_int_equal(counters.blocks, 10);
    assert_int_equal(counters.warps, 40);
    /* 12 instructions, of 40 warps and of 1,000 threads */
    assert_int_equal(counters.warp_instructions, 12 * 40);
    assert_int_equal(counters.thread_instructions, 12 * N);
    assert_code(cu.cuMemFree(out), CUDA_SUCCESS);
    assert_code(cu.cuModuleUnload(module), CUDA_SUCCESS);
}

static void parameters_may_come_in_a_buffer(void **state)
{
    (void)state;
    CUmodule module;
    struct {
        CUdeviceptr out;
        uint32_t value;
    } buffer = {0, 100};
    size_t size = 12;
    uint32_t result[32];
    CUfunction fill = load_function(&module, PTX_FILL, "fill");
    assert_code(cu.cuMemAlloc(&buffer.out, sizeof result), CUDA_SUCCESS);
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    void *params[] = {&buffer.out, &buffer.value};
    assert_code(cu.cuLaunchKernel(fill, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, extra), CUDA_SUCCESS);
    assert_code(cu.cuMemcpyDtoH(result, buffer.out, sizeof result), CUDA_SUCCESS);
    assert_int_equal(result[31], 131);
    assert_code(cu.cuLaunchKernel(fill, 1, 1, 1, 32, 1, 1, 0, NULL, params, extra),
                CUDA_ERROR_INVALID_VALUE);
    size = 11;
    assert_code(cu.cuLaunchKernel(fill, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, extra),
                CUDA_ERROR_INVALID_VALUE);
    assert_code(launch(fill, 1, 32, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_code(cu.cuMemFree(buffer.out), CUDA_SUCCESS);
    assert_code(cu.cuModuleUnload(module), CUDA_SUCCESS);
}

static void bad_shapes_are_refused_and_nothing_runs(void **state)
{
    (void)state;
    static const struct {
        unsigned grid[3], block[3], dynamic;
        CUresult code;
    } cases[] = {
        {{0, 1, 1},           {32, 1, 1},   0,     CUDA_ERROR_INVALID_VALUE          },
        {{1, 0, 1},           {32, 1, 1},   0,     CUDA_ERROR_INVALID_VALUE          },
        {{1, 1, 1},           {0, 1, 1},    0,     CUDA_ERROR_INVALID_VALUE          },
        {{1, 1, 1},           {2048, 1, 1}, 0,     CUDA_ERROR_INVALID_VALUE          },
        {{1, 1, 1},           {64, 32, 1},  0,     CUDA_ERROR_INVALID_VALUE          },
        {{1, 1, 1},           {1, 1, 65},   0,     CUDA_ERROR_INVALID_VALUE          },
        {{1, 65536, 1},       {32, 1, 1},   0,     CUDA_ERROR_INVALID_VALUE          },
        {{0x80000000u, 1, 1}, {32, 1, 1},   0,     CUDA_ERROR_INVALID_VALUE          },
        {{1, 1, 1},           {32, 1, 1},   48129, CUDA_ERROR_INVALID_VALUE          },
        {{1, 1, 1},           {512, 1, 1},  0,     CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES},
        {{1, 1, 1},           {32, 1, 1},   48128, CUDA_SUCCESS                      },
    };
    CUmodule module;
    CUfunction tile = load_function(&module, PTX_TILE, "tile");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const unsigned *g = cases[i].grid, *b = cases[i].block;
        assert_code(cu.cuLaunchKernel(tile, g[0], g[1], g[2], b[0], b[1], b[2], cases[i].dynamic,
                                      NULL, NULL, NULL),
                    cases[i].code);
        assert_code(cu.cuCtxSynchronize(), CUDA_SUCCESS);
    }
    struct rung_sim_counters counters;
    cu.sim->read_counters(&counters);
    assert_int_equal(counters.launches, 1);
    assert_code(launch(NULL, 1, 1, NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
    assert_code(launch(tile, 1, 1, (CUstream)module, NULL), CUDA_ERROR_INVALID_HANDLE);
    assert_code(cu.cuModuleUnload(module), CUDA_SUCCESS);
}

/* The launch succeeds, everything after it fails with the kernel's code, releases included; and
 * what is released is released. */
static void mistake_is_sticky(const char *ptx, const char *name,
                              CUdeviceptr (*address)(CUdeviceptr), CUresult code)
{
    CUmodule module;
    CUdeviceptr good = 0, more = 0;
    CUstream stream;
    CUevent event;
    CUfunction kernel = load_function(&module, ptx, name);
    assert_code(cu.cuMemAlloc(&good, 64), CUDA_SUCCESS);
    assert_code(cu.cuStreamCreate(&stream, 0), CUDA_SUCCESS);
    assert_code(cu.cuEventCreate(&event, 0), CUDA_SUCCESS);
    CUdeviceptr bad = address ? address(good) : 0;
    void *params[] = {&bad};
    assert_code(launch(kernel, 1, 1, NULL, params), CUDA_SUCCESS);
    assert_code(cu.cuCtxSynchronize(), code);
    assert_code(cu.cuStreamSynchronize(stream), code);
    assert_code(cu.cuEventRecord(event, stream), code);
    assert_code(cu.cuMemAlloc(&more, 64), code);
    assert_code(launch(kernel, 1, 1, NULL, params), code);
    char fault[256];
    cu.explain(fault);
    assert_contains(fault, "line");
    struct rung_error err = {0};
    rung_driver_fail(&err, &cu, code, "cuCtxSynchronize");
    assert_contains(err.text, fault); /* the message says where */
    assert_code(cu.cuEventDestroy(event), code);
    assert_code(cu.cuStreamDestroy(stream), code);
    assert_code(cu.cuMemFree(good), code);
    assert_code(cu.cuModuleUnload(module), code);
}

static CUdeviceptr null_address(CUdeviceptr good)
{
    (void)good;
    return 0;
}

static CUdeviceptr past_the_end(CUdeviceptr good)
{
    return good + 64;
}

static CUdeviceptr odd_address(CUdeviceptr good)
{
    return good + 2;
}

static void out_of_bounds_is_700(void **state)
{
    (void)state;
    mistake_is_sticky(PTX_POKE, "poke", null_address, CUDA_ERROR_ILLEGAL_ADDRESS);
}

static void just_past_the_end_is_700(void **state)
{
    (void)state;
    mistake_is_sticky(PTX_POKE, "poke", past_the_end, CUDA_ERROR_ILLEGAL_ADDRESS);
}

static void misaligned_is_716(void **state)
{
    (void)state;
    mistake_is_sticky(PTX_POKE, "poke", odd_address, CUDA_ERROR_MISALIGNED_ADDRESS);
}

static void endless_is_702(void **state)
{
    (void)state;
    cu.sim->set_options(&(struct rung_sim_options){.threads = 1, .step_budget = 10000});
    mistake_is_sticky(PTX_SPIN, "spin", NULL, CUDA_ERROR_LAUNCH_TIMEOUT);
}

static void a_new_context_is_alive(void **state)
{
    (void)state;
    CUmodule module;
    CUdeviceptr bad = 0;
    CUcontext context;
    void *params[] = {&bad};
    CUfunction poke = load_function(&module, PTX_POKE, "poke");
    assert_code(launch(poke, 1, 1, NULL, params), CUDA_SUCCESS);
    assert_code(cu.cuModuleUnload(module), CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_code(cu.cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
    assert_code(cu.cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
    assert_code(cu.cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    assert_code(cu.cuCtxSetCurrent(context), CUDA_SUCCESS);
    assert_code(cu.cuCtxSynchronize(), CUDA_SUCCESS);
}

/* --- host threads --------------------------------------------------------------------------- */
static CUcontext shared_context;

static void *worker(void *argument)
{
    uint32_t value = *(uint32_t *)argument, result[64];
    CUmodule module;
    CUfunction fill;
    CUdeviceptr out = 0;
    void *params[] = {&out, &value};
    uintptr_t wrong = 0;
    /* A context is current in a thread of its own. */
    wrong += cu.cuMemAlloc(&out, 4) != CUDA_ERROR_INVALID_CONTEXT;
    wrong += cu.cuCtxSetCurrent(shared_context) != CUDA_SUCCESS;
    for (int round = 0; round < 50; round++) {
        wrong += cu.cuModuleLoadDataEx(&module, PTX_FILL, 0, NULL, NULL) != CUDA_SUCCESS;
        wrong += cu.cuModuleGetFunction(&fill, module, "fill") != CUDA_SUCCESS;
        wrong += cu.cuMemAlloc(&out, sizeof result) != CUDA_SUCCESS;
        wrong += launch(fill, 2, 32, NULL, params) != CUDA_SUCCESS;
        wrong += cu.cuMemcpyDtoH(result, out, sizeof result) != CUDA_SUCCESS;
        for (uint32_t i = 0; i < 64; i++)
            wrong += result[i] != value + i;
        wrong += cu.cuMemFree(out) != CUDA_SUCCESS;
        wrong += cu.cuModuleUnload(module) != CUDA_SUCCESS;
    }
    return (void *)wrong;
}

static void two_threads_take_turns(void **state)
{
    (void)state;
    pthread_t threads[2];
    uint32_t values[2] = {1000, 2000};
    assert_code(cu.cuDevicePrimaryCtxRetain(&shared_context, 0), CUDA_SUCCESS);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, worker, &values[i]), 0);
    for (int i = 0; i < 2; i++) {
        void *wrong = NULL;
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
    struct rung_sim_counters counters;
    cu.sim->read_counters(&counters);
    assert_int_equal(counters.launches, 100);
    assert_code(cu.cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
}

/* What a host forgets is counted, even when its context goes. */
static void forgotten_things_are_counted(void **state)
{
    (void)state;
    CUdeviceptr a;
    CUevent event;
    CUcontext context;
    uint64_t before = cu.sim->live_handles();
    assert_code(cu.cuMemAlloc(&a, 16), CUDA_SUCCESS);
    assert_code(cu.cuEventCreate(&event, 0), CUDA_SUCCESS);
    assert_int_equal(cu.sim->live_handles(), before + 2);
    assert_code(cu.cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
    assert_int_equal(cu.sim->live_handles(), before + 2 - 1); /* less the context itself */
    sim_fixture_live += 2;                                    /* they stay counted */
    assert_code(cu.cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    assert_code(cu.cuCtxSetCurrent(context), CUDA_SUCCESS);
    assert_code(cu.cuEventDestroy(event), CUDA_ERROR_INVALID_HANDLE);
    assert_code(cu.cuMemFree(a), CUDA_ERROR_INVALID_VALUE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        sim_test(a_kernel_runs),
        sim_test(parameters_may_come_in_a_buffer),
        sim_test(bad_shapes_are_refused_and_nothing_runs),
        sim_test(out_of_bounds_is_700),
        sim_test(just_past_the_end_is_700),
        sim_test(misaligned_is_716),
        sim_test(endless_is_702),
        sim_test(a_new_context_is_alive),
        sim_test(two_threads_take_turns),
        sim_test(forgotten_things_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
