/* A loaded module; program.c makes it, the decoder asks it for addresses. */
#ifndef RUNG_SIM_PROGRAM_H
#define RUNG_SIM_PROGRAM_H

#include "sim/exec.h"

struct sim_variable {
    const struct rung_ptx_symbol *symbol;
    uint64_t address;
};

struct rung_sim_program {
    struct rung_ptx_module module;
    struct rung_arena arena;
    struct rung_sim_memory *memory;
    struct sim_variable *variables; /* .global and .const of module scope */
    uint32_t n_variables;
    uint64_t const_bytes;
    struct rung_sim_kernel *kernels;
    uint32_t n_kernels;
};

#endif
