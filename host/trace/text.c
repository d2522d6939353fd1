/* A trace for the terminal: a small block in full, of a large one the warps and words that moved.
 */
#include "trace/trace.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define BOLD "1"
#define DIM "2"
#define RED "1;31"
#define GREEN "1;32"
#define YELLOW "33"
#define CYAN "36"

#define LABEL 12 /* columns of the labels on the left, the two blanks of the margin among them */

/* What every function below needs. */
struct page {
    struct rung_text *out;
    const struct rung_trace *trace;
    const struct rung_trace_look *look;
};

static void paint(const struct page *page, const char *style, const char *text)
{
    if (page->look->colour)
        rung_text_format(page->out, "\033[%sm%s\033[0m", style, text);
    else
        rung_text_append(page->out, text);
}

/* Columns that UTF-8 text takes; every character used here is one wide. */
static unsigned width_of(const char *text)
{
    unsigned width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xC0) != 0x80;
    return width;
}

static void pad(const struct page *page, unsigned columns)
{
    rung_text_format(page->out, "%*s", (int)columns, "");
}

static void label(const struct page *page, const char *text)
{
    rung_text_append(page->out, "  ");
    paint(page, DIM, text);
    unsigned used = width_of(text) + 2;
    pad(page, used < LABEL ? LABEL - used : 1);
}

static void value_text(const struct page *page, char text[32], double value)
{
    rung_trace_format_value(text, value, page->trace->config.type);
}

/* --- rows of values -------------------------------------------------------------------------- */

/* Columns of a cell: the widest value, brackets and a blank. */
static unsigned cell_width(const struct page *page)
{
    unsigned widest = 1;
    const struct rung_trace *trace = page->trace;
    char text[32];
    for (size_t s = 0; s < trace->n_steps; s++)
        for (unsigned i = 0; i < trace->n_slots; i++) {
            value_text(page, text, trace->steps[s].shared[i]);
            unsigned width = width_of(text);
            widest = trace->steps[s].written[i] && width > widest ? width : widest;
        }
    for (uint64_t i = 0; i < trace->n; i++)
        for (int v = 0; v < 2 && trace->inputs[v]; v++) {
            value_text(page, text, trace->inputs[v][i]);
            widest = width_of(text) > widest ? width_of(text) : widest;
        }
    return widest + 3 < 6 ? 6 : widest + 3;
}

static unsigned cells_per_row(const struct page *page)
{
    unsigned room = (page->look->columns - LABEL) / cell_width(page);
    unsigned cells = 1;
    while (cells * 2 <= room && cells < 32)
        cells *= 2;
    return cells;
}

static void cell(const struct page *page, const char *text, const char *style, bool bracket)
{
    unsigned width = cell_width(page), used = width_of(text) + 2;
    pad(page, width > used ? width - used : 0);
    rung_text_append(page->out, bracket ? "[" : " ");
    paint(page, style, text);
    rung_text_append(page->out, bracket ? "]" : " ");
}

static void end_row(const struct page *page)
{
    struct rung_text *out = page->out;
    while (out->length && out->data[out->length - 1] == ' ')
        out->data[--out->length] = '\0';
    rung_text_append(out, "\n");
}

static void input_rows(const struct page *page, unsigned vector)
{
    unsigned per_row = cells_per_row(page);
    const struct rung_trace *trace = page->trace;
    const char *names[2] = {trace->inputs[1] ? "a" : "input", "b"};
    uint64_t rows = (trace->n + per_row - 1) / per_row;
    for (uint64_t row = 0; row < rows; row++) {
        if (!page->look->all && rows > 4 && row >= 2 && row + 1 < rows) {
            label(page, row == 2 ? "⋮" : "");
            rung_text_format(page->out, "  %llu more\n",
                             (unsigned long long)((rows - 3) * per_row));
            row = rows - 2;
            continue;
        }
        label(page, row ? "" : names[vector]);
        for (uint64_t i = row * per_row; i < (row + 1) * per_row && i < trace->n; i++) {
            char text[32];
            value_text(page, text, trace->inputs[vector][i]);
            cell(page, text, "0", false);
        }
        end_row(page);
    }
}

static bool row_moved(const struct rung_trace_step *step, unsigned from, unsigned to)
{
    for (size_t i = 0; i < step->n_stores; i++)
        if (step->stores[i].slot >= from && step->stores[i].slot < to)
            return true;
    return false;
}

static void shared_row(const struct page *page, const struct rung_trace_step *now, const char *name,
                       const struct rung_trace_step *values, unsigned from, unsigned to)
{
    label(page, name);
    for (unsigned slot = from; slot < to; slot++) {
        char text[32];
        value_text(page, text, values->shared[slot]);
        bool moved = values == now && row_moved(now, slot, slot + 1);
        cell(page, values->written[slot] ? text : "?", moved ? BOLD : DIM, moved);
    }
    end_row(page);
}

static void rest_line(const struct page *page, unsigned changed, unsigned still)
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
    label(page, "⋮");
    rung_text_append(page->out, "  ");
    paint(page, DIM, text);
    rung_text_append(page->out, "\n");
}

/* One row of slots, before the step and after it. */
static void shared_pair(const struct page *page, size_t index, unsigned from, unsigned to)
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
static void shared_rows(const struct page *page, size_t index)
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

/* --- threads, warps and banks ---------------------------------------------------------------- */

static void thread_row(const struct page *page, const struct rung_trace_step *step)
{
    label(page, "thread");
    for (unsigned thread = 0; thread < page->trace->config.block; thread++) {
        bool active = false;
        for (size_t i = 0; i < step->n_warps; i++)
            active |=
                step->warps[i].warp == thread / 32 && (step->warps[i].active >> thread % 32 & 1);
        char text[16];
        snprintf(text, sizeof text, "T%u", thread);
        cell(page, active ? text : "·", active ? CYAN : DIM, false);
    }
    end_row(page);
}

static bool same_work(const struct rung_trace_warp *a, const struct rung_trace_warp *b)
{
    return a->active == b->active && a->ways == b->ways && a->body_runs == b->body_runs;
}

static unsigned lane_count(uint32_t lanes)
{
    unsigned count = 0;
    for (; lanes; lanes &= lanes - 1)
        count++;
    return count;
}

static void warp_name(char name[32], unsigned first, unsigned last)
{
    if (first == last)
        snprintf(name, 32, "warp %u", first);
    else
        snprintf(name, 32, "warps %u–%u", first, last);
}

static void warp_line(const struct page *page, const struct rung_trace_warp *warp, unsigned last)
{
    char name[32];
    warp_name(name, warp->warp, last);
    label(page, name);
    unsigned lanes = page->trace->config.block < 32 ? page->trace->config.block : 32;
    struct rung_text map = {0};
    for (unsigned lane = 0; lane < lanes; lane++)
        rung_text_append(&map, warp->active >> lane & 1 ? "█" : "·");
    rung_text_append(page->out, "  ");
    paint(page, warp->active ? CYAN : DIM, rung_text_string(&map));
    rung_text_release(&map);
    if (!warp->active) {
        paint(page, DIM, "  idle\n");
        return;
    }
    rung_text_format(page->out, "  %2u of %u lanes", lane_count(warp->active), lanes);
    if (last > warp->warp)
        rung_text_append(page->out, " each");
    if (warp->ways > 1) {
        char text[32];
        snprintf(text, sizeof text, "  %u-way conflict", warp->ways);
        paint(page, RED, text);
    }
    rung_text_append(page->out, "\n");
}

static struct rung_trace_warp warp_at(const struct rung_trace_step *step, unsigned index)
{
    for (size_t i = 0; i < step->n_warps; i++)
        if (step->warps[i].warp == index)
            return step->warps[i];
    return (struct rung_trace_warp){.warp = index};
}

/* One line for every run of warps that do the same. */
static void warp_lines(const struct page *page, const struct rung_trace_step *step)
{
    for (unsigned first = 0; first < page->trace->n_warps;) {
        struct rung_trace_warp warp = warp_at(step, first);
        unsigned last = first;
        while (!page->look->all && last + 1 < page->trace->n_warps) {
            struct rung_trace_warp next = warp_at(step, last + 1);
            if (!same_work(&warp, &next))
                break;
            last++;
        }
        warp_line(page, &warp, last);
        first = last + 1;
    }
}

/* How many distinct words each bank serves for the worst access of a step. */
static void bank_line(const struct page *page, const struct rung_trace_step *step)
{
    const struct rung_trace_access *worst = NULL;
    for (size_t i = 0; i < step->n_accesses; i++)
        if (!worst || step->accesses[i].ways > worst->ways)
            worst = &step->accesses[i];
    if (!worst || worst->ways < 2)
        return;
    unsigned words = (unsigned)rung_type_size(page->trace->config.type) / 4;
    unsigned banks[RUNG_TRACE_BANKS] = {0};
    for (unsigned lane = 0; lane < RUNG_TRACE_LANES; lane++)
        for (unsigned w = 0; w < words && (worst->lanes >> lane & 1); w++)
            banks[(worst->slots[lane] * words + w) % RUNG_TRACE_BANKS]++;
    label(page, "banks");
    rung_text_append(page->out, "  ");
    struct rung_text map = {0};
    for (unsigned bank = 0; bank < RUNG_TRACE_BANKS; bank++)
        rung_text_format(&map, banks[bank] == 0 ? "·" : banks[bank] < 10 ? "%u" : "#", banks[bank]);
    paint(page, RED, rung_text_string(&map));
    rung_text_release(&map);
    rung_text_format(page->out, "  words a bank serves, warp %u\n", worst->warp);
}

/* --- additions ------------------------------------------------------------------------------- */

static void operand_text(const struct page *page, struct rung_text *out,
                         const struct rung_trace_operand *operand)
{
    char text[32];
    value_text(page, text, operand->value);
    rung_text_format(out, operand->value < 0 ? "(%s)%s" : "%s%s", text, operand->stale ? "!" : "");
}

static void addition_text(const struct page *page, struct rung_text *out,
                          const struct rung_trace_addition *addition)
{
    char result[32];
    rung_text_format(out, "T%u: ", addition->thread);
    operand_text(page, out, &addition->left);
    rung_text_append(out, " + ");
    operand_text(page, out, &addition->right);
    value_text(page, result, addition->result);
    rung_text_format(out, " = %s", result);
}

/* What thread `thread` read and what it makes of it: "1 × 2 + 9 × 1". False if it read nothing. */
static bool load_text(const struct page *page, struct rung_text *out,
                      const struct rung_trace_step *step, unsigned thread)
{
    bool any = false;
    for (size_t i = 0; i < step->n_reads; i++) {
        const struct rung_trace_read *read = &step->reads[i];
        if (read->thread != thread || read->vector != 0)
            continue;
        rung_text_append(out, any ? " + " : "");
        any = true;
        char text[32];
        value_text(page, text, read->value);
        rung_text_append(out, text);
        for (size_t j = 0; j < step->n_reads; j++)
            if (step->reads[j].thread == thread && step->reads[j].vector == 1 &&
                step->reads[j].element == read->element) {
                value_text(page, text, step->reads[j].value);
                rung_text_format(out, " × %s", text);
                break;
            }
    }
    return any;
}

static void store_text(const struct page *page, struct rung_text *out,
                       const struct rung_trace_step *step, const struct rung_trace_store *store)
{
    rung_text_format(out, "T%u: ", store->thread);
    char text[32];
    value_text(page, text, store->value);
    struct rung_text terms = {0};
    load_text(page, &terms, step, store->thread);
    if (strcmp(rung_text_string(&terms), text) == 0 || !terms.length)
        rung_text_append(out, text);
    else
        rung_text_format(out, "%s = %s", rung_text_string(&terms), text);
    rung_text_release(&terms);
}

/* Items side by side in equal columns, as many lines as `all` allows. */
static void formulas(const struct page *page, const struct rung_trace_step *step)
{
    bool load = step->kind == RUNG_TRACE_LOAD;
    size_t count = load ? step->n_stores : step->n_adds;
    size_t limit = page->look->all ? count : page->trace->config.block <= 8 ? 8 : 4;
    unsigned widest = 0;
    for (size_t i = 0; i < count; i++) {
        struct rung_text item = {0};
        if (i < limit || i + 1 == count) {
            load ? store_text(page, &item, step, &step->stores[i])
                 : addition_text(page, &item, &step->adds[i]);
            unsigned width = width_of(rung_text_string(&item)) + 3;
            widest = width > widest ? width : widest;
        }
        rung_text_release(&item);
    }
    unsigned per_line = widest ? (page->look->columns - 2) / widest : 1;
    per_line = per_line ? per_line : 1;
    for (size_t i = 0, at = 0; i < count; i++) {
        if (i >= limit)
            break;
        struct rung_text item = {0};
        load ? store_text(page, &item, step, &step->stores[i])
             : addition_text(page, &item, &step->adds[i]);
        rung_text_append(page->out, at == 0 ? "  " : "");
        rung_text_append(page->out, rung_text_string(&item));
        pad(page, widest - width_of(rung_text_string(&item)));
        rung_text_release(&item);
        at = (at + 1) % per_line;
        if (at == 0 || i + 1 == count || i + 1 == limit)
            end_row(page);
    }
    if (count > limit) {
        char text[64];
        snprintf(text, sizeof text, "  … and %zu more threads, to T%u\n", count - limit,
                 load ? step->stores[count - 1].thread : step->adds[count - 1].thread);
        paint(page, DIM, text);
    }
}

/* --- the page -------------------------------------------------------------------------------- */

static void rule(const struct page *page, const char *style, const char *text)
{
    struct rung_text line = {0};
    rung_text_format(&line, "  ── %s ", text);
    unsigned used = width_of(rung_text_string(&line));
    for (unsigned i = used; i < page->look->columns; i++)
        rung_text_append(&line, "─");
    paint(page, style, rung_text_string(&line));
    rung_text_append(page->out, "\n");
    rung_text_release(&line);
}

static void order_line(const struct page *page, const struct rung_trace_step *step)
{
    unsigned arrived = 0;
    for (size_t i = 0; i < step->n_warps; i++)
        arrived += lane_count(step->warps[i].arrived);
    char text[96];
    if (step->order == RUNG_TRACE_ORDER_BLOCK) {
        if (step->order_broken)
            snprintf(text, sizeof text, "barrier: only %u of %u threads arrive", arrived,
                     page->trace->config.block);
        else
            snprintf(text, sizeof text, "barrier: all %u threads", arrived);
        rule(page, step->order_broken ? RED : DIM, text);
    } else if (step->order == RUNG_TRACE_ORDER_WARP) {
        rule(page, DIM, "within the warp, no block barrier");
    } else if (step->order == RUNG_TRACE_ORDER_NONE && page->trace->control) {
        rule(page, DIM, "no barrier");
    }
}

static void step_title(const struct page *page, size_t index)
{
    const struct rung_trace_step *step = &page->trace->steps[index];
    char left[96], right[64];
    if (step->kind == RUNG_TRACE_LOAD)
        snprintf(left, sizeof left, "%zu  load%s", index,
                 page->trace->inputs[1] ? " and multiply" : "");
    else if (step->kind == RUNG_TRACE_WRITE)
        snprintf(left, sizeof left, "%zu  write the result", index);
    else if (step->stride)
        snprintf(left, sizeof left, "%zu  stride %u%s", index, step->stride,
                 step->in_registers ? ", by shuffle" : "");
    else
        snprintf(left, sizeof left, "%zu  add%s", index, step->in_registers ? ", by shuffle" : "");
    snprintf(right, sizeof right, "%u of %u threads %s", step->active, page->trace->config.block,
             step->kind == RUNG_TRACE_LOAD  ? "load"
             : step->kind == RUNG_TRACE_ADD ? "add"
                                            : "write");
    paint(page, BOLD, left);
    unsigned used = width_of(left) + width_of(right);
    pad(page, page->look->columns > used ? page->look->columns - used : 2);
    rung_text_append(page->out, right);
    rung_text_append(page->out, "\n");
}

static void source_line(const struct page *page, const struct rung_trace_step *step)
{
    size_t length;
    bool cuda = step->source_line != 0;
    unsigned line = cuda ? step->source_line : step->line;
    const char *text =
        rung_trace_line(cuda ? page->trace->source : page->trace->ptx, line, &length);
    if (!length)
        return;
    int room = (int)page->look->columns - 16;
    char shown[256];
    snprintf(shown, sizeof shown, "  %s%4u │ %.*s", cuda ? "line " : "PTX ", line,
             (int)length < room ? (int)length : room, text);
    for (char *c = shown; *c; c++)
        *c = *c == '\t' ? ' ' : *c;
    paint(page, DIM, shown);
    rung_text_append(page->out, "\n");
}

static void counts_line(const struct page *page, const struct rung_trace_step *step)
{
    if (step->kind != RUNG_TRACE_ADD)
        return;
    char text[128];
    snprintf(text, sizeof text,
             "  body runs %llu, serialised %llu · so far %llu, %llu · additions so far %llu",
             (unsigned long long)step->body_runs, (unsigned long long)step->serialised,
             (unsigned long long)step->body_runs_so_far,
             (unsigned long long)step->serialised_so_far,
             (unsigned long long)step->additions_so_far);
    paint(page, step->serialised > step->body_runs ? YELLOW : DIM, text);
    rung_text_append(page->out, "\n");
}

static void findings(const struct page *page, size_t index)
{
    unsigned shown = 0;
    for (size_t i = 0; i < page->trace->n_findings; i++) {
        const struct rung_trace_finding *finding = &page->trace->findings[i];
        if (finding->step != index || (++shown > 4 && !page->look->all))
            continue;
        rung_text_append(page->out, "  ");
        paint(page, RED, "✗ ");
        paint(page, RED, finding->kind);
        rung_text_format(page->out, ": %s\n", finding->text);
    }
    if (shown > 4 && !page->look->all)
        rung_text_format(page->out, "    and %u more in this step\n", shown - 4);
}

static void write_step(const struct page *page, size_t index)
{
    const struct rung_trace_step *step = &page->trace->steps[index];
    const struct rung_trace *trace = page->trace;
    bool small = trace->config.block <= 8;
    step_title(page, index);
    source_line(page, step);
    if (step->kind != RUNG_TRACE_WRITE) {
        formulas(page, step);
        if (small)
            thread_row(page, step);
        else
            warp_lines(page, step);
        if (trace->n_slots && step->n_stores)
            shared_rows(page, index);
        bank_line(page, step);
        counts_line(page, step);
    } else {
        char text[32];
        value_text(page, text, trace->result);
        rung_text_append(page->out, "  the output becomes ");
        paint(page, BOLD, trace->wrote ? text : "nothing");
        rung_text_append(page->out, "\n");
    }
    findings(page, index);
    order_line(page, step);
    rung_text_append(page->out, "\n");
}

static void write_head(const struct page *page)
{
    const struct rung_trace *trace = page->trace;
    paint(page, BOLD, trace->id);
    rung_text_format(page->out,
                     "  %s\n%s of %llu elements · one block of %u threads, %u warp%s · %s",
                     trace->title, trace->inputs[1] ? "dot product" : "sum",
                     (unsigned long long)trace->n, trace->config.block, trace->n_warps,
                     trace->n_warps == 1 ? "" : "s", rung_type_word(trace->config.type));
    rung_text_append(page->out, "\n\n");
    for (unsigned vector = 0; vector < 2 && trace->inputs[vector]; vector++)
        input_rows(page, vector);
    rung_text_append(page->out, "\n");
}

static void write_foot(const struct page *page)
{
    const struct rung_trace *trace = page->trace;
    char text[32];
    value_text(page, text, trace->result);
    paint(page, BOLD, "result ");
    paint(page, trace->correct ? GREEN : RED, trace->wrote ? text : "none");
    rung_text_append(page->out, "\n");
    rung_trace_write_verification(page->out, trace, page->look->all ? SIZE_MAX : 8);
    rung_text_format(page->out, "\n%llu additions, %llu body runs, %llu serialised",
                     (unsigned long long)trace->additions, (unsigned long long)trace->body_runs,
                     (unsigned long long)trace->serialised);
    if (trace->has_model) {
        const struct rung_model *model = &trace->model;
        bool same = model->body_runs == trace->body_runs && model->serialised == trace->serialised;
        rung_text_format(page->out, "; the model of a full block: %llu, %llu, %llu%s",
                         (unsigned long long)model->additions, (unsigned long long)model->body_runs,
                         (unsigned long long)model->serialised, same ? " ✓" : "");
    }
    rung_text_append(page->out, "\n");
}

void rung_trace_write_text(struct rung_text *out, const struct rung_trace *trace,
                           const struct rung_trace_look *look)
{
    struct rung_trace_look wide = *look;
    wide.columns = look->columns < 60 ? 60 : look->columns > 120 ? 120 : look->columns;
    struct page page = {out, trace, &wide};
    write_head(&page);
    for (size_t i = 0; i < trace->n_steps; i++)
        write_step(&page, i);
    write_foot(&page);
}
