/* The options that choose configurations, shared by every command that has axes: an argp parser to
 * hang into a command's own, and the expansion of what was asked into configurations. */
#ifndef RUNG_CLI_SELECT_H
#define RUNG_CLI_SELECT_H

#include <argp.h>

#include "cli/output.h"
#include "config/config.h"
#include "gen/template.h"
#include "image/image.h"

struct rung_selection {
    /* As typed, NULL where not given. */
    const char *version, *block, *bound, *unroll, *predicate, *op, *type, *variant, *n, *target;
    const char *image, *device, *nvrtc, *driver, *format, *output;
    bool check;
    uint64_t seed;
};

/* Child parser; its input is a struct rung_selection. */
extern const struct argp rung_selection_argp;

struct rung_refusal {
    struct rung_config config;
    char reason[256];
};

struct rung_expanded {
    struct rung_config *configs; /* in the order of the axes, versions innermost */
    size_t n_configs;
    struct rung_refusal *refused; /* combinations that cannot exist, each with its reason */
    size_t n_refused;
    uint64_t *ns; /* element counts */
    size_t n_ns;
};

/* The product of the axes. An unknown value is RUNG_USAGE naming it and what is allowed; so is a
 * version asked for by number, or a value of another axis, that no combination is left of. */
enum rung_status rung_selection_expand(struct rung_expanded *out,
                                       const struct rung_selection *selection,
                                       const struct rung_ladder *ladder, struct rung_error *err);
void rung_expanded_release(struct rung_expanded *expanded);

#endif
