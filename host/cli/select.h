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
    /* As typed, NULL where not given. Borrowed from argv. */
    const char *version, *block, *bound, *unroll, *predicate, *op, *type, *variant, *n, *target;
    const char *image, *device, *nvrtc, *driver, *format, *output;
    bool check;
    uint64_t seed; /* 0 where not given */
};

/* Child parsers, each with a struct rung_selection as input. A command hangs in what it heeds and
 * nothing else: the axes of an id; --n; where it runs (--device, --driver, --image, --target,
 * --nvrtc); --check; --seed; the output (--format, -o). rung_selection_argp is all of them. */
extern const struct argp rung_selection_argp;
extern const struct argp rung_axes_argp;
extern const struct argp rung_n_argp;
extern const struct argp rung_no_n_argp; /* refuses --n by name */
extern const struct argp rung_where_argp;
extern const struct argp rung_check_argp;
extern const struct argp rung_seed_argp;
extern const struct argp rung_output_argp;

struct rung_refusal {
    struct rung_config config;
    char reason[256];
};

struct rung_expanded {
    struct rung_config *configs; /* in the order of the axes, versions innermost; no two alike */
    size_t n_configs;
    struct rung_refusal *refused; /* combinations that cannot exist, each with its reason */
    size_t n_refused;
    uint64_t *ns; /* element counts, as asked for */
    size_t n_ns;
};

/* The product of the axes. "all" stands for every value of an axis. An unknown value is RUNG_USAGE
 * naming it and what is allowed; so is a version asked for by number, or a value of another axis,
 * that no combination is left of. */
enum rung_status rung_selection_expand(struct rung_expanded *out,
                                       const struct rung_selection *selection,
                                       const struct rung_ladder *ladder, struct rung_error *err);
void rung_expanded_release(struct rung_expanded *expanded);

/* Names what was left out on `to`, one line for each reason. */
void rung_expanded_report(const struct rung_expanded *expanded, const char *command, FILE *to);

/* --image as a kind, RUNG_IMAGE_AUTO where not given. */
enum rung_status rung_selection_image(enum rung_image_kind *out,
                                      const struct rung_selection *selection,
                                      struct rung_error *err);

/* --target as numbers (75, 90, ...): a list of "sm_XX", "native" (`native`, or RUNG_UNABLE if that
 * is 0) and "all" (every one of `supported`, those of NVRTC; may be empty). Where nothing was
 * given, `native` if it is not 0, else 75. A target that neither `supported` nor the list of known
 * ones has is RUNG_USAGE; one that is known but not supported here is RUNG_UNABLE. `*targets` is
 * freed by the caller. */
enum rung_status rung_selection_targets(unsigned **targets, size_t *n_targets,
                                        const struct rung_selection *selection, unsigned native,
                                        const unsigned *supported, size_t n_supported,
                                        struct rung_error *err);

#endif
