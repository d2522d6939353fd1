/* Printing a specialised kernel. Used inside host/gen only. */
#ifndef RUNG_GEN_EMIT_H
#define RUNG_GEN_EMIT_H

#include "gen/kernel.h"

/* What every name prints as inside the kernel: constants as their values, width as the loop bound
 * of the configuration, all others as themselves. */
void rung_kernel_bind(struct rung_binding bindings[RUNG_NAMES_MAX],
                      const struct rung_kernel *kernel);

/* The element type in CUDA, "float", and its zero, "0.0f". */
const char *rung_type_cuda(enum rung_type type);
const char *rung_type_zero(enum rung_type type);

/* Appends the body of the template with its placeholders filled. RUNG_USAGE also where the body
 * leaves a directive unused, so that text and model cannot drift apart. `traced`: with the same
 * lines, and what touches data written down in a log (gen/traced.h). */
enum rung_status rung_emit_kernel(struct rung_text *out, struct rung_arena *arena,
                                  struct rung_kernel *kernel, bool traced, struct rung_error *err);

/* Appends the model of the kernel as constexpr functions and the static_asserts that hold it. */
enum rung_status rung_emit_checks(struct rung_text *out, struct rung_arena *arena,
                                  struct rung_kernel *kernel, struct rung_error *err);

#endif
