/* Run alone: build/tests/test_bench_card
 * The way of a row on a card, times included: the simulator's functions under the name of a card.
 * The times are those of the simulation and mean nothing; that they are taken, kept and turned into
 * rates is what is tested. */
#define _GNU_SOURCE
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/bench.h"
#include "bench/ceiling.h"
#include "bench/library.h"
#include "bench/read_kernel.h"
#include "sim/sim.h"

static struct rung_arena arena;
static struct rung_ladder ladder;
static struct rung_device device;
static struct rung_sampler *sampler;
static CUresult (*real_launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
                               unsigned, unsigned, CUstream, void **, void **);
static unsigned launches_until_wrong; /* 0: never */

/* A card that begins to lose its last block after so many launches. */
static CUresult failing_launch(CUfunction function, unsigned grid_x, unsigned grid_y,
                               unsigned grid_z, unsigned block_x, unsigned block_y,
                               unsigned block_z, unsigned shared, CUstream stream, void **params,
                               void **extra)
{
    if (launches_until_wrong && --launches_until_wrong == 0) {
        launches_until_wrong = 1;
        grid_x -= grid_x > 1;
    }
    return real_launch(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, stream,
                       params, extra);
}

static int open_card(void **state)
{
    (void)state;
    struct rung_driver driver;
    struct rung_error err = {0};
    setenv("RUNG_IMAGE_PATH", RUNG_SOURCE_DIR "/generated/ptx", 1);
    /* The simulator ends a launch before the next call: a held stream would never be released. */
    setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
    rung_driver_open_sim(&driver);
    driver.sim->set_options(&(struct rung_sim_options){0});
    driver.kind = RUNG_DRIVER_CUDA;
    driver.sim = NULL;
    real_launch = driver.cuLaunchKernel;
    driver.cuLaunchKernel = failing_launch;
    if (rung_ladder_load(&ladder, &arena, &err) != RUNG_OK ||
        rung_device_open_with(&device, &driver, 0, &err) != RUNG_OK ||
        rung_sampler_open(&sampler, &device, &err) != RUNG_OK) {
        print_error("%s\n", err.text);
        return -1;
    }
    return 0;
}

static int close_card(void **state)
{
    (void)state;
    rung_sampler_close(sampler);
    rung_device_close(&device);
    rung_arena_release(&arena);
    return 0;
}

static void open_bench(struct rung_bench *bench, const struct rung_config *configs, size_t n)
{
    static const struct rung_image_source images = {.ladder = &ladder, .nvrtc_why = "not here"};
    const struct rung_bench_spec spec = {&device, &ladder, &images, RUNG_IMAGE_PTX, 75};
    struct rung_error err = {0};
    if (rung_bench_open(bench, &spec, configs, n, &err) != RUNG_OK)
        fail_msg("%s", err.text);
}

static struct rung_timing_options five_samples(enum rung_state state, enum rung_timer timer)
{
    struct rung_timing_options timing = {
        .sampler = sampler, .how = {state, timer},
             .stop = rung_stop_rule_default()
    };
    timing.stop.rule = RUNG_STOP_COUNT;
    timing.stop.count = timing.stop.min_samples = 5;
    return timing;
}

static void a_row_has_times_and_rates(void **state)
{
    (void)state;
    const struct rung_config configs[] = {
        {.version = 1,       .block = 64},
        {            .version = 4,       .block = 64           },
        { .version = 4, .block = 64,            .op = RUNG_OP_DOT}
    };
    struct rung_bench bench;
    struct rung_row rows[3];
    struct rung_error err = {0};
    struct rung_timing_options timing = five_samples(RUNG_STATE_CLEAN, RUNG_TIMER_ISOLATED);
    const struct rung_measure_options options = {
        .n = 10000, .all_patterns = true, .timing = &timing, .ceiling_gb_per_s = 2000};
    open_bench(&bench, configs, 3);
    if (rung_bench_measure(rows, &bench, &options, &err) != RUNG_OK)
        fail_msg("%s", err.text);
    rung_rows_relate(rows, 3);
    for (int i = 0; i < 3; i++) {
        const struct rung_times *times = &rows[i].time_ms;
        double vectors = i == 2 ? 2 : 1;
        if (rows[i].status != RUNG_ROW_OK)
            fail_msg("%s", rows[i].reason);
        assert_true(times->known && times->n_samples == 5);
        assert_true(times->min > 0 && times->min <= times->q1 && times->q1 <= times->median &&
                    times->median <= times->q3);
        assert_true(fabs(rows[i].gb_per_s - vectors * 4e4 / times->median / 1e6) < 1e-9);
        assert_true(fabs(rows[i].of_ceiling - rows[i].gb_per_s / 2000) < 1e-12);
        assert_false(rows[i].executed.known); /* a card does not count */
        const json_t *taken = json_object_get(rows[i].extra, "timing");
        assert_string_equal(json_string_value(json_object_get(taken, "state")), "clean");
        assert_string_equal(json_string_value(json_object_get(taken, "stop")), "count");
    }
    assert_true(rows[0].vs_v1 == 1 && isfinite(rows[1].vs_v1) && isnan(rows[2].vs_v1));
    for (int i = 0; i < 3; i++)
        rung_row_release(&rows[i]);
    rung_bench_close(&bench);
}

/* In turn over copies of the input, and as a graph: the sums of the last copy are right, too. */
static void every_way_of_timing_leaves_a_right_sum(void **state)
{
    (void)state;
    const struct rung_config config = {.version = 3, .block = 128};
    const struct rung_sampling ways[] = {
        {RUNG_STATE_WARM,  RUNG_TIMER_GRAPH},
        {RUNG_STATE_WARM,  RUNG_TIMER_BATCH},
        {RUNG_STATE_DIRTY, RUNG_TIMER_WALL }
    };
    struct rung_bench bench;
    open_bench(&bench, &config, 1);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct rung_row row;
        struct rung_error err = {0};
        struct rung_timing_options timing = five_samples(ways[i].state, ways[i].timer);
        const struct rung_measure_options options = {
            .n = 3000, .timing = &timing, .ceiling_gb_per_s = NAN};
        assert_int_equal(rung_bench_measure(&row, &bench, &options, &err), RUNG_OK);
        if (row.status != RUNG_ROW_OK)
            fail_msg("%s", row.reason);
        assert_true(row.time_ms.known && isnan(row.of_ceiling));
        rung_row_release(&row);
    }
    rung_bench_close(&bench);
}

/* Right when it was verified, wrong while it was timed: no time is credited. */
static void a_sum_that_goes_wrong_while_timed_is_seen(void **state)
{
    (void)state;
    const struct rung_config config = {.version = 3, .block = 128};
    struct rung_bench bench;
    struct rung_row row;
    struct rung_error err = {0};
    struct rung_timing_options timing = five_samples(RUNG_STATE_WARM, RUNG_TIMER_ISOLATED);
    const struct rung_measure_options options = {
        .n = 3000, .timing = &timing, .ceiling_gb_per_s = NAN};
    open_bench(&bench, &config, 1);
    launches_until_wrong = 10; /* verified in one run of two passes: far into the timing */
    assert_int_equal(rung_bench_measure(&row, &bench, &options, &err), RUNG_OK);
    launches_until_wrong = 0;
    assert_int_equal(row.status, RUNG_ROW_WRONG);
    assert_false(row.correct || row.time_ms.known);
    assert_non_null(strstr(row.reason, "version 3, block 128, n = 3000"));
    rung_row_release(&row);
    rung_bench_close(&bench);
}

static void the_places_of_rotate_pass_the_cache_four_times(void **state)
{
    (void)state;
    uint64_t l2 = (uint64_t)50 << 20;
    assert_int_equal(rung_timing_places(RUNG_STATE_WARM, 4096, l2), 1);
    assert_int_equal(rung_timing_places(RUNG_STATE_ROTATE, (uint64_t)64 << 20, l2), 5);
    assert_int_equal(rung_timing_places(RUNG_STATE_ROTATE, (uint64_t)200 << 20, l2), 2);
    assert_int_equal(rung_timing_places(RUNG_STATE_ROTATE, 0, l2), 1);
}

static void library_row(struct rung_library_row *row, enum rung_state state, enum rung_timer timer)
{
    struct rung_error err = {0};
    struct rung_timing_options timing = five_samples(state, timer);
    const struct rung_library_request request = {.op = RUNG_OP_DOT,
                                                 .type = RUNG_TYPE_F64,
                                                 .n = 16000, /* no block of them can be missing */
                                                 .all_patterns = true,
                                                 .timing = &timing,
                                                 .ceiling_gb_per_s = 2000};
    if (rung_library_measure(row, &device, &request, &err) != RUNG_OK)
        fail_msg("%s", err.text);
}

static void librung_has_times_and_rates(void **state)
{
    (void)state;
    static const struct rung_sampling ways[] = {
        {RUNG_STATE_CLEAN,  RUNG_TIMER_ISOLATED},
        {RUNG_STATE_ROTATE, RUNG_TIMER_ISOLATED},
        {RUNG_STATE_WARM,   RUNG_TIMER_GRAPH   },
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct rung_library_row row;
        library_row(&row, ways[i].state, ways[i].timer);
        if (row.status != RUNG_ROW_OK)
            fail_msg("%s", row.reason);
        assert_true(row.correct && row.sum == row.expected && row.bytes == 256000);
        assert_true(row.time_ms.known && row.time_ms.n_samples == 5 && row.time_ms.min > 0);
        assert_true(fabs(row.gb_per_s - 256e3 / row.time_ms.median / 1e6) < 1e-9);
        assert_true(fabs(row.of_ceiling - row.gb_per_s / 2000) < 1e-12);
        assert_int_equal(row.runs, 3 + 5 + 1 + 1); /* exact ones, bits, random, and while timed */
        rung_library_row_release(&row);
    }
}

/* From the first launch on, and from one on that is timed. */
static void librung_that_goes_wrong_is_seen(void **state)
{
    (void)state;
    const unsigned begins[] = {1, 12};
    for (int i = 0; i < 2; i++) {
        struct rung_library_row row;
        launches_until_wrong = begins[i];
        library_row(&row, RUNG_STATE_WARM, RUNG_TIMER_ISOLATED);
        launches_until_wrong = 0;
        assert_int_equal(row.status, RUNG_ROW_WRONG);
        assert_false(row.correct || row.time_ms.known);
        assert_true(isnan(row.gb_per_s));
        assert_non_null(strstr(row.reason, i ? "while timed" : "random01"));
        rung_library_row_release(&row);
    }
}

/* The read ceiling counts bytes that were read: wherever one word is set, the kernel sees it. */
static void the_read_kernel_reads_every_word(void **state)
{
    (void)state;
    const struct rung_driver *d = &device.driver;
    const unsigned long long sizes[] = {1, 511, 2048, 2049, 6000};
    CUmodule module;
    CUfunction function;
    CUdeviceptr in, out;
    assert_int_equal(d->cuModuleLoadDataEx(&module, rung_read_ptx, 0, NULL, NULL), 0);
    assert_int_equal(d->cuModuleGetFunction(&function, module, RUNG_READ_KERNEL_SYMBOL), 0);
    assert_int_equal(d->cuMemAlloc(&in, 6000 * 16), 0);
    assert_int_equal(d->cuMemAlloc(&out, 4), 0);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (unsigned long long at = 0; at < sizes[i]; at += at < 600 ? 1 : 191) {
            unsigned long long n = sizes[i];
            unsigned seen = 0;
            void *params[] = {&in, &out, &n};
            assert_int_equal(d->cuMemsetD8(in, 0, 6000 * 16), 0);
            assert_int_equal(d->cuMemsetD32(in + 16 * at + 4 * (at % 4), 5, 1), 0);
            assert_int_equal(d->cuMemsetD32(out, 0, 1), 0);
            assert_int_equal(d->cuLaunchKernel(function, 2, 1, 1, RUNG_READ_KERNEL_BLOCK, 1, 1, 0,
                                               device.stream, params, NULL),
                             0);
            assert_int_equal(d->cuStreamSynchronize(device.stream), 0);
            assert_int_equal(d->cuMemcpyDtoH(&seen, out, 4), 0);
            if (seen != 5)
                fail_msg("word %llu of %llu is not read", at, n);
        }
    d->cuMemFree(out);
    d->cuMemFree(in);
    d->cuModuleUnload(module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_read_kernel_reads_every_word),
        cmocka_unit_test(librung_has_times_and_rates),
        cmocka_unit_test(librung_that_goes_wrong_is_seen),
        cmocka_unit_test(a_row_has_times_and_rates),
        cmocka_unit_test(every_way_of_timing_leaves_a_right_sum),
        cmocka_unit_test(a_sum_that_goes_wrong_while_timed_is_seen),
        cmocka_unit_test(the_places_of_rotate_pass_the_cache_four_times),
    };
    return cmocka_run_group_tests(tests, open_card, close_card);
}
