/* A reduction version as its author wrote it: one file of ptx_src/, whose `//!` directives say what
 * the kernel does and whose body is CUDA that names those directives. ptx_src/README.md is the
 * reference of the directive language. The text of every template is part of the program. */
#ifndef RUNG_GEN_TEMPLATE_H
#define RUNG_GEN_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "config/config.h"

struct rung_template; /* one version, or one variant of a version */

/* All versions, ordered by version, then variant. */
struct rung_ladder {
    const struct rung_template *const *versions;
    size_t n_versions;
};

/* How the grid of a pass follows from its number of elements. */
enum rung_grid_rule {
    RUNG_GRID_TILES, /* one block per `elements_per_block` elements, rounded up, at least one */
    RUNG_GRID_FIXED  /* at most as many blocks as the card keeps resident; a grid-stride loop */
};

/* Parses the templates that the build embedded. RUNG_USAGE names file, line and what is wrong. */
enum rung_status rung_ladder_load(struct rung_ladder *out, struct rung_arena *arena,
                                  struct rung_error *err);

/* Parses one template text; `name` stands in messages. For the generator's tests, and controls. */
enum rung_status rung_template_parse(const struct rung_template **out, struct rung_arena *arena,
                                     const char *name, const char *text, struct rung_error *err);

/* The template of a version and variant; NULL if the ladder has none. */
const struct rung_template *rung_ladder_find(const struct rung_ladder *ladder, unsigned version,
                                             enum rung_variant variant);

unsigned rung_template_version(const struct rung_template *tpl);
enum rung_variant rung_template_variant(const struct rung_template *tpl);
const char *rung_template_title(const struct rung_template *tpl);  /* "interleaved, divergent" */
const char *rung_template_change(const struct rung_template *tpl); /* against the rung below */
const char *rung_template_file(const struct rung_template *tpl);   /* "reduce_v1.cu.in" */

/* Whether this version has the configuration; if not, RUNG_USAGE with the reason in words that
 * name the value: "version 6 has no run-time bound: its tree is unrolled by construction". */
enum rung_status rung_template_supports(const struct rung_template *tpl,
                                        const struct rung_config *config, struct rung_error *err);

/* Why the version lacks a value of an axis, by its word ("runtime"); NULL if it has it. Variants
 * are templates of their own. */
const char *rung_template_lacks(const struct rung_template *tpl, const char *word);

/* What the host must know to launch a configuration. */
struct rung_shape {
    enum rung_grid_rule grid_rule;
    unsigned elements_per_thread; /* 1, 2; for RUNG_GRID_FIXED at least this many */
    bool takes_step;              /* a last argument `unsigned int step`, which must be 2 */
    bool rereads_input; /* of a negative control whose mistake is the host's: each pass is given
                           the input again, not the partial sums of the pass before */
};
void rung_template_shape(struct rung_shape *out, const struct rung_template *tpl,
                         const struct rung_config *config);

/* Appends the CUDA source of a configuration: header-free, one `extern "C"` kernel named by
 * rung_config_symbol, with the static_asserts that hold its model. Depends on nothing but the
 * template and the configuration. Parameters of the kernel, in order: `const T *in` (for dot
 * `const T *a, const T *b`), `T *out` (one value per block), `unsigned long long n`, and the step
 * where the shape has one. */
enum rung_status rung_template_emit(struct rung_text *out, const struct rung_template *tpl,
                                    const struct rung_config *config, struct rung_error *err);

#endif
