/* What the tests of the simulated driver share: a primary context that is current, and the check
 * that a test released everything it took. */
#ifndef RUNG_TESTS_SUPPORT_SIM_FIXTURE_H
#define RUNG_TESTS_SUPPORT_SIM_FIXTURE_H

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "driver/driver.h"
#include "sim/sim.h"

static struct rung_driver cu;
static uint64_t sim_fixture_live;

/* A code by its name, so that a failure reads. */
static inline void assert_code(CUresult got, CUresult wanted)
{
    if (got != wanted)
        fail_msg("%s instead of %s", rung_cu_error_name(NULL, got),
                 rung_cu_error_name(NULL, wanted));
}

static inline void assert_contains(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' lacks '%s'", text, part);
}

static inline int sim_setup(void **state)
{
    CUcontext context;
    (void)state;
    rung_driver_open_sim(&cu);
    sim_fixture_live = cu.sim->live_handles();
    if (cu.cuInit(0) || cu.cuDevicePrimaryCtxRetain(&context, 0) || cu.cuCtxSetCurrent(context))
        return -1;
    cu.sim->reset();
    cu.sim->set_options(&(struct rung_sim_options){.threads = 1});
    return 0;
}

static inline int sim_teardown(void **state)
{
    (void)state;
    cu.cuDevicePrimaryCtxRelease(0);
    cu.sim->set_options(&(struct rung_sim_options){0});
    uint64_t left = cu.sim->live_handles() - sim_fixture_live;
    if (left)
        fprintf(stderr, "%llu handles or allocations left behind\n", (unsigned long long)left);
    return left ? -1 : 0;
}

#define sim_test(function) cmocka_unit_test_setup_teardown(function, sim_setup, sim_teardown)

static inline CUfunction load_function(CUmodule *module, const char *ptx, const char *name)
{
    CUfunction function = NULL;
    assert_code(cu.cuModuleLoadDataEx(module, ptx, 0, NULL, NULL), CUDA_SUCCESS);
    assert_code(cu.cuModuleGetFunction(&function, *module, name), CUDA_SUCCESS);
    return function;
}

static inline CUresult launch(CUfunction function, unsigned grid, unsigned block, CUstream stream,
                              void **params)
{
    return cu.cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, stream, params, NULL);
}

#endif
