/* Owns warm-up, the sampling loop and the plain sampler by events. */
#define _POSIX_C_SOURCE 200809L
#include "bench/timing.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/stats.h"

#define WARM_UP_BATCH 16
#define EVENT_PAIRS 64 /* reductions in flight: enough to hide the launches, few to hold */

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

struct rung_timing_options rung_timing_default(void)
{
    return (struct rung_timing_options){.stop = rung_stop_rule_default(), .warm_up_ms = 20};
}

static enum rung_status enqueue(const struct rung_timed *work, struct rung_error *err)
{
    CUdeviceptr result;
    return rung_reduction_enqueue(&result, work->reduction, work->plan, work->workspace,
                                  work->reduction->device->stream, err);
}

enum rung_status rung_warm_up(const struct rung_timed *work, double ms, struct rung_error *err)
{
    const struct rung_device *device = work->reduction->device;
    enum rung_status status = RUNG_OK;
    double end = now_s() + ms / 1e3;
    do {
        for (int i = 0; status == RUNG_OK && i < WARM_UP_BATCH; i++)
            status = enqueue(work, err);
        if (status != RUNG_OK)
            return status;
        RUNG_CU(&device->driver, done, cuStreamSynchronize, device->stream);
    } while (now_s() < end);
done:
    return status;
}

struct pair {
    CUevent begin, end;
};

static void pairs_release(struct pair *pairs, const struct rung_driver *driver)
{
    for (size_t i = 0; i < EVENT_PAIRS; i++) {
        if (pairs[i].begin)
            driver->cuEventDestroy(pairs[i].begin);
        if (pairs[i].end)
            driver->cuEventDestroy(pairs[i].end);
    }
}

static enum rung_status sample_some(double *samples, size_t n, struct pair *pairs,
                                    const struct rung_timed *work, struct rung_error *err)
{
    const struct rung_device *device = work->reduction->device;
    enum rung_status status = RUNG_OK;
    for (size_t i = 0; i < n; i++) {
        RUNG_CU(&device->driver, done, cuEventRecord, pairs[i].begin, device->stream);
        status = enqueue(work, err);
        if (status != RUNG_OK)
            return status;
        RUNG_CU(&device->driver, done, cuEventRecord, pairs[i].end, device->stream);
    }
    RUNG_CU(&device->driver, done, cuStreamSynchronize, device->stream);
    for (size_t i = 0; i < n; i++) {
        float ms = 0;
        RUNG_CU(&device->driver, done, cuEventElapsedTime, &ms, pairs[i].begin, pairs[i].end);
        samples[i] = (double)ms;
    }
done:
    return status;
}

enum rung_status rung_sample_events(double *samples, size_t n, const struct rung_timed *work,
                                    void *context, struct rung_error *err)
{
    (void)context;
    const struct rung_driver *driver = &work->reduction->device->driver;
    struct pair pairs[EVENT_PAIRS] = {0};
    enum rung_status status = RUNG_OK;
    for (size_t i = 0; i < EVENT_PAIRS && i < n; i++) {
        RUNG_CU(driver, cleanup, cuEventCreate, &pairs[i].begin, CU_EVENT_DEFAULT);
        RUNG_CU(driver, cleanup, cuEventCreate, &pairs[i].end, CU_EVENT_DEFAULT);
    }
    for (size_t done = 0; status == RUNG_OK && done < n; done += EVENT_PAIRS) {
        size_t some = n - done < EVENT_PAIRS ? n - done : EVENT_PAIRS;
        status = sample_some(samples + done, some, pairs, work, err);
    }
cleanup:
    pairs_release(pairs, driver);
    return status;
}

enum rung_status rung_times_summarise(struct rung_times *out, double *samples, size_t n,
                                      struct rung_error *err)
{
    double *sorted = malloc((n ? n : 1) * sizeof *sorted);
    if (!sorted || n == 0) {
        free(sorted);
        free(samples);
        return sorted ? rung_fail(err, RUNG_UNABLE, "no sample was taken")
                      : rung_fail(err, RUNG_MEMORY, "out of memory");
    }
    memcpy(sorted, samples, n * sizeof *sorted);
    rung_stats_sort(sorted, n);
    *out = (struct rung_times){
        .known = true,
        .median = rung_stats_quantile(sorted, n, 0.5),
        .min = sorted[0],
        .q1 = rung_stats_quantile(sorted, n, 0.25),
        .q3 = rung_stats_quantile(sorted, n, 0.75),
        .samples = samples,
        .n_samples = n,
    };
    free(sorted);
    return RUNG_OK;
}

/* Samples until the rule has enough; `*samples` is the caller's, on failure too. */
static enum rung_status collect(double **samples, size_t *n, const struct rung_timed *work,
                                const struct rung_timing_options *options, struct rung_error *err)
{
    rung_sampler_fn *sampler = options->sampler ? options->sampler : rung_sample_events;
    double begin = now_s();
    for (bool enough = false; !enough;) {
        const char *reason;
        size_t more = rung_stop_next(&options->stop, *n);
        double *grown = realloc(*samples, (*n + more) * sizeof *grown);
        if (!grown)
            return rung_fail(err, RUNG_MEMORY, "out of memory for %zu samples", *n + more);
        *samples = grown;
        enum rung_status status = sampler(grown + *n, more, work, options->context, err);
        if (status != RUNG_OK)
            return status;
        *n += more;
        status =
            rung_stop_check(&enough, &reason, &options->stop, *samples, *n, now_s() - begin, err);
        if (status != RUNG_OK)
            return status;
    }
    return RUNG_OK;
}

enum rung_status rung_time_reduction(struct rung_times *out, const struct rung_timed *work,
                                     const struct rung_timing_options *options,
                                     struct rung_error *err)
{
    *out = (struct rung_times){0};
    if (work->reduction->device->driver.kind == RUNG_DRIVER_SIM)
        return rung_fail(err, RUNG_UNABLE, "the simulator's times say nothing of any card");
    enum rung_status status = rung_warm_up(work, options->warm_up_ms, err);
    double *samples = NULL;
    size_t n = 0;
    if (status == RUNG_OK)
        status = collect(&samples, &n, work, options, err);
    if (status == RUNG_OK)
        return rung_times_summarise(out, samples, n, err);
    free(samples);
    return status;
}
