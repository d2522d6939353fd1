/* The page of `rung run`: model, results, steps, and what the rows say beside each other. */
#ifndef RUNG_CLI_PAGE_H
#define RUNG_CLI_PAGE_H

#include "bench/row.h"
#include "cli/output.h"
#include "gen/template.h"

struct rung_page {
    const struct rung_row *rows; /* in the order of the axes, versions innermost */
    size_t n_rows;
    const struct rung_ladder *ladder; /* for the titles of versions */
    enum rung_format format;          /* RUNG_FORMAT_TABLE or RUNG_FORMAT_MD */
    double ceiling_gb_per_s;          /* NAN where not measured */
    bool counted;                     /* ran on the simulator: counts, and no times */
};

/* For each set of axes the model per block, the results, the steps between rungs and the largest of
 * them; then the comparisons below; then how much was verified. */
enum rung_status rung_page_print(const struct rung_page *page, FILE *to, struct rung_error *err);

/* Both loop bounds side by side, with their ratio, where the rows have both: times, or the warp
 * instructions of a block where nothing was timed. Nothing is printed otherwise. */
enum rung_status rung_page_compare_bounds(const struct rung_page *page, FILE *to,
                                          struct rung_error *err);

/* Versions 1 and 3 at each block size: the counted ratio of body runs beside the measured one of
 * times, where the rows have several blocks. Nothing is printed otherwise. */
enum rung_status rung_page_compare_blocks(const struct rung_page *page, FILE *to,
                                          struct rung_error *err);

/* "1  interleaved, divergent" */
void rung_page_label(char label[80], const struct rung_page *page, const struct rung_row *row);

bool rung_page_same_but_version(const struct rung_row *a, const struct rung_row *b);

#endif
