/* Comparisons in print. */
#ifndef RUNG_CLI_PRINT_COMPARE_H
#define RUNG_CLI_PRINT_COMPARE_H

#include "cli/output.h"
#include "report/compare.h"

/* One line a row with both medians, the ratio and its interval; `explain` adds the reasons. */
enum rung_status rung_comparison_print(const struct rung_comparison *comparison, bool explain,
                                       enum rung_format format, FILE *to, struct rung_error *err);

/* "31 same, 2 faster, 1 slower, 3 unclear". */
void rung_comparison_print_counts(const struct rung_comparison *comparison, FILE *to);

/* The rows of a document. NULL when out of memory. */
json_t *rung_comparison_to_json(const struct rung_comparison *comparison);

#endif
