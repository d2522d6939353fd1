/* The T4 results format: one entry a row, what went wrong as its `invalidity`. */
#include <math.h>

#include "report/export.h"

static const char *invalidity_of(enum rung_row_status status)
{
    switch (status) {
    case RUNG_ROW_OK:
        return "correct";
    case RUNG_ROW_WRONG:
        return "correctness";
    case RUNG_ROW_COMPILE:
        return "compile";
    case RUNG_ROW_TIMEOUT:
        return "timeout";
    case RUNG_ROW_RUNTIME:
        return "runtime";
    case RUNG_ROW_CONSTRAINTS:
    case RUNG_ROW_UNSUPPORTED:
        break;
    }
    return "constraints";
}

static json_t *configuration_of(const struct rung_row *row)
{
    const struct rung_config *config = &row->config;
    return json_pack("{s:i, s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:s, s:s}", "version",
                     (int)config->version, "block", (int)config->block, "bound",
                     rung_bound_word(config->bound), "unroll", rung_unroll_word(config->unroll),
                     "predicate", rung_predicate_word(config->predicate), "op",
                     rung_op_word(config->op), "type", rung_type_word(config->type), "variant",
                     rung_variant_word(config->variant), "n", (json_int_t)row->n, "state",
                     rung_row_word(row, "state", rung_state_word(RUNG_STATE_CLEAN)), "timer",
                     rung_row_word(row, "timer", rung_timer_word(RUNG_TIMER_ISOLATED)));
}

static json_t *times_of(const struct rung_row *row)
{
    json_t *runtimes = json_array();
    for (size_t i = 0; row->time_ms.known && i < row->time_ms.n_samples; i++)
        json_array_append_new(runtimes, json_real(row->time_ms.samples[i]));
    const json_t *compile = json_object_get(row->extra, "compile_ms");
    double compile_ms = json_is_number(compile) ? json_number_value(compile) : 0;
    return json_pack("{s:f, s:o, s:f, s:f, s:f}", "compilation_time", compile_ms, "runtimes",
                     runtimes, "framework", 0.0, "search_algorithm", 0.0, "validation", 0.0);
}

static void add_measurement(json_t *list, const char *name, double value, const char *unit)
{
    if (isfinite(value))
        json_array_append_new(
            list, json_pack("{s:s, s:f, s:s}", "name", name, "value", value, "unit", unit));
}

static json_t *measurements_of(const struct rung_row *row)
{
    json_t *list = json_array();
    if (row->time_ms.known)
        add_measurement(list, "time", row->time_ms.median, "ms");
    add_measurement(list, "GB/s", row->gb_per_s, "GB/s");
    if (row->executed.known) {
        add_measurement(list, "body_runs", (double)row->executed.body_runs, "");
        add_measurement(list, "serialised", (double)row->executed.serialised, "");
    }
    return list;
}

enum rung_status rung_export_t4(json_t **out, const struct rung_results *results,
                                struct rung_error *err)
{
    json_t *list = json_array();
    for (size_t i = 0; i < results->n_rows; i++) {
        const struct rung_result *result = &results->rows[i];
        const json_t *environment = rung_results_run_field(results, result->run, "environment");
        const char *date = json_string_value(json_object_get(environment, "date"));
        json_array_append_new(
            list, json_pack("{s:s, s:o, s:[s], s:o, s:s, s:i, s:o}", "timestamp", date ? date : "",
                            "configuration", configuration_of(&result->row), "objectives", "time",
                            "times", times_of(&result->row), "invalidity",
                            invalidity_of(result->row.status), "correctness",
                            result->row.status == RUNG_ROW_OK, "measurements",
                            measurements_of(&result->row)));
    }
    json_t *object = json_pack("{s:s, s:o}", "schema_version", "1.0.0", "results", list);
    if (!object || json_array_size(list) != results->n_rows) {
        json_decref(object);
        return rung_fail(err, RUNG_MEMORY, "out of memory");
    }
    *out = object;
    return RUNG_OK;
}
