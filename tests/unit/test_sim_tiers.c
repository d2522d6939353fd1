/* Kernels of every tier of instructions, compiled by both code generators (tests/data/tiers): the
 * sums are right under every schedule, what is right is never reported, what is not always is. */
#include "support/sim_run.h"

#include "base/file.h"

#define N 4001
#define GRID 16
#define SEEDS 6

static void run_kernel(struct sim_run *run, const char *name)
{
    uint64_t in = sim_alloc(run, N * 4), out = sim_alloc(run, 4), params[] = {in, out, N};
    bool racy = !strcmp(name, "t_last_warp_2007");
    float *x = sim_host(run, in, N * 4), *sum = sim_host(run, out, 4);
    for (int i = 0; i < N; i++)
        x[i] = 1;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct rung_sim_options options = {.check = true, .seed = seed};
        *sum = 0;
        sim_forget(run);
        int code = sim_launch(run, name, GRID, 256, 0, params, &options);
        if (code || *sum != N || (run->findings.total > 0) != racy)
            fail_msg("%s, seed %d: code %d, sum %g, %d findings: %s %s", name, (int)seed, code,
                     (double)*sum, (int)run->findings.total, run->why,
                     run->findings.n_items ? run->findings.items[0].text : "");
        for (size_t i = 0; i < run->findings.n_items; i++)
            assert_int_equal(run->findings.items[i].kind, RUNG_SIM_RACE);
    }
}

static void run_file(const char *path, unsigned at_least)
{
    struct sim_run run;
    struct rung_error err = {0};
    char *text;
    size_t length;
    unsigned n = 0;
    if (rung_file_read(&text, &length, path, &err))
        fail_msg("%s", err.text);
    sim_load(&run, text);
    const struct rung_ptx_module *module = rung_sim_program_module(run.program);
    for (uint32_t i = 0; i < module->n_functions; i++, n++)
        run_kernel(&run, module->functions[i]->name);
    assert_true(n >= at_least);
    sim_unload(&run);
    free(text);
}

static void test_older_code_generator(void **state)
{
    (void)state;
    run_file(RUNG_SOURCE_DIR "/tests/data/tiers/tiers_sm75.ptx", 13);
}

static void test_newer_code_generator(void **state)
{
    (void)state;
    run_file(RUNG_SOURCE_DIR "/tests/data/tiers/tiers_sm120.ptx", 14);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_older_code_generator),
                                       cmocka_unit_test(test_newer_code_generator)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
