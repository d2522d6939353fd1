/* Owns the table of a comparison. */
#include "cli/print_compare.h"

#include <math.h>
#include <stdio.h>

#include "cli/keys.h"

static void time_cell(struct rung_table *table, const struct rung_result *result)
{
    if (result && result->row.time_ms.known)
        rung_table_format(table, "%.5f", result->row.time_ms.median);
    else
        rung_table_empty(table);
}

enum rung_status rung_comparison_print(const struct rung_comparison *comparison, bool explain,
                                       enum rung_format format, FILE *to, struct rung_error *err)
{
    static const struct rung_column columns[] = {
        {"key",      "row",      false},
        {"a_ms",     "A ms",     true },
        {"b_ms",     "B ms",     true },
        {"ratio",    "B/A",      true },
        {"interval", "interval", true },
        {"change",   "change",   false},
        {"reason",   "reason",   false},
    };
    size_t n = sizeof columns / sizeof *columns;
    struct rung_keys keys = {0};
    for (size_t i = 0; i < comparison->n_rows; i++)
        rung_keys_look(&keys, comparison->rows[i].key);
    bool text = format == RUNG_FORMAT_TABLE || format == RUNG_FORMAT_MD;
    if (text)
        rung_keys_print_common(&keys, RUNG_KEY_WORDS, to);
    struct rung_table *table = rung_table_new(columns, explain ? n : n - 1);
    if (explain)
        rung_table_last_below(table);
    for (size_t i = 0; i < comparison->n_rows; i++) {
        const struct rung_compared *row = &comparison->rows[i];
        char name[RUNG_CELL_KEY_SIZE];
        rung_keys_name(name, &keys, row->key);
        rung_table_row(table);
        rung_table_text(table, text ? name : row->key);
        time_cell(table, row->a);
        time_cell(table, row->b);
        if (row->timed) {
            rung_table_format(table, "%.4f", row->ratio.ratio);
            rung_table_format(table, "%.4f to %.4f", row->ratio.low, row->ratio.high);
        } else {
            rung_table_empty(table);
            rung_table_empty(table);
        }
        rung_table_text(table, rung_change_word(row->change));
        if (explain)
            rung_table_text(table, row->reason);
    }
    enum rung_status status = rung_table_print(table, format, to, err);
    rung_table_free(table);
    return status;
}

void rung_comparison_print_counts(const struct rung_comparison *comparison, FILE *to)
{
    const char *separator = "";
    for (int change = 0; change < RUNG_CHANGES; change++) {
        if (comparison->counts[change] == 0)
            continue;
        fprintf(to, "%s%zu %s", separator, comparison->counts[change],
                rung_change_word((enum rung_change)change));
        separator = ", ";
    }
    fputs(comparison->n_rows ? "\n" : "no rows\n", to);
}

static json_t *real_or_null(bool known, double value)
{
    return known && isfinite(value) ? json_real(value) : json_null();
}

json_t *rung_comparison_to_json(const struct rung_comparison *comparison)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < comparison->n_rows; i++) {
        const struct rung_compared *row = &comparison->rows[i];
        bool a = row->a && row->a->row.time_ms.known, b = row->b && row->b->row.time_ms.known;
        json_array_append_new(
            rows, json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "key", row->key,
                            "change", rung_change_word(row->change), "reason", row->reason,
                            "a_median_ms", real_or_null(a, a ? row->a->row.time_ms.median : 0),
                            "b_median_ms", real_or_null(b, b ? row->b->row.time_ms.median : 0),
                            "ratio", real_or_null(row->timed, row->ratio.ratio), "ratio_low",
                            real_or_null(row->timed, row->ratio.low), "ratio_high",
                            real_or_null(row->timed, row->ratio.high), "p",
                            real_or_null(row->timed, row->p)));
    }
    return rows;
}
