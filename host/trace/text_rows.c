/* Values in columns: the input, and shared memory before and after a step. */
#include "trace/text_page.h"

#include <stdio.h>
#include <string.h>

/* Columns of a cell: the widest value, brackets and a blank. */
static unsigned cell_width(const struct rung_trace_page *page)
{
    unsigned widest = 1;
    const struct rung_trace *trace = page->trace;
    char text[32];
    for (size_t s = 0; s < trace->n_steps; s++)
        for (unsigned i = 0; i < trace->n_slots; i++) {
            rung_trace_value_text(page, text, trace->steps[s].shared[i]);
            unsigned width = rung_trace_width(text);
            widest = trace->steps[s].written[i] && width > widest ? width : widest;
        }
    for (uint64_t i = 0; i < trace->n; i++)
        for (int v = 0; v < 2 && trace->inputs[v]; v++) {
            rung_trace_value_text(page, text, trace->inputs[v][i]);
            widest = rung_trace_width(text) > widest ? rung_trace_width(text) : widest;
        }
    return widest + 3 < 6 ? 6 : widest + 3;
}

static unsigned cells_per_row(const struct rung_trace_page *page)
{
    unsigned room = (page->look->columns - RUNG_TRACE_LABEL) / cell_width(page);
    unsigned cells = 1;
    while (cells * 2 <= room && cells < 32)
        cells *= 2;
    return cells;
}

void rung_trace_cell(const struct rung_trace_page *page, const char *text, const char *style,
                     bool bracket)
{
    unsigned width = cell_width(page), used = rung_trace_width(text) + 2;
    rung_trace_pad(page, width > used ? width - used : 0);
    rung_text_append(page->out, bracket ? "[" : " ");
    rung_trace_paint(page, style, text);
    rung_text_append(page->out, bracket ? "]" : " ");
}

void rung_trace_input_rows(const struct rung_trace_page *page, unsigned vector)
{
    unsigned per_row = cells_per_row(page);
    const struct rung_trace *trace = page->trace;
    const char *names[2] = {trace->inputs[1] ? "a" : "input", "b"};
    uint64_t rows = (trace->n + per_row - 1) / per_row;
    for (uint64_t row = 0; row < rows; row++) {
        if (!page->look->all && rows > 4 && row >= 2 && row + 1 < rows) {
            rung_trace_label(page, row == 2 ? "⋮" : "");
            rung_text_format(page->out, "  %llu more\n",
                             (unsigned long long)((rows - 3) * per_row));
            row = rows - 2;
            continue;
        }
        rung_trace_label(page, row ? "" : names[vector]);
        for (uint64_t i = row * per_row; i < (row + 1) * per_row && i < trace->n; i++) {
            char text[32];
            rung_trace_value_text(page, text, trace->inputs[vector][i]);
            rung_trace_cell(page, text, "0", false);
        }
        rung_trace_end_row(page);
    }
}

static bool row_moved(const struct rung_trace_step *step, unsigned from, unsigned to)
{
    for (size_t i = 0; i < step->n_stores; i++)
        if (step->stores[i].slot >= from && step->stores[i].slot < to)
            return true;
    return false;
}

static void shared_row(const struct rung_trace_page *page, const struct rung_trace_step *now,
                       const char *name, const struct rung_trace_step *values, unsigned from,
                       unsigned to)
{
    rung_trace_label(page, name);
    for (unsigned slot = from; slot < to; slot++) {
        char text[32];
        rung_trace_value_text(page, text, values->shared[slot]);
        bool moved = values == now && row_moved(now, slot, slot + 1);
        rung_trace_cell(page, values->written[slot] ? text : "?",
                        moved ? RUNG_TRACE_BOLD : RUNG_TRACE_DIM, moved);
    }
    rung_trace_end_row(page);
}

static void rest_line(const struct rung_trace_page *page, unsigned changed, unsigned still)
{
    if (!changed && !still)
        return;
    char text[96];
    if (!changed)
        snprintf(text, sizeof text, "%u slots at rest", still);
    else if (!still)
        snprintf(text, sizeof text, "%u more slots in rows that change", changed);
    else
        snprintf(text, sizeof text, "%u more slots in rows that change, %u at rest", changed,
                 still);
    rung_trace_label(page, "⋮");
    rung_text_append(page->out, "  ");
    rung_trace_paint(page, RUNG_TRACE_DIM, text);
    rung_text_append(page->out, "\n");
}

/* One row of slots, before the step and after it. */
static void shared_pair(const struct rung_trace_page *page, size_t index, unsigned from,
                        unsigned to)
{
    const struct rung_trace_step *step = &page->trace->steps[index];
    bool alone = from == 0 && to == page->trace->n_slots;
    char name[32];
    snprintf(name, sizeof name, "slot %u", from);
    if (index == 0) {
        shared_row(page, step, alone ? "shared" : name, step, from, to);
        return;
    }
    shared_row(page, step, alone ? "before" : name, step - 1, from, to);
    shared_row(page, step, alone ? "after" : "  after", step, from, to);
}

/* Shared memory before and after; of a long one the rows that a store reached, two at most. */
void rung_trace_shared_rows(const struct rung_trace_page *page, size_t index)
{
    unsigned n_slots = page->trace->n_slots, per_row = cells_per_row(page);
    bool whole = page->look->all || n_slots <= 2 * per_row;
    unsigned shown = 0, still = 0, changed = 0;
    for (unsigned from = 0; from < n_slots; from += per_row) {
        unsigned to = from + per_row < n_slots ? from + per_row : n_slots;
        bool moved = row_moved(&page->trace->steps[index], from, to);
        if (whole || (moved && shown < 2)) {
            shared_pair(page, index, from, to);
            shown++;
        } else {
            still += moved ? 0 : to - from;
            changed += moved ? to - from : 0;
        }
    }
    rest_line(page, changed, still);
}
