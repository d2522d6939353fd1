/* Finished rows, flat, as CSV and JSON carry them. */
#ifndef RUNG_CLI_ROWS_H
#define RUNG_CLI_ROWS_H

#include "bench/row.h"
#include "cli/output.h"

/* Every field, one column each: time_ms.median is `time_ms_median`, model.body_runs is
 * `model_body_runs`. Samples are left to JSON. */
enum rung_status rung_rows_print_csv(const struct rung_row *rows, size_t n_rows, FILE *to,
                                     struct rung_error *err);

/* The rows of a document. NULL when out of memory. */
json_t *rung_rows_to_json(const struct rung_row *rows, size_t n_rows);

/* Names on standard error what is wrong with the rows, for whoever does not read the output. */
void rung_rows_name_failures(const struct rung_row *rows, size_t n_rows, const char *command);

#endif
