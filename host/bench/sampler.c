/* Opens a sampler and takes one sample: flush, hold, stamp, work, stamp, release. */
#define _GNU_SOURCE
#include "bench/sampler_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HOLD_LIMIT_NS 5000000000u /* then the device goes on without the host */
#define HELD_LAUNCHES_MAX 500     /* a held stream takes some 1000 launches, then the host waits */
#define READ_THREADS 512          /* __launch_bounds__ of rung_read */

extern const char rung_timing_ptx[]; /* generated/support/timing.ptx */

double rung_sampler_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Environments in which a held stream would wait for a host that waits for the stream. */
static const char *why_not_hold(void)
{
    const char *blocking = getenv("CUDA_LAUNCH_BLOCKING");
    if (blocking && strcmp(blocking, "0") != 0 && blocking[0])
        return "CUDA_LAUNCH_BLOCKING is set";
    if (getenv("CUDA_INJECTION64_PATH") || getenv("NV_COMPUTE_PROFILER_PERFWORKS_DIR"))
        return "a profiler is attached";
    return "";
}

/* NVRTC writes its own PTX version, which older drivers refuse; these kernels need no more than
 * what came with sm_75. */
static char *oldest_version(void)
{
    char *ptx = strdup(rung_timing_ptx);
    char *version = ptx ? strstr(ptx, ".version 9.0") : NULL;
    if (version)
        memcpy(version, ".version 6.3", 12);
    return ptx;
}

static enum rung_status load_kernels(struct rung_sampler *sampler, struct rung_error *err)
{
    char *ptx = oldest_version();
    if (!ptx)
        return rung_fail(err, RUNG_MEMORY, "out of memory");
    enum rung_status status = RUNG_OK;
    RUNG_CU(sampler->driver, done, cuModuleLoadDataEx, &sampler->module, ptx, 0, NULL, NULL);
    RUNG_CU(sampler->driver, done, cuModuleGetFunction, &sampler->hold, sampler->module,
            "rung_hold");
    RUNG_CU(sampler->driver, done, cuModuleGetFunction, &sampler->read, sampler->module,
            "rung_read");
    RUNG_CU(sampler->driver, done, cuModuleGetFunction, &sampler->stamp, sampler->module,
            "rung_stamp");
done:
    free(ptx);
    return status;
}

static enum rung_status allocate(struct rung_sampler *sampler, struct rung_error *err)
{
    const struct rung_device *device = sampler->device;
    enum rung_status status = RUNG_OK;
    void *words = NULL;
    /* Twice L2: what was in it is pushed out whatever its policy of replacement. */
    sampler->flush_bytes = (device->l2_bytes ? 2 * device->l2_bytes : 256u << 20) & ~(uint64_t)15;
    RUNG_CU(sampler->driver, done, cuMemHostAlloc, &words, sizeof(struct mapped_words),
            CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE);
    memset(words, 0, sizeof(struct mapped_words));
    sampler->words = words;
    RUNG_CU(sampler->driver, done, cuMemHostGetDevicePointer, &sampler->words_device, words, 0);
    RUNG_CU(sampler->driver, done, cuMemAlloc, &sampler->sink, sizeof(uint32_t));
    RUNG_CU(sampler->driver, done, cuMemAlloc, &sampler->flush, (size_t)sampler->flush_bytes);
    RUNG_CU(sampler->driver, done, cuMemsetD8, sampler->flush, 0, (size_t)sampler->flush_bytes);
    RUNG_CU(sampler->driver, done, cuEventCreate, &sampler->begin, CU_EVENT_DEFAULT);
    RUNG_CU(sampler->driver, done, cuEventCreate, &sampler->end, CU_EVENT_DEFAULT);
done:
    return status;
}

/* Every kernel runs once unheld: loading a kernel's code at its first launch synchronises, which a
 * held stream would never come out of. */
static enum rung_status try_kernels(struct rung_sampler *sampler, struct rung_error *err)
{
    unsigned long long limit = HOLD_LIMIT_NS;
    CUdeviceptr release = sampler->words_device + offsetof(struct mapped_words, release);
    CUdeviceptr gave_up = sampler->words_device + offsetof(struct mapped_words, gave_up);
    void *arguments[] = {&release, &gave_up, &limit};
    enum rung_status status = RUNG_OK;
    sampler->words->release = 1;
    RUNG_CU(sampler->driver, done, cuLaunchKernel, sampler->hold, 1, 1, 1, 1, 1, 1, 0,
            sampler->device->stream, arguments, NULL);
    status = rung_sampler_stamp(sampler, 0, err);
    if (status == RUNG_OK)
        status = rung_sampler_read(sampler, sampler->flush, sampler->flush_bytes,
                                   (unsigned)sampler->device->sm_count, err);
    if (status == RUNG_OK)
        RUNG_CU(sampler->driver, done, cuStreamSynchronize, sampler->device->stream);
done:
    return status;
}

enum rung_status rung_sampler_open(struct rung_sampler **out, const struct rung_device *device,
                                   struct rung_error *err)
{
    *out = NULL;
    if (device->driver.kind == RUNG_DRIVER_SIM)
        return rung_fail(err, RUNG_UNABLE, "the simulator has no times to sample");
    struct rung_sampler *sampler = calloc(1, sizeof *sampler);
    if (!sampler)
        return rung_fail(err, RUNG_MEMORY, "out of memory");
    sampler->device = device;
    sampler->driver = &device->driver;
    sampler->calls = 1;
    snprintf(sampler->why_not, sizeof sampler->why_not, "%s", why_not_hold());
    sampler->may_hold = !sampler->why_not[0];
    enum rung_status status = RUNG_OK;
    int khz = 0;
    RUNG_CU(sampler->driver, done, cuDeviceGetAttribute, &khz, CU_DEVICE_ATTRIBUTE_CLOCK_RATE,
            device->handle);
    sampler->full_mhz = khz / 1e3;
    if (sampler->driver->cuCtxResetPersistingL2Cache) /* a carve-out would survive every flush */
        sampler->driver->cuCtxResetPersistingL2Cache();
    if ((status = load_kernels(sampler, err)) != RUNG_OK ||
        (status = allocate(sampler, err)) != RUNG_OK ||
        (status = try_kernels(sampler, err)) != RUNG_OK)
        goto done;
    *out = sampler;
    sampler = NULL;
done:
    rung_sampler_close(sampler);
    return status;
}

void rung_sampler_close(struct rung_sampler *sampler)
{
    if (!sampler)
        return;
    const struct rung_driver *driver = sampler->driver;
    if (sampler->graph)
        driver->cuGraphExecDestroy(sampler->graph);
    if (sampler->end)
        driver->cuEventDestroy(sampler->end);
    if (sampler->begin)
        driver->cuEventDestroy(sampler->begin);
    if (sampler->flush)
        driver->cuMemFree(sampler->flush);
    if (sampler->sink)
        driver->cuMemFree(sampler->sink);
    if (sampler->words)
        driver->cuMemFreeHost((void *)(uintptr_t)sampler->words);
    if (sampler->module)
        driver->cuModuleUnload(sampler->module);
    free(sampler);
}

enum rung_status rung_sampler_combines(enum rung_state state, enum rung_timer timer,
                                       struct rung_error *err)
{
    bool repeats = timer == RUNG_TIMER_BATCH || timer == RUNG_TIMER_GRAPH;
    bool flushes = state == RUNG_STATE_CLEAN || state == RUNG_STATE_DIRTY;
    if (repeats && flushes)
        return rung_fail(err, RUNG_USAGE,
                         "timer %s repeats the reduction with no flush between, so its state is "
                         "rotate or warm, not %s",
                         rung_timer_word(timer), rung_state_word(state));
    return RUNG_OK;
}

enum rung_status rung_sampler_read(struct rung_sampler *sampler, CUdeviceptr data, uint64_t bytes,
                                   unsigned blocks, struct rung_error *err)
{
    unsigned long long n = bytes / 16;
    void *arguments[] = {&data, &n, &sampler->sink};
    enum rung_status status = RUNG_OK;
    RUNG_CU(sampler->driver, done, cuLaunchKernel, sampler->read, blocks, 1, 1, READ_THREADS, 1, 1,
            0, sampler->device->stream, arguments, NULL);
done:
    return status;
}

enum rung_status rung_sampler_stamp(struct rung_sampler *sampler, unsigned slot,
                                    struct rung_error *err)
{
    CUdeviceptr out = sampler->words_device + offsetof(struct mapped_words, stamps) +
                      slot * sizeof sampler->words->stamps[0];
    unsigned long long sequence = ++sampler->sequence;
    void *arguments[] = {&out, &sequence};
    enum rung_status status = RUNG_OK;
    /* One block an SM: on an idle card each lands on its own, and that of SM 0 writes. */
    RUNG_CU(sampler->driver, done, cuLaunchKernel, sampler->stamp,
            (unsigned)sampler->device->sm_count, 1, 1, 1, 1, 1, 0, sampler->device->stream,
            arguments, NULL);
done:
    return status;
}

/* After the stream was waited for. */
double rung_sampler_mhz(const struct rung_sampler *sampler)
{
    const volatile uint64_t *first = sampler->words->stamps[0], *last = sampler->words->stamps[1];
    if (first[2] + 1 != sampler->sequence || last[2] != sampler->sequence || last[1] <= first[1])
        return NAN;
    return (double)(last[0] - first[0]) / (double)(last[1] - first[1]) * 1e3;
}

enum rung_status rung_sampler_enqueue(struct rung_sampler *sampler, const struct rung_work *work,
                                      bool rotate, unsigned calls, struct rung_error *err)
{
    enum rung_status status = RUNG_OK;
    for (unsigned i = 0; i < calls && status == RUNG_OK; i++) {
        uint64_t place = rotate ? sampler->place++ % work->places : 0;
        status = work->enqueue(work->context, sampler->device->stream, place, err);
    }
    return status;
}

static enum rung_status flush(struct rung_sampler *sampler, enum rung_state state,
                              struct rung_error *err)
{
    enum rung_status status = RUNG_OK;
    if (state == RUNG_STATE_CLEAN)
        status = rung_sampler_read(sampler, sampler->flush, sampler->flush_bytes,
                                   2 * (unsigned)sampler->device->sm_count, err);
    else if (state == RUNG_STATE_DIRTY) /* once L2: more would only push out its own lines */
        RUNG_CU(sampler->driver, done, cuMemsetD8Async, sampler->flush, 0,
                (size_t)(sampler->flush_bytes / 2), sampler->device->stream);
    if (status == RUNG_OK) /* a flush still running would leak into the sample */
        RUNG_CU(sampler->driver, done, cuStreamSynchronize, sampler->device->stream);
done:
    return status;
}

static enum rung_status hold(struct rung_sampler *sampler, struct rung_error *err)
{
    unsigned long long limit = HOLD_LIMIT_NS;
    CUdeviceptr release = sampler->words_device + offsetof(struct mapped_words, release);
    CUdeviceptr gave_up = sampler->words_device + offsetof(struct mapped_words, gave_up);
    void *arguments[] = {&release, &gave_up, &limit};
    enum rung_status status = RUNG_OK;
    sampler->words->release = 0;
    sampler->words->gave_up = 0;
    __sync_synchronize();
    RUNG_CU(sampler->driver, done, cuLaunchKernel, sampler->hold, 1, 1, 1, 1, 1, 1, 0,
            sampler->device->stream, arguments, NULL);
done:
    return status;
}

static void release(struct rung_sampler *sampler)
{
    __sync_synchronize();
    sampler->words->release = 1;
    __sync_synchronize();
}

/* Stamp, event, work, event, stamp: everything that stands in the stream while it is held. */
static enum rung_status queue(struct rung_sampler *sampler, const struct rung_work *work,
                              struct rung_sampling how, struct rung_error *err)
{
    CUstream stream = sampler->device->stream;
    enum rung_status status = rung_sampler_stamp(sampler, 0, err);
    if (status != RUNG_OK)
        return status;
    RUNG_CU(sampler->driver, done, cuEventRecord, sampler->begin, stream);
    if (sampler->graph)
        RUNG_CU(sampler->driver, done, cuGraphLaunch, sampler->graph, stream);
    else
        status = rung_sampler_enqueue(sampler, work, how.state == RUNG_STATE_ROTATE, sampler->calls,
                                      err);
    if (status != RUNG_OK)
        return status;
    RUNG_CU(sampler->driver, done, cuEventRecord, sampler->end, stream);
    status = rung_sampler_stamp(sampler, 1, err);
done:
    return status;
}

static enum rung_status one_by_events(struct rung_sample *out, struct rung_sampler *sampler,
                                      const struct rung_work *work, struct rung_sampling how,
                                      struct rung_error *err)
{
    uint64_t launches = sampler->graph ? 1 : sampler->calls * work->launches;
    bool held = sampler->may_hold && how.timer != RUNG_TIMER_BATCH && launches <= HELD_LAUNCHES_MAX;
    enum rung_status status = held ? hold(sampler, err) : RUNG_OK;
    if (status == RUNG_OK)
        status = queue(sampler, work, how, err);
    release(sampler);
    if (status != RUNG_OK)
        return status;
    float ms = 0;
    RUNG_CU(sampler->driver, done, cuStreamSynchronize, sampler->device->stream);
    if (held && sampler->words->gave_up) {
        sampler->may_hold = false;
        snprintf(sampler->why_not, sizeof sampler->why_not,
                 "the host did not queue a sample within %d s", (int)(HOLD_LIMIT_NS / 1000000000u));
        return rung_fail(err, RUNG_UNABLE, "%s", sampler->why_not);
    }
    RUNG_CU(sampler->driver, done, cuEventElapsedTime, &ms, sampler->begin, sampler->end);
    out->time_ms = (double)ms / sampler->calls;
    out->sm_mhz = rung_sampler_mhz(sampler);
done:
    return status;
}

/* What a caller of the library feels: the launches and the wait for them. */
static enum rung_status one_by_wall(struct rung_sample *out, struct rung_sampler *sampler,
                                    const struct rung_work *work, struct rung_sampling how,
                                    struct rung_error *err)
{
    CUstream stream = sampler->device->stream;
    enum rung_status status = rung_sampler_stamp(sampler, 0, err);
    if (status != RUNG_OK)
        return status;
    RUNG_CU(sampler->driver, done, cuStreamSynchronize, stream);
    double begin = rung_sampler_now_ms();
    status = rung_sampler_enqueue(sampler, work, how.state == RUNG_STATE_ROTATE, 1, err);
    if (status != RUNG_OK)
        return status;
    RUNG_CU(sampler->driver, done, cuStreamSynchronize, stream);
    out->time_ms = rung_sampler_now_ms() - begin;
    status = rung_sampler_stamp(sampler, 1, err);
    if (status != RUNG_OK)
        return status;
    RUNG_CU(sampler->driver, done, cuStreamSynchronize, stream);
    out->sm_mhz = rung_sampler_mhz(sampler);
done:
    return status;
}

enum rung_status rung_sampler_one(struct rung_sample *out, struct rung_sampler *sampler,
                                  const struct rung_work *work, struct rung_sampling how,
                                  struct rung_error *err)
{
    enum rung_status status = flush(sampler, how.state, err);
    if (status != RUNG_OK)
        return status;
    return how.timer == RUNG_TIMER_WALL ? one_by_wall(out, sampler, work, how, err)
                                        : one_by_events(out, sampler, work, how, err);
}
