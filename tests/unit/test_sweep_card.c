/* The whole way of a sweep on a card, worker included: the simulator's functions under the name of
 * a card, so that times are taken. What the times are means nothing; that they come, are
 * summarised, and are dropped where a sum goes wrong, is what is tested. */
#define _GNU_SOURCE
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "driver/driver.h"
#include "sim/sim.h"
#include "sweep/measurer.h"
#include "sweep/results.h"
#include "sweep/sweep.h"

static struct rung_driver driver;
static CUresult (*real_launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
                               unsigned, unsigned, CUstream, void **, void **);
/* In the worker, which has its own copy: launches until one loses its last block, or fails. */
static unsigned until_wrong, until_fault;

static CUresult launch(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                       CUstream stream, void **params, void **extra)
{
    if (until_fault && --until_fault == 0)
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    if (until_wrong && --until_wrong == 0) {
        until_wrong = 1;
        grid_x -= grid_x > 1 && block_x == 64;
    }
    return real_launch(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, stream,
                       params, extra);
}

static int open_driver(void **state)
{
    (void)state;
    setenv("RUNG_IMAGE_PATH", RUNG_SOURCE_DIR "/generated/ptx", 1);
    /* The simulator ends a launch before the next call: a held stream would never be released. */
    setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
    rung_driver_open_sim(&driver);
    driver.sim->set_options(&(struct rung_sim_options){0});
    driver.kind = RUNG_DRIVER_CUDA;
    driver.sim = NULL;
    real_launch = driver.cuLaunchKernel;
    driver.cuLaunchKernel = launch;
    return 0;
}

static int quiet(void **state)
{
    (void)state;
    until_wrong = until_fault = 0;
    return 0;
}

static enum rung_status keep(void *context, const struct rung_row *row, struct rung_error *err)
{
    return rung_results_add(context, row, err);
}

static void sweep_cells(struct rung_results *results, const struct rung_cell *cells, size_t n)
{
    struct rung_measurer_spec spec = {.driver = &driver};
    struct rung_sweep_options options = rung_sweep_default();
    struct rung_sweep sweep;
    struct rung_error err = {0};
    options.stop.rule = RUNG_STOP_COUNT;
    options.stop.count = 6;
    options.stop.timeout_s = 1e9; /* however slow the machine */
    options.hang_s = 1e6;
    options.row = keep;
    options.context = results;
    *results = (struct rung_results){0};
    if (rung_sweep_begin(&sweep, rung_measurer_answer, &spec, &options, &err) != RUNG_OK)
        fail_msg("%s", err.text);
    assert_false(rung_sweep_simulated(&sweep));
    /* Without rung_sweep_build: its read ceiling takes gigabytes, which the simulator is slow at.
     */
    if (rung_sweep_measure(&sweep, cells, n, false, &err) != RUNG_OK)
        fail_msg("%s", err.text);
    rung_sweep_end(&sweep);
    rung_results_relate(results->rows, results->n_rows);
}

static struct rung_cell cell(unsigned version, enum rung_state cache, enum rung_timer timer)
{
    return (struct rung_cell){
        .config = {.version = version, .block = 64},
        .n = 20000,
        .target = 75,
        .image = RUNG_IMAGE_PTX,
        .state = cache,
        .timer = timer
    };
}

static void every_state_and_timer_has_times(void **state)
{
    (void)state;
    const struct rung_cell cells[] = {
        cell(1, RUNG_STATE_CLEAN, RUNG_TIMER_ISOLATED),
        cell(4, RUNG_STATE_CLEAN, RUNG_TIMER_ISOLATED),
        cell(4, RUNG_STATE_DIRTY, RUNG_TIMER_ISOLATED),
        cell(4, RUNG_STATE_ROTATE, RUNG_TIMER_ISOLATED),
        cell(4, RUNG_STATE_WARM, RUNG_TIMER_WALL),
        cell(4, RUNG_STATE_WARM, RUNG_TIMER_BATCH),
    };
    struct rung_results results;
    sweep_cells(&results, cells, 6);
    assert_int_equal(results.n_rows, 6);
    for (size_t i = 0; i < 6; i++) {
        const struct rung_row *row = &results.rows[i].row;
        if (row->status != RUNG_ROW_OK)
            fail_msg("%s: %s", results.rows[i].key, row->reason);
        assert_true(row->time_ms.known && row->correct);
        assert_int_equal(row->time_ms.n_samples, 6);
        assert_true(isfinite(row->gb_per_s));
        assert_string_equal(rung_row_word(row, "stop", ""), "count");
        assert_true(json_is_number(json_object_get(row->extra, "first_run_ms")));
        assert_true(json_is_number(json_object_get(row->extra, "load_ms")));
        assert_int_equal(strlen(rung_row_word(row, "ptx_sha256", "")), 64);
    }
    char key[RUNG_CELL_KEY_SIZE];
    rung_cell_key(&cells[1], key);
    const struct rung_result *four = rung_results_find(&results, key);
    assert_non_null(four);
    assert_true(four->row.vs_v1 > 0); /* version 1 of the same state and timer is there */
    rung_results_release(&results);
}

static void dot_and_other_types(void **state)
{
    (void)state;
    struct rung_cell cells[3];
    for (size_t i = 0; i < 3; i++)
        cells[i] = cell(3, RUNG_STATE_CLEAN, RUNG_TIMER_ISOLATED);
    cells[0].config.op = RUNG_OP_DOT;
    cells[1].config = (struct rung_config){.version = 3, .block = 256, .type = RUNG_TYPE_F64};
    cells[2].config = (struct rung_config){.version = 3, .block = 256, .type = RUNG_TYPE_I32};
    struct rung_results results;
    sweep_cells(&results, cells, 3);
    assert_int_equal(results.n_rows, 3);
    for (size_t i = 0; i < 3; i++) {
        if (results.rows[i].row.status != RUNG_ROW_OK)
            fail_msg("%s: %s", results.rows[i].key, results.rows[i].row.reason);
        assert_true(results.rows[i].row.time_ms.known);
    }
    rung_results_release(&results);
}

/* Right when verified, wrong while timed: the row is wrong and has no time. */
static void a_sum_that_goes_wrong_while_timed_is_found(void **state)
{
    (void)state;
    const struct rung_cell cells[] = {cell(3, RUNG_STATE_WARM, RUNG_TIMER_ISOLATED)};
    struct rung_results results;
    until_wrong = 30;
    sweep_cells(&results, cells, 1);
    assert_int_equal(results.n_rows, 1);
    assert_int_equal(results.rows[0].row.status, RUNG_ROW_WRONG);
    assert_false(results.rows[0].row.time_ms.known);
    assert_true(results.rows[0].row.reason[0] != '\0');
    rung_results_release(&results);
}

/* A launch fails in a worker: its row says so, and the cells after it have a new worker. Each
 * worker starts with the count of the parent, so every one of them fails at some point; all rows
 * come. */
static void a_fault_costs_one_row_and_one_worker(void **state)
{
    (void)state;
    struct rung_cell cells[4];
    for (unsigned i = 0; i < 4; i++)
        cells[i] = cell(i + 1, RUNG_STATE_WARM, RUNG_TIMER_ISOLATED);
    struct rung_results results;
    until_fault = 400;
    sweep_cells(&results, cells, 4);
    assert_int_equal(results.n_rows, 4);
    size_t failed = 0;
    for (size_t i = 0; i < 4; i++) {
        const struct rung_row *row = &results.rows[i].row;
        failed += row->status == RUNG_ROW_RUNTIME;
        if (row->status == RUNG_ROW_RUNTIME)
            assert_non_null(strstr(row->reason, "CUDA_ERROR_ILLEGAL_ADDRESS"));
        else
            assert_int_equal(row->status, RUNG_ROW_OK);
    }
    assert_true(failed >= 1);
    rung_results_release(&results);
}

#define TEST(name) cmocka_unit_test_setup(name, quiet)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_state_and_timer_has_times),
        TEST(dot_and_other_types),
        TEST(a_sum_that_goes_wrong_while_timed_is_found),
        TEST(a_fault_costs_one_row_and_one_worker),
    };
    return cmocka_run_group_tests(tests, open_driver, NULL);
}
