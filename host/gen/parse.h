/* Template text to lines. Used inside host/gen only. */
#ifndef RUNG_GEN_PARSE_H
#define RUNG_GEN_PARSE_H

#include "gen/kernel.h"

/* Reads a template without asking what its kernel means. */
enum rung_status rung_template_read(struct rung_template **out, struct rung_arena *arena,
                                    const char *name, const char *text, struct rung_error *err);

/* Whether a `lacks` line names a value that the configuration has: then the word, and as the
 * result the reason; else NULL. */
const char *rung_lacks_word(const struct rung_line *line, const struct rung_config *config,
                            char word[32]);

#endif
