/* Template text to lines. Used inside host/gen only. */
#ifndef RUNG_GEN_PARSE_H
#define RUNG_GEN_PARSE_H

#include "gen/kernel.h"

/* Reads a template without asking what its kernel means. */
enum rung_status rung_template_read(struct rung_template **out, struct rung_arena *arena,
                                    const char *name, const char *text, struct rung_error *err);

#define RUNG_WORD_SIZE 32

bool rung_config_has_word(const struct rung_config *config, const char *word);

/* The words of a `lacks` line: begin with *at at its text; false after the last. */
bool rung_lacks_next(char word[RUNG_WORD_SIZE], const char **at);
const char *rung_lacks_reason(const struct rung_line *line);

#endif
