/* How `rung inspect` shows its rows. */
#ifndef RUNG_CLI_INSPECT_VIEW_H
#define RUNG_CLI_INSPECT_VIEW_H

#include "cli/inspect_rows.h"
#include "cli/output.h"

/* The rows of the JSON document, one for each kernel of each row. NULL when out of memory. */
json_t *rung_inspect_rows_json(const struct rung_inspect_result *result);

/* One line for each kernel and toolkit; targets with the same verdicts share a line in the table
 * and in Markdown, and have one each in CSV. `evidence`: all lines that bear on a verdict follow
 * the table. */
enum rung_status rung_inspect_print(const struct rung_inspect_result *result, bool evidence,
                                    enum rung_format format, FILE *to, struct rung_error *err);

enum rung_inspect_listing {
    RUNG_INSPECT_LIST_NONE,
    RUNG_INSPECT_LIST_PTX,
    RUNG_INSPECT_LIST_SASS,
    RUNG_INSPECT_LIST_SOURCE
};

/* The code of every kernel, what decided marked with `>`, and in colour where `to` is a terminal.
 */
enum rung_status rung_inspect_list(const struct rung_inspect_result *result,
                                   enum rung_inspect_listing listing, FILE *to,
                                   struct rung_error *err);

/* "365" for PTX, "0x01a0" for SASS. */
void rung_inspect_line_name(char name[16], const struct rung_code *code, uint32_t instruction);

/* Compares the first half of the rows with the second: two items for as many targets, or one item
 * for two. SASS where both sides have it, else PTX. `evidence`: also the instructions that one side
 * has more often. For JSON nothing is printed and `*rows` is set. */
enum rung_status rung_inspect_diff(json_t **rows, const struct rung_inspect_result *result,
                                   bool evidence, enum rung_format format, FILE *to,
                                   struct rung_error *err);

#endif
