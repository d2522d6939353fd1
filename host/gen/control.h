/* The negative controls: kernels that are wrong on purpose, kept beside the templates in
 * ptx_src/controls/, each a known mistake. They are never part of the ladder. */
#ifndef RUNG_GEN_CONTROL_H
#define RUNG_GEN_CONTROL_H

#include <stdint.h>

#include "gen/template.h"

struct rung_control {
    const char *name;      /* "v4-wrong-index" */
    const char *title;     /* the mistake in one line */
    const char *against;   /* the version it spoils, in words for the reader */
    const char *caught_by; /* the check that must tell: "pattern", "race", "barrier", "bounds", … */
    unsigned block;        /* threads per block at which it shows; 0: at any */
    uint64_t least_n;      /* elements from which it shows; 0: at any number */
    const struct rung_template *tpl;
};

struct rung_controls {
    const struct rung_control *controls;
    size_t n_controls;
};

enum rung_status rung_controls_load(struct rung_controls *out, struct rung_arena *arena,
                                    struct rung_error *err);

#endif
