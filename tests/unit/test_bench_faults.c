/* Run alone: build/tests/test_bench_faults
 * Every driver call of opening a device, loading a configuration and verifying it is made to fail,
 * one after the other: the failure is told by its own name and nothing stays behind. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/bench.h"
#include "support/fault_driver.h"

#define CODE CUDA_ERROR_ECC_UNCORRECTABLE /* one that nobody has a special answer to */

static struct rung_arena arena;
static struct rung_ladder ladder;

static int open_ladder(void **state)
{
    (void)state;
    setenv("RUNG_IMAGE_PATH", RUNG_SOURCE_DIR "/generated/ptx", 1);
    return rung_ladder_load(&ladder, &arena, NULL) == RUNG_OK ? 0 : -1;
}

static int close_ladder(void **state)
{
    (void)state;
    rung_arena_release(&arena);
    return 0;
}

struct outcome {
    enum rung_status status; /* of the first step that failed */
    char text[2048];         /* its error, or what the row says */
    bool row_ok;
};

static void measure(struct outcome *out, const struct rung_bench *bench, struct rung_error *err)
{
    struct rung_row row = {0};
    const struct rung_measure_options options = {.n = 1000, .seed = 1};
    out->status = rung_bench_measure(&row, bench, &options, err);
    out->row_ok = out->status == RUNG_OK && row.status == RUNG_ROW_OK;
    if (out->status == RUNG_OK && row.status != RUNG_ROW_OK) {
        out->status = RUNG_DRIVER;
        snprintf(out->text, sizeof out->text, "%s", row.reason);
    }
    rung_row_release(&row);
}

/* The whole way of one configuration, by a driver whose USE call number `k` fails. */
static void travel(struct outcome *out, const struct rung_config *config, unsigned k)
{
    struct rung_driver sim, driver;
    struct rung_device device = {0};
    struct rung_bench bench = {0};
    struct rung_error err = {0};
    const struct rung_image_source images = {.ladder = &ladder, .nvrtc_why = "not in this test"};
    *out = (struct outcome){0};
    rung_driver_open_sim(&sim);
    sim.sim->set_options(&(struct rung_sim_options){.threads = 1});
    fault_driver_make(&driver, &sim, k, CODE);
    out->status = rung_device_open_with(&device, &driver, 0, &err);
    if (out->status == RUNG_OK) {
        const struct rung_bench_spec spec = {&device, &ladder, &images, RUNG_IMAGE_PTX, 75};
        out->status = rung_bench_open(&bench, &spec, config, 1, &err);
    }
    if (out->status == RUNG_OK)
        measure(out, &bench, &err);
    if (err.status != RUNG_OK)
        snprintf(out->text, sizeof out->text, "%s", err.text);
    rung_bench_close(&bench);
    rung_device_close(&device);
}

static void fail_each_call(const struct rung_config *config)
{
    unsigned k = 0;
    for (;; k++) {
        struct outcome outcome;
        struct rung_driver sim;
        rung_driver_open_sim(&sim);
        unsigned long long before = sim.sim->live_handles();
        travel(&outcome, config, k);
        unsigned long long left = sim.sim->live_handles() - before;
        if (left)
            fail_msg("call %u (%s) left %llu behind", k, fault_driver_fired(), left);
        if (!fault_driver_fired())
            break;
        if (outcome.status == RUNG_OK)
            fail_msg("call %u (%s) failed and nobody noticed", k, fault_driver_fired());
        if (!strstr(outcome.text, fault_driver_fired()) ||
            !strstr(outcome.text, "CUDA_ERROR_ECC_UNCORRECTABLE"))
            fail_msg("call %u (%s) is told as '%s'", k, fault_driver_fired(), outcome.text);
    }
    assert_true(k > 30); /* it did get as far as verifying */
    struct outcome outcome;
    travel(&outcome, config, UINT32_MAX);
    if (!outcome.row_ok)
        fail_msg("without a failure: %s", outcome.text);
}

static void sum_in_several_passes(void **state)
{
    (void)state;
    fail_each_call(&(struct rung_config){.version = 1, .block = 64});
}

static void dot_with_its_second_module(void **state)
{
    (void)state;
    fail_each_call(&(struct rung_config){.version = 4, .block = 64, .op = RUNG_OP_DOT});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sum_in_several_passes),
        cmocka_unit_test(dot_with_its_second_module),
    };
    return cmocka_run_group_tests(tests, open_ladder, close_ladder);
}
