/* From the two languages into the one form (code.h). */
#ifndef RUNG_INSPECT_LOWER_H
#define RUNG_INSPECT_LOWER_H

#include <jansson.h>

#include "inspect/code.h"
#include "ptx/module.h"

/* A function behind a kernel, in the same section. */
struct rung_sass_routine {
    const char *name;
    uint64_t offset; /* bytes from the start of the kernel */
};

struct rung_sass_input {
    const char *name;                         /* of the kernel */
    const json_t *array;                      /* nvdisasm's instructions */
    size_t first, count;                      /* those of this kernel */
    const struct rung_sass_routine *routines; /* may be NULL */
    size_t n_routines;
};

/* False when out of memory. Anything unexpected in the array is an instruction that computes
 * something from what it names. */
bool rung_lower_sass(struct rung_code *out, const struct rung_sass_input *input,
                     struct rung_arena *arena);

/* One kernel of a module; `lines` are those of its text. */
bool rung_lines_split(struct rung_lines *out, const char *text, size_t length,
                      struct rung_arena *arena);
bool rung_lower_ptx(struct rung_code *out, const struct rung_ptx_function *function,
                    const struct rung_lines *lines, struct rung_arena *arena);

#endif
