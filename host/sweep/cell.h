/* One cell of a sweep: a configuration, how many elements, what is compiled and loaded for it, and
 * how it is timed. Its key names it in journals and comparisons. */
#ifndef RUNG_SWEEP_CELL_H
#define RUNG_SWEEP_CELL_H

#include <jansson.h>
#include <stdint.h>

#include "bench/row.h"
#include "bench/sampling.h"
#include "config/config.h"
#include "image/image.h"

struct rung_cell {
    struct rung_config config;
    uint64_t n;
    unsigned target; /* 90 for sm_90: what is compiled for, never "native" */
    enum rung_image_kind image;
    enum rung_state state;
    enum rung_timer timer;
};

#define RUNG_CELL_KEY_SIZE (RUNG_ID_SIZE + 96)

/* "v1-b256-const n=16776605 sm_90 auto clean isolated". */
void rung_cell_key(const struct rung_cell *cell, char key[RUNG_CELL_KEY_SIZE]);

/* The cell as an object and back, for requests to the measuring process. NULL when out of memory.
 */
json_t *rung_cell_to_json(const struct rung_cell *cell);
enum rung_status rung_cell_from_json(struct rung_cell *out, const json_t *object,
                                     struct rung_error *err);

const char *rung_image_kind_word(enum rung_image_kind kind); /* "auto", "cubin", "ptx" */
enum rung_status rung_image_kind_parse(enum rung_image_kind *out, const char *word,
                                       struct rung_error *err);

/* The key of a row as journals hold it. Fields that `rung run` does not write count as the
 * defaults. */
void rung_row_key(const struct rung_row *row, char key[RUNG_CELL_KEY_SIZE]);

/* For qsort-like use: the order in which a sweep prints its cells. n turns slowest, then target,
 * image, state and timer, then the configurations as rung_config_order has them. */
int rung_row_order(const struct rung_row *a, const struct rung_row *b);

/* A word among a row's further fields or those of its "timing" ("state", "timer", "target",
 * "image_asked", "stop"), or `otherwise` where the row has none. Borrowed from the row. */
const char *rung_row_word(const struct rung_row *row, const char *field, const char *otherwise);

/* A number of a row's "timing" ("sm_mhz", "throttled"); NAN where the row has none. */
double rung_row_number(const struct rung_row *row, const char *field);

/* A row of this cell without results, with the fields of the cell in `extra`; status OK.
 * RUNG_MEMORY only. */
enum rung_status rung_cell_row(struct rung_row *out, const struct rung_cell *cell,
                               struct rung_error *err);

#endif
