/* A trace for the terminal: a small block in full, of a large one what moved. */
#include "trace/text_page.h"

#include <stdio.h>
#include <string.h>

void rung_trace_paint(const struct rung_trace_page *page, const char *style, const char *text)
{
    if (page->look->colour)
        rung_text_format(page->out, "\033[%sm%s\033[0m", style, text);
    else
        rung_text_append(page->out, text);
}

unsigned rung_trace_width(const char *text)
{
    unsigned width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xC0) != 0x80;
    return width;
}

void rung_trace_pad(const struct rung_trace_page *page, unsigned columns)
{
    rung_text_format(page->out, "%*s", (int)columns, "");
}

void rung_trace_label(const struct rung_trace_page *page, const char *text)
{
    rung_text_append(page->out, "  ");
    rung_trace_paint(page, RUNG_TRACE_DIM, text);
    unsigned used = rung_trace_width(text) + 2;
    rung_trace_pad(page, used < RUNG_TRACE_LABEL ? RUNG_TRACE_LABEL - used : 1);
}

void rung_trace_value_text(const struct rung_trace_page *page, char text[32], double value)
{
    rung_trace_format_value(text, value, page->trace->config.type);
}

void rung_trace_end_row(const struct rung_trace_page *page)
{
    struct rung_text *out = page->out;
    while (out->length && out->data[out->length - 1] == ' ')
        out->data[--out->length] = '\0';
    rung_text_append(out, "\n");
}

void rung_trace_wrap(const struct rung_trace_page *page, const char *text, unsigned column,
                     unsigned indent)
{
    bool first = true;
    while (*text) {
        size_t length = strcspn(text, " \n");
        struct rung_text word = {0};
        rung_text_append_bytes(&word, text, length);
        unsigned width = rung_trace_width(rung_text_string(&word));
        if (!first && column + 1 + width > page->look->columns) {
            rung_text_append(page->out, "\n");
            rung_trace_pad(page, indent);
            column = indent;
            first = true;
        }
        rung_text_format(page->out, "%s%s", first ? "" : " ", rung_text_string(&word));
        column += width + !first;
        first = false;
        rung_text_release(&word);
        text += length;
        if (*text == '\n') {
            rung_text_append(page->out, "\n");
            column = 0;
            first = true;
        }
        text += *text != '\0';
    }
}

static void rule(const struct rung_trace_page *page, const char *style, const char *text)
{
    struct rung_text line = {0};
    rung_text_format(&line, "  ── %s ", text);
    unsigned used = rung_trace_width(rung_text_string(&line));
    for (unsigned i = used; i < page->look->columns; i++)
        rung_text_append(&line, "─");
    rung_trace_paint(page, style, rung_text_string(&line));
    rung_text_append(page->out, "\n");
    rung_text_release(&line);
}

static void order_line(const struct rung_trace_page *page, const struct rung_trace_step *step)
{
    unsigned arrived = 0;
    for (size_t i = 0; i < step->n_warps; i++)
        arrived += rung_trace_lane_count(step->warps[i].arrived);
    char text[96];
    if (step->order == RUNG_TRACE_ORDER_BLOCK) {
        if (step->order_broken)
            snprintf(text, sizeof text, "barrier: only %u of %u threads arrive", arrived,
                     page->trace->config.block);
        else
            snprintf(text, sizeof text, "barrier: all %u threads", arrived);
        rule(page, step->order_broken ? RUNG_TRACE_RED : RUNG_TRACE_DIM, text);
    } else if (step->order == RUNG_TRACE_ORDER_WARP) {
        rule(page, RUNG_TRACE_DIM, "within the warp, no block barrier");
    } else if (step->order == RUNG_TRACE_ORDER_NONE && page->trace->control) {
        rule(page, RUNG_TRACE_DIM, "no barrier");
    }
}

static void step_title(const struct rung_trace_page *page, size_t index)
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
    rung_trace_paint(page, RUNG_TRACE_BOLD, left);
    unsigned used = rung_trace_width(left) + rung_trace_width(right);
    rung_trace_pad(page, page->look->columns > used ? page->look->columns - used : 2);
    rung_text_append(page->out, right);
    rung_text_append(page->out, "\n");
}

static void source_line(const struct rung_trace_page *page, const struct rung_trace_step *step)
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
    rung_trace_paint(page, RUNG_TRACE_DIM, shown);
    rung_text_append(page->out, "\n");
}

static void counts_line(const struct rung_trace_page *page, const struct rung_trace_step *step)
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
    rung_trace_paint(page, step->serialised > step->body_runs ? RUNG_TRACE_YELLOW : RUNG_TRACE_DIM,
                     text);
    rung_text_append(page->out, "\n");
}

/* " (16 threads, T0 to T15)": whom a finding is about. */
static void finding_threads(struct rung_text *out, const struct rung_trace_finding *finding)
{
    unsigned first = RUNG_TRACE_LANES, last = 0;
    for (unsigned lane = 0; lane < RUNG_TRACE_LANES; lane++)
        if (finding->lanes >> lane & 1) {
            first = first < lane ? first : lane;
            last = lane;
        }
    unsigned base = finding->warp * RUNG_TRACE_LANES;
    if (finding->lanes == 0 && finding->line)
        rung_text_format(out, " (warp %u)", finding->warp);
    else if (first == last)
        rung_text_format(out, " (T%u)", base + first);
    else if (first < last)
        rung_text_format(out, " (%u threads, T%u to T%u)", rung_trace_lane_count(finding->lanes),
                         base + first, base + last);
}

static void findings(const struct rung_trace_page *page, size_t index)
{
    unsigned shown = 0;
    for (size_t i = 0; i < page->trace->n_findings; i++) {
        const struct rung_trace_finding *finding = &page->trace->findings[i];
        if (finding->step != index || (++shown > 4 && !page->look->all))
            continue;
        rung_text_append(page->out, "  ");
        rung_trace_paint(page, RUNG_TRACE_RED, "✗ ");
        rung_trace_paint(page, RUNG_TRACE_RED, finding->kind);
        rung_text_append(page->out, ": ");
        struct rung_text said = {0};
        rung_text_append(&said, finding->text);
        finding_threads(&said, finding);
        rung_trace_wrap(page, rung_text_string(&said), 6 + rung_trace_width(finding->kind), 4);
        rung_text_release(&said);
        rung_text_append(page->out, "\n");
    }
    if (shown > 4 && !page->look->all)
        rung_text_format(page->out, "    and %u more in this step\n", shown - 4);
}

static void write_step(const struct rung_trace_page *page, size_t index)
{
    const struct rung_trace_step *step = &page->trace->steps[index];
    const struct rung_trace *trace = page->trace;
    bool small = trace->config.block <= 8;
    step_title(page, index);
    source_line(page, step);
    if (step->kind != RUNG_TRACE_WRITE) {
        rung_trace_formulas(page, step);
        if (small)
            rung_trace_thread_row(page, step);
        else
            rung_trace_warp_lines(page, step);
        if (trace->n_slots && step->n_stores)
            rung_trace_shared_rows(page, index);
        rung_trace_words_line(page, step);
        rung_trace_bank_line(page, step);
        counts_line(page, step);
    } else {
        char text[32];
        rung_trace_value_text(page, text, trace->result);
        rung_text_append(page->out, "  the output becomes ");
        rung_trace_paint(page, RUNG_TRACE_BOLD, trace->wrote ? text : "nothing");
        rung_text_append(page->out, "\n");
    }
    findings(page, index);
    order_line(page, step);
    rung_text_append(page->out, "\n");
}

static void write_head(const struct rung_trace_page *page)
{
    const struct rung_trace *trace = page->trace;
    unsigned used = rung_trace_width(trace->id) + 2;
    bool beside = used + rung_trace_width(trace->title) <= page->look->columns;
    rung_trace_paint(page, RUNG_TRACE_BOLD, trace->id);
    rung_text_append(page->out, beside ? "  " : "\n");
    rung_trace_wrap(page, trace->title, beside ? used : 0, 0);
    rung_text_format(page->out, "\n%s of %llu elements · one block of %u threads, %u warp%s · %s",
                     trace->inputs[1] ? "dot product" : "sum", (unsigned long long)trace->n,
                     trace->config.block, trace->n_warps, trace->n_warps == 1 ? "" : "s",
                     rung_type_word(trace->config.type));
    rung_text_append(page->out, "\n\n");
    for (unsigned vector = 0; vector < 2 && trace->inputs[vector]; vector++)
        rung_trace_input_rows(page, vector);
    rung_text_append(page->out, "\n");
}

static void write_foot(const struct rung_trace_page *page)
{
    const struct rung_trace *trace = page->trace;
    char text[32];
    rung_trace_value_text(page, text, trace->result);
    rung_trace_paint(page, RUNG_TRACE_BOLD, "result ");
    rung_trace_paint(page, trace->correct ? RUNG_TRACE_GREEN : RUNG_TRACE_RED,
                     trace->wrote ? text : "none");
    rung_text_append(page->out, "\n");
    struct rung_text verification = {0};
    rung_trace_write_verification(&verification, trace, page->look->all ? SIZE_MAX : 8);
    rung_trace_wrap(page, rung_text_string(&verification), 0, 2);
    rung_text_release(&verification);
    struct rung_text counts = {0};
    rung_text_append(page->out, "\n");
    rung_text_format(&counts, "%llu addition%s, %llu body run%s, %llu serialised",
                     (unsigned long long)trace->additions, trace->additions == 1 ? "" : "s",
                     (unsigned long long)trace->body_runs, trace->body_runs == 1 ? "" : "s",
                     (unsigned long long)trace->serialised);
    if (trace->has_model) {
        const struct rung_model *model = &trace->model;
        bool same = model->body_runs == trace->body_runs && model->serialised == trace->serialised;
        rung_text_format(&counts, "; the model of a full block: %llu, %llu, %llu%s",
                         (unsigned long long)model->additions, (unsigned long long)model->body_runs,
                         (unsigned long long)model->serialised, same ? " ✓" : "");
    }
    rung_trace_wrap(page, rung_text_string(&counts), 0, 2);
    rung_text_release(&counts);
    rung_text_append(page->out, "\n");
}

void rung_trace_write_text(struct rung_text *out, const struct rung_trace *trace,
                           const struct rung_trace_look *look)
{
    struct rung_trace_look wide = *look;
    wide.columns = look->columns < 60 ? 60 : look->columns > 120 ? 120 : look->columns;
    struct rung_trace_page page = {out, trace, &wide};
    write_head(&page);
    for (size_t i = 0; i < trace->n_steps; i++)
        write_step(&page, i);
    write_foot(&page);
}
