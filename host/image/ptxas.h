/* NVIDIA's assembler as a judge of PTX. Optional: nothing needs it but the proof that lowered PTX
 * still assembles. */
#ifndef RUNG_IMAGE_PTXAS_H
#define RUNG_IMAGE_PTXAS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Looked for in RUNG_PTXAS (a file), beside the program where the set-up unpacks NVIDIA's wheels,
 * in CUDA_HOME, CUDA_PATH, /usr/local/cuda, and on PATH. The caller frees the path; NULL: none. */
char *rung_ptxas_find(void);

/* Assembles the text for `target` ("sm_90"). RUNG_COMPILE: refused, in its words; RUNG_IO: it could
 * not be run. */
enum rung_status rung_ptxas_check(const char *ptxas, const char *text, size_t length,
                                  const char *target, struct rung_error *err);

#endif
