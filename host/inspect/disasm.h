/* SASS as text, by NVIDIA's nvdisasm: found, run in parallel on the machine code of many kernels at
 * once, and its JSON read. One process takes a third of a second to start, so kernels for one
 * target share one. Nothing here trusts its input: a process that fails, is killed or prints
 * something else costs the kernels that it was given, nothing more. */
#ifndef RUNG_INSPECT_DISASM_H
#define RUNG_INSPECT_DISASM_H

#include <jansson.h>
#include <stddef.h>

#include "base/error.h"

struct rung_disasm {
    char path[512];
};

/* Finds nvdisasm: `path` when not NULL, else the environment's RUNG_NVDISASM, else what the set-up
 * put beside the program (cuda/nvidia/cu13/bin), the toolkit's bin under CUDA_HOME, CUDA_PATH or
 * /usr/local/cuda, and PATH. RUNG_UNABLE says where it was looked for and what provides it. */
enum rung_status rung_disasm_find(struct rung_disasm *out, const char *path,
                                  struct rung_error *err);

/* The code of one kernel, and what came of it. */
struct rung_disasm_job {
    unsigned sm;               /* 90 */
    const unsigned char *text; /* machine code: 16 bytes an instruction */
    size_t length;
    json_t *document; /* nvdisasm's, a reference of its own; NULL if it failed */
    json_t *array;    /* within it: objects with opcode, operands, predicate */
    size_t first;     /* where this kernel begins in the array, ... */
    size_t count;     /* ... and how many instructions it has */
    enum rung_status status;
    struct rung_error err;
};

/* Runs all jobs; each tells of itself. */
void rung_disasm_run(struct rung_disasm_job *jobs, size_t n_jobs, const struct rung_disasm *disasm);
void rung_disasm_job_release(struct rung_disasm_job *job);

/* "13.2.51" of the producer line; "" if there is none. */
void rung_disasm_version(char version[32], const struct rung_disasm_job *job);

#endif
