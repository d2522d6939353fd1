/* Results in print: the rows of a sweep or of result files as a table, the best of them, and what
 * went wrong. */
#ifndef RUNG_CLI_PRINT_RESULTS_H
#define RUNG_CLI_PRINT_RESULTS_H

#include "cli/output.h"
#include "sweep/results.h"

/* One line a row. Axes on which all rows agree are said once, above the table. Rows without times
 * show their counts. RUNG_FORMAT_TABLE or RUNG_FORMAT_MD. */
enum rung_status rung_results_print(const struct rung_result *rows, size_t n_rows,
                                    enum rung_format format, FILE *to, struct rung_error *err);

/* Counters per block of every row, one line a source: the model, the simulator, the card. */
enum rung_status rung_results_print_counters(const struct rung_result *rows, size_t n_rows,
                                             enum rung_format format, FILE *to,
                                             struct rung_error *err);

/* The best set of every question that the rows ask, and how far the next is behind. Nothing where
 * nothing was timed. */
enum rung_status rung_results_print_best(const struct rung_result *rows, size_t n_rows, FILE *to,
                                         struct rung_error *err);

/* Names the lines of a file that were left out, and how many rows a later one replaced. */
void rung_results_name_left_out(const struct rung_results *results, const char *command, FILE *to);

/* Names every row that is not right, by its axes. */
void rung_results_name_failures(const struct rung_results *results, const char *command, FILE *to);

/* RUNG_WRONG, RUNG_INCOMPLETE, or RUNG_OK. */
enum rung_status rung_results_status(const struct rung_result *rows, size_t n_rows);

#endif
