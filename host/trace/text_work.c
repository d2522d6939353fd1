/* Who works in a step: threads, warps, banks, and their additions. */
#include "trace/text_page.h"

#include <stdio.h>
#include <string.h>

void rung_trace_thread_row(const struct rung_trace_page *page, const struct rung_trace_step *step)
{
    rung_trace_label(page, "thread");
    for (unsigned thread = 0; thread < page->trace->config.block; thread++) {
        bool active = false;
        for (size_t i = 0; i < step->n_warps; i++)
            active |=
                step->warps[i].warp == thread / 32 && (step->warps[i].active >> thread % 32 & 1);
        char text[16];
        snprintf(text, sizeof text, "T%u", thread);
        rung_trace_cell(page, active ? text : "·", active ? RUNG_TRACE_CYAN : RUNG_TRACE_DIM,
                        false);
    }
    rung_trace_end_row(page);
}

static bool same_work(const struct rung_trace_warp *a, const struct rung_trace_warp *b)
{
    return a->active == b->active && a->ways == b->ways && a->body_runs == b->body_runs;
}

static void warp_name(char name[32], unsigned first, unsigned last)
{
    if (first == last)
        snprintf(name, 32, "warp %u", first);
    else
        snprintf(name, 32, "warps %u–%u", first, last);
}

static void warp_line(const struct rung_trace_page *page, const struct rung_trace_warp *warp,
                      unsigned last)
{
    char name[32];
    warp_name(name, warp->warp, last);
    rung_trace_label(page, name);
    unsigned lanes = page->trace->config.block < 32 ? page->trace->config.block : 32;
    struct rung_text map = {0};
    for (unsigned lane = 0; lane < lanes; lane++)
        rung_text_append(&map, warp->active >> lane & 1 ? "█" : "·");
    rung_trace_paint(page, warp->active ? RUNG_TRACE_CYAN : RUNG_TRACE_DIM, rung_text_string(&map));
    rung_text_release(&map);
    if (!warp->active) {
        rung_trace_paint(page, RUNG_TRACE_DIM, "  idle\n");
        return;
    }
    rung_text_format(page->out, "  %2u/%u lanes", rung_trace_lane_count(warp->active), lanes);
    if (last > warp->warp)
        rung_text_append(page->out, " each");
    if (warp->ways > 1) {
        char text[32];
        snprintf(text, sizeof text, "  %u-way conflict", warp->ways);
        rung_trace_paint(page, RUNG_TRACE_RED, text);
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
void rung_trace_warp_lines(const struct rung_trace_page *page, const struct rung_trace_step *step)
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

/* "0–31", "0, 8, … 248", "5": the words of an access, which lie evenly in every right kernel. */
static void words_text(struct rung_text *out, const struct rung_trace_access *access,
                       unsigned per_slot)
{
    unsigned words[RUNG_TRACE_LANES], count = 0;
    for (unsigned lane = 0; lane < RUNG_TRACE_LANES; lane++)
        if (access->lanes >> lane & 1)
            words[count++] = access->slots[lane] * per_slot;
    bool even = true;
    for (unsigned i = 2; i < count; i++)
        even &= words[i] - words[i - 1] == words[1] - words[0];
    unsigned last = words[count - 1];
    if (count == 1)
        rung_text_format(out, "%u", last);
    else if (even && words[1] == words[0] + per_slot)
        rung_text_format(out, "%u–%u", words[0], last + per_slot - 1);
    else if (count == 2)
        rung_text_format(out, "%u, %u", words[0], last);
    else
        rung_text_format(out, "%u, %u, … %u", words[0], words[1], last);
}

static unsigned first_slot(const struct rung_trace_access *access)
{
    unsigned lane = 0;
    while (lane + 1 < RUNG_TRACE_LANES && !(access->lanes >> lane & 1))
        lane++;
    return access->slots[lane];
}

#define SHOWN 8

/* The accesses of the first warp at work: reads before writes, from the lowest word on, so that it
 * does not matter which operand a compiler loads first. */
static unsigned sorted_accesses(const struct rung_trace_access *out[SHOWN],
                                const struct rung_trace_step *step)
{
    unsigned count = 0;
    for (size_t i = 0; i < step->n_accesses && count < SHOWN; i++) {
        const struct rung_trace_access *access = &step->accesses[i];
        if (access->warp != step->accesses[0].warp)
            break;
        unsigned at = count++;
        for (; at > 0; at--) {
            bool later = out[at - 1]->store == access->store
                             ? first_slot(out[at - 1]) > first_slot(access)
                             : out[at - 1]->store;
            if (!later)
                break;
            out[at] = out[at - 1];
        }
        out[at] = access;
    }
    return count;
}

void rung_trace_words_line(const struct rung_trace_page *page, const struct rung_trace_step *step)
{
    const struct rung_trace_access *accesses[SHOWN];
    unsigned count = sorted_accesses(accesses, step), ways = 0;
    if (count == 0)
        return;
    unsigned per_slot = (unsigned)rung_type_size(page->trace->config.type) / 4;
    struct rung_text text = {0};
    rung_text_format(&text, "warp %u", accesses[0]->warp);
    for (unsigned i = 0; i < count; i++) {
        bool same = i && accesses[i - 1]->store == accesses[i]->store;
        rung_text_append(&text, !i ? " " : same ? " and " : ", ");
        rung_text_append(&text, same ? "" : accesses[i]->store ? "writes " : "reads ");
        words_text(&text, accesses[i], per_slot);
        ways = accesses[i]->ways > ways ? accesses[i]->ways : ways;
    }
    rung_text_append(&text, ways > 1 ? "" : ": no conflict"); /* the banks follow in their line */
    rung_trace_label(page, "words");
    rung_trace_wrap(page, rung_text_string(&text), RUNG_TRACE_LABEL, RUNG_TRACE_LABEL);
    rung_text_append(page->out, "\n");
    rung_text_release(&text);
}

/* How many distinct words each bank serves for the worst access of a step. */
void rung_trace_bank_line(const struct rung_trace_page *page, const struct rung_trace_step *step)
{
    const struct rung_trace_access *worst = NULL;
    for (size_t i = 0; i < step->n_accesses; i++)
        if (!worst || step->accesses[i].ways > worst->ways)
            worst = &step->accesses[i];
    if (!worst || worst->ways < 2)
        return;
    unsigned banks[RUNG_TRACE_BANKS];
    rung_trace_bank_words(banks, worst, page->trace->config.type);
    rung_trace_label(page, "banks");
    struct rung_text map = {0};
    for (unsigned bank = 0; bank < RUNG_TRACE_BANKS; bank++)
        rung_text_format(&map, banks[bank] == 0 ? "·" : banks[bank] < 10 ? "%u" : "#", banks[bank]);
    rung_trace_paint(page, RUNG_TRACE_RED, rung_text_string(&map));
    rung_text_release(&map);
    rung_text_format(page->out, "  words a bank serves, warp %u\n", worst->warp);
}

/* --- additions ------------------------------------------------------------------------------- */

static void operand_text(const struct rung_trace_page *page, struct rung_text *out,
                         const struct rung_trace_operand *operand)
{
    char text[32];
    rung_trace_value_text(page, text, operand->value);
    rung_text_format(out, operand->value < 0 ? "(%s)%s" : "%s%s", text, operand->stale ? "!" : "");
}

static void addition_text(const struct rung_trace_page *page, struct rung_text *out,
                          const struct rung_trace_addition *addition)
{
    char result[32];
    rung_text_format(out, "T%u: ", addition->thread);
    operand_text(page, out, &addition->left);
    rung_text_append(out, " + ");
    operand_text(page, out, &addition->right);
    rung_trace_value_text(page, result, addition->result);
    rung_text_format(out, " = %s", result);
}

/* What thread `thread` read and what it makes of it: "1 × 2 + 9 × 1". False if it read nothing. */
static bool load_text(const struct rung_trace_page *page, struct rung_text *out,
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
        rung_trace_value_text(page, text, read->value);
        rung_text_append(out, text);
        for (size_t j = 0; j < step->n_reads; j++)
            if (step->reads[j].thread == thread && step->reads[j].vector == 1 &&
                step->reads[j].element == read->element) {
                rung_trace_value_text(page, text, step->reads[j].value);
                rung_text_format(out, " × %s", text);
                break;
            }
    }
    return any;
}

static void store_text(const struct rung_trace_page *page, struct rung_text *out,
                       const struct rung_trace_step *step, const struct rung_trace_store *store)
{
    rung_text_format(out, "T%u: ", store->thread);
    char text[32];
    rung_trace_value_text(page, text, store->value);
    struct rung_text terms = {0};
    load_text(page, &terms, step, store->thread);
    if (strcmp(rung_text_string(&terms), text) == 0 || !terms.length)
        rung_text_append(out, text);
    else
        rung_text_format(out, "%s = %s", rung_text_string(&terms), text);
    rung_text_release(&terms);
}

/* Items side by side in equal columns, as many lines as `all` allows. */
void rung_trace_formulas(const struct rung_trace_page *page, const struct rung_trace_step *step)
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
            unsigned width = rung_trace_width(rung_text_string(&item)) + 3;
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
        rung_trace_pad(page, widest - rung_trace_width(rung_text_string(&item)));
        rung_text_release(&item);
        at = (at + 1) % per_line;
        if (at == 0 || i + 1 == count || i + 1 == limit)
            rung_trace_end_row(page);
    }
    if (count > limit) {
        char text[64];
        snprintf(text, sizeof text, "  … and %zu more threads, to T%u\n", count - limit,
                 load ? step->stores[count - 1].thread : step->adds[count - 1].thread);
        rung_trace_paint(page, RUNG_TRACE_DIM, text);
    }
}
