/* The ladder of a small block: a row of cells for every step, each result joined to its operands in
 * the row above. */
#include "trace/svg.h"

#include <stdio.h>
#include <string.h>

#define CELL_HEIGHT 30.0
#define GAP 52.0      /* between two rows: the room of the joining lines */
#define INPUT_GAP 6.0 /* between two rows of the input */

struct drawing {
    struct rung_text *out;
    const struct rung_trace *trace;
    unsigned columns;
    double cell_width, font;
    double y;     /* top of the row that is drawn */
    double above; /* bottom of the row above it */
};

static double middle(const struct drawing *d, unsigned column)
{
    return RUNG_SVG_GUTTER + (column + 0.5) * d->cell_width;
}

/* Values that would be too wide are set smaller. */
static double value_font(const struct drawing *d, const char *text)
{
    double fitting = (d->cell_width - 8) / (0.61 * (double)strlen(text));
    return fitting < d->font ? fitting : d->font;
}

struct cell {
    unsigned column;
    const char *text, *tip;
    bool strong, bad;
    bool unread;        /* an element that no thread read */
    const char *thread; /* who made it, NULL if nobody now */
};

static void draw_cell(const struct drawing *d, const struct cell *cell, const char *attributes)
{
    double x = RUNG_SVG_GUTTER + cell->column * d->cell_width + 2, width = d->cell_width - 4;
    const char *fill = cell->strong ? RUNG_SVG_ACTIVE : RUNG_SVG_CELL;
    rung_text_format(d->out, "<g class=\"cell%s%s%s\" %s><title>", cell->strong ? " strong" : "",
                     cell->bad ? " bad" : "", cell->unread ? " unread" : "", attributes);
    rung_text_append_xml(d->out, cell->tip);
    rung_text_format(d->out,
                     "</title><rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" rx=\"5\" "
                     "fill=\"%s\" stroke=\"%s\" stroke-width=\"%g\"%s/>",
                     x, d->y, width, CELL_HEIGHT,
                     cell->unread ? RUNG_SVG_PAPER
                     : cell->bad  ? RUNG_SVG_WASH
                                  : fill,
                     cell->bad      ? RUNG_SVG_BAD
                     : cell->strong ? RUNG_SVG_ACTIVE
                                    : RUNG_SVG_FAINT,
                     cell->bad ? 2.0 : 1.0, cell->unread ? " stroke-dasharray=\"3 4\"" : "");
    rung_text_format(d->out,
                     "<text class=\"mono\" x=\"%g\" y=\"%g\" text-anchor=\"middle\" "
                     "font-size=\"%.3g\" fill=\"%s\"%s>",
                     middle(d, cell->column), d->y + CELL_HEIGHT / 2 + d->font * 0.36,
                     value_font(d, cell->text),
                     cell->bad      ? RUNG_SVG_BAD
                     : cell->strong ? RUNG_SVG_PAPER
                                    : RUNG_SVG_SOFT,
                     cell->strong || cell->bad ? " font-weight=\"600\"" : "");
    rung_text_append_xml(d->out, cell->text);
    rung_text_append(d->out, "</text></g>\n");
    if (cell->thread) {
        char where[160];
        snprintf(where, sizeof where,
                 "class=\"soft mono\" text-anchor=\"start\" font-size=\"9.5\" fill=\"" RUNG_SVG_SOFT
                 "\"");
        if (d->cell_width > 40)
            rung_svg_text(d->out, middle(d, cell->column) + 10, d->y - 5, where, cell->thread);
    }
}

static void draw_label(const struct drawing *d, const char *strong, const char *soft)
{
    double y = d->y + (soft ? 12 : CELL_HEIGHT / 2 + 5);
    rung_text_append(d->out, "<g class=\"label\">");
    rung_svg_text(d->out, 0, y,
                  "class=\"ink\" font-size=\"13\" font-weight=\"600\" fill=\"" RUNG_SVG_INK "\"",
                  strong);
    if (soft)
        rung_svg_text(d->out, 0, d->y + 27,
                      "class=\"soft\" font-size=\"11.5\" fill=\"" RUNG_SVG_SOFT "\"", soft);
    rung_text_append(d->out, "</g>\n");
}

static void draw_line(const struct drawing *d, double from_x, double from_y, unsigned to,
                      bool fetched, bool bad)
{
    double x = middle(d, to), y = d->y - 1, bend = (y - from_y) * 0.55;
    const char *colour = bad ? RUNG_SVG_BAD : fetched ? RUNG_SVG_FETCH : RUNG_SVG_ACTIVE;
    rung_text_format(d->out,
                     "<path class=\"line%s%s\" d=\"M%g %gC%g %g %g %g %g %g\" fill=\"none\" "
                     "stroke=\"%s\" stroke-width=\"1.6\"%s/>\n",
                     fetched ? " fetch" : " own", bad ? " bad" : "", from_x, from_y, from_x,
                     from_y + bend, x, y - bend, x, y, colour,
                     bad ? " stroke-dasharray=\"4 3\"" : "");
}

static void draw_sign(const struct drawing *d, unsigned column, const char *sign)
{
    double x = middle(d, column), y = d->y - 9;
    rung_text_format(d->out,
                     "<circle class=\"sign\" cx=\"%g\" cy=\"%g\" r=\"7\" fill=\"" RUNG_SVG_PAPER
                     "\" stroke=\"" RUNG_SVG_ACTIVE "\"/>",
                     x, y);
    rung_svg_text(d->out, x, y + 4,
                  "class=\"active\" text-anchor=\"middle\" font-size=\"12\" "
                  "fill=\"" RUNG_SVG_ACTIVE "\"",
                  sign);
}

/* --- input ----------------------------------------------------------------------------------- */

/* Rows of the input: element i stands in column i % columns; of a dot product a over b. */
static double input_y(const struct drawing *d, unsigned vector, uint64_t element)
{
    unsigned vectors = d->trace->inputs[1] ? 2 : 1;
    double row = (double)(element / d->columns * vectors + vector);
    return row * (CELL_HEIGHT + INPUT_GAP);
}

static void draw_input(struct drawing *d)
{
    const struct rung_trace *trace = d->trace;
    rung_text_append(d->out, "<g class=\"row input\" data-step=\"-1\">\n");
    for (unsigned vector = 0; vector < 2 && trace->inputs[vector]; vector++)
        for (uint64_t i = 0; i < trace->n; i++) {
            d->y = input_y(d, vector, i);
            char value[32], tip[96];
            rung_trace_format_value(value, trace->inputs[vector][i], trace->config.type);
            unsigned count = trace->read_counts[i];
            snprintf(tip, sizeof tip, "%s[%llu] = %s%s",
                     vector             ? "b"
                     : trace->inputs[1] ? "a"
                                        : "in",
                     (unsigned long long)i, value,
                     count == 1  ? ""
                     : count > 1 ? ", read more than once"
                                 : ", never read");
            struct cell cell = {
                .column = (unsigned)(i % d->columns), .text = value, .tip = tip, .bad = count != 1};
            if (i % d->columns == 0)
                draw_label(d, vector ? "b" : trace->inputs[1] ? "a" : "input", NULL);
            char attributes[64];
            snprintf(attributes, sizeof attributes, "data-vector=\"%u\" data-element=\"%llu\"",
                     vector, (unsigned long long)i);
            draw_cell(d, &cell, attributes);
        }
    rung_text_append(d->out, "</g>\n");
    d->above = trace->n ? d->y + CELL_HEIGHT : 0;
}

/* --- steps ----------------------------------------------------------------------------------- */

static bool wrote(const struct rung_trace_step *step, unsigned slot, unsigned *thread)
{
    for (size_t i = step->n_stores; i-- > 0;)
        if (step->stores[i].slot == slot) {
            *thread = step->stores[i].thread;
            return true;
        }
    return false;
}

static const struct rung_trace_addition *addition_of(const struct rung_trace_step *step,
                                                     unsigned slot)
{
    for (size_t i = 0; i < step->n_adds; i++)
        if (step->in_registers ? step->adds[i].thread == slot : step->adds[i].slot == slot)
            return &step->adds[i];
    return NULL;
}

static unsigned operand_column(const struct drawing *d, const struct rung_trace_addition *addition,
                               const struct rung_trace_operand *operand, unsigned own)
{
    unsigned column = operand->origin == RUNG_TRACE_REGISTER ? own : operand->index;
    if (column == RUNG_TRACE_UNKNOWN)
        column = addition->thread;
    return column < d->columns ? column : own;
}

static void draw_addition_lines(const struct drawing *d, const struct rung_trace_step *step)
{
    for (size_t i = 0; i < step->n_adds; i++) {
        const struct rung_trace_addition *add = &step->adds[i];
        unsigned to =
            step->in_registers || add->slot == RUNG_TRACE_UNKNOWN ? add->thread : add->slot;
        if (to >= d->columns)
            continue;
        unsigned left = operand_column(d, add, &add->left, to);
        unsigned right = operand_column(d, add, &add->right, to);
        draw_line(d, middle(d, left), d->above, to, false, add->left.stale);
        draw_line(d, middle(d, right), d->above, to, true, add->right.stale);
        draw_sign(d, to, "+");
    }
}

static unsigned slot_of_thread(const struct rung_trace_step *step, unsigned thread)
{
    for (size_t i = 0; i < step->n_stores; i++)
        if (step->stores[i].thread == thread)
            return step->stores[i].slot;
    return thread;
}

static void draw_load_lines(const struct drawing *d, const struct rung_trace_step *step)
{
    for (size_t i = 0; i < step->n_reads; i++) {
        const struct rung_trace_read *read = &step->reads[i];
        unsigned to = slot_of_thread(step, read->thread);
        if (to >= d->columns)
            continue;
        unsigned from = (unsigned)(read->element % d->columns);
        bool again = d->trace->read_counts[read->element] > 1;
        double y = input_y(d, read->vector, read->element) + CELL_HEIGHT;
        /* A line straight down starts below the whole input, so that it crosses no other cell. */
        draw_line(d, middle(d, from), from == to ? d->above : y, to, read->vector == 1, again);
    }
    for (size_t i = 0; i + 1 < step->n_reads; i++) { /* over the lines: a thread of several reads */
        unsigned thread = step->reads[i].thread, to = slot_of_thread(step, thread);
        bool first = i == 0 || step->reads[i - 1].thread != thread;
        if (first && step->reads[i + 1].thread == thread && to < d->columns)
            draw_sign(d, to, d->trace->inputs[1] ? "×" : "+");
    }
}

/* What column `i` holds after the step, and who put it there. */
static void draw_step_cell(const struct drawing *d, const struct rung_trace_step *step,
                           size_t index, unsigned i)
{
    char value[32] = "?", tip[160], name[16] = "", attributes[64];
    unsigned thread = 0;
    const struct rung_trace_addition *add = addition_of(step, i);
    bool moved = step->in_registers ? add != NULL : wrote(step, i, &thread);
    if (step->in_registers && !add)
        return;
    if (!step->in_registers && !step->written[i])
        snprintf(value, sizeof value, "?");
    else
        rung_trace_format_value(value, step->in_registers ? add->result : step->shared[i],
                                d->trace->config.type);
    if (moved)
        snprintf(name, sizeof name, "T%u", add ? add->thread : thread);
    char left[32], right[32];
    if (add) {
        rung_trace_format_value(left, add->left.value, d->trace->config.type);
        rung_trace_format_value(right, add->right.value, d->trace->config.type);
        snprintf(tip, sizeof tip, "T%u: %s + %s = %s", add->thread, left, right, value);
    } else {
        snprintf(tip, sizeof tip, moved ? "slot %u = %s, stored by T%u" : "slot %u = %s, at rest",
                 i, value, thread);
    }
    struct cell cell = {.column = i,
                        .text = value,
                        .tip = tip,
                        .strong = moved,
                        .bad = moved &&
                               rung_trace_is_marked(d->trace, index, add ? add->thread : thread),
                        .thread = moved ? name : NULL};
    snprintf(attributes, sizeof attributes, "data-step=\"%zu\" data-slot=\"%u\"", index, i);
    draw_cell(d, &cell, attributes);
}

/* The block's threads as small squares: those that act, those asleep in a warp that runs. */
static void draw_threads(const struct drawing *d, const struct rung_trace_step *step)
{
    unsigned threads = d->trace->config.block;
    double pitch = threads <= 8 ? 11 : threads <= 16 ? 8 : 4.2;
    uint32_t active = step->n_warps ? step->warps[0].active : 0;
    rung_text_append(d->out, "<g class=\"label\">");
    for (unsigned thread = 0; thread < threads; thread++) {
        bool acts = active >> thread & 1;
        rung_text_format(d->out,
                         "<rect class=\"%s\" x=\"%g\" y=\"%g\" width=\"%g\" height=\"7\" "
                         "fill=\"%s\"/>",
                         acts ? "active" : "asleep", thread * pitch, d->y + 34, pitch * 0.82,
                         acts ? RUNG_SVG_ACTIVE : RUNG_SVG_ASLEEP);
    }
    rung_text_append(d->out, "</g>\n");
}

static void draw_order(const struct drawing *d, const struct rung_trace_step *step)
{
    if (step->order != RUNG_TRACE_ORDER_BLOCK)
        return;
    double y = d->y + CELL_HEIGHT + 9;
    const char *colour = step->order_broken ? RUNG_SVG_BAD : RUNG_SVG_SOFT;
    rung_text_format(d->out,
                     "<path class=\"barrier%s\" d=\"M%g %gH%g\" stroke=\"%s\" stroke-width=\"1\" "
                     "stroke-dasharray=\"2 4\"/>\n",
                     step->order_broken ? " bad" : "", RUNG_SVG_GUTTER, y,
                     RUNG_SVG_GUTTER + d->columns * d->cell_width, colour);
    char attributes[128];
    snprintf(attributes, sizeof attributes, "class=\"label %s\" font-size=\"10.5\" fill=\"%s\"",
             step->order_broken ? "bad" : "soft", colour);
    rung_svg_text(d->out, RUNG_SVG_GUTTER + d->columns * d->cell_width + 6, y + 4, attributes,
                  step->order_broken ? "barrier not reached" : "barrier");
}

static void draw_result(struct drawing *d, size_t index)
{
    char value[32], tip[64];
    rung_trace_format_value(value, d->trace->result, d->trace->config.type);
    snprintf(tip, sizeof tip, "the block writes %s", value);
    struct cell cell = {.text = d->trace->wrote ? value : "none",
                        .tip = tip,
                        .strong = true,
                        .bad = !d->trace->correct};
    char attributes[64];
    snprintf(attributes, sizeof attributes, "data-step=\"%zu\" data-slot=\"0\"", index);
    draw_line(d, middle(d, 0), d->above, 0, false, false);
    draw_label(d, "write", d->trace->correct ? "the result" : "a wrong result");
    draw_cell(d, &cell, attributes);
}

static void draw_step(struct drawing *d, size_t index)
{
    const struct rung_trace_step *step = &d->trace->steps[index];
    char name[48], soft[64];
    d->y = d->above + GAP;
    rung_text_format(d->out, "<g class=\"row\" data-step=\"%zu\">\n", index);
    if (step->kind == RUNG_TRACE_WRITE) {
        draw_result(d, index);
    } else {
        rung_trace_step_name(name, d->trace, index);
        snprintf(soft, sizeof soft, "%u of %u%s", step->active, d->trace->config.block,
                 step->in_registers ? ", registers" : " threads");

        draw_label(d, name, soft);
        draw_threads(d, step);
        if (step->kind == RUNG_TRACE_LOAD)
            draw_load_lines(d, step);
        else
            draw_addition_lines(d, step);
        unsigned cells = step->in_registers ? d->columns : d->trace->n_slots;
        for (unsigned i = 0; i < cells && i < d->columns; i++)
            draw_step_cell(d, step, index, i);
        draw_order(d, step);
    }
    rung_text_append(d->out, "</g>\n");
    d->above = d->y + CELL_HEIGHT;
}

void rung_svg_ladder(struct rung_text *out, struct rung_svg_size *size,
                     const struct rung_trace *trace)
{
    unsigned columns = trace->config.block;
    struct drawing d = {.out = out,
                        .trace = trace,
                        .columns = columns,
                        .cell_width = columns <= 8    ? 62
                                      : columns <= 16 ? 48
                                                      : 34,
                        .font = columns <= 8    ? 15
                                : columns <= 16 ? 13
                                                : 11};
    draw_input(&d);
    for (size_t i = 0; i < trace->n_steps; i++)
        draw_step(&d, i);
    size->width = RUNG_SVG_GUTTER + columns * d.cell_width + RUNG_SVG_TAIL;
    size->height = d.above + 4;
}
