/* The tables of the page. */
#ifndef RUNG_REPORT_PAGE_TABLES_H
#define RUNG_REPORT_PAGE_TABLES_H

#include "base/text.h"
#include "report/best.h"

void rung_page_bests(struct rung_text *out, const struct rung_bests *bests);

/* Rows that are not right, lines that were left out, runs that never ended; nothing if all is well.
 */
void rung_page_failures(struct rung_text *out, const struct rung_results *files, size_t n_files);

/* Model, simulator and card side by side, for configurations that a simulator or a card counted;
 * rows of several files that have one id come together. */
void rung_page_counters(struct rung_text *out, const struct rung_result *rows, size_t n_rows);

void rung_page_rows(struct rung_text *out, const struct rung_result *rows, size_t n_rows);

/* Of every run: what was asked, and the machine as it was. */
void rung_page_environment(struct rung_text *out, const struct rung_results *files, size_t n_files);

#endif
