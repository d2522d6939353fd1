/* Owns the flat forms of rows: CSV and the JSON array. */
#include "cli/rows.h"

#include <inttypes.h>
#include <math.h>

static const struct rung_column columns[] = {
    {"id",                  "id",                  false},
    {"version",             "version",             true },
    {"block",               "block",               true },
    {"bound",               "bound",               false},
    {"unroll",              "unroll",              false},
    {"predicate",           "predicate",           false},
    {"op",                  "op",                  false},
    {"type",                "type",                false},
    {"n",                   "n",                   true },
    {"passes",              "passes",              true },
    {"launches",            "launches",            true },
    {"bytes",               "bytes",               true },
    {"sum",                 "sum",                 true },
    {"expected",            "expected",            true },
    {"correct",             "correct",             false},
    {"model_additions",     "model additions",     true },
    {"model_body_runs",     "model body runs",     true },
    {"model_serialised",    "model serialised",    true },
    {"executed_additions",  "executed additions",  true },
    {"executed_body_runs",  "executed body runs",  true },
    {"executed_serialised", "executed serialised", true },
    {"time_ms_median",      "median ms",           true },
    {"time_ms_min",         "min ms",              true },
    {"time_ms_q1",          "q1 ms",               true },
    {"time_ms_q3",          "q3 ms",               true },
    {"samples",             "samples",             true },
    {"gb_per_s",            "GB/s",                true },
    {"of_ceiling",          "of ceiling",          true },
    {"vs_v1",               "vs v1",               true },
    {"ptx_target",          "PTX",                 false},
    {"sass_target",         "SASS",                false},
    {"image",               "image",               false},
    {"registers",           "registers",           true },
    {"shared_bytes",        "shared bytes",        true },
    {"status",              "status",              false},
    {"reason",              "reason",              false},
};

static void whole(struct rung_table *table, bool known, uint64_t value)
{
    if (known)
        rung_table_format(table, "%" PRIu64, value);
    else
        rung_table_empty(table);
}

static void real(struct rung_table *table, bool known, double value)
{
    if (known && isfinite(value))
        rung_table_format(table, "%.9g", value);
    else
        rung_table_empty(table);
}

static void text(struct rung_table *table, const char *value)
{
    if (value[0])
        rung_table_text(table, value);
    else
        rung_table_empty(table);
}

static void target(struct rung_table *table, unsigned value)
{
    if (value)
        rung_table_format(table, "sm_%u", value);
    else
        rung_table_empty(table);
}

static void counts(struct rung_table *table, const struct rung_counts *value)
{
    whole(table, value->known, value->additions);
    whole(table, value->known, value->body_runs);
    whole(table, value->known, value->serialised);
}

static void sum(struct rung_table *table, const struct rung_row *row, double value)
{
    if (row->summed && isnan(value))
        rung_table_text(table, "nan");
    else if (row->summed)
        rung_table_format(table, "%.17g", value); /* as much as a double holds */
    else
        rung_table_empty(table);
}

static void add_row(struct rung_table *table, const struct rung_row *row)
{
    const struct rung_config *config = &row->config;
    const struct rung_times *times = &row->time_ms;
    char id[RUNG_ID_SIZE];
    rung_config_id(config, id);
    rung_table_row(table);
    rung_table_text(table, id);
    whole(table, true, config->version);
    whole(table, true, config->block);
    rung_table_text(table, rung_bound_word(config->bound));
    rung_table_text(table, rung_unroll_word(config->unroll));
    rung_table_text(table, rung_predicate_word(config->predicate));
    rung_table_text(table, rung_op_word(config->op));
    rung_table_text(table, rung_type_word(config->type));
    whole(table, true, row->n);
    whole(table, row->planned, row->passes);
    whole(table, row->planned, row->launches);
    whole(table, row->planned, row->bytes);
    sum(table, row, row->sum);
    sum(table, row, row->expected);
    text(table, !row->summed ? "" : row->correct ? "true" : "false");
    counts(table, &row->model);
    counts(table, &row->executed);
    real(table, times->known, times->median);
    real(table, times->known, times->min);
    real(table, times->known, times->q1);
    real(table, times->known, times->q3);
    whole(table, times->known, times->n_samples);
    real(table, true, row->gb_per_s);
    real(table, true, row->of_ceiling);
    real(table, true, row->vs_v1);
    target(table, row->ptx_target);
    target(table, row->sass_target);
    text(table, row->image);
    whole(table, row->registers >= 0, (uint64_t)row->registers);
    whole(table, row->shared_bytes >= 0, (uint64_t)row->shared_bytes);
    rung_table_text(table, rung_row_status_word(row->status));
    text(table, row->reason);
}

enum rung_status rung_rows_print_csv(const struct rung_row *rows, size_t n_rows, FILE *to,
                                     struct rung_error *err)
{
    struct rung_table *table = rung_table_new(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < n_rows; i++)
        add_row(table, &rows[i]);
    enum rung_status status = rung_table_print(table, RUNG_FORMAT_CSV, to, err);
    rung_table_free(table);
    return status;
}

json_t *rung_rows_to_json(const struct rung_row *rows, size_t n_rows)
{
    json_t *array = json_array();
    for (size_t i = 0; array && i < n_rows; i++)
        if (json_array_append_new(array, rung_row_to_json(&rows[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

void rung_rows_name_failures(const struct rung_row *rows, size_t n_rows, const char *command)
{
    for (size_t i = 0; i < n_rows; i++) {
        char id[RUNG_ID_SIZE];
        if (rows[i].status == RUNG_ROW_OK)
            continue;
        rung_config_id(&rows[i].config, id);
        fprintf(stderr, "rung %s: %s: %s: %s\n", command, id, rung_row_status_word(rows[i].status),
                rows[i].reason);
    }
}
