/* Many compilations at once: one thread a processor, each taking the next job. NVRTC of 12.x and
 * 13.x compiles in parallel in one process (two threads do twice the work of one in the same
 * time), so no second process is needed. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "nvrtc/entry.h"

#define THREADS_MAX 64

struct batch {
    struct rung_compiled *out;
    enum rung_status *statuses;
    struct rung_error *errors;
    struct rung_cache *cache;
    const struct rung_nvrtc *nvrtc;
    const struct rung_compile_job *jobs;
    size_t n_jobs;
    atomic_size_t next;
};

static void *work(void *data)
{
    struct batch *batch = data;
    size_t i;
    while ((i = atomic_fetch_add(&batch->next, 1)) < batch->n_jobs) {
        i = batch->n_jobs - 1 - i; /* lists go from small blocks to large: the long jobs first */
        rung_error_clear(&batch->errors[i]);
        batch->statuses[i] = rung_cached_compile(&batch->out[i], batch->cache, batch->nvrtc,
                                                 &batch->jobs[i], &batch->errors[i]);
    }
    return NULL;
}

static size_t processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    return (size_t)CPU_COUNT(&set);
}

enum rung_status rung_cached_compile_all(struct rung_compiled *out, enum rung_status *statuses,
                                         struct rung_error *errors, struct rung_cache *cache,
                                         const struct rung_nvrtc *nvrtc,
                                         const struct rung_compile_job *jobs, size_t n_jobs)
{
    struct batch batch = {out, statuses, errors, cache, nvrtc, jobs, n_jobs, 0};
    pthread_t threads[THREADS_MAX];
    size_t wanted = processors();
    size_t n_threads = 0;
    if (wanted > n_jobs)
        wanted = n_jobs;
    if (wanted > THREADS_MAX)
        wanted = THREADS_MAX;
    /* This thread is one of them; where no other can be made it does all of the work. */
    while (n_threads + 1 < wanted && pthread_create(&threads[n_threads], NULL, work, &batch) == 0)
        n_threads++;
    work(&batch);
    for (size_t i = 0; i < n_threads; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < n_jobs; i++)
        if (statuses[i] != RUNG_OK)
            return statuses[i];
    return RUNG_OK;
}
