/* A kernel that writes down what it does tells the same as one that is watched: whole traces, as
 * JSON, of every version at every block size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gen/control.h"
#include "support/trace_pair.h"
#include "trace/traced.h"

static struct trace_pair pair;

static int open_all(void **state)
{
    (void)state;
    struct rung_error err = {0};
    if (trace_pair_open(&pair, "sim", &err) == RUNG_OK)
        return 0;
    print_error("%s\n", err.text);
    return -1;
}

static int close_all(void **state)
{
    (void)state;
    trace_pair_close(&pair);
    return 0;
}

static void every_version_and_block(void **state)
{
    (void)state;
    if (!pair.images.nvrtc)
        skip();
    trace_pair_every_version_and_block(&pair);
    assert_int_not_equal(pair.compared, 0);
    assert_int_equal(pair.differ, 0);
}

static void forms_types_and_short_inputs(void **state)
{
    (void)state;
    if (!pair.images.nvrtc)
        skip();
    for (size_t i = 0; i < pair.ladder.n_versions; i++)
        trace_pair_forms(&pair, pair.ladder.versions[i]);
    assert_int_equal(pair.differ, 0);
}

static void uneven_sweeps(void **state)
{
    (void)state;
    if (!pair.images.nvrtc)
        skip();
    trace_pair_uneven_sweeps(&pair);
    assert_int_equal(pair.differ, 0);
}

/* What is wrong on purpose needs the simulator's checks, and may hang a card. */
static void controls_are_refused(void **state)
{
    (void)state;
    struct rung_error err = {0};
    struct rung_arena arena = {0};
    struct rung_trace trace;
    const struct rung_control *control;
    struct rung_controls controls;
    assert_int_equal(rung_controls_load(&controls, &arena, &err), RUNG_OK);
    control = &controls.controls[0];
    struct rung_trace_request request = {
        .tpl = control->tpl,
        .config = {.version = 1, .block = 64},
        .id = control->name,
        .control = true,
        .traced = true
    };
    assert_int_equal(rung_trace_capture(&trace, &arena, &pair.traced, &pair.images, &request, &err),
                     RUNG_UNABLE);
    assert_non_null(strstr(err.text, control->name));
    assert_non_null(strstr(err.text, "--device sim"));
    rung_arena_release(&arena);
}

/* A log that is full is told, and never taken for the whole. */
static void a_full_log_is_refused(void **state)
{
    (void)state;
    struct rung_error err = {0};
    struct rung_trace_log log;
    struct rung_config config = {.version = 1, .block = 2};
    struct rung_traced_record *records = calloc(2 * RUNG_TRACED_ROOM, sizeof *records);
    assert_non_null(records);
    assert_int_equal(rung_trace_log_init(&log, "", &err), RUNG_OK);
    for (size_t i = 0; i < RUNG_TRACED_ROOM; i++)
        records[RUNG_TRACED_ROOM + i].kind = RUNG_TRACED_LOAD;
    assert_int_equal(rung_traced_read(&log, records, &config, &err), RUNG_UNABLE);
    assert_non_null(strstr(err.text, "thread 1"));
    assert_int_equal(log.n_records, 0);
    records[2 * RUNG_TRACED_ROOM - 1].kind = RUNG_TRACED_END;
    assert_int_equal(rung_traced_read(&log, records, &config, &err), RUNG_OK);
    assert_int_equal(log.n_records, RUNG_TRACED_ROOM - 1);
    rung_trace_log_release(&log);
    free(records);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_version_and_block), cmocka_unit_test(forms_types_and_short_inputs),
        cmocka_unit_test(uneven_sweeps),           cmocka_unit_test(controls_are_refused),
        cmocka_unit_test(a_full_log_is_refused),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
