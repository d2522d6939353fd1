/* Repeats single samples: warming up, graphs, throttled samples, and the card's own figures. */
#define _GNU_SOURCE
#include "bench/sampler_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench/stats.h"

#define IDLE_MS 50           /* after such a pause the clock may have fallen */
#define WARM_UP_MS 30        /* then this long */
#define CLOCKS_AGREE 0.01    /* two readings that close: the clock has settled */
#define THROTTLED_BELOW 0.75 /* of the card's clock */
#define REPEATED_MS 2.0      /* a batch or a replay lasts about this long */
#define CALLS_MIN 10
#define CALLS_MAX 200
#define GRAPH_NODES_MAX 2000
#define FACT_PAIRS 64

static void pause_ms(double ms)
{
    struct timespec pause = {(time_t)(ms / 1e3), (long)(fmod(ms, 1e3) * 1e6)};
    nanosleep(&pause, NULL);
}

/* Runs the work for `ms` and reads the SM clock over the last round. */
static enum rung_status run_for(double *mhz, struct rung_sampler *sampler,
                                const struct rung_work *work, double ms, struct rung_error *err)
{
    enum rung_status status = RUNG_OK;
    unsigned calls = work->launches < 100 ? 8 : 1;
    double end = rung_sampler_now_ms() + ms;
    do {
        status = rung_sampler_stamp(sampler, 0, err);
        if (status == RUNG_OK)
            status = rung_sampler_enqueue(sampler, work, false, calls, err);
        if (status == RUNG_OK)
            status = rung_sampler_stamp(sampler, 1, err);
        if (status != RUNG_OK)
            return status;
        RUNG_CU(sampler->driver, done, cuStreamSynchronize, sampler->device->stream);
        *mhz = rung_sampler_mhz(sampler);
    } while (rung_sampler_now_ms() < end);
done:
    return status;
}

enum rung_status rung_sampler_warm_up(struct rung_sampler *sampler, const struct rung_work *work,
                                      double min_ms, struct rung_error *err)
{
    double before = NAN, mhz = NAN;
    double begin = rung_sampler_now_ms();
    enum rung_status status;
    do {
        before = mhz;
        status = run_for(&mhz, sampler, work, min_ms / 4, err);
        if (status != RUNG_OK)
            return status;
        double spent = rung_sampler_now_ms() - begin;
        if (spent >= min_ms && (isnan(mhz) || spent >= 10 * min_ms))
            break;
        if (spent >= min_ms && fabs(mhz - before) <= CLOCKS_AGREE * mhz)
            break;
    } while (true);
    sampler->last_active_ms = rung_sampler_now_ms();
    return RUNG_OK;
}

static enum rung_status choose_calls(struct rung_sampler *sampler, const struct rung_work *work,
                                     struct rung_sampling how, struct rung_error *err)
{
    struct rung_sample one;
    sampler->calls = 1;
    struct rung_sampling plain = {RUNG_STATE_WARM, RUNG_TIMER_ISOLATED};
    enum rung_status status = rung_sampler_one(&one, sampler, work, plain, err);
    if (status != RUNG_OK)
        return status;
    double calls = one.time_ms > 0 ? ceil(REPEATED_MS / one.time_ms) : CALLS_MAX;
    calls = calls < CALLS_MIN ? CALLS_MIN : calls > CALLS_MAX ? CALLS_MAX : calls;
    double most = work->launches ? (double)GRAPH_NODES_MAX / (double)work->launches : CALLS_MAX;
    if (how.timer == RUNG_TIMER_GRAPH && calls > most)
        calls = most < 1 ? 1 : floor(most);
    sampler->calls = (unsigned)calls;
    return RUNG_OK;
}

/* Captures the calls of one sample into a graph. An open capture is ended on every path: the
 * stream would be of no use to anyone. */
static enum rung_status capture(struct rung_sampler *sampler, const struct rung_work *work,
                                struct rung_sampling how, struct rung_error *err)
{
    const struct rung_driver *driver = sampler->driver;
    CUstream stream = sampler->device->stream;
    CUgraph graph = NULL;
    enum rung_status status = RUNG_OK;
    if (!driver->cuStreamBeginCapture || !driver->cuStreamEndCapture ||
        !driver->cuGraphInstantiateWithFlags || !driver->cuGraphLaunch)
        return rung_fail(err, RUNG_UNABLE, "timer graph: this driver has no CUDA graphs");
    RUNG_CU(driver, done, cuStreamBeginCapture, stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    status =
        rung_sampler_enqueue(sampler, work, how.state == RUNG_STATE_ROTATE, sampler->calls, err);
    CUresult ended = driver->cuStreamEndCapture(stream, &graph);
    if (status == RUNG_OK && ended != CUDA_SUCCESS)
        status = rung_driver_fail(err, driver, ended, "cuStreamEndCapture");
    if (status == RUNG_OK)
        RUNG_CU(driver, done, cuGraphInstantiateWithFlags, &sampler->graph, graph, 0);
    if (status == RUNG_OK) { /* the first replay uploads the graph */
        RUNG_CU(driver, done, cuGraphLaunch, sampler->graph, stream);
        RUNG_CU(driver, done, cuStreamSynchronize, stream);
    }
done:
    if (graph)
        driver->cuGraphDestroy(graph);
    return status;
}

static enum rung_status prepare(struct rung_sampler *sampler, const struct rung_work *work,
                                struct rung_sampling how, struct rung_error *err)
{
    enum rung_status status = RUNG_OK;
    if (rung_sampler_now_ms() - sampler->last_active_ms > IDLE_MS)
        status = rung_sampler_warm_up(sampler, work, WARM_UP_MS, err);
    else if (sampler->launched != work->context) /* its code may not be on the device yet */
        status = rung_sampler_warm_up(sampler, work, 0, err);
    sampler->launched = work->context;
    bool repeats = how.timer == RUNG_TIMER_BATCH || how.timer == RUNG_TIMER_GRAPH;
    if (status == RUNG_OK && repeats)
        status = choose_calls(sampler, work, how, err);
    if (status == RUNG_OK && how.timer == RUNG_TIMER_GRAPH)
        status = capture(sampler, work, how, err);
    return status;
}

static void finish(struct rung_sampler *sampler)
{
    if (sampler->graph)
        sampler->driver->cuGraphExecDestroy(sampler->graph);
    sampler->graph = NULL;
    sampler->calls = 1;
    sampler->last_active_ms = rung_sampler_now_ms();
}

enum rung_status rung_sampler_take(struct rung_sample *samples, size_t *taken, size_t *throttled,
                                   struct rung_sampler *sampler, const struct rung_work *work,
                                   struct rung_sampling how, size_t count, struct rung_error *err)
{
    *taken = *throttled = 0;
    enum rung_status status = rung_sampler_combines(how.state, how.timer, err);
    if (status != RUNG_OK)
        return status;
    status = prepare(sampler, work, how, err);
    size_t in_a_row = 0, most = count < 5 ? 5 : count;
    double pause = 10;
    while (status == RUNG_OK && *taken < count && in_a_row < most) {
        struct rung_sample sample;
        status = rung_sampler_one(&sample, sampler, work, how, err);
        if (status != RUNG_OK)
            break;
        if (sample.sm_mhz < THROTTLED_BELOW * sampler->full_mhz) { /* false for NAN */
            ++*throttled;
            in_a_row++;
            pause_ms(pause);
            pause = pause < 500 ? pause * 2 : pause;
            status = rung_sampler_warm_up(sampler, work, WARM_UP_MS, err);
            continue;
        }
        in_a_row = 0;
        samples[(*taken)++] = sample;
    }
    finish(sampler);
    return status;
}

static enum rung_status enqueue_nothing(void *context, CUstream stream, uint64_t place,
                                        struct rung_error *err)
{
    (void)context;
    (void)stream;
    (void)place;
    (void)err;
    return RUNG_OK;
}

enum rung_status rung_sampler_facts(struct rung_timer_facts *out, struct rung_sampler *sampler,
                                    struct rung_error *err)
{
    struct rung_work nothing = {enqueue_nothing, NULL, 1, 0};
    struct rung_sampling how = {RUNG_STATE_WARM, RUNG_TIMER_ISOLATED};
    double times[FACT_PAIRS];
    *out = (struct rung_timer_facts){.step_ms = INFINITY};
    for (size_t i = 0; i < FACT_PAIRS; i++) {
        struct rung_sample sample;
        enum rung_status status = rung_sampler_one(&sample, sampler, &nothing, how, err);
        if (status != RUNG_OK)
            return status;
        times[i] = sample.time_ms;
    }
    rung_stats_sort(times, FACT_PAIRS);
    out->event_pair_ms = rung_stats_quantile(times, FACT_PAIRS, 0.5);
    for (size_t i = 1; i < FACT_PAIRS; i++)
        if (times[i] > times[i - 1] && times[i] - times[i - 1] < out->step_ms)
            out->step_ms = times[i] - times[i - 1];
    if (isinf(out->step_ms))
        out->step_ms = 0;
    out->held = sampler->may_hold;
    snprintf(out->why_not, sizeof out->why_not, "%s", sampler->why_not);
    return RUNG_OK;
}
