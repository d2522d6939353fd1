/* Finds, for each question asked, the rows that cannot be told from the fastest. */
#include "report/best.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RESAMPLES 1000

static bool counts(const struct rung_result *result)
{
    return result->row.status == RUNG_ROW_OK && result->row.time_ms.known &&
           result->row.time_ms.n_samples > 0;
}

static int by_median(const void *a, const void *b)
{
    const struct rung_result *const *x = a, *const *y = b;
    double p = (*x)->row.time_ms.median, q = (*y)->row.time_ms.median;
    return (p > q) - (p < q);
}

static enum rung_status interval_of(struct rung_interval *out, const struct rung_result *result,
                                    struct rung_error *err)
{
    struct rung_summary summary;
    const struct rung_times *times = &result->row.time_ms;
    enum rung_status status = rung_stats_summarise(&summary, times->samples, times->n_samples, err);
    *out = summary.median_interval;
    return status;
}

/* `best->set` holds all rows of the question; what is behind is cut off. */
static enum rung_status cut(struct rung_best *best, struct rung_error *err)
{
    struct rung_interval fastest, other;
    qsort(best->set, best->n_rows, sizeof *best->set, by_median);
    enum rung_status status = interval_of(&fastest, best->set[0], err);
    size_t tied = 1;
    for (size_t i = 1; i < best->n_rows && status == RUNG_OK; i++) {
        status = interval_of(&other, best->set[i], err);
        if (status != RUNG_OK || other.low > fastest.high)
            continue;
        const struct rung_result *moved = best->set[i]; /* a wide interval may reach past others */
        memmove(best->set + tied + 1, best->set + tied, (i - tied) * sizeof *best->set);
        best->set[tied++] = moved;
    }
    best->n_set = tied;
    if (status != RUNG_OK || tied == best->n_rows)
        return status;
    best->next = best->set[tied];
    const struct rung_times *first = &best->set[0]->row.time_ms, *next = &best->next->row.time_ms;
    return rung_stats_ratio(&best->gap, next->samples, next->n_samples, first->samples,
                            first->n_samples, RESAMPLES, 1, err);
}

static struct rung_best *find(struct rung_bests *bests, const char *question)
{
    for (size_t i = 0; i < bests->n; i++)
        if (strcmp(bests->bests[i].question, question) == 0)
            return &bests->bests[i];
    return NULL;
}

static enum rung_status collect(struct rung_bests *out, const struct rung_result *rows,
                                size_t n_rows, struct rung_error *err)
{
    for (size_t i = 0; i < n_rows; i++) {
        char question[RUNG_QUESTION_SIZE];
        if (!counts(&rows[i]))
            continue;
        rung_result_question(question, &rows[i]);
        struct rung_best *best = find(out, question);
        if (!best) {
            best = &out->bests[out->n++];
            memcpy(best->question, question, sizeof best->question);
            best->set = calloc(n_rows, sizeof *best->set);
            if (!best->set)
                return rung_fail(err, RUNG_MEMORY, "no memory for %zu rows", n_rows);
        }
        best->set[best->n_rows++] = &rows[i];
    }
    return RUNG_OK;
}

enum rung_status rung_best_find(struct rung_bests *out, const struct rung_result *rows,
                                size_t n_rows, struct rung_error *err)
{
    struct rung_bests bests = {.bests = calloc(n_rows + 1, sizeof *bests.bests)};
    enum rung_status status = bests.bests ? collect(&bests, rows, n_rows, err)
                                          : rung_fail(err, RUNG_MEMORY, "out of memory");
    for (size_t i = 0; i < bests.n && status == RUNG_OK; i++)
        status = cut(&bests.bests[i], err);
    if (status == RUNG_OK)
        *out = bests;
    else
        rung_bests_release(&bests);
    return status;
}

void rung_bests_release(struct rung_bests *bests)
{
    for (size_t i = 0; i < bests->n; i++)
        free(bests->bests[i].set);
    free(bests->bests);
    *bests = (struct rung_bests){0};
}
