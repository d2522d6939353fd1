/* How every command prints: a table of typed cells, rendered as an aligned table (libsmartcols), as
 * CSV, as Markdown, or as the rows of the JSON object. Commands fill one table and never format. */
#ifndef RUNG_CLI_OUTPUT_H
#define RUNG_CLI_OUTPUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

enum rung_format { RUNG_FORMAT_TABLE, RUNG_FORMAT_JSON, RUNG_FORMAT_CSV, RUNG_FORMAT_MD };

struct rung_table; /* columns, then rows of cells */

/* `key` is the CSV header, `heading` the one of the table and Markdown. */
struct rung_column {
    const char *key;
    const char *heading;
    bool right; /* aligned right: numbers */
};

struct rung_table *rung_table_new(const struct rung_column *columns, size_t n_columns);
void rung_table_row(struct rung_table *table); /* begins a row; its cells follow in order */
void rung_table_text(struct rung_table *table, const char *text);
void rung_table_format(struct rung_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void rung_table_empty(struct rung_table *table); /* a cell that does not apply */
/* Renders as table, CSV or Markdown. Colour and width follow the terminal and NO_COLOR. */
enum rung_status rung_table_print(const struct rung_table *table, enum rung_format format,
                                  FILE *to, struct rung_error *err);
void rung_table_free(struct rung_table *table);

/* Where data goes: standard output, or the file of -o, opened before anything is launched and
 * renamed into place at the end, so that a failed command leaves an old file as it was. */
struct rung_output {
    enum rung_format format;
    FILE *stream;
    char *path;      /* NULL for standard output */
    char *temporary;
};
enum rung_status rung_output_open(struct rung_output *out, enum rung_format format,
                                  const char *path, struct rung_error *err);
enum rung_status rung_output_close(struct rung_output *out, bool keep, struct rung_error *err);

/* {"schema": "rung/1", "command": …, "argv": […], "environment": …, "rows": […]}; takes over
 * `environment` and `rows`. */
json_t *rung_document(const char *command, int argc, char **argv, json_t *environment,
                      json_t *rows);

#endif
