/* The course of a sweep over a worker of this file: it answers, hangs, crashes and errs where a
 * cell says so by its version, and its times are made up. */
#define _GNU_SOURCE
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench/stats.h"
#include "sweep/sweep.h"

enum { GOOD = 1, HANGS, CRASHES, WRONG_AFTER, DEAD, REFUSED, HANGS_WHILE_SAMPLED, THROTTLED };

#define SLOTS 64
static struct rung_cell prepared[SLOTS]; /* of the child */
static bool known[SLOTS];

static json_t *prepare(const json_t *request)
{
    size_t slot = (size_t)json_integer_value(json_object_get(request, "slot"));
    struct rung_cell cell;
    if (rung_cell_from_json(&cell, json_object_get(request, "cell"), NULL) != RUNG_OK)
        return json_pack("{s:s}", "error", "not a cell");
    switch (cell.config.version) {
    case HANGS:
        for (;;)
            pause();
    case CRASHES:
        abort();
    case DEAD:
        return json_pack("{s:s, s:s, s:b}", "error", "illegal address", "status", "runtime", "dead",
                         1);
    case REFUSED:
        return json_pack("{s:s, s:s}", "error", "no such thing", "status", "unsupported");
    }
    prepared[slot] = cell;
    known[slot] = true;
    struct rung_row row;
    rung_row_init(&row, &cell.config, cell.n);
    json_t *object = rung_row_to_json(&row);
    rung_row_release(&row);
    return json_pack("{s:o, s:b}", "row", object, "timed", cell.state != RUNG_STATE_WARM);
}

static json_t *sample(const json_t *request)
{
    size_t slot = (size_t)json_integer_value(json_object_get(request, "slot"));
    json_int_t count = json_integer_value(json_object_get(request, "count"));
    if (!known[slot]) /* a new worker is asked about what only the old one knew */
        return json_pack("{s:s}", "error", "not prepared");
    if (prepared[slot].config.version == HANGS_WHILE_SAMPLED)
        for (;;)
            pause();
    if (prepared[slot].config.version == THROTTLED)
        return json_pack("{s:[], s:[], s:i}", "time_ms", "sm_mhz", "throttled", 5);
    json_t *times = json_array(), *clocks = json_array();
    for (json_int_t i = 0; i < count; i++) {
        json_array_append_new(times,
                              json_real(prepared[slot].config.block * (1 + 0.001 * (i % 3))));
        json_array_append_new(clocks, i % 2 ? json_real(1980) : json_null());
    }
    return json_pack("{s:o, s:o, s:i}", "time_ms", times, "sm_mhz", clocks, "throttled", 0);
}

static json_t *answer(void *context, const json_t *request)
{
    const char *what = json_string_value(json_object_get(request, "do"));
    if (context && strcmp(what, "open") == 0)
        return json_pack("{s:s, s:i}", "error", "no such device", "code", RUNG_USAGE);
    if (strcmp(what, "open") == 0)
        return json_pack("{s:s}", "kind", "cuda");
    if (strcmp(what, "ceiling") == 0)
        return json_pack("{s:f}", "gb_per_s", 1000.0);
    if (strcmp(what, "prepare") == 0)
        return prepare(request);
    if (strcmp(what, "sample") == 0)
        return sample(request);
    size_t slot = (size_t)json_integer_value(json_object_get(request, "slot"));
    if (strcmp(what, "finish") == 0 && prepared[slot].config.version == WRONG_AFTER)
        return json_pack("{s:s, s:s}", "error", "expected 3, got 4", "status", "wrong");
    return json_object();
}

struct kept {
    struct rung_row rows[SLOTS];
    size_t n;
    size_t stop_after; /* rows, then the sweep is interrupted */
    bool interrupted;
};

static enum rung_status keep(void *context, const struct rung_row *row, struct rung_error *err)
{
    struct kept *kept = context;
    json_t *object = rung_row_to_json(row);
    enum rung_status status = rung_row_from_json(&kept->rows[kept->n++], object, err);
    json_decref(object);
    if (kept->stop_after && kept->n >= kept->stop_after)
        kept->interrupted = true;
    return status;
}

static bool stop_asked(void *context)
{
    return ((const struct kept *)context)->interrupted;
}

static void kept_release(struct kept *kept)
{
    for (size_t i = 0; i < kept->n; i++)
        rung_row_release(&kept->rows[i]);
}

static const struct rung_row *find(const struct kept *kept, const struct rung_cell *cell)
{
    for (size_t i = 0; i < kept->n; i++)
        if (rung_config_equal(&kept->rows[i].config, &cell->config))
            return &kept->rows[i];
    fail_msg("a cell has no row");
    return NULL;
}

/* Cell `i` of up to 20 that differ: ten blocks, both bounds. */
static struct rung_cell cell(unsigned version, unsigned i)
{
    struct rung_cell cell = {
        .config = {.version = version, .block = 2u << i / 2},
          .n = 1000, .target = 90
    };
    if (i % 2) {
        cell.config.bound = RUNG_BOUND_RUNTIME;
        cell.config.unroll = RUNG_UNROLL_NONE;
    }
    return cell;
}

static enum rung_status sweep_cells(struct kept *kept, const struct rung_cell *cells, size_t n,
                                    bool twins, size_t *restarts)
{
    struct rung_sweep_options options = rung_sweep_default();
    options.hang_s = 0.4;
    options.group = 8;
    options.row = keep;
    options.context = kept;
    options.interrupted = (struct rung_stop_asked){stop_asked, kept};
    struct rung_sweep sweep;
    struct rung_error err = {0};
    assert_int_equal(rung_sweep_begin(&sweep, answer, NULL, &options, &err), RUNG_OK);
    assert_int_equal(rung_sweep_build(&sweep, cells, n, &err), RUNG_OK);
    assert_true(sweep.ceiling == 1000);
    enum rung_status status = rung_sweep_measure(&sweep, cells, n, twins, &err);
    if (restarts)
        *restarts = sweep.restarts;
    rung_sweep_end(&sweep);
    return status;
}

static void every_cell_becomes_a_row(void **state)
{
    (void)state;
    struct rung_cell cells[20];
    struct kept kept = {0};
    for (unsigned i = 0; i < 20; i++)
        cells[i] = cell(GOOD, i);
    size_t restarts;
    assert_int_equal(sweep_cells(&kept, cells, 20, false, &restarts), RUNG_OK);
    assert_int_equal(kept.n, 20);
    assert_int_equal(restarts, 0);
    bool in_order = true;
    for (unsigned i = 0; i < 20; i++) {
        const struct rung_row *row = find(&kept, &cells[i]);
        assert_int_equal(row->status, RUNG_ROW_OK);
        assert_true(row->time_ms.n_samples >= 10);
        assert_true(fabs(row->time_ms.median / cells[i].config.block - 1) < 0.002);
        assert_true(fabs(row->gb_per_s - 4000 / row->time_ms.median / 1e6) < 1e-9);
        assert_string_equal(rung_row_word(row, "stop", ""), "ci");
        assert_string_equal(rung_row_word(row, "target", ""), "sm_90");
        assert_true(rung_row_number(row, "sm_mhz") == 1980);
        in_order &= rung_config_equal(&kept.rows[i].config, &cells[i].config);
    }
    assert_false(in_order); /* the order is random */
    kept_release(&kept);
}

static void what_goes_wrong_is_one_row_each(void **state)
{
    (void)state;
    struct rung_cell cells[16];
    struct kept kept = {0};
    for (unsigned i = 0; i < 8; i++) {
        cells[2 * i] = cell(GOOD, i);
        cells[2 * i + 1] = cell(GOOD + i, 10);
    }
    size_t restarts;
    assert_int_equal(sweep_cells(&kept, cells, 16, false, &restarts), RUNG_OK);
    assert_int_equal(kept.n, 16);
    assert_int_equal(restarts, 4); /* two hangs, a crash, a dead context */
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(find(&kept, &cells[2 * i])->status, RUNG_ROW_OK);
    const struct {
        unsigned version;
        enum rung_row_status status;
        const char *reason;
    } want[] = {
        {HANGS,               RUNG_ROW_TIMEOUT,     "no answer within 0.4 s"},
        {CRASHES,             RUNG_ROW_RUNTIME,     "signal 6"              },
        {WRONG_AFTER,         RUNG_ROW_WRONG,       "expected 3, got 4"     },
        {DEAD,                RUNG_ROW_RUNTIME,     "illegal address"       },
        {REFUSED,             RUNG_ROW_UNSUPPORTED, "no such thing"         },
        {HANGS_WHILE_SAMPLED, RUNG_ROW_TIMEOUT,     "no answer"             },
        {THROTTLED,           RUNG_ROW_RUNTIME,     "throttled"             },
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct rung_cell bad = cell(want[i].version, 10);
        const struct rung_row *row = find(&kept, &bad);
        assert_int_equal(row->status, want[i].status);
        assert_non_null(strstr(row->reason, want[i].reason));
        assert_false(row->time_ms.known);
    }
    kept_release(&kept);
}

static void an_interrupt_keeps_what_is_finished(void **state)
{
    (void)state;
    struct rung_cell cells[20];
    struct kept kept = {.stop_after = 7};
    for (unsigned i = 0; i < 20; i++)
        cells[i] = cell(GOOD, i);
    assert_int_equal(sweep_cells(&kept, cells, 20, false, NULL), RUNG_INTERRUPTED);
    assert_int_equal(kept.n, 7);
    kept_release(&kept);
}

static void untimed_rows_are_handed_over_at_once(void **state)
{
    (void)state;
    struct rung_cell cells[2] = {cell(GOOD, 1), cell(GOOD, 2)};
    cells[0].state = cells[1].state = RUNG_STATE_WARM;
    struct kept kept = {0};
    assert_int_equal(sweep_cells(&kept, cells, 2, false, NULL), RUNG_OK);
    assert_int_equal(kept.n, 2);
    assert_false(kept.rows[0].time_ms.known);
    kept_release(&kept);
}

static void twins_are_two_rows(void **state)
{
    (void)state;
    struct rung_cell cells[10];
    struct kept kept = {0};
    for (unsigned i = 0; i < 10; i++)
        cells[i] = cell(GOOD, i);
    assert_int_equal(sweep_cells(&kept, cells, 10, true, NULL), RUNG_OK);
    assert_int_equal(kept.n, 20);
    size_t a = 0;
    for (size_t i = 0; i < 20; i++)
        a += strcmp(rung_row_word(&kept.rows[i], "twin", ""), "a") == 0;
    assert_int_equal(a, 10);
    kept_release(&kept);
}

static void a_device_that_does_not_open_ends_it(void **state)
{
    (void)state;
    struct rung_sweep_options options = rung_sweep_default();
    struct rung_sweep sweep;
    struct rung_error err = {0};
    int context = 0;
    assert_int_equal(rung_sweep_begin(&sweep, answer, &context, &options, &err), RUNG_USAGE);
    assert_string_equal(err.text, "no such device");
    assert_int_equal(sweep.worker.pid, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cell_becomes_a_row),
        cmocka_unit_test(what_goes_wrong_is_one_row_each),
        cmocka_unit_test(an_interrupt_keeps_what_is_finished),
        cmocka_unit_test(untimed_rows_are_handed_over_at_once),
        cmocka_unit_test(twins_are_two_rows),
        cmocka_unit_test(a_device_that_does_not_open_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
