/* Run alone: build/tests/test_sim_driver_checks
 * The checking mode as a host sees it: findings, and what they do to a launch that is strict. */
#include "support/kernels.h"
#include "support/sim_fixture.h"

static uint64_t findings_of(const char *ptx, const char *name, unsigned block,
                            struct rung_sim_finding *first)
{
    CUmodule module;
    CUfunction kernel = load_function(&module, ptx, name);
    cu.sim->reset();
    assert_code(launch(kernel, 1, block, NULL, NULL), CUDA_SUCCESS);
    cu.cuCtxSynchronize();
    memset(first, 0, sizeof *first);
    uint64_t total = cu.sim->read_findings(first, 1);
    cu.cuModuleUnload(module);
    return total;
}

static void checking(bool strict)
{
    cu.sim->set_options(&(struct rung_sim_options){.check = true, .strict = strict, .threads = 1});
}

static void without_checks_there_are_no_findings(void **state)
{
    (void)state;
    struct rung_sim_finding finding;
    assert_int_equal(findings_of(PTX_TURN(""), "turn", 256, &finding), 0);
}

static void a_missing_barrier_is_a_race(void **state)
{
    (void)state;
    struct rung_sim_finding finding;
    checking(false);
    assert_true(findings_of(PTX_TURN(""), "turn", 256, &finding) > 0);
    assert_int_equal(finding.kind, RUNG_SIM_RACE);
    assert_int_equal(finding.block, 0);
    assert_true(finding.line == 13 || finding.line == 12); /* the load, or the store */
    assert_int_not_equal(finding.text[0], '\0');
    assert_code(cu.cuCtxSynchronize(), CUDA_SUCCESS); /* told, and gone on */
}

static void a_barrier_orders(void **state)
{
    (void)state;
    struct rung_sim_finding finding;
    checking(false);
    uint64_t total = findings_of(PTX_TURN("bar.sync 0;\n"), "turn", 256, &finding);
    /* The last thread reads a word that nobody wrote, and that is all there is to tell. */
    assert_int_equal(total, 1);
    assert_int_equal(finding.kind, RUNG_SIM_UNINITIALISED);
    assert_int_equal(finding.line, 14);
    assert_int_equal(finding.warp, 7);
    assert_int_equal(finding.lanes, 0x80000000u);
}

static void a_divergent_barrier_is_found(void **state)
{
    (void)state;
    struct rung_sim_finding finding;
    checking(false);
    assert_true(findings_of(PTX_PART, "part", 64, &finding) > 0);
    assert_int_equal(finding.kind, RUNG_SIM_BARRIER);
}

static void strict_findings_fail_the_launch(void **state)
{
    (void)state;
    CUmodule module;
    checking(true);
    CUfunction turn = load_function(&module, PTX_TURN(""), "turn");
    assert_code(launch(turn, 1, 256, NULL, NULL), CUDA_SUCCESS);
    assert_code(cu.cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
    assert_code(cu.cuModuleUnload(module), CUDA_ERROR_LAUNCH_FAILED);
}

static void a_trap_is_719(void **state)
{
    (void)state;
    CUmodule module;
    CUfunction stop = load_function(&module, PTX_STOP, "stop");
    assert_code(launch(stop, 1, 1, NULL, NULL), CUDA_SUCCESS);
    assert_code(cu.cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
    assert_code(cu.cuModuleUnload(module), CUDA_ERROR_LAUNCH_FAILED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        sim_test(without_checks_there_are_no_findings),
        sim_test(a_missing_barrier_is_a_race),
        sim_test(a_barrier_orders),
        sim_test(a_divergent_barrier_is_found),
        sim_test(strict_findings_fail_the_launch),
        sim_test(a_trap_is_719),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
