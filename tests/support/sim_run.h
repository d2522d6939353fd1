/* Running PTX text in a test: load, launch, look at counters, findings and memory. */
#ifndef RUNG_TESTS_SUPPORT_SIM_RUN_H
#define RUNG_TESTS_SUPPORT_SIM_RUN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/machine.h"

#define SIM_CC 121

/* Everything of one program and its launches. */
struct sim_run {
    struct rung_sim_memory memory;
    struct rung_sim_program *program;
    struct rung_sim_counters counters; /* of all launches so far */
    struct rung_sim_findings findings;
    char why[256];
};

static inline void sim_load(struct sim_run *run, const char *text)
{
    struct rung_error err = {0};
    memset(run, 0, sizeof *run);
    if (rung_sim_program_load(&run->program, &run->memory, text, strlen(text), SIM_CC, &err))
        fail_msg("%s", err.text);
}

static inline void sim_unload(struct sim_run *run)
{
    rung_sim_program_release(run->program);
    rung_sim_memory_release(&run->memory);
    rung_sim_findings_release(&run->findings);
}

static inline uint64_t sim_alloc(struct sim_run *run, uint64_t bytes)
{
    uint64_t address = rung_sim_memory_alloc(&run->memory, bytes, NULL);
    assert_true(address != 0);
    return address;
}

static inline void *sim_host(struct sim_run *run, uint64_t address, uint64_t bytes)
{
    void *host = rung_sim_memory_at(&run->memory, address, bytes);
    assert_non_null(host);
    return host;
}

/* Launches a one-dimensional grid; the CUresult. `params` is the parameter block. */
static inline int sim_launch(struct sim_run *run, const char *entry, uint32_t grid, uint32_t block,
                             uint64_t dynamic_bytes, const void *params,
                             const struct rung_sim_options *options)
{
    struct rung_sim_launch launch = {
        .kernel = rung_sim_program_kernel(run->program, entry),
        .grid = {grid,  1, 1},
        .block = {block, 1, 1},
        .dynamic_bytes = dynamic_bytes,
        .params = params,
        .memory = &run->memory,
    };
    if (options)
        launch.options = *options;
    assert_non_null(launch.kernel);
    return rung_sim_run(&run->counters, &run->findings, &launch, run->why);
}

static inline void sim_forget(struct sim_run *run)
{
    memset(&run->counters, 0, sizeof run->counters);
    rung_sim_findings_clear(&run->findings);
}

#endif
