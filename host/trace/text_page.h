/* Shared by the parts of the text form alone. */
#ifndef RUNG_TRACE_TEXT_PAGE_H
#define RUNG_TRACE_TEXT_PAGE_H

#include "trace/trace.h"

#define RUNG_TRACE_BOLD "1"
#define RUNG_TRACE_DIM "2"
#define RUNG_TRACE_RED "1;31"
#define RUNG_TRACE_GREEN "1;32"
#define RUNG_TRACE_YELLOW "33"
#define RUNG_TRACE_CYAN "36"

#define RUNG_TRACE_LABEL                                                                           \
    12 /* columns of the labels on the left, the two blanks of the margin among them */

/* What every function below needs. */
struct rung_trace_page {
    struct rung_text *out;
    const struct rung_trace *trace;
    const struct rung_trace_look *look;
};

/* `style` is an SGR parameter, used where colour is wanted. */
void rung_trace_paint(const struct rung_trace_page *page, const char *style, const char *text);
void rung_trace_pad(const struct rung_trace_page *page, unsigned columns);
/* The name of a row, padded to RUNG_TRACE_LABEL columns. */
void rung_trace_label(const struct rung_trace_page *page, const char *text);
/* Columns that UTF-8 text takes; every character used here is one wide. */
unsigned rung_trace_width(const char *text);
/* Drops the blanks at the end of the row. */
void rung_trace_end_row(const struct rung_trace_page *page);
void rung_trace_value_text(const struct rung_trace_page *page, char text[32], double value);

/* Breaks lines at blanks where they would be wider than the page; `column` is where it begins, and
 * further lines are indented by `indent`. */
void rung_trace_wrap(const struct rung_trace_page *page, const char *text, unsigned column,
                     unsigned indent);

/* A value in its column, in brackets where it is new. */
void rung_trace_cell(const struct rung_trace_page *page, const char *text, const char *style,
                     bool bracket);
void rung_trace_input_rows(const struct rung_trace_page *page, unsigned vector);
void rung_trace_shared_rows(const struct rung_trace_page *page, size_t index);

void rung_trace_thread_row(const struct rung_trace_page *page, const struct rung_trace_step *step);
void rung_trace_warp_lines(const struct rung_trace_page *page, const struct rung_trace_step *step);
/* The words that the first warp at work reads and writes. */
void rung_trace_words_line(const struct rung_trace_page *page, const struct rung_trace_step *step);
void rung_trace_bank_line(const struct rung_trace_page *page, const struct rung_trace_step *step);
void rung_trace_formulas(const struct rung_trace_page *page, const struct rung_trace_step *step);

#endif
