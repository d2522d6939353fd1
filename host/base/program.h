/* Other programs: finding one, and running one with its words collected. */
#ifndef RUNG_BASE_PROGRAM_H
#define RUNG_BASE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/text.h"

/* Looks for an executable `name` in `folders` (an empty string or NULL among the
 * `n_folders` is skipped), then in those of PATH. The caller frees the path; NULL if there is
 * none. */
char *rung_program_find(const char *name, const char *const *folders, size_t n_folders);

/* Runs argv[0] with nothing to read, waits, and appends what it wrote on standard output and
 * standard error to `said` (at most 1 MiB of it). *exit_status is its own, or 128 + the signal that
 * ended it; a Ctrl-C does not. RUNG_IO: it could not be started. */
enum rung_status rung_program_run(int *exit_status, struct rung_text *said, char *const *argv,
                                  struct rung_error *err);

#endif
