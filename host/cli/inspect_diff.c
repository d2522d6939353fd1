/* Two kernels side by side: what each has more of. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "cli/inspect_view.h"
#include "inspect/mix.h"

/* One side of a comparison. */
struct side {
    const struct rung_inspect_row *row;
    const struct rung_inspected *kernel;
    const struct rung_inspected_side *code;
    struct rung_mix mix;
    char name[160]; /* "v1-b256-const@sm_90" */
};

struct pair {
    struct side a, b;
    bool is_sass;
    struct rung_mix_line *lines;
    size_t n_lines;
};

static bool name_is_taken(const struct side *side)
{
    return side->row->item->kind == RUNG_INSPECT_CONFIG;
}

static void name_side(struct side *side, unsigned target)
{
    snprintf(side->name, sizeof side->name, "%.60s%s%.60s@sm_%u", side->row->item->name,
             name_is_taken(side) ? "" : ":", name_is_taken(side) ? "" : side->kernel->kernel,
             target);
}

/* SASS where both have it, else PTX. */
static enum rung_status make_pair(struct pair *pair, struct rung_arena *arena,
                                  struct rung_error *err)
{
    const struct rung_inspected *a = pair->a.kernel, *b = pair->b.kernel;
    pair->is_sass = a->sass.present && b->sass.present;
    if (!pair->is_sass && !(a->ptx.present && b->ptx.present))
        return rung_fail(err, RUNG_UNABLE,
                         "%s and %s have neither SASS nor PTX in common to compare",
                         pair->a.row->item->name, pair->b.row->item->name);
    pair->a.code = pair->is_sass ? &a->sass : &a->ptx;
    pair->b.code = pair->is_sass ? &b->sass : &b->ptx;
    name_side(&pair->a, pair->is_sass ? a->sass_target : a->ptx_target);
    name_side(&pair->b, pair->is_sass ? b->sass_target : b->ptx_target);
    rung_mix_count(&pair->a.mix, &pair->a.code->code);
    rung_mix_count(&pair->b.mix, &pair->b.code->code);
    if (!rung_mix_compare(&pair->lines, &pair->n_lines, &pair->a.code->code, &pair->b.code->code,
                          arena))
        return rung_fail(err, RUNG_MEMORY, "out of memory");
    return RUNG_OK;
}

/* ---- as a table ---- */

static void add_numbers(struct rung_table *table, const char *title, unsigned a, unsigned b)
{
    rung_table_row(table);
    rung_table_text(table, title);
    rung_table_format(table, "%u", a);
    rung_table_format(table, "%u", b);
    if (a == b)
        rung_table_empty(table);
    else
        rung_table_format(table, "%+d", (int)b - (int)a);
}

static struct rung_table *pair_table(const struct pair *pair)
{
    static const struct rung_column columns[] = {
        {"what",       "WHAT",  false},
        {"a",          "A",     true },
        {"b",          "B",     true },
        {"difference", "B - A", true }
    };
    char a[24], b[24];
    struct rung_table *table = rung_table_new(columns, sizeof columns / sizeof columns[0]);
    rung_verdict_short(&pair->a.code->verdict, a);
    rung_verdict_short(&pair->b.code->verdict, b);
    rung_table_row(table);
    rung_table_text(table, "verdict");
    rung_table_text(table, a);
    rung_table_text(table, b);
    rung_table_empty(table);
    if (pair->is_sass) {
        add_numbers(table, "registers", pair->a.kernel->registers, pair->b.kernel->registers);
        add_numbers(table, "shared bytes", (unsigned)pair->a.kernel->shared_bytes,
                    (unsigned)pair->b.kernel->shared_bytes);
    }
    add_numbers(table, "instructions", pair->a.mix.total, pair->b.mix.total);
    add_numbers(table, "under a predicate", pair->a.mix.guarded, pair->b.mix.guarded);
    for (int class = 0; class < RUNG_MIX_COUNT; class ++)
        if (pair->a.mix.counts[class] || pair->b.mix.counts[class])
            add_numbers(table, rung_mix_title((enum rung_mix_class) class),
                        pair->a.mix.counts[class], pair->b.mix.counts[class]);
    return table;
}

static enum rung_status print_pair(const struct pair *pair, bool evidence, enum rung_format format,
                                   FILE *to, struct rung_error *err)
{
    if (format != RUNG_FORMAT_CSV)
        fprintf(to, "%s: A = %s, B = %s\n", pair->is_sass ? "SASS" : "PTX", pair->a.name,
                pair->b.name);
    struct rung_table *table = pair_table(pair);
    enum rung_status status = rung_table_print(table, format, to, err);
    rung_table_free(table);
    if (status != RUNG_OK || !evidence)
        return status;
    fprintf(to, "\n%7s %7s  registers, labels and places of parameters left out\n", "A", "B");
    for (size_t i = 0; i < pair->n_lines; i++)
        fprintf(to, "%7u %7u  %s\n", pair->lines[i].a, pair->lines[i].b, pair->lines[i].text);
    return RUNG_OK;
}

/* ---- as JSON ---- */

static json_t *side_json(const struct side *side, bool is_sass)
{
    json_t *counts = json_object();
    for (int class = 0; class < RUNG_MIX_COUNT; class ++)
        json_object_set_new(counts, rung_mix_key((enum rung_mix_class) class),
                            json_integer(side->mix.counts[class]));
    const struct rung_inspected *kernel = side->kernel;
    return json_pack("{s:s, s:s, s:o, s:s, s:o, s:o, s:i, s:i, s:o}", "name", side->row->item->name,
                     "kernel", kernel->kernel, "target",
                     json_sprintf("sm_%u", is_sass ? kernel->sass_target : kernel->ptx_target),
                     "verdict", rung_verdict_text(side->code->verdict.word), "registers",
                     is_sass ? json_integer(kernel->registers) : json_null(), "shared_bytes",
                     is_sass ? json_integer((json_int_t)kernel->shared_bytes) : json_null(),
                     "instructions", (int)side->mix.total, "guarded", (int)side->mix.guarded,
                     "classes", counts);
}

static json_t *pair_json(const struct pair *pair)
{
    json_t *lines = json_array();
    for (size_t i = 0; i < pair->n_lines; i++)
        json_array_append_new(lines,
                              json_pack("{s:s, s:i, s:i}", "instruction", pair->lines[i].text, "a",
                                        (int)pair->lines[i].a, "b", (int)pair->lines[i].b));
    return json_pack("{s:s, s:o, s:o, s:o}", "language", pair->is_sass ? "sass" : "ptx", "a",
                     side_json(&pair->a, pair->is_sass), "b", side_json(&pair->b, pair->is_sass),
                     "lines", lines);
}

/* ---- which pairs there are ---- */

static const struct rung_inspected *partner(const struct rung_inspect_row *a, size_t k,
                                            const struct rung_inspect_row *b)
{
    if (a->inspection.n_kernels == 1 && b->inspection.n_kernels == 1)
        return &b->inspection.kernels[0];
    for (size_t i = 0; i < b->inspection.n_kernels; i++)
        if (strcmp(a->inspection.kernels[k].kernel, b->inspection.kernels[i].kernel) == 0)
            return &b->inspection.kernels[i];
    return NULL;
}

struct printing {
    bool evidence;
    enum rung_format format;
    FILE *to;
    json_t *rows; /* JSON */
    struct rung_arena arena;
    size_t n_pairs;
};

static enum rung_status compare_rows(struct printing *printing, const struct rung_inspect_row *a,
                                     const struct rung_inspect_row *b, struct rung_error *err)
{
    enum rung_status status = RUNG_OK;
    for (size_t k = 0; status == RUNG_OK && k < a->inspection.n_kernels; k++) {
        struct pair pair = {
            .a = {.row = a, .kernel = &a->inspection.kernels[k]},
            .b = { .row = b, .kernel = partner(a,                                        k, b)}
        };
        if (!pair.b.kernel)
            continue;
        status = make_pair(&pair, &printing->arena, err);
        if (status != RUNG_OK)
            return status;
        if (printing->format == RUNG_FORMAT_JSON) {
            json_array_append_new(printing->rows, pair_json(&pair));
        } else {
            if (printing->n_pairs > 0)
                fputc('\n', printing->to);
            status = print_pair(&pair, printing->evidence, printing->format, printing->to, err);
        }
        printing->n_pairs++;
    }
    return status;
}

enum rung_status rung_inspect_diff(json_t **rows, const struct rung_inspect_result *result,
                                   bool evidence, enum rung_format format, FILE *to,
                                   struct rung_error *err)
{
    struct printing printing = {
        .evidence = evidence, .format = format, .to = to, .rows = json_array()};
    size_t half = result->n_rows / 2;
    enum rung_status status = RUNG_OK;
    bool two_sides = result->n_rows >= 2 && result->n_rows % 2 == 0 &&
                     (result->n_items == 1 ? result->n_rows == 2
                                           : result->rows[half].item == &result->items[1] &&
                                                 result->rows[half - 1].item == &result->items[0]);
    if (!two_sides || result->n_items > 2)
        status = rung_fail(err, RUNG_USAGE,
                           "--diff compares two: give two names, each as NAME or NAME@sm_XX, or "
                           "one name and two targets");
    for (size_t i = 0; status == RUNG_OK && i < half; i++)
        status = compare_rows(&printing, &result->rows[i], &result->rows[half + i], err);
    if (status == RUNG_OK && printing.n_pairs == 0)
        status = rung_fail(err, RUNG_USAGE, "%s and %s have no kernel of the same name",
                           result->rows[0].item->name, result->rows[half].item->name);
    rung_arena_release(&printing.arena);
    if (status == RUNG_OK && format == RUNG_FORMAT_JSON)
        *rows = printing.rows;
    else
        json_decref(printing.rows);
    return status;
}
