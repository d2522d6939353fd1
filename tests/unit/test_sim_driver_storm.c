/* Run alone: build/tests/test_sim_driver_storm [SEED]
 * Calls in random order with good, stale and foreign handles. Every call answers, none crashes (the
 * dev preset watches memory), and when all that was taken is given back nothing is live. */
#include "support/kernels.h"
#include "support/sim_fixture.h"

#define SLOTS 16
#define CALLS 20000

static uint64_t state_of_random = 1;

static unsigned pick(unsigned n)
{
    state_of_random = state_of_random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state_of_random >> 33) % n;
}

/* Handles as they come; a slot is not cleared when its handle dies. */
static struct {
    CUdeviceptr memory[SLOTS];
    CUmodule module[SLOTS];
    CUfunction function[SLOTS];
    CUstream stream[SLOTS];
    CUevent event[SLOTS];
    CUgraph graph[SLOTS];
    CUgraphExec exec[SLOTS];
} pool;

static CUstream any_stream(void)
{
    return pick(3) ? pool.stream[pick(SLOTS)] : NULL;
}

static CUresult any_launch(void)
{
    CUdeviceptr out = pool.memory[pick(SLOTS)];
    uint32_t value = 1;
    void *params[] = {&out, &value};
    return launch(pool.function[pick(SLOTS)], pick(3), pick(80), any_stream(), params);
}

static CUresult any_copy(void)
{
    unsigned char buffer[256];
    CUdeviceptr a = pool.memory[pick(SLOTS)] + pick(8), b = pool.memory[pick(SLOTS)];
    size_t bytes = pick(sizeof buffer + 1);
    memset(buffer, 1, sizeof buffer);
    switch (pick(4)) {
    case 0:
        return cu.cuMemcpyHtoD(a, buffer, bytes);
    case 1:
        return cu.cuMemcpyDtoH(buffer, a, bytes);
    case 2:
        return cu.cuMemcpyDtoD(a, b, bytes);
    default:
        return cu.cuMemsetD32(a, 0, bytes / 4);
    }
}

static CUresult any_call(void)
{
    unsigned i = pick(SLOTS), j = pick(SLOTS);
    float ms;
    switch (pick(20)) {
    case 0:
        return cu.cuMemAlloc(&pool.memory[i], pick(2048));
    case 1:
        return cu.cuMemFree(pool.memory[i]);
    case 2:
        return cu.cuModuleLoadDataEx(&pool.module[i], pick(4) ? PTX_FILL : "no", 0, NULL, NULL);
    case 3:
        return cu.cuModuleUnload(pool.module[i]);
    case 4:
        return cu.cuModuleGetFunction(&pool.function[j], pool.module[i], pick(4) ? "fill" : "?");
    case 5:
        return cu.cuStreamCreate(&pool.stream[i], pick(3));
    case 6:
        return cu.cuStreamDestroy(pool.stream[i]);
    case 7:
        return cu.cuEventCreate(&pool.event[i], pick(4));
    case 8:
        return cu.cuEventDestroy(pool.event[i]);
    case 9:
        return cu.cuEventRecord(pool.event[i], any_stream());
    case 10:
        return cu.cuEventElapsedTime(&ms, pool.event[i], pool.event[j]);
    case 11:
        return cu.cuStreamBeginCapture(any_stream(), pick(4));
    case 12:
        return cu.cuStreamEndCapture(any_stream(), &pool.graph[i]);
    case 13:
        return cu.cuGraphInstantiateWithFlags(&pool.exec[i], pool.graph[j], pick(2));
    case 14:
        return cu.cuGraphLaunch(pool.exec[i], any_stream());
    case 15:
        return cu.cuGraphDestroy(pool.graph[i]);
    case 16:
        return cu.cuGraphExecDestroy(pool.exec[i]);
    case 17:
        return any_copy();
    case 18:
        return cu.cuEventDestroy((CUevent)pool.stream[i]); /* of another kind */
    default:
        return any_launch();
    }
}

/* A kernel that pokes where it must not ends the context; the storm goes on in a new one. */
static void renew_context(void)
{
    CUcontext context;
    assert_code(cu.cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
    assert_code(cu.cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    assert_code(cu.cuCtxSetCurrent(context), CUDA_SUCCESS);
}

static void a_storm_of_calls_is_survived(void **state)
{
    (void)state;
    unsigned good = 0, refused = 0, deaths = 0;
    uint64_t before = cu.sim->live_handles();
    for (unsigned i = 0; i < CALLS; i++) {
        *(any_call() == CUDA_SUCCESS ? &good : &refused) += 1;
        if (cu.cuCtxSynchronize() != CUDA_SUCCESS) {
            deaths++;
            renew_context();
        }
    }
    /* The storm does reach the depths: most kinds of call succeed at times, and kernels fail. */
    assert_true(good > CALLS / 10);
    assert_true(refused > CALLS / 10);
    assert_true(deaths > 0);
    renew_context();
    /* All that is left was left to contexts that ended: the count says so, and the fixture's does
     * not take it for a leak of its own. */
    sim_fixture_live += cu.sim->live_handles() - before;
    uint64_t after = cu.sim->live_handles();
    CUdeviceptr one;
    assert_code(cu.cuMemAlloc(&one, 1), CUDA_SUCCESS);
    assert_int_equal(cu.sim->live_handles(), after + 1);
    assert_code(cu.cuMemFree(one), CUDA_SUCCESS);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        state_of_random = strtoull(argv[1], NULL, 10);
    const struct CMUnitTest tests[] = {sim_test(a_storm_of_calls_is_survived)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
