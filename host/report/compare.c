/* Matches the rows of two files and classifies each pair. */
#include "report/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RESAMPLES 1000

static const char *const change_words[RUNG_CHANGES] = {"same",    "faster",  "slower",
                                                       "unclear", "missing", "new"};

const char *rung_change_word(enum rung_change change)
{
    return change_words[change];
}

struct rung_compare_options rung_compare_default(void)
{
    return (struct rung_compare_options){
        .floor = 0.015, .max_spread = 0.02, .alpha = 0.05, .min_samples = 6};
}

static uint64_t seed_of(const char *key)
{
    uint64_t seed = 0xcbf29ce484222325u; /* FNV-1a: only to give each row its own numbers */
    for (; *key; key++)
        seed = (seed ^ (unsigned char)*key) * 0x100000001b3u;
    return seed;
}

/* The ranges [min, q3] of both sides. */
struct ranges {
    struct rung_summary a, b;
};

static double overlap_share(const struct ranges *ranges)
{
    double low = fmax(ranges->a.min, ranges->b.min), high = fmin(ranges->a.q3, ranges->b.q3);
    double narrow = fmin(ranges->a.q3 - ranges->a.min, ranges->b.q3 - ranges->b.min);
    if (high < low)
        return 0;
    return narrow > 0 ? (high - low) / narrow : 1;
}

/* -1: B apart below A; 1: above; 0: not apart by more than the floor. `scale` turns B's times into
 * A's clock. */
static int apart(const struct ranges *ranges, double scale, double floor)
{
    if (ranges->b.q3 * scale < ranges->a.min * (1 - floor))
        return -1;
    if (ranges->b.min * scale > ranges->a.q3 * (1 + floor))
        return 1;
    return 0;
}

static double spread(const struct rung_summary *summary)
{
    return summary->median > 0 ? summary->iqr / summary->median : 0;
}

static void set_change(struct rung_compared *row, enum rung_change change, const char *reason)
{
    row->change = change;
    snprintf(row->reason, sizeof row->reason, "%s", reason);
}

static bool classify_apart(struct rung_compared *row, const struct ranges *ranges, double mhz_a,
                           double mhz_b, const struct rung_compare_options *options)
{
    int side = apart(ranges, 1, options->floor);
    if (!side)
        return false;
    if (row->p >= options->alpha) {
        set_change(row, RUNG_CHANGE_UNCLEAR,
                   "ranges apart, but the rank test over all rows does not exclude chance: take "
                   "more samples");
        return true;
    }
    bool clocks = mhz_a > 0 && mhz_b > 0;
    if (clocks && apart(ranges, mhz_b / mhz_a, options->floor) != side) {
        snprintf(row->reason, sizeof row->reason,
                 "apart in time, not in cycles: the clocks were %.0f and %.0f MHz; measure again "
                 "at one clock",
                 mhz_a, mhz_b);
        row->change = RUNG_CHANGE_UNCLEAR;
        return true;
    }
    set_change(row, side < 0 ? RUNG_CHANGE_FASTER : RUNG_CHANGE_SLOWER,
               clocks ? "ranges apart, in time and in cycles" : "ranges apart");
    return true;
}

static void classify_close(struct rung_compared *row, const struct ranges *ranges,
                           const struct rung_compare_options *options)
{
    double difference = fabs(row->ratio.ratio - 1);
    double spread_a = spread(&ranges->a), spread_b = spread(&ranges->b);
    double widest = fmax(spread_a, spread_b);
    row->change = RUNG_CHANGE_UNCLEAR;
    if (widest >= options->max_spread)
        snprintf(row->reason, sizeof row->reason,
                 "spread of %.1f %% in %s: a quieter machine or more samples", 100 * widest,
                 spread_a >= spread_b ? "A" : "B");
    else if (difference > options->floor)
        snprintf(row->reason, sizeof row->reason,
                 "medians %.2f %% apart, ranges not: more samples, or more runs", 100 * difference);
    else if (overlap_share(ranges) < 0.5)
        snprintf(row->reason, sizeof row->reason,
                 "medians within %.2f %%, ranges overlap by %.0f %% only: more samples",
                 100 * options->floor, 100 * overlap_share(ranges));
    else {
        row->change = RUNG_CHANGE_SAME;
        snprintf(row->reason, sizeof row->reason, "medians within %.2f %%, ranges overlap",
                 100 * options->floor);
    }
}

enum rung_status rung_compare_samples(struct rung_compared *row, const struct rung_sampled *a,
                                      const struct rung_sampled *b, double p,
                                      const struct rung_compare_options *options,
                                      struct rung_error *err)
{
    struct ranges ranges;
    enum rung_status status = rung_stats_summarise(&ranges.a, a->times_ms, a->n, err);
    if (status == RUNG_OK)
        status = rung_stats_summarise(&ranges.b, b->times_ms, b->n, err);
    if (status == RUNG_OK)
        status = rung_stats_ratio(&row->ratio, b->times_ms, b->n, a->times_ms, a->n, RESAMPLES,
                                  seed_of(row->key), err);
    if (status == RUNG_OK && p < 0)
        status = rung_stats_mann_whitney(&p, NULL, a->times_ms, a->n, b->times_ms, b->n, err);
    if (status != RUNG_OK)
        return status;
    row->timed = true;
    row->p = p;
    row->a_median = ranges.a.median_interval;
    row->b_median = ranges.b.median_interval;
    if (a->n < options->min_samples || b->n < options->min_samples) {
        snprintf(row->reason, sizeof row->reason,
                 "%zu and %zu samples: at least %zu of each are needed", a->n, b->n,
                 options->min_samples);
        row->change = RUNG_CHANGE_UNCLEAR;
    } else if (!classify_apart(row, &ranges, a->sm_mhz, b->sm_mhz, options)) {
        classify_close(row, &ranges, options);
    }
    return RUNG_OK;
}

static bool has_times(const struct rung_row *row)
{
    return row->status == RUNG_ROW_OK && row->time_ms.known && row->time_ms.n_samples > 0;
}

static struct rung_sampled samples_of(const struct rung_row *row)
{
    return (struct rung_sampled){row->time_ms.samples, row->time_ms.n_samples,
                                 rung_row_number(row, "sm_mhz")};
}

/* Rows without times: what can be said from the status and the counts. */
static void classify_untimed(struct rung_compared *row)
{
    const struct rung_row *a = &row->a->row, *b = &row->b->row;
    bool a_good = a->status == RUNG_ROW_OK, b_good = b->status == RUNG_ROW_OK;
    if (a_good != b_good) {
        const struct rung_row *failed = a_good ? b : a;
        row->change = a_good ? RUNG_CHANGE_MISSING : RUNG_CHANGE_NEW;
        snprintf(row->reason, sizeof row->reason, "%s has no result: %s, %.180s",
                 a_good ? "B" : "A", rung_row_status_word(failed->status), failed->reason);
        return;
    }
    const struct rung_counts *x = &a->executed, *y = &b->executed;
    bool counted = x->known && y->known;
    if (!a_good || !counted || a->time_ms.known != b->time_ms.known) {
        snprintf(row->reason, sizeof row->reason, "%s",
                 !a_good ? "no result in either" : "no times in one of them, or in both");
        row->change = RUNG_CHANGE_UNCLEAR;
    } else if (x->additions == y->additions && x->body_runs == y->body_runs &&
               x->serialised == y->serialised) {
        set_change(row, RUNG_CHANGE_SAME, "no times; the counts are equal");
    } else {
        snprintf(row->reason, sizeof row->reason,
                 "no times; body runs %llu and %llu, serialised %llu and %llu",
                 (unsigned long long)x->body_runs, (unsigned long long)y->body_runs,
                 (unsigned long long)x->serialised, (unsigned long long)y->serialised);
        row->change = RUNG_CHANGE_UNCLEAR;
    }
}

/* The key without what is compiled for and loaded: "id n=… state timer". */
static void short_key(char key[RUNG_CELL_KEY_SIZE], const char *full)
{
    char id[RUNG_CELL_KEY_SIZE], n[32], target[32], image[16], state[16], timer[16];
    if (sscanf(full, "%127s %31s %31s %15s %15s %15s", id, n, target, image, state, timer) == 6)
        snprintf(key, RUNG_CELL_KEY_SIZE, "%.90s %s %s %s", id, n, state, timer);
    else
        snprintf(key, RUNG_CELL_KEY_SIZE, "%s", full);
}

struct keyed {
    char key[RUNG_CELL_KEY_SIZE];
    const struct rung_result *result;
};

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct keyed *)a)->key, ((const struct keyed *)b)->key);
}

/* The rows of a file with their keys, sorted; false in `*unique` if two short keys are alike. */
static struct keyed *make_keys(const struct rung_results *results, bool shortened, bool *unique)
{
    struct keyed *keys = calloc(results->n_rows + 1, sizeof *keys);
    for (size_t i = 0; keys && i < results->n_rows; i++) {
        keys[i].result = &results->rows[i];
        if (shortened)
            short_key(keys[i].key, results->rows[i].key);
        else
            memcpy(keys[i].key, results->rows[i].key, sizeof keys[i].key);
    }
    if (keys)
        qsort(keys, results->n_rows, sizeof *keys, by_key);
    for (size_t i = 1; keys && i < results->n_rows; i++)
        *unique &= strcmp(keys[i - 1].key, keys[i].key) != 0;
    return keys;
}

static int by_place(const void *a, const void *b)
{
    const struct rung_compared *x = a, *y = b;
    int order = rung_row_order(x->a ? &x->a->row : &x->b->row, y->a ? &y->a->row : &y->b->row);
    return order ? order : strcmp(x->key, y->key);
}

/* Merges two sorted lists into pairs. */
static void match(struct rung_comparison *out, const struct keyed *a, size_t n_a,
                  const struct keyed *b, size_t n_b)
{
    size_t i = 0, j = 0;
    while (i < n_a || j < n_b) {
        int order = i == n_a ? 1 : j == n_b ? -1 : strcmp(a[i].key, b[j].key);
        struct rung_compared *row = &out->rows[out->n_rows++];
        *row = (struct rung_compared){.change = RUNG_CHANGE_UNCLEAR, .p = 1};
        memcpy(row->key, order <= 0 ? a[i].key : b[j].key, sizeof row->key);
        if (order <= 0)
            row->a = a[i++].result;
        if (order >= 0)
            row->b = b[j++].result;
    }
    qsort(out->rows, out->n_rows, sizeof *out->rows, by_place);
}

static bool is_timed(const struct rung_compared *row)
{
    return row->a && row->b && has_times(&row->a->row) && has_times(&row->b->row);
}

/* The rank test of every timed row, corrected over all of them. */
static enum rung_status test_ranks(double *p, const struct rung_comparison *comparison,
                                   struct rung_error *err)
{
    size_t n = 0;
    enum rung_status status = RUNG_OK;
    for (size_t i = 0; i < comparison->n_rows && status == RUNG_OK; i++) {
        const struct rung_compared *row = &comparison->rows[i];
        if (!is_timed(row))
            continue;
        struct rung_sampled a = samples_of(&row->a->row), b = samples_of(&row->b->row);
        status = rung_stats_mann_whitney(&p[n++], NULL, a.times_ms, a.n, b.times_ms, b.n, err);
    }
    return status == RUNG_OK ? rung_stats_holm(p, n, err) : status;
}

static enum rung_status classify(struct rung_comparison *out,
                                 const struct rung_compare_options *options, struct rung_error *err)
{
    double *p = calloc(out->n_rows + 1, sizeof *p);
    if (!p)
        return rung_fail(err, RUNG_MEMORY, "out of memory");
    enum rung_status status = test_ranks(p, out, err);
    size_t timed = 0;
    for (size_t i = 0; i < out->n_rows && status == RUNG_OK; i++) {
        struct rung_compared *row = &out->rows[i];
        if (is_timed(row)) {
            struct rung_sampled a = samples_of(&row->a->row), b = samples_of(&row->b->row);
            status = rung_compare_samples(row, &a, &b, p[timed++], options, err);
        } else if (row->a && row->b) {
            classify_untimed(row);
        } else {
            set_change(row, row->a ? RUNG_CHANGE_MISSING : RUNG_CHANGE_NEW,
                       row->a ? "in A only" : "in B only");
        }
        out->counts[row->change]++;
    }
    free(p);
    return status;
}

enum rung_status rung_compare(struct rung_comparison *out, const struct rung_results *a,
                              const struct rung_results *b,
                              const struct rung_compare_options *options, struct rung_error *err)
{
    struct rung_comparison comparison = {0};
    bool unique = true;
    enum rung_status status = RUNG_OK;
    struct keyed *keys_a = make_keys(a, true, &unique), *keys_b = make_keys(b, true, &unique);
    if (!unique) {
        free(keys_a);
        free(keys_b);
        keys_a = make_keys(a, false, &unique);
        keys_b = make_keys(b, false, &unique);
    }
    comparison.rows = calloc(a->n_rows + b->n_rows + 1, sizeof *comparison.rows);
    if (keys_a && keys_b && comparison.rows) {
        match(&comparison, keys_a, a->n_rows, keys_b, b->n_rows);
        status = classify(&comparison, options, err);
    } else {
        status = rung_fail(err, RUNG_MEMORY, "out of memory");
    }
    free(keys_a);
    free(keys_b);
    if (status == RUNG_OK)
        *out = comparison;
    else
        rung_comparison_release(&comparison);
    return status;
}

void rung_comparison_release(struct rung_comparison *comparison)
{
    free(comparison->rows);
    *comparison = (struct rung_comparison){0};
}

double rung_noise_floor(const struct rung_comparison *identical)
{
    double *differences = calloc(identical->n_rows + 1, sizeof *differences);
    size_t n = 0;
    for (size_t i = 0; differences && i < identical->n_rows; i++)
        if (identical->rows[i].timed)
            differences[n++] = fabs(identical->rows[i].ratio.ratio - 1);
    double floor = 0;
    if (n) {
        rung_stats_sort(differences, n);
        floor = rung_stats_quantile(differences, n, 0.95);
    }
    free(differences);
    return floor;
}
