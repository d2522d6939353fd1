/* Rows as JSON: every field of the contract is there, nulls where one does not apply, and what is
 * read back is what was written. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/bench.h"

static const char *const fields[] = {
    "id",      "version",    "block",       "bound",     "unroll",       "predicate",  "op",
    "type",    "n",          "passes",      "launches",  "bytes",        "sum",        "expected",
    "correct", "model",      "executed",    "time_ms",   "gb_per_s",     "of_ceiling", "vs_v1",
    "image",   "ptx_target", "sass_target", "registers", "shared_bytes", "status",     "reason"};
#define N_FIELDS (sizeof fields / sizeof *fields)

static const struct rung_config config = {
    .version = 4, .block = 512, .bound = RUNG_BOUND_RUNTIME, .unroll = RUNG_UNROLL_NONE};

static void full_row(struct rung_row *row)
{
    static const double samples[] = {0.0521, 0.0519, 0.0533};
    rung_row_init(row, &config, 16776605);
    row->planned = true;
    row->passes = 3;
    row->launches = 4;
    row->bytes = 67369360;
    row->summed = row->correct = true;
    row->sum = row->expected = 16776605;
    row->model = (struct rung_counts){true, 1023, 20, 20};
    row->executed = (struct rung_counts){true, 1023, 20, 20};
    row->time_ms = (struct rung_times){true, 0.0521, 0.0519, 0.052, 0.0527, NULL, 3};
    row->time_ms.samples = malloc(sizeof samples);
    memcpy(row->time_ms.samples, samples, sizeof samples);
    row->gb_per_s = 1288.0;
    row->of_ceiling = 0.28;
    row->vs_v1 = 3.3;
    row->ptx_target = 75;
    row->sass_target = 90;
    strcpy(row->image, "ptx");
    row->registers = 12;
    row->shared_bytes = 2048;
    row->extra = json_pack("{s:i}", "verified_runs", 214);
}

/* Reasons hold paths and what compilers say, and are cut to their room. */
static void a_reason_that_is_no_utf8_loses_no_row(void **state)
{
    (void)state;
    struct rung_row row;
    rung_row_init(&row, &config, 5);
    row.status = RUNG_ROW_COMPILE;
    strcpy(row.reason, "no /home/\xfc/x: caf\xc3");
    json_t *object = rung_row_to_json(&row);
    assert_string_equal(json_string_value(json_object_get(object, "reason")), "no /home/?/x: caf?");
    json_decref(object);
    rung_row_release(&row);
}

static void an_empty_row_has_every_field(void **state)
{
    (void)state;
    struct rung_row row;
    rung_row_init(&row, &config, 5);
    json_t *object = rung_row_to_json(&row);
    for (size_t i = 0; i < N_FIELDS; i++)
        if (!json_object_get(object, fields[i]))
            fail_msg("no field %s", fields[i]);
    assert_int_equal(json_object_size(object), N_FIELDS);
    static const char *const nulls[] = {"passes",      "bytes",     "sum",          "correct",
                                        "model",       "executed",  "time_ms",      "gb_per_s",
                                        "of_ceiling",  "vs_v1",     "image",        "ptx_target",
                                        "sass_target", "registers", "shared_bytes", "reason"};
    for (size_t i = 0; i < sizeof nulls / sizeof *nulls; i++)
        if (!json_is_null(json_object_get(object, nulls[i])))
            fail_msg("%s is not null", nulls[i]);
    assert_string_equal(json_string_value(json_object_get(object, "id")), "v4-b512-runtime");
    assert_string_equal(json_string_value(json_object_get(object, "unroll")), "none");
    assert_string_equal(json_string_value(json_object_get(object, "status")), "ok");
    json_decref(object);
    rung_row_release(&row);
}

static void a_full_row_comes_back(void **state)
{
    (void)state;
    struct rung_row row, back;
    struct rung_error err = {0};
    full_row(&row);
    json_t *object = rung_row_to_json(&row);
    assert_int_equal(json_object_size(object), N_FIELDS + 1);
    assert_string_equal(json_string_value(json_object_get(object, "ptx_target")), "sm_75");
    assert_int_equal(rung_row_from_json(&back, object, &err), RUNG_OK);
    assert_true(rung_config_equal(&back.config, &row.config));
    assert_int_equal(back.n, row.n);
    assert_int_equal(back.launches, 4);
    assert_true(back.planned && back.summed && back.correct);
    assert_int_equal(back.executed.serialised, 20);
    assert_int_equal(back.time_ms.n_samples, 3);
    assert_true(back.time_ms.samples[2] == 0.0533);
    assert_true(back.vs_v1 == 3.3);
    assert_int_equal(back.sass_target, 90);
    assert_int_equal(back.registers, 12);
    assert_int_equal(json_integer_value(json_object_get(back.extra, "verified_runs")), 214);
    json_t *again = rung_row_to_json(&back);
    assert_true(json_equal(object, again));
    json_decref(object);
    json_decref(again);
    rung_row_release(&row);
    rung_row_release(&back);
}

static void a_missing_or_odd_field_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_FIELDS; i++)
        for (int odd = 0; odd < 2; odd++) {
            struct rung_row row, back;
            struct rung_error err = {0};
            full_row(&row);
            json_t *object = rung_row_to_json(&row);
            if (odd)
                json_object_set_new(object, fields[i], json_array());
            else
                json_object_del(object, fields[i]);
            assert_int_equal(rung_row_from_json(&back, object, &err), RUNG_USAGE);
            if (!strstr(err.text, fields[i]))
                fail_msg("'%s' does not name %s", err.text, fields[i]);
            json_decref(object);
            rung_row_release(&row);
        }
}

static void axis_fields_must_agree_with_the_id(void **state)
{
    (void)state;
    struct rung_row row, back;
    struct rung_error err = {0};
    full_row(&row);
    json_t *object = rung_row_to_json(&row);
    json_object_set_new(object, "block", json_integer(256));
    assert_int_equal(rung_row_from_json(&back, object, &err), RUNG_USAGE);
    assert_non_null(strstr(err.text, "v4-b512-runtime"));
    json_decref(object);
    rung_row_release(&row);
}

static void ints_are_whole_and_nan_is_null(void **state)
{
    (void)state;
    struct rung_row row;
    rung_row_init(&row, &config, 5);
    row.config.type = RUNG_TYPE_I32;
    row.summed = true;
    row.sum = -2147483648.0;
    row.expected = 7;
    json_t *object = rung_row_to_json(&row);
    assert_true(json_is_integer(json_object_get(object, "sum")));
    assert_int_equal(json_integer_value(json_object_get(object, "sum")), -2147483648LL);
    json_decref(object);
    row.config.type = RUNG_TYPE_F64;
    row.sum = NAN;
    object = rung_row_to_json(&row);
    assert_true(json_is_null(json_object_get(object, "sum")));
    assert_true(json_real_value(json_object_get(object, "expected")) == 7);
    json_decref(object);
}

static void make_timed(struct rung_row *row, unsigned version, enum rung_predicate predicate,
                       double ms)
{
    const struct rung_config own = {.version = version, .block = 256, .predicate = predicate};
    rung_row_init(row, &own, 1000);
    row->time_ms = (struct rung_times){.known = true, .median = ms};
}

static void version_one_is_the_measure(void **state)
{
    (void)state;
    struct rung_row rows[4];
    make_timed(&rows[0], 1, RUNG_PREDICATE_MASK, 8);
    make_timed(&rows[1], 1, RUNG_PREDICATE_MOD, 4);
    make_timed(&rows[2], 2, RUNG_PREDICATE_MOD, 5);
    make_timed(&rows[3], 2, RUNG_PREDICATE_MOD, 1);
    rows[3].config.block = 512; /* has no version 1 beside it */
    rung_rows_relate(rows, 4);
    assert_true(rows[0].vs_v1 == 0.5);
    assert_true(rows[1].vs_v1 == 1);
    assert_true(rows[2].vs_v1 == 0.8);
    assert_true(isnan(rows[3].vs_v1));
}

static void one_wrong_row_decides(void **state)
{
    (void)state;
    struct rung_row rows[3];
    for (int i = 0; i < 3; i++)
        make_timed(&rows[i], 1, RUNG_PREDICATE_MOD, 1);
    assert_int_equal(rung_rows_status(rows, 3), RUNG_OK);
    rows[0].status = RUNG_ROW_COMPILE;
    assert_int_equal(rung_rows_status(rows, 3), RUNG_INCOMPLETE);
    assert_int_equal(rung_rows_status(rows, 1), RUNG_COMPILE);
    rows[2].status = RUNG_ROW_WRONG;
    assert_int_equal(rung_rows_status(rows, 3), RUNG_WRONG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reason_that_is_no_utf8_loses_no_row),
        cmocka_unit_test(an_empty_row_has_every_field),
        cmocka_unit_test(a_full_row_comes_back),
        cmocka_unit_test(a_missing_or_odd_field_is_named),
        cmocka_unit_test(axis_fields_must_agree_with_the_id),
        cmocka_unit_test(ints_are_whole_and_nan_is_null),
        cmocka_unit_test(version_one_is_the_measure),
        cmocka_unit_test(one_wrong_row_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
