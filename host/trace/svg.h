/* Shared by the two pictures that stand still. Every shape carries its light colour as an
 * attribute, which any program shows, and a class, by which a page may recolour it. */
#ifndef RUNG_TRACE_SVG_H
#define RUNG_TRACE_SVG_H

#include "trace/trace.h"

#define RUNG_SVG_INK "#1f2430"
#define RUNG_SVG_SOFT "#69707f"
#define RUNG_SVG_FAINT "#d9dde5"
#define RUNG_SVG_PAPER "#ffffff"
#define RUNG_SVG_CELL "#f5f6f9"
#define RUNG_SVG_ACTIVE "#1d5fd1"
#define RUNG_SVG_FETCH "#0d8a7b"
#define RUNG_SVG_ASLEEP "#f0c667"
#define RUNG_SVG_BAD "#c8322b"
#define RUNG_SVG_WASH "#fbe3e1"

/* Of a ladder: the room of the labels on the left, and of the barriers' names on the right. */
#define RUNG_SVG_GUTTER 148.0
#define RUNG_SVG_TAIL 48.0

/* A picture within a larger one: appended at the origin, its size reported. */
struct rung_svg_size {
    double width, height;
};

/* Blocks of at most 32 threads: all steps below each other, joined by the operands. */
void rung_svg_ladder(struct rung_text *out, struct rung_svg_size *size,
                     const struct rung_trace *trace);
/* Larger ones: of every step the threads, a row a warp, and the words, a column a bank. */
void rung_svg_grid(struct rung_text *out, struct rung_svg_size *size,
                   const struct rung_trace *trace);

/* A text element. */
void rung_svg_text(struct rung_text *out, double x, double y, const char *attributes,
                   const char *text);

/* "stride 4", "load", ... as a step is called everywhere. */
void rung_trace_step_name(char text[48], const struct rung_trace *trace, size_t step);

#endif
