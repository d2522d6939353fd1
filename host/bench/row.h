/* One finished row: the fields of the command-line contract, written once here for the table, the
 * JSON, the CSV, the journal and whoever reads them back. */
#ifndef RUNG_BENCH_ROW_H
#define RUNG_BENCH_ROW_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"

enum rung_row_status {
    RUNG_ROW_OK,
    RUNG_ROW_WRONG,
    RUNG_ROW_COMPILE,
    RUNG_ROW_CONSTRAINTS,
    RUNG_ROW_UNSUPPORTED,
    RUNG_ROW_RUNTIME,
    RUNG_ROW_TIMEOUT
};

struct rung_counts {
    bool known;
    uint64_t additions, body_runs, serialised; /* per block */
};

struct rung_times {
    bool known;
    double median, min, q1, q3; /* ms, of the complete reduction */
    double *samples;            /* ms, in the order taken; owned */
    size_t n_samples;
};

struct rung_row {
    struct rung_config config;
    uint64_t n;
    bool planned; /* passes, launches, bytes are known */
    unsigned passes;
    uint64_t launches, bytes;
    bool summed;          /* sum, expected, correct are known */
    double sum, expected; /* i32 values and f32 are exact in a double */
    bool correct;
    struct rung_counts model, executed;
    struct rung_times time_ms;
    double gb_per_s, of_ceiling, vs_v1; /* NAN where they do not apply */
    unsigned ptx_target, sass_target;   /* 0 unknown */
    char image[8];                      /* "cubin", "ptx", "" */
    int registers, shared_bytes;        /* -1 unknown */
    enum rung_row_status status;
    char reason[512]; /* "" when ok */
    json_t *extra;    /* further fields of this row (object), or NULL; owned */
};

/* A row of which nothing is known yet but what it is about. */
void rung_row_init(struct rung_row *row, const struct rung_config *config, uint64_t n);
void rung_row_release(struct rung_row *row);

/* The row as an object with every field of the contract, null where one does not apply. NULL when
 * out of memory. */
json_t *rung_row_to_json(const struct rung_row *row);

/* Reads one back; unknown fields are kept in `extra`. RUNG_USAGE names the field that is missing or
 * of the wrong kind. */
enum rung_status rung_row_from_json(struct rung_row *out, const json_t *object,
                                    struct rung_error *err);

const char *rung_row_status_word(enum rung_row_status status); /* "ok", "wrong", ... */

#endif
