/* Owns the JSON shape of a row, written and read by one list of fields each. */
#include "bench/row.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static const char *const status_words[] = {
    [RUNG_ROW_OK] = "ok",
    [RUNG_ROW_WRONG] = "wrong",
    [RUNG_ROW_COMPILE] = "compile",
    [RUNG_ROW_CONSTRAINTS] = "constraints",
    [RUNG_ROW_UNSUPPORTED] = "unsupported",
    [RUNG_ROW_RUNTIME] = "runtime",
    [RUNG_ROW_TIMEOUT] = "timeout",
};

const char *rung_row_status_word(enum rung_row_status status)
{
    return status_words[status];
}

void rung_row_init(struct rung_row *row, const struct rung_config *config, uint64_t n)
{
    *row = (struct rung_row){
        .config = *config,
        .n = n,
        .gb_per_s = NAN,
        .of_ceiling = NAN,
        .vs_v1 = NAN,
        .registers = -1,
        .shared_bytes = -1,
    };
}

void rung_row_release(struct rung_row *row)
{
    free(row->time_ms.samples);
    json_decref(row->extra);
    *row = (struct rung_row){0};
}

/* Writing. A null for what does not apply; jansson has no NaN and no infinity, so those are null
 * too, and `reason` tells them in words. */

static json_t *real_or_null(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *integer_or_null(bool known, uint64_t value)
{
    return known ? json_integer((json_int_t)value) : json_null();
}

static json_t *sum_to_json(const struct rung_row *row, double value)
{
    if (!row->summed)
        return json_null();
    return row->config.type == RUNG_TYPE_I32 ? json_integer((json_int_t)value)
                                             : real_or_null(value);
}

static json_t *counts_to_json(const struct rung_counts *counts)
{
    if (!counts->known)
        return json_null();
    return json_pack("{s:I, s:I, s:I}", "additions", (json_int_t)counts->additions, "body_runs",
                     (json_int_t)counts->body_runs, "serialised", (json_int_t)counts->serialised);
}

static json_t *times_to_json(const struct rung_times *times)
{
    if (!times->known)
        return json_null();
    json_t *samples = json_array();
    for (size_t i = 0; i < times->n_samples; i++)
        json_array_append_new(samples, json_real(times->samples[i]));
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "median", real_or_null(times->median), "min",
                     real_or_null(times->min), "q1", real_or_null(times->q1), "q3",
                     real_or_null(times->q3), "samples", samples);
}

static json_t *target_to_json(unsigned target)
{
    char word[24];
    snprintf(word, sizeof word, "sm_%u", target);
    return target ? json_string(word) : json_null();
}

/* A reason may have been cut in the middle of a character, which JSON does not take. */
static json_t *string_or_null(const char *text)
{
    char copy[sizeof((struct rung_row *)0)->reason];
    snprintf(copy, sizeof copy, "%s", text);
    rung_text_keep_utf8(copy);
    return copy[0] ? json_string(copy) : json_null();
}

json_t *rung_row_to_json(const struct rung_row *row)
{
    char id[RUNG_ID_SIZE];
    rung_config_id(&row->config, id);
    const struct rung_config *config = &row->config;
    const struct {
        const char *key;
        json_t *value;
    } fields[] = {
        {"id",                                                                    json_string(id)},
        {"version",                                                               json_integer(config->version)},
        {"block",                                                                 json_integer(config->block)},
        {"bound",                                                                 json_string(rung_bound_word(config->bound))},
        {"unroll",                                                                json_string(rung_unroll_word(config->unroll))},
        {"predicate",                                                             json_string(rung_predicate_word(config->predicate))},
        {"op",                                                                    json_string(rung_op_word(config->op))},
        {"type",                                                                  json_string(rung_type_word(config->type))},
        {"n",                                                                     json_integer((json_int_t)row->n)},
        {"passes",                                                                integer_or_null(row->planned,row->passes)},
        {"launches",                                                                       integer_or_null(row->planned,row->launches)},
        {"bytes",                                                         integer_or_null(row->planned,row->bytes)},
        {"sum",sum_to_json(row,row->sum)},
        {"expected",                                                                   sum_to_json(row,row->expected)},
        {"correct",                                                                       row->summed ? json_boolean(row->correct) : json_null()},
        {"model",                                                         counts_to_json(&row->model)},
        {"executed",counts_to_json(&row->executed)},
        {"time_ms",times_to_json(&row->time_ms)},
        {"gb_per_s",                                                                                               real_or_null(row->gb_per_s)                                                                                                                   },
        {"of_ceiling",                                                        real_or_null(row->of_ceiling)                                                           },
        {"vs_v1",real_or_null(row->vs_v1)},
        {"ptx_target",target_to_json(row->ptx_target)},
        {"sass_target",                                                                                                  target_to_json(row->sass_target)                                                                                                                                                                                                                                                                       },
        {"image",                                                      string_or_null(row->image)                                                                                                                              },
        {"registers",row->registers >= 0 ? json_integer(row->registers) : json_null()},
        {"shared_bytes",row->shared_bytes >= 0 ? json_integer(row->shared_bytes) : json_null()},
        {"status",                                                                  json_string(rung_row_status_word(row->status))                                                                                                                                                                                                                                                                                                                                                                                                   },
        {"reason",          string_or_null(row->reason)                                                                                                                                                },
    };
    json_t *object = json_object();
    bool failed = !object;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        failed |= json_object_set_new(object, fields[i].key, fields[i].value) != 0;
    if (!failed && row->extra)
        failed = json_object_update_missing(object, row->extra) != 0;
    if (failed) {
        json_decref(object);
        return NULL;
    }
    return object;
}

/* Reading. Each field is taken out of a copy of the object; what is left are the further fields. */

struct reader {
    json_t *rest;
    struct rung_error *err;
    enum rung_status status;
};

static json_t *take(struct reader *reader, const char *key)
{
    json_t *value = json_object_get(reader->rest, key);
    if (!value && reader->status == RUNG_OK)
        reader->status = rung_fail(reader->err, RUNG_USAGE, "row without a field '%s'", key);
    return value;
}

static void wrong_kind(struct reader *reader, const char *key, const char *wanted)
{
    if (reader->status == RUNG_OK)
        reader->status =
            rung_fail(reader->err, RUNG_USAGE, "field '%s' of a row is not %s", key, wanted);
}

static void done(struct reader *reader, const char *key)
{
    json_object_del(reader->rest, key);
}

static bool read_whole(struct reader *reader, const json_t *value, const char *key, uint64_t *out)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0) {
        wrong_kind(reader, key, "a whole number");
        return false;
    }
    *out = (uint64_t)json_integer_value(value);
    return true;
}

/* A whole number or, where `known` is not NULL, null. */
static uint64_t take_whole(struct reader *reader, const char *key, bool *known)
{
    uint64_t number = 0;
    json_t *value = take(reader, key);
    bool is_null = value && known && json_is_null(value);
    if (known)
        *known = value && !is_null;
    if (value && !is_null)
        read_whole(reader, value, key, &number);
    done(reader, key);
    return number;
}

static double take_real(struct reader *reader, const char *key)
{
    json_t *value = take(reader, key);
    double number = NAN;
    if (value && json_is_number(value))
        number = json_number_value(value);
    else if (value && !json_is_null(value))
        wrong_kind(reader, key, "a number");
    done(reader, key);
    return number;
}

/* A string, or null for "". A longer one than `size` is cut: it is for the reader only. */
static void take_string(struct reader *reader, const char *key, char *out, size_t size)
{
    json_t *value = take(reader, key);
    out[0] = '\0';
    if (value && json_is_string(value))
        snprintf(out, size, "%s", json_string_value(value));
    else if (value && !json_is_null(value))
        wrong_kind(reader, key, "a string");
    done(reader, key);
}

static unsigned take_target(struct reader *reader, const char *key)
{
    char word[32], end;
    unsigned target = 0;
    take_string(reader, key, word, sizeof word);
    if (word[0] && sscanf(word, "sm_%u%c", &target, &end) != 1)
        wrong_kind(reader, key, "a target such as sm_75");
    return target;
}

static void take_counts(struct reader *reader, const char *key, struct rung_counts *out)
{
    json_t *value = take(reader, key);
    if (value && json_is_object(value)) {
        out->known =
            read_whole(reader, json_object_get(value, "additions"), key, &out->additions) &&
            read_whole(reader, json_object_get(value, "body_runs"), key, &out->body_runs) &&
            read_whole(reader, json_object_get(value, "serialised"), key, &out->serialised);
    } else if (value && !json_is_null(value)) {
        wrong_kind(reader, key, "an object of counts");
    }
    done(reader, key);
}

static void take_samples(struct reader *reader, const json_t *samples, struct rung_times *out)
{
    size_t n = json_array_size(samples);
    out->samples = n ? calloc(n, sizeof *out->samples) : NULL;
    if (n && !out->samples) {
        if (reader->status == RUNG_OK)
            reader->status = rung_fail(reader->err, RUNG_MEMORY, "out of memory");
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const json_t *sample = json_array_get(samples, i);
        if (!json_is_number(sample))
            wrong_kind(reader, "time_ms", "with an array of numbers as its samples");
        out->samples[i] = json_number_value(sample);
    }
    out->n_samples = n;
}

static void take_times(struct reader *reader, const char *key, struct rung_times *out)
{
    json_t *value = take(reader, key);
    json_t *median, *min, *q1, *q3, *samples;
    if (value && json_is_object(value)) {
        if (json_unpack(value, "{s:o, s:o, s:o, s:o, s:o}", "median", &median, "min", &min, "q1",
                        &q1, "q3", &q3, "samples", &samples) == 0 &&
            json_is_number(median) && json_is_number(min) && json_is_number(q1) &&
            json_is_number(q3) && json_is_array(samples)) {
            *out = (struct rung_times){.known = true,
                                       .median = json_number_value(median),
                                       .min = json_number_value(min),
                                       .q1 = json_number_value(q1),
                                       .q3 = json_number_value(q3)};
            take_samples(reader, samples, out);
        } else {
            wrong_kind(reader, key, "an object of median, min, q1, q3 and samples");
        }
    } else if (value && !json_is_null(value)) {
        wrong_kind(reader, key, "an object of times");
    }
    done(reader, key);
}

static void take_correct(struct reader *reader, struct rung_row *out)
{
    json_t *value = take(reader, "correct");
    if (value && json_is_boolean(value)) {
        out->summed = true;
        out->correct = json_is_true(value);
    } else if (value && !json_is_null(value)) {
        wrong_kind(reader, "correct", "true, false or null");
    }
    done(reader, "correct");
}

/* The id says all of the configuration; the axis fields beside it must say the same. */
static void take_config(struct reader *reader, struct rung_config *out)
{
    char id[RUNG_ID_SIZE], word[6][32];
    static const char *const keys[] = {"bound", "unroll", "predicate", "op", "type"};
    take_string(reader, "id", id, sizeof id);
    uint64_t version = take_whole(reader, "version", NULL);
    uint64_t block = take_whole(reader, "block", NULL);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        take_string(reader, keys[i], word[i], sizeof word[i]);
    if (reader->status == RUNG_OK)
        reader->status = rung_config_parse_id(out, id, reader->err);
    if (reader->status != RUNG_OK)
        return;
    bool same = version == out->version && block == out->block &&
                strcmp(word[0], rung_bound_word(out->bound)) == 0 &&
                strcmp(word[1], rung_unroll_word(out->unroll)) == 0 &&
                strcmp(word[2], rung_predicate_word(out->predicate)) == 0 &&
                strcmp(word[3], rung_op_word(out->op)) == 0 &&
                strcmp(word[4], rung_type_word(out->type)) == 0;
    if (!same)
        reader->status = rung_fail(reader->err, RUNG_USAGE,
                                   "row '%s': its axis fields say another configuration", id);
}

static void take_status(struct reader *reader, enum rung_row_status *out)
{
    char word[32];
    take_string(reader, "status", word, sizeof word);
    for (size_t i = 0; i < sizeof status_words / sizeof *status_words; i++)
        if (strcmp(word, status_words[i]) == 0) {
            *out = (enum rung_row_status)i;
            return;
        }
    wrong_kind(reader, "status", "a status of a row");
}

static int take_resource(struct reader *reader, const char *key)
{
    bool known;
    uint64_t number = take_whole(reader, key, &known);
    return known ? (int)number : -1;
}

enum rung_status rung_row_from_json(struct rung_row *out, const json_t *object,
                                    struct rung_error *err)
{
    if (!json_is_object(object))
        return rung_fail(err, RUNG_USAGE, "a row is not a JSON object");
    struct reader reader = {.rest = json_copy((json_t *)object), .err = err};
    if (!reader.rest)
        return rung_fail(err, RUNG_MEMORY, "out of memory");
    struct rung_row row = {0};
    bool passes_known, launches_known, bytes_known;
    take_config(&reader, &row.config);
    row.n = take_whole(&reader, "n", NULL);
    row.passes = (unsigned)take_whole(&reader, "passes", &passes_known);
    row.launches = take_whole(&reader, "launches", &launches_known);
    row.bytes = take_whole(&reader, "bytes", &bytes_known);
    row.planned = passes_known && launches_known && bytes_known;
    row.sum = take_real(&reader, "sum");
    row.expected = take_real(&reader, "expected");
    take_correct(&reader, &row);
    take_counts(&reader, "model", &row.model);
    take_counts(&reader, "executed", &row.executed);
    take_times(&reader, "time_ms", &row.time_ms);
    row.gb_per_s = take_real(&reader, "gb_per_s");
    row.of_ceiling = take_real(&reader, "of_ceiling");
    row.vs_v1 = take_real(&reader, "vs_v1");
    row.ptx_target = take_target(&reader, "ptx_target");
    row.sass_target = take_target(&reader, "sass_target");
    take_string(&reader, "image", row.image, sizeof row.image);
    row.registers = take_resource(&reader, "registers");
    row.shared_bytes = take_resource(&reader, "shared_bytes");
    take_status(&reader, &row.status);
    take_string(&reader, "reason", row.reason, sizeof row.reason);
    row.extra = reader.rest;
    if (reader.status != RUNG_OK) {
        rung_row_release(&row);
        return reader.status;
    }
    if (json_object_size(row.extra) == 0) {
        json_decref(row.extra);
        row.extra = NULL;
    }
    *out = row;
    return RUNG_OK;
}
