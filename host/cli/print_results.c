/* Owns the tables of results. */
#define _GNU_SOURCE
#include "cli/print_results.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/keys.h"
#include "report/best.h"
#include "report/counters.h"

static void cell_number(struct rung_table *table, const char *format, double value)
{
    char text[32];
    snprintf(text, sizeof text, format, value);
    if (isfinite(value))
        rung_table_text(table, text);
    else
        rung_table_empty(table);
}

static double half_width(const struct rung_row *row)
{
    struct rung_summary summary;
    const struct rung_times *times = &row->time_ms;
    if (!times->known ||
        rung_stats_summarise(&summary, times->samples, times->n_samples, NULL) != RUNG_OK ||
        !(summary.median > 0))
        return NAN;
    return (summary.median_interval.high - summary.median_interval.low) / 2 / summary.median;
}

static void timed_cells(struct rung_table *table, const struct rung_row *row)
{
    cell_number(table, "%.5f", row->time_ms.known ? row->time_ms.median : NAN);
    cell_number(table, "%.2f", 100 * half_width(row));
    cell_number(table, "%.0f", row->gb_per_s);
    cell_number(table, "%.1f", 100 * row->of_ceiling);
    cell_number(table, "%.2fx", row->vs_v1);
    cell_number(table, "%.0f", row->time_ms.known ? (double)row->time_ms.n_samples : NAN);
}

static void counted_cells(struct rung_table *table, const struct rung_row *row)
{
    const struct rung_counts *counts = row->executed.known ? &row->executed : &row->model;
    cell_number(table, "%.0f", counts->known ? (double)counts->body_runs : NAN);
    cell_number(table, "%.0f", counts->known ? (double)counts->serialised : NAN);
    cell_number(table, "%.0f", row->planned ? row->passes : NAN);
    cell_number(table, "%.9g", row->summed ? row->sum : NAN);
}

static const struct rung_column timed_columns[] = {
    {"configuration", "configuration", false},
    {"time_ms",       "time ms",       true },
    {"half_width",    "+-%",           true },
    {"gb_per_s",      "GB/s",          true },
    {"of_ceiling",    "% ceil.",       true },
    {"vs_v1",         "vs v1",         true },
    {"samples",       "samples",       true },
    {"status",        "",              false},
};
static const struct rung_column counted_columns[] = {
    {"configuration", "configuration", false},
    {"body_runs",     "body runs",     true },
    {"serialised",    "serialised",    true },
    {"passes",        "passes",        true },
    {"sum",           "sum",           true },
    {"status",        "",              false},
};

enum rung_status rung_results_print(const struct rung_result *rows, size_t n_rows,
                                    enum rung_format format, FILE *to, struct rung_error *err)
{
    struct rung_keys keys = {0};
    bool timed = false;
    for (size_t i = 0; i < n_rows; i++) {
        rung_keys_look(&keys, rows[i].key);
        timed |= rows[i].row.time_ms.known;
    }
    /* States and timers say nothing without times. */
    rung_keys_print_common(&keys, timed ? RUNG_KEY_WORDS : 2, to);
    struct rung_table *table =
        timed ? rung_table_new(timed_columns, sizeof timed_columns / sizeof *timed_columns)
              : rung_table_new(counted_columns, sizeof counted_columns / sizeof *counted_columns);
    for (size_t i = 0; i < n_rows; i++) {
        const struct rung_row *row = &rows[i].row;
        char name[RUNG_CELL_KEY_SIZE];
        rung_keys_name(name, &keys, rows[i].key);
        rung_table_row(table);
        rung_table_text(table, name);
        if (timed)
            timed_cells(table, row);
        else
            counted_cells(table, row);
        rung_table_text(table, row->status == RUNG_ROW_OK ? "" : rung_row_status_word(row->status));
    }
    enum rung_status status = rung_table_print(table, format, to, err);
    rung_table_free(table);
    return status;
}

static void counter_cells(struct rung_table *table, const struct rung_counted *counted)
{
    rung_table_text(table, counted->source);
    cell_number(table, "%.0f", counted->body_runs);
    cell_number(table, "%.0f", counted->serialised);
    cell_number(table, "%.6g", counted->load_wavefronts);
    cell_number(table, "%.6g", counted->load_conflicts);
    cell_number(table, "%.6g", counted->store_wavefronts);
    cell_number(table, "%.6g", counted->store_conflicts);
    cell_number(table, "%.6g", counted->warp_instructions);
}

enum rung_status rung_results_print_counters(const struct rung_result *rows, size_t n_rows,
                                             enum rung_format format, FILE *to,
                                             struct rung_error *err)
{
    static const struct rung_column columns[] = {
        {"configuration",     "per block", false},
        {"source",            "source",    false},
        {"body_runs",         "runs",      true },
        {"serialised",        "serial.",   true },
        {"load_wavefronts",   "load wf.",  true },
        {"load_conflicts",    "confl.",    true },
        {"store_wavefronts",  "store wf.", true },
        {"store_conflicts",   "confl.",    true },
        {"warp_instructions", "instr.",    true },
    };
    const char *why = NULL;
    struct rung_keys keys = {0};
    struct rung_table *table = rung_table_new(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < n_rows; i++)
        rung_keys_look(&keys, rows[i].key);
    for (size_t i = 0; i < n_rows; i++) {
        struct rung_counted counted[RUNG_COUNTED_MAX];
        size_t n = rung_counted_read(counted, &rows[i].row);
        char name[RUNG_CELL_KEY_SIZE];
        rung_keys_name(name, &keys, rows[i].key);
        why = why ? why : rung_counted_unavailable(&rows[i].row);
        for (size_t k = 0; k < n; k++) {
            rung_table_row(table);
            rung_table_text(table, k ? "" : name);
            counter_cells(table, &counted[k]);
        }
    }
    fputs("\n", to);
    enum rung_status status = rung_table_print(table, format, to, err);
    rung_table_free(table);
    if (why)
        fprintf(to, "no counters of a card: %s\n", why);
    return status;
}

static void print_set(const struct rung_best *best, FILE *to)
{
    const struct rung_times *first = &best->set[0]->row.time_ms;
    fprintf(to, best->n_set == 1 ? "\nBest of %zu" : "\nBest of %zu, a tie of %zu", best->n_rows,
            best->n_set);
    fprintf(to, " (%s):\n", best->question);
    for (size_t i = 0; i < best->n_set; i++) {
        char id[RUNG_ID_SIZE];
        const struct rung_row *row = &best->set[i]->row;
        rung_config_id(&row->config, id);
        fprintf(to, "  %-32s %.5f ms", id, row->time_ms.median);
        if (i)
            fprintf(to, "  %.3fx, the intervals overlap", row->time_ms.median / first->median);
        fputs("\n", to);
    }
    if (best->next) {
        char id[RUNG_ID_SIZE];
        rung_config_id(&best->next->row.config, id);
        fprintf(to, "  next: %-26s %.5f ms  %.3fx (%.3f to %.3f) behind\n", id,
                best->next->row.time_ms.median, best->gap.ratio, best->gap.low, best->gap.high);
    } else if (best->n_rows > 1) {
        fputs("  none is behind: these samples do not tell them apart\n", to);
    }
}

enum rung_status rung_results_print_best(const struct rung_result *rows, size_t n_rows, FILE *to,
                                         struct rung_error *err)
{
    struct rung_bests bests;
    enum rung_status status = rung_best_find(&bests, rows, n_rows, err);
    if (status != RUNG_OK)
        return status;
    for (size_t i = 0; i < bests.n; i++)
        print_set(&bests.bests[i], to);
    rung_bests_release(&bests);
    return RUNG_OK;
}

#define LEFT_OUT_SHOWN 5

void rung_results_name_left_out(const struct rung_results *results, const char *command, FILE *to)
{
    for (size_t i = 0; i < results->n_left_out && i < LEFT_OUT_SHOWN; i++)
        fprintf(to, "rung %s: %s: line %zu left out: %s\n", command, results->path,
                results->left_out[i].line, results->left_out[i].why);
    if (results->n_left_out > LEFT_OUT_SHOWN)
        fprintf(to, "rung %s: %s: %zu more lines left out\n", command, results->path,
                results->n_left_out - LEFT_OUT_SHOWN);
    if (results->n_replaced)
        fprintf(to, "rung %s: %s: %zu rows were measured again later; the last of each counts\n",
                command, results->path, results->n_replaced);
}

void rung_results_name_failures(const struct rung_results *results, const char *command, FILE *to)
{
    for (size_t i = 0; i < results->n_rows; i++) {
        const struct rung_row *row = &results->rows[i].row;
        if (row->status != RUNG_ROW_OK)
            fprintf(to, "rung %s: %s: %s: %s\n", command, results->rows[i].key,
                    rung_row_status_word(row->status), row->reason);
    }
}

enum rung_status rung_results_status(const struct rung_result *rows, size_t n_rows)
{
    enum rung_status status = RUNG_OK;
    for (size_t i = 0; i < n_rows; i++) {
        if (rows[i].row.status == RUNG_ROW_WRONG)
            return RUNG_WRONG;
        if (rows[i].row.status != RUNG_ROW_OK)
            status = RUNG_INCOMPLETE;
    }
    return status;
}
