/* What `rung sweep --noise` says: the machine against itself. */
#ifndef RUNG_CLI_SWEEP_NOISE_H
#define RUNG_CLI_SWEEP_NOISE_H

#include "cli/output.h"
#include "sweep/journal.h"

/* Compares the same cells under two names, prints each pair, the false alarms among them and the
 * noise floor, and appends a record "noise" of each pair where there is a journal. */
enum rung_status rung_noise_print(const struct rung_results *a, const struct rung_results *b,
                                  struct rung_journal *journal, enum rung_format format,
                                  struct rung_error *err);

#endif
