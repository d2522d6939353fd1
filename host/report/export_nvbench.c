/* nvbench's JSON: devices, one benchmark for each operation and type, one state a row. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "bench/stats.h"
#include "report/export.h"

/* The axes of a state. Numbers are written as strings: JSON's numbers would round 64-bit ones. */
static json_t *axis_values(const struct rung_result *result)
{
    const struct rung_row *row = &result->row;
    const struct rung_config *config = &row->config;
    char target[16];
    snprintf(target, sizeof target, "sm_%u", row->ptx_target % 10000);
    /* clang-format off */
    const struct {
        const char *name, *word;
        uint64_t number;
    } axes[] = {
        {"version", NULL, config->version},
        {"block", NULL, config->block},
        {"n", NULL, row->n},
        {"bound", rung_bound_word(config->bound), 0},
        {"unroll", rung_unroll_word(config->unroll), 0},
        {"predicate", rung_predicate_word(config->predicate), 0},
        {"variant", rung_variant_word(config->variant), 0},
        {"target", rung_row_word(row, "target", target), 0},
        {"image", rung_row_word(row, "image_asked", "auto"), 0},
        {"state", rung_row_word(row, "state", rung_state_word(RUNG_STATE_CLEAN)), 0},
        {"timer", rung_row_word(row, "timer", rung_timer_word(RUNG_TIMER_ISOLATED)), 0},
    };
    /* clang-format on */
    json_t *values = json_array();
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
        char text[64];
        snprintf(text, sizeof text, "%llu", (unsigned long long)axes[i].number);
        json_array_append_new(values, json_pack("{s:s, s:s, s:s}", "name", axes[i].name, "type",
                                                axes[i].word ? "string" : "int64", "value",
                                                axes[i].word ? axes[i].word : text));
    }
    return values;
}

static bool has_value(const json_t *values, const char *value)
{
    size_t i;
    const json_t *known;
    json_array_foreach(values, i,
                       known) if (strcmp(json_string_value(json_object_get(known, "input_string")),
                                         value) == 0) return true;
    return false;
}

/* Puts the values of a state into the axes of its benchmark. */
static void widen_axes(json_t *axes, const json_t *state_values)
{
    size_t i;
    const json_t *value;
    json_array_foreach(state_values, i, value)
    {
        const char *text = json_string_value(json_object_get(value, "value"));
        json_t *axis = json_array_get(axes, i);
        if (!axis) {
            axis = json_pack("{s:O, s:O, s:s, s:[]}", "name", json_object_get(value, "name"),
                             "type", json_object_get(value, "type"), "flags", "", "values");
            json_array_append_new(axes, axis);
        }
        json_t *values = json_object_get(axis, "values");
        if (!has_value(values, text))
            json_array_append_new(values, json_pack("{s:s, s:s, s:s}", "input_string", text,
                                                    "description", "", "value", text));
    }
}

static void add_summary(json_t *summaries, const char *tag, const char *name, const char *hint,
                        double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.17g", value);
    json_t *shown = isfinite(value) ? json_string(text) : json_null();
    json_array_append_new(summaries,
                          json_pack("{s:s, s:s, s:s, s:s, s:[{s:s, s:s, s:o}]}", "tag", tag, "name",
                                    name, "hint", hint, "description", "", "data", "name", "value",
                                    "type", "float64", "value", shown));
}

static void add_file_summary(json_t *summaries, const char *filename, size_t n)
{
    char count[24];
    snprintf(count, sizeof count, "%zu", n);
    json_array_append_new(
        summaries, json_pack("{s:s, s:s, s:s, s:s, s:s, s:[{s:s, s:s, s:s}, {s:s, s:s, s:s}]}",
                             "tag", "nv/json/bin:nv/cold/sample_times", "name",
                             "Samples Times File", "hint", "file/sample_times", "description", "",
                             "hide", "Not needed.", "data", "name", "filename", "type", "string",
                             "value", filename, "name", "size", "type", "int64", "value", count));
}

static enum rung_status write_samples(json_t *summaries, const struct rung_times *times,
                                      const char *path, size_t index, struct rung_error *err)
{
    char *file = NULL;
    const char *slash = strrchr(path, '/');
    float *seconds = calloc(times->n_samples + 1, sizeof *seconds);
    enum rung_status status = RUNG_OK;
    if (!seconds || asprintf(&file, "%s-bin/%zu.bin", path, index) < 0) {
        free(seconds);
        return rung_fail(err, RUNG_MEMORY, "out of memory");
    }
    for (size_t i = 0; i < times->n_samples; i++)
        seconds[i] = (float)(times->samples[i] / 1e3);
    status = rung_file_write(file, seconds, times->n_samples * sizeof *seconds, err);
    if (status == RUNG_OK) /* relative to the folder of the JSON file */
        add_file_summary(summaries, slash ? file + (slash + 1 - path) : file, times->n_samples);
    free(seconds);
    free(file);
    return status;
}

static enum rung_status add_summaries(json_t *summaries, const struct rung_row *row,
                                      const char *path, size_t index, struct rung_error *err)
{
    struct rung_summary s;
    const struct rung_times *times = &row->time_ms;
    enum rung_status status = rung_stats_summarise(&s, times->samples, times->n_samples, err);
    if (status != RUNG_OK)
        return status;
    double sm_hz = rung_row_number(row, "sm_mhz") * 1e6, bytes_per_s = row->gb_per_s * 1e9;
    /* clang-format off */
    const struct {
        const char *tag, *name, *hint;
        double value;
    } all[] = {
        {"nv/cold/time/gpu/min", "Min GPU Time", "duration", s.min / 1e3},
        {"nv/cold/time/gpu/max", "Max GPU Time", "duration", s.max / 1e3},
        {"nv/cold/time/gpu/mean", "GPU Time", "duration", s.mean / 1e3},
        {"nv/cold/time/gpu/stdev/absolute", "Noise (abs)", "duration", s.stdev / 1e3},
        {"nv/cold/time/gpu/stdev/relative", "Noise", "percentage", s.n > 1 ? s.cv : NAN},
        {"nv/cold/time/gpu/q1", "Q1 GPU Time", "duration", s.q1 / 1e3},
        {"nv/cold/time/gpu/median", "Median GPU Time", "duration", s.median / 1e3},
        {"nv/cold/time/gpu/q3", "Q3 GPU Time", "duration", s.q3 / 1e3},
        {"nv/cold/time/gpu/iqr/absolute", "IQR", "duration", s.iqr / 1e3},
        {"nv/cold/time/gpu/iqr/relative", "Relative IQR", "percentage", s.iqr / s.median},
        {"nv/cold/bw/global/bytes_per_second", "GlobalMem BW", "byte_rate", bytes_per_s},
        {"nv/cold/sm_clock_rate/mean", "Clock Rate", "frequency", sm_hz},
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (isfinite(all[i].value) || strstr(all[i].tag, "stdev"))
            add_summary(summaries, all[i].tag, all[i].name, all[i].hint, all[i].value);
    return path ? write_samples(summaries, times, path, index, err) : RUNG_OK;
}

static json_t *name_of(const json_t *values)
{
    char name[512];
    size_t used = (size_t)snprintf(name, sizeof name, "Device=0"), i;
    const json_t *value;
    json_array_foreach(values, i, value)
    {
        if (used < sizeof name)
            used += (size_t)snprintf(name + used, sizeof name - used, " %s=%s",
                                     json_string_value(json_object_get(value, "name")),
                                     json_string_value(json_object_get(value, "value")));
    }
    return json_string(name);
}

static enum rung_status add_state(json_t *benchmark, const struct rung_result *result,
                                  const char *path, size_t index, struct rung_error *err)
{
    const struct rung_row *row = &result->row;
    bool timed = row->status == RUNG_ROW_OK && row->time_ms.known && row->time_ms.n_samples > 0;
    json_t *values = axis_values(result), *summaries = json_array();
    enum rung_status status = timed ? add_summaries(summaries, row, path, index, err) : RUNG_OK;
    widen_axes(json_object_get(benchmark, "axes"), values);
    json_t *state = json_pack("{s:o, s:i, s:i, s:o, s:o, s:b}", "name", name_of(values), "device",
                              0, "type_config_index", 0, "axis_values", values, "summaries",
                              summaries, "is_skipped", (int)!timed);
    if (!timed)
        json_object_set_new(state, "skip_reason",
                            json_string(row->reason[0] ? row->reason : "not timed"));
    json_array_append_new(json_object_get(benchmark, "states"), state);
    return status;
}

static json_t *benchmark_of(json_t *benchmarks, const struct rung_row *row)
{
    char name[64];
    size_t i;
    json_t *known;
    snprintf(name, sizeof name, "rung/%s/%s", rung_op_word(row->config.op),
             rung_type_word(row->config.type));
    json_array_foreach(benchmarks, i,
                       known) if (strcmp(json_string_value(json_object_get(known, "name")), name) ==
                                  0) return known;
    known = json_pack("{s:s, s:i, s:[i], s:[], s:[]}", "name", name, "index",
                      (int)json_array_size(benchmarks), "devices", 0, "axes", "states");
    json_array_append_new(benchmarks, known);
    return known;
}

static json_t *device_of(const struct rung_results *results)
{
    const json_t *environment = rung_results_run_field(results, 0, "environment");
    const json_t *device = json_object_get(environment, "device");
    const char *name = json_string_value(json_object_get(device, "name"));
    const char *cc = json_string_value(json_object_get(device, "cc"));
    return json_pack("{s:i, s:s, s:i, s:I, s:I}", "id", 0, "name", name ? name : "unknown",
                     "sm_version", cc ? (int)(strtod(cc, NULL) * 100 + 0.5) : 0, "number_of_sms",
                     json_integer_value(json_object_get(device, "sm_count")), "l2_cache_size",
                     json_integer_value(json_object_get(device, "l2_bytes")));
}

enum rung_status rung_export_nvbench(json_t **out, const struct rung_results *results,
                                     const char *path, struct rung_error *err)
{
    json_t *benchmarks = json_array();
    enum rung_status status = RUNG_OK;
    for (size_t i = 0; i < results->n_rows && status == RUNG_OK; i++)
        status = add_state(benchmark_of(benchmarks, &results->rows[i].row), &results->rows[i], path,
                           i, err);
    const json_t *argv = rung_results_run_field(results, 0, "argv");
    json_t *object =
        json_pack("{s:{s:O*, s:{s:{s:i, s:i, s:i, s:s}}}, s:[o], s:o}", "meta", "argv", argv,
                  "version", "json", "major", 1, "minor", 0, "patch", 0, "string", "1.0.0",
                  "devices", device_of(results), "benchmarks", benchmarks);
    if (status == RUNG_OK && !object)
        status = rung_fail(err, RUNG_MEMORY, "out of memory");
    if (status == RUNG_OK)
        *out = object;
    else
        json_decref(object);
    return status;
}
