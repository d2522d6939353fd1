/* One self-contained HTML page of result files: best sets, plots, tables, what failed, and where it
 * was measured. No network, no script is needed to read it; light or dark as the reader's system
 * is. */
#ifndef RUNG_REPORT_PAGE_H
#define RUNG_REPORT_PAGE_H

#include "sweep/results.h"

struct rung_page_options {
    const char *title;
    const char *keep; /* folder for scripts, data and SVGs of the plots; NULL: they are not kept */
};

/* Appends the page to `out`. Plots are left out, and the page says why, where gnuplot cannot be
 * run. Fills vs_v1 of the rows on the way. */
enum rung_status rung_page_make(struct rung_text *out, struct rung_results *files, size_t n_files,
                                const struct rung_page_options *options, struct rung_error *err);

#endif
