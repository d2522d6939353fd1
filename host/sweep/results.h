/* Result files read back: a journal (JSON Lines, journal.h) or the JSON object that a command wrote
 * with --format json. A journal that was cut at any byte, or edited by hand, gives every row that
 * is whole, and says of every other line why it was left out. */
#ifndef RUNG_SWEEP_RESULTS_H
#define RUNG_SWEEP_RESULTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "bench/row.h"
#include "sweep/cell.h"

struct rung_result {
    struct rung_row row;
    char key[RUNG_CELL_KEY_SIZE];
    size_t line;        /* of the file, from 1; 0 in a JSON object */
    const char *source; /* which file it is of, for the reader; NULL where one is meant. Borrowed */
    size_t run;         /* index in `runs` of the record above it; SIZE_MAX when there is none */
};

#define RUNG_SOURCE_SIZE 96
#define RUNG_QUESTION_SIZE (RUNG_CELL_KEY_SIZE + RUNG_SOURCE_SIZE)

/* What a row and others of its kind answer together, "sum f32 n=16776605 sm_90 auto clean
 * isolated": its key with the operation and type in place of the id, and its source. */
void rung_result_question(char question[RUNG_QUESTION_SIZE], const struct rung_result *result);

struct rung_left_out {
    size_t line;
    char why[256];
};

struct rung_results {
    char *path;
    struct rung_result *rows; /* in the order of the file; of rows with one key the last */
    size_t n_rows, room;
    size_t n_replaced; /* earlier rows of a key that a later one replaced */
    json_t *runs;      /* array: run records, or of a JSON object the one {"argv", "environment"} */
    bool ended;        /* the last run wrote its end record */
    struct rung_left_out *left_out;
    size_t n_left_out;
};

/* RUNG_IO when the file cannot be read. RUNG_USAGE when it holds nothing that is a result file's:
 * the text names what was found, for another schema that schema. An empty file has no rows. */
enum rung_status rung_results_load(struct rung_results *out, const char *path,
                                   struct rung_error *err);

/* The same from bytes; `path` is for messages. */
enum rung_status rung_results_read(struct rung_results *out, const char *data, size_t length,
                                   const char *path, struct rung_error *err);

void rung_results_release(struct rung_results *results);

/* The row of a key; NULL if there is none. */
const struct rung_result *rung_results_find(const struct rung_results *results, const char *key);

/* A field of the run that a row belongs to ("environment", "argv", ...); NULL if unknown. */
const json_t *rung_results_run_field(const struct rung_results *results, size_t run,
                                     const char *field);

/* Fills vs_v1 of every timed row: the time of version 1 with the same other axes, by the predicate
 * `mod` if there is one, over its own. */
void rung_results_relate(struct rung_result *rows, size_t n_rows);

/* The rows alone, side by side, for those who print rows. The array is the caller's, what it points
 * to is the results'. NULL when out of memory. */
struct rung_row *rung_results_bare(const struct rung_results *results);

/* Adds a copy of a row; its key is the row's. */
enum rung_status rung_results_add(struct rung_results *results, const struct rung_row *row,
                                  struct rung_error *err);

#endif
