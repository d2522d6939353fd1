/* How every command prints: a table of typed cells, rendered as an aligned table (libsmartcols), as
 * CSV or as Markdown, and the JSON document. Commands fill one table and never format. */
#ifndef RUNG_CLI_OUTPUT_H
#define RUNG_CLI_OUTPUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

enum rung_format { RUNG_FORMAT_TABLE, RUNG_FORMAT_JSON, RUNG_FORMAT_CSV, RUNG_FORMAT_MD };

/* What stands behind the last dot of the file's name, "" where there is none: "json" of a/b.json,
 * nothing of "a.d/b", ".json", "-" and NULL. Borrowed from `path`. */
const char *rung_path_ending(const char *path);

/* "table", "json", "csv" or "md"; NULL is "table". Anything else is RUNG_USAGE. */
enum rung_status rung_format_parse(enum rung_format *out, const char *word, struct rung_error *err);

struct rung_table; /* columns, then rows of cells */

/* `key` is the CSV header, `heading` the one of the table and Markdown. */
struct rung_column {
    const char *key;
    const char *heading;
    bool right; /* aligned right: numbers */
};

/* The strings of `columns` are borrowed until rung_table_free. NULL when out of memory; the calls
 * below accept that NULL, and rung_table_print then reports it. */
struct rung_table *rung_table_new(const struct rung_column *columns, size_t n_columns);
void rung_table_row(struct rung_table *table); /* begins a row; its cells follow in order */
void rung_table_text(struct rung_table *table, const char *text);
void rung_table_format(struct rung_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* In the table, and in it alone, the last column stands under its row, broken to 80 columns: for
 * sentences. */
void rung_table_last_below(struct rung_table *table);
/* A cell that does not apply: "-" in the table and in Markdown, nothing in CSV. Cells that a row
 * leaves out at its end are such cells. */
void rung_table_empty(struct rung_table *table);
/* Renders as table, CSV or Markdown; for RUNG_FORMAT_JSON as a JSON array of one object a row, of
 * strings and nulls. Headings are bold where `to` is a terminal, unless NO_COLOR is set. */
enum rung_status rung_table_print(const struct rung_table *table, enum rung_format format, FILE *to,
                                  struct rung_error *err);
void rung_table_free(struct rung_table *table);

/* Where data goes: standard output, or the file of -o, opened before anything is launched and
 * renamed into place at the end, so that a failed command leaves an old file as it was. */
struct rung_output {
    enum rung_format format;
    FILE *stream;
    char *path;      /* NULL for standard output */
    bool replaces;   /* a regular file at `path`, at the end; else it is written as it comes */
    char *temporary; /* the name of what will replace it; NULL as long as that has none */
};
/* `path` NULL or "-" is standard output. */
enum rung_status rung_output_open(struct rung_output *out, enum rung_format format,
                                  const char *path, struct rung_error *err);
/* `keep` false, or a failed write, removes what was written to the file. Accepts a zeroed or closed
 * output, and then does nothing. */
enum rung_status rung_output_close(struct rung_output *out, bool keep, struct rung_error *err);

/* Whether colour may be used on `stream`: a terminal, NO_COLOR empty or unset, TERM not "dumb". */
bool rung_colour_wanted(FILE *stream);

/* `text` and a newline, broken at blanks and newlines so that a terminal of 80 columns holds it. It
 * begins in `column`, which the caller has reached, and goes on behind `indent` blanks. A word that
 * is longer stays whole, for paths are to be copied. */
void rung_print_wrapped(const char *text, size_t column, size_t indent, FILE *to);

/* The words that were typed, "rung" and the command first. */
json_t *rung_argv_json(int argc, char **argv);

/* {"schema": "rung/1", "command": …, "argv": […], "environment": …, "rows": […]}; takes over
 * `environment` and `rows`. NULL when out of memory or when either is NULL. */
json_t *rung_document(const char *command, int argc, char **argv, json_t *environment,
                      json_t *rows);

/* Writes a document, takes it over. A NULL document is RUNG_MEMORY. */
enum rung_status rung_document_print(json_t *document, FILE *to, struct rung_error *err);

#endif
