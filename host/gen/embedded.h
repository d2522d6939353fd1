/* The files of ptx_src/ as the build put them into the program (tools/cmake/embed.cmake), sorted by
 * name. Used inside host/gen only. */
#ifndef RUNG_GEN_EMBEDDED_H
#define RUNG_GEN_EMBEDDED_H

#include <stddef.h>

struct rung_embedded {
    const char *name; /* "reduce_v1.cu.in", "controls/v4_wrong_index.cu.in" */
    const char *text;
};

extern const struct rung_embedded rung_embedded_files[];
extern const size_t rung_embedded_count;

/* The text of a file; NULL if there is none of that name. */
const char *rung_embedded_text(const char *name);

#endif
