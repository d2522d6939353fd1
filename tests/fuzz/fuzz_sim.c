/* Arbitrary bytes to the simulator's loader; what loads is executed, checked and with a small budget
 * of steps: whatever the kernel does, the host's memory stays whole. */
#include <stdlib.h>
#include <string.h>

#include "ptx/module.h"
#include "sim/machine.h"

#define BUFFER_BYTES 8192
#define PARAMS_MAX 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run(struct rung_sim_memory *memory, const struct rung_sim_kernel *kernel)
{
    static const uint64_t seeds[] = {0, 3};
    struct rung_sim_kernel_facts facts;
    unsigned char params[PARAMS_MAX] = {0};
    rung_sim_kernel_facts(&facts, kernel);
    if (facts.param_bytes > sizeof params)
        return;
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
        struct rung_sim_counters counters = {0};
        struct rung_sim_findings findings = {0};
        char why[256];
        uint64_t buffer = rung_sim_memory_alloc(memory, BUFFER_BYTES, NULL);
        for (size_t at = 0; at + sizeof buffer <= sizeof params; at += sizeof buffer)
            memcpy(params + at, &buffer, sizeof buffer);
        struct rung_sim_launch launch = {
            .kernel = kernel,
            .grid = {2, 1, 1},
            .block = {40, 1, 1},
            .dynamic_bytes = 64,
            .params = params,
            .memory = memory,
            .options = {.check = true, .seed = seeds[i], .step_budget = 3000, .threads = 1},
        };
        rung_sim_run(&counters, &findings, &launch, why);
        rung_sim_findings_release(&findings);
        rung_sim_memory_free(memory, buffer);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rung_sim_memory memory = {0};
    struct rung_sim_program *program;
    struct rung_error err = {0};
    if (rung_sim_program_load(&program, &memory, data, size, 121, &err) == RUNG_OK) {
        const struct rung_ptx_module *module = rung_sim_program_module(program);
        for (uint32_t i = 0; i < module->n_functions && i < 4; i++) {
            const struct rung_sim_kernel *kernel =
                rung_sim_program_kernel(program, module->functions[i]->name);
            if (kernel)
                run(&memory, kernel);
        }
    } else if (!err.native || !err.text[0]) {
        abort(); /* every refusal has the driver's code and a reason */
    }
    rung_sim_program_release(program);
    rung_sim_memory_release(&memory);
    return 0;
}
