/* The machine that executes PTX: a program made from a parsed module, and launches of its entries.
 * It knows modules, memory and blocks; contexts, streams and handles are the Driver API's front
 * (sim/driver_sim.c). No state of its own between calls. */
#ifndef RUNG_SIM_MACHINE_H
#define RUNG_SIM_MACHINE_H

#include "ptx/module.h"
#include "sim/memory.h"
#include "sim/sim.h"

/* Limits of the simulated card. */
#define RUNG_SIM_ISA_VERSION 90 /* highest .version taken: 9.0, of CUDA 13.0 */
#define RUNG_SIM_BLOCK_THREADS_MAX 1024
#define RUNG_SIM_SHARED_DEFAULT 49152 /* static + dynamic bytes without opting in */
#define RUNG_SIM_SHARED_OPTIN 232448  /* 227 KiB, with cuFuncSetAttribute */
#define RUNG_SIM_SM_COUNT 16

struct rung_sim_program; /* all entries of one module, decoded */
struct rung_sim_kernel;  /* one entry of it */

/* Parses and decodes PTX text for a card of compute capability `cc` (121 for 12.1). Module scope
 * .global and .const variables are allocated in `memory`, which must outlive the program.
 * Failures are RUNG_COMPILE with err->native the driver's code: 200 not PTX, 218 syntax, an
 * instruction or directive outside the supported set ("unsupported instruction `wgmma.fence` at
 * line 40"), a .target above the card, a .version below the target's floor; 222 a .version above
 * RUNG_SIM_ISA_VERSION. Text behind a cubin's or fatbin's magic is 209. `*out` is NULL on failure.
 */
enum rung_status rung_sim_program_load(struct rung_sim_program **out,
                                       struct rung_sim_memory *memory, const void *image,
                                       size_t length, unsigned cc, struct rung_error *err);
void rung_sim_program_release(struct rung_sim_program *program);

const struct rung_ptx_module *rung_sim_program_module(const struct rung_sim_program *program);

/* NULL if the module has no such entry. */
const struct rung_sim_kernel *rung_sim_program_kernel(const struct rung_sim_program *program,
                                                      const char *name);

/* Device address and bytes of a module scope variable; false if there is none. */
bool rung_sim_program_global(const struct rung_sim_program *program, const char *name,
                             uint64_t *address, uint64_t *bytes);

struct rung_sim_kernel_facts {
    const char *name;
    unsigned max_threads;  /* from .maxntid, at most 1024 */
    uint64_t shared_bytes; /* static */
    uint64_t const_bytes, local_bytes;
    unsigned registers;   /* 32-bit registers that the PTX declares and uses, at most 255 */
    unsigned ptx_version; /* 75: the .target */
    uint32_t n_params;
    uint32_t param_bytes;                     /* size of the parameter block */
    const struct rung_ptx_function *function; /* params[i]: offset and bytes of each */
};
void rung_sim_kernel_facts(struct rung_sim_kernel_facts *out, const struct rung_sim_kernel *kernel);

struct rung_sim_launch {
    const struct rung_sim_kernel *kernel;
    uint32_t grid[3], block[3];
    uint64_t dynamic_bytes; /* of shared memory; the front has tested the limits */
    const void *params;     /* the parameter block, facts.param_bytes bytes */
    struct rung_sim_memory *memory;
    struct rung_sim_options options;
};

/* The findings of the launches so far, in the order of blocks. Zero-initialise. */
struct rung_sim_findings {
    struct rung_sim_finding *items; /* at most RUNG_SIM_FINDINGS_MAX are kept */
    size_t n_items, room;
    uint64_t total;
};
#define RUNG_SIM_FINDINGS_MAX 1000
void rung_sim_findings_clear(struct rung_sim_findings *findings);
void rung_sim_findings_release(struct rung_sim_findings *findings);

/* Runs every block of a launch to its end and adds to `counters` and `findings`. The result is the
 * CUresult that a synchronise then returns: 0, 700 out of bounds, 716 misaligned, 719 trap (or a
 * finding in strict mode), 702 step budget spent, 2 out of host memory, 1 bad shape. `why` gets one
 * line for anything but 0. Blocks that had not begun are not run after a failure. */
int rung_sim_run(struct rung_sim_counters *counters, struct rung_sim_findings *findings,
                 const struct rung_sim_launch *launch, char why[256]);

#endif
