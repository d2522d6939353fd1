/* The sampler over a driver of this file, whose device has a clock that only launches move. It
 * checks what a card cannot be asked: the order of flush, hold, stamps, events and work, that a
 * held stream is never waited for, and that it is released on every path. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/sampler.h"

#define WORK_NS 100000
#define LAUNCH_NS 4000 /* of the host: what an event pair would see without a hold */

static struct {
    char log[8192];
    uint64_t now_ns;
    volatile uint32_t *release, *gave_up;
    bool held, capturing;
    unsigned work_calls, live;
    double mhz; /* of the SM */
    uint64_t events[8];
    unsigned n_events;
} fake;

/* Keeps the latest: a warm-up is longer than any log. */
static void note(const char *what)
{
    size_t length = strlen(fake.log), half = sizeof fake.log / 2;
    if (length + strlen(what) + 2 > sizeof fake.log) {
        memmove(fake.log, fake.log + half, length - half + 1);
        length -= half;
    }
    sprintf(fake.log + length, "%s ", what);
}

static void host_launch(void)
{
    if (!fake.held)
        fake.now_ns += LAUNCH_NS;
}

static CUresult CUDAAPI fake_attribute(int *value, CUdevice_attribute attribute, CUdevice_v1 device)
{
    (void)device;
    *value = attribute == CU_DEVICE_ATTRIBUTE_CLOCK_RATE ? 1000000 : 0;
    return CUDA_SUCCESS;
}
static CUresult CUDAAPI fake_load(CUmodule *module, const void *image, unsigned int n,
                                  CUjit_option *options, void **values)
{
    (void)n, (void)options, (void)values;
    assert_non_null(strstr(image, "rung_hold"));
    *module = (CUmodule)(uintptr_t)1;
    fake.live++;
    return CUDA_SUCCESS;
}
static CUresult CUDAAPI fake_unload(CUmodule module)
{
    (void)module;
    fake.live--;
    return CUDA_SUCCESS;
}
static CUresult CUDAAPI fake_function(CUfunction *function, CUmodule module, const char *name)
{
    (void)module;
    *function = (CUfunction)(uintptr_t)name;
    return CUDA_SUCCESS;
}
static CUresult CUDAAPI fake_host_alloc(void **pointer, size_t bytes, unsigned int flags)
{
    assert_true(flags & CU_MEMHOSTALLOC_DEVICEMAP);
    *pointer = malloc(bytes);
    fake.live++;
    return CUDA_SUCCESS;
}
static CUresult CUDAAPI fake_host_pointer(CUdeviceptr_v2 *device, void *host, unsigned int flags)
{
    (void)flags;
    *device = (CUdeviceptr)(uintptr_t)host;
    return CUDA_SUCCESS;
}
static CUresult CUDAAPI fake_host_free(void *pointer)
{
    free(pointer);
    fake.live--;
    return CUDA_SUCCESS;
}
static CUresult CUDAAPI fake_alloc(CUdeviceptr_v2 *pointer, size_t bytes)
{
    (void)bytes;
    *pointer = 4096;
    fake.live++;
    return CUDA_SUCCESS;
}
static CUresult CUDAAPI fake_free(CUdeviceptr_v2 pointer)
{
    (void)pointer;
    fake.live--;
    return CUDA_SUCCESS;
}
static CUresult CUDAAPI fake_memset(CUdeviceptr_v2 pointer, unsigned char value, size_t count)
{
    (void)pointer, (void)value, (void)count;
    return CUDA_SUCCESS;
}
static CUresult CUDAAPI fake_memset_async(CUdeviceptr_v2 pointer, unsigned char value, size_t count,
                                          CUstream stream)
{
    (void)pointer, (void)value, (void)count, (void)stream;
    note("write");
    return CUDA_SUCCESS;
}
static CUresult CUDAAPI fake_event_create(CUevent *event, unsigned int flags)
{
    (void)flags;
    *event = (CUevent)(uintptr_t)++fake.n_events;
    fake.live++;
    return CUDA_SUCCESS;
}
static CUresult CUDAAPI fake_event_destroy(CUevent event)
{
    (void)event;
    fake.live--;
    return CUDA_SUCCESS;
}
static CUresult CUDAAPI fake_event_record(CUevent event, CUstream stream)
{
    (void)stream;
    host_launch();
    fake.events[(uintptr_t)event] = fake.now_ns;
    note("event");
    return CUDA_SUCCESS;
}
static CUresult CUDAAPI fake_elapsed(float *ms, CUevent start, CUevent end)
{
    *ms = (float)(fake.events[(uintptr_t)end] - fake.events[(uintptr_t)start]) / 1e6f;
    return CUDA_SUCCESS;
}
static CUresult CUDAAPI fake_synchronize(CUstream stream)
{
    (void)stream;
    if (fake.held && *fake.release == 0)
        fail_msg("waited for a held stream after: %s", fake.log);
    fake.held = false;
    note("wait");
    return CUDA_SUCCESS;
}
static CUresult CUDAAPI fake_launch(CUfunction function, unsigned gx, unsigned gy, unsigned gz,
                                    unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                    CUstream stream, void **params, void **extra)
{
    (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared, (void)stream,
        (void)extra;
    const char *name = (const char *)(uintptr_t)function;
    host_launch();
    if (strcmp(name, "rung_hold") == 0) {
        fake.release = *(volatile uint32_t **)params[0];
        fake.gave_up = *(volatile uint32_t **)params[1];
        fake.held = *fake.release == 0;
        note("hold");
    } else if (strcmp(name, "rung_stamp") == 0) {
        uint64_t *out = *(uint64_t **)params[0];
        fake.now_ns += 500;
        out[0] = (uint64_t)((double)fake.now_ns * fake.mhz / 1e3);
        out[1] = fake.now_ns;
        out[2] = *(unsigned long long *)params[1];
        note("stamp");
    } else {
        fake.now_ns += 20000;
        note("read");
    }
    return CUDA_SUCCESS;
}
static CUresult CUDAAPI fake_begin_capture(CUstream stream, CUstreamCaptureMode mode)
{
    (void)stream, (void)mode;
    fake.capturing = true;
    fake.work_calls = 0;
    return CUDA_SUCCESS;
}
static CUresult CUDAAPI fake_end_capture(CUstream stream, CUgraph *graph)
{
    (void)stream;
    fake.capturing = false;
    *graph = (CUgraph)(uintptr_t)1;
    fake.live++;
    return CUDA_SUCCESS;
}
static CUresult CUDAAPI fake_instantiate(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
    (void)graph, (void)flags;
    *exec = (CUgraphExec)(uintptr_t)fake.work_calls;
    fake.live++;
    return CUDA_SUCCESS;
}
static CUresult CUDAAPI fake_graph_launch(CUgraphExec exec, CUstream stream)
{
    (void)stream;
    fake.now_ns += (uint64_t)(uintptr_t)exec * WORK_NS;
    note("graph");
    return CUDA_SUCCESS;
}
static CUresult CUDAAPI fake_exec_destroy(CUgraphExec exec)
{
    (void)exec;
    fake.live--;
    return CUDA_SUCCESS;
}
static CUresult CUDAAPI fake_graph_destroy(CUgraph graph)
{
    (void)graph;
    fake.live--;
    return CUDA_SUCCESS;
}

static struct rung_device device;

static int set_up(void **state)
{
    (void)state;
    memset(&fake, 0, sizeof fake);
    fake.mhz = 990;
    device = (struct rung_device){.sm_count = 4, .l2_bytes = 1 << 20};
    struct rung_driver *driver = &device.driver;
    driver->kind = RUNG_DRIVER_CUDA;
    driver->cuDeviceGetAttribute = fake_attribute;
    driver->cuModuleLoadDataEx = fake_load;
    driver->cuModuleUnload = fake_unload;
    driver->cuModuleGetFunction = fake_function;
    driver->cuMemHostAlloc = fake_host_alloc;
    driver->cuMemHostGetDevicePointer = fake_host_pointer;
    driver->cuMemFreeHost = fake_host_free;
    driver->cuMemAlloc = fake_alloc;
    driver->cuMemFree = fake_free;
    driver->cuMemsetD8 = fake_memset;
    driver->cuMemsetD8Async = fake_memset_async;
    driver->cuEventCreate = fake_event_create;
    driver->cuEventDestroy = fake_event_destroy;
    driver->cuEventRecord = fake_event_record;
    driver->cuEventElapsedTime = fake_elapsed;
    driver->cuStreamSynchronize = fake_synchronize;
    driver->cuLaunchKernel = fake_launch;
    driver->cuStreamBeginCapture = fake_begin_capture;
    driver->cuStreamEndCapture = fake_end_capture;
    driver->cuGraphInstantiateWithFlags = fake_instantiate;
    driver->cuGraphLaunch = fake_graph_launch;
    driver->cuGraphExecDestroy = fake_exec_destroy;
    driver->cuGraphDestroy = fake_graph_destroy;
    return 0;
}

static uint64_t places_seen;

static enum rung_status enqueue(void *context, CUstream stream, uint64_t place,
                                struct rung_error *err)
{
    (void)stream;
    const bool *broken = context;
    if (broken && *broken)
        return rung_fail(err, RUNG_DRIVER, "broken");
    host_launch();
    fake.work_calls++;
    if (!fake.capturing)
        fake.now_ns += WORK_NS;
    places_seen |= (uint64_t)1 << place;
    note("work");
    return RUNG_OK;
}

static struct rung_sampler *open_sampler(void)
{
    struct rung_sampler *sampler;
    struct rung_error err = {0};
    if (rung_sampler_open(&sampler, &device, &err) != RUNG_OK)
        fail_msg("%s", err.text);
    return sampler;
}

static size_t take(struct rung_sampler *sampler, enum rung_state cache, enum rung_timer timer,
                   struct rung_sample *samples, size_t count)
{
    struct rung_work work = {enqueue, NULL, 3, 1};
    size_t taken, throttled;
    struct rung_error err = {0};
    if (rung_sampler_take(samples, &taken, &throttled, sampler, &work,
                          (struct rung_sampling){cache, timer}, count, &err) != RUNG_OK)
        fail_msg("%s", err.text);
    return taken;
}

/* The last sample in the log, from its flush on. */
static void check_order(const char *want)
{
    size_t length = strlen(fake.log), wanted = strlen(want);
    assert_true(length >= wanted);
    assert_string_equal(fake.log + length - wanted, want);
}

static void a_clean_sample_in_order(void **state)
{
    (void)state;
    struct rung_sampler *sampler = open_sampler();
    struct rung_sample sample;
    assert_int_equal(take(sampler, RUNG_STATE_CLEAN, RUNG_TIMER_ISOLATED, &sample, 1), 1);
    check_order("read wait hold stamp event work event stamp wait ");
    assert_true(fabs(sample.time_ms - 0.1) < 1e-6); /* no launch gap in it */
    assert_true(fabs(sample.sm_mhz - 990) < 1);
    rung_sampler_close(sampler);
    assert_int_equal(fake.live, 0);
}

static void the_other_states(void **state)
{
    (void)state;
    struct rung_sampler *sampler = open_sampler();
    struct rung_sample samples[4];
    take(sampler, RUNG_STATE_DIRTY, RUNG_TIMER_ISOLATED, samples, 1);
    check_order("write wait hold stamp event work event stamp wait ");
    take(sampler, RUNG_STATE_WARM, RUNG_TIMER_ISOLATED, samples, 1);
    check_order("wait hold stamp event work event stamp wait ");
    places_seen = 0;
    take(sampler, RUNG_STATE_ROTATE, RUNG_TIMER_ISOLATED, samples, 4);
    assert_int_equal(places_seen, 7);
    rung_sampler_close(sampler);
    assert_int_equal(fake.live, 0);
}

static void the_other_timers(void **state)
{
    (void)state;
    struct rung_sampler *sampler = open_sampler();
    struct rung_sample sample;
    assert_int_equal(take(sampler, RUNG_STATE_WARM, RUNG_TIMER_GRAPH, &sample, 1), 1);
    check_order("hold stamp event graph event stamp wait ");
    assert_true(fabs(sample.time_ms - 0.1) < 1e-3);
    assert_int_equal(fake.work_calls, 20); /* 2 ms of 0.1 ms each */
    assert_int_equal(take(sampler, RUNG_STATE_WARM, RUNG_TIMER_BATCH, &sample, 1), 1);
    assert_true(sample.time_ms > 0.1); /* launches are in a batch */
    take(sampler, RUNG_STATE_CLEAN, RUNG_TIMER_WALL, &sample, 1);
    check_order("read wait stamp wait work wait stamp wait ");
    rung_sampler_close(sampler);
    assert_int_equal(fake.live, 0);
}

static void repeats_do_not_go_with_a_flush(void **state)
{
    (void)state;
    struct rung_error err = {0};
    assert_int_equal(rung_sampler_combines(RUNG_STATE_CLEAN, RUNG_TIMER_GRAPH, &err), RUNG_USAGE);
    assert_non_null(strstr(err.text, "rotate or warm, not clean"));
    assert_int_equal(rung_sampler_combines(RUNG_STATE_DIRTY, RUNG_TIMER_BATCH, NULL), RUNG_USAGE);
    assert_int_equal(rung_sampler_combines(RUNG_STATE_ROTATE, RUNG_TIMER_GRAPH, NULL), RUNG_OK);
    assert_int_equal(rung_sampler_combines(RUNG_STATE_DIRTY, RUNG_TIMER_WALL, NULL), RUNG_OK);
}

static void a_throttled_clock_is_counted(void **state)
{
    (void)state;
    struct rung_sampler *sampler = open_sampler();
    struct rung_work work = {enqueue, NULL, 1, 1};
    struct rung_sample samples[5];
    size_t taken, throttled;
    fake.mhz = 700; /* of 1000 */
    assert_int_equal(rung_sampler_take(samples, &taken, &throttled, sampler, &work,
                                       (struct rung_sampling){RUNG_STATE_WARM, RUNG_TIMER_ISOLATED},
                                       5, NULL),
                     RUNG_OK);
    assert_int_equal(taken, 0);
    assert_int_equal(throttled, 5);
    rung_sampler_close(sampler);
}

/* The work fails while the stream is held: it must be released, or the next wait never ends. */
static void a_failure_releases_the_stream(void **state)
{
    (void)state;
    struct rung_sampler *sampler = open_sampler();
    bool broken = false;
    struct rung_work work = {enqueue, &broken, 1, 1};
    struct rung_sampling how = {RUNG_STATE_WARM, RUNG_TIMER_ISOLATED};
    struct rung_sample sample;
    size_t taken, throttled;
    assert_int_equal(rung_sampler_take(&sample, &taken, &throttled, sampler, &work, how, 1, NULL),
                     RUNG_OK);
    broken = true;
    struct rung_error err = {0};
    assert_int_equal(rung_sampler_take(&sample, &taken, &throttled, sampler, &work, how, 1, &err),
                     RUNG_DRIVER);
    assert_int_equal(*fake.release, 1);
    assert_int_equal(fake_synchronize(NULL), CUDA_SUCCESS);
    rung_sampler_close(sampler);
    assert_int_equal(fake.live, 0);
}

static void many_launches_are_not_held(void **state)
{
    (void)state;
    struct rung_sampler *sampler = open_sampler();
    struct rung_work work = {enqueue, NULL, 1, 5000};
    struct rung_sample sample;
    size_t taken, throttled;
    fake.log[0] = '\0';
    assert_int_equal(rung_sampler_take(&sample, &taken, &throttled, sampler, &work,
                                       (struct rung_sampling){0}, 1, NULL),
                     RUNG_OK);
    assert_null(strstr(fake.log, "hold"));
    rung_sampler_close(sampler);
}

static void the_facts_of_the_timer(void **state)
{
    (void)state;
    struct rung_sampler *sampler = open_sampler();
    struct rung_timer_facts facts;
    assert_int_equal(rung_sampler_facts(&facts, sampler, NULL), RUNG_OK);
    assert_true(facts.held);
    assert_true(facts.event_pair_ms == 0);
    rung_sampler_close(sampler);
    assert_int_equal(fake.live, 0);
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_clean_sample_in_order),
        TEST(the_other_states),
        TEST(the_other_timers),
        TEST(repeats_do_not_go_with_a_flush),
        TEST(a_throttled_clock_is_counted),
        TEST(a_failure_releases_the_stream),
        TEST(many_launches_are_not_held),
        TEST(the_facts_of_the_timer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
