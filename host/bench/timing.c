/* Owns the sampling loop of one row. */
#define _POSIX_C_SOURCE 200809L
#include "bench/timing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/stats.h"

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

uint64_t rung_timing_places(enum rung_state state, uint64_t input_bytes, uint64_t l2_bytes)
{
    if (state != RUNG_STATE_ROTATE || input_bytes == 0)
        return 1;
    return 1 + (4 * l2_bytes + input_bytes - 1) / input_bytes;
}

static enum rung_status enqueue(void *context, CUstream stream, uint64_t place,
                                struct rung_error *err)
{
    const struct rung_timed *timed = context;
    struct rung_workspace view = rung_workspace_view(timed->workspace, place);
    CUdeviceptr result;
    return rung_reduction_enqueue(&result, timed->reduction, timed->plan, &view, stream, err);
}

enum rung_status rung_times_summarise(struct rung_times *out, double *samples, size_t n,
                                      struct rung_error *err)
{
    double *sorted = malloc((n ? n : 1) * sizeof *sorted);
    if (!sorted || n == 0) {
        enum rung_status status = sorted ? rung_fail(err, RUNG_UNABLE, "no sample was taken")
                                         : rung_fail(err, RUNG_MEMORY, "out of memory");
        free(sorted);
        free(samples);
        return status;
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

struct collection {
    double *ms, *mhz;
    size_t n, room;
    struct rung_sample *batch;
};

static enum rung_status make_room(struct collection *all, size_t more, struct rung_error *err)
{
    if (all->n + more <= all->room)
        return RUNG_OK;
    size_t room = 2 * all->room > all->n + more ? 2 * all->room : all->n + more;
    double *ms = realloc(all->ms, room * sizeof *ms);
    all->ms = ms ? ms : all->ms;
    double *mhz = realloc(all->mhz, room * sizeof *mhz);
    all->mhz = mhz ? mhz : all->mhz;
    struct rung_sample *batch = realloc(all->batch, room * sizeof *batch);
    all->batch = batch ? batch : all->batch;
    if (!ms || !mhz || !batch)
        return rung_fail(err, RUNG_MEMORY, "out of memory for %zu samples", room);
    all->room = room;
    return RUNG_OK;
}

static enum rung_status take_some(struct collection *all, struct rung_timing_facts *facts,
                                  const struct rung_work *work,
                                  const struct rung_timing_options *options, struct rung_error *err)
{
    size_t more = rung_stop_next(&options->stop, all->n), taken = 0, throttled = 0;
    enum rung_status status = make_room(all, more, err);
    if (status == RUNG_OK)
        status = rung_sampler_take(all->batch, &taken, &throttled, options->sampler, work,
                                   options->how, more, err);
    if (status != RUNG_OK)
        return status;
    facts->throttled += throttled;
    if (taken == 0)
        return rung_fail(err, RUNG_UNABLE,
                         "the card is throttled: %zu samples below 75 %% of its clock",
                         facts->throttled);
    for (size_t i = 0; i < taken; i++) {
        all->ms[all->n] = all->batch[i].time_ms;
        all->mhz[all->n++] = all->batch[i].sm_mhz;
    }
    return RUNG_OK;
}

static enum rung_status collect(struct collection *all, struct rung_timing_facts *facts,
                                const struct rung_work *work,
                                const struct rung_timing_options *options, struct rung_error *err)
{
    enum rung_status status =
        rung_sampler_warm_up(options->sampler, work, options->warm_up_ms, err);
    double begin = now_s();
    for (bool enough = false; status == RUNG_OK && !enough;) {
        status = take_some(all, facts, work, options, err);
        if (status == RUNG_OK)
            status = rung_stop_check(&enough, &facts->stop, &options->stop, all->ms, all->n,
                                     now_s() - begin, err);
    }
    return status;
}

static double median_of(double *values, size_t n)
{
    size_t known = 0;
    for (size_t i = 0; i < n; i++)
        if (isfinite(values[i]))
            values[known++] = values[i];
    if (known == 0)
        return NAN;
    rung_stats_sort(values, known);
    return rung_stats_quantile(values, known, 0.5);
}

enum rung_status rung_time_work(struct rung_times *out, struct rung_timing_facts *facts,
                                const struct rung_work *work,
                                const struct rung_timing_options *options, struct rung_error *err)
{
    struct collection all = {0};
    *out = (struct rung_times){0};
    *facts = (struct rung_timing_facts){.stop = "", .sm_mhz = NAN};
    enum rung_status status = collect(&all, facts, work, options, err);
    if (status == RUNG_OK) {
        facts->sm_mhz = median_of(all.mhz, all.n);
        status = rung_times_summarise(out, all.ms, all.n, err);
        all.ms = NULL; /* taken over */
    }
    free(all.ms);
    free(all.mhz);
    free(all.batch);
    return status;
}

enum rung_status rung_time_reduction(struct rung_times *out, struct rung_timing_facts *facts,
                                     const struct rung_timed *timed,
                                     const struct rung_timing_options *options,
                                     struct rung_error *err)
{
    struct rung_timed copy = *timed;
    const struct rung_work work = {
        .enqueue = enqueue,
        .context = &copy,
        .places = timed->workspace->places,
        .launches = timed->plan->launches,
    };
    return rung_time_work(out, facts, &work, options, err);
}
