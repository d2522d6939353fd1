/* Rows as JSON, and as a table. */
#include "cli/inspect_view.h"

#include <stdlib.h>
#include <string.h>

void rung_inspect_line_name(char name[16], const struct rung_code *code, uint32_t instruction)
{
    uint32_t line = code->instructions[instruction].line;
    snprintf(name, 16, code->is_sass ? "0x%04x" : "%u", line);
}

/* ---- JSON ---- */

static json_t *evidence_json(const struct rung_inspected_side *side)
{
    json_t *lines = json_array();
    for (uint32_t i = 0; i < side->verdict.n_evidence; i++) {
        uint32_t at = side->verdict.evidence[i].instruction;
        char name[16];
        rung_inspect_line_name(name, &side->code, at);
        json_array_append_new(lines,
                              json_sprintf("%s: %s", name, side->code.instructions[at].text));
    }
    return lines;
}

static json_t *side_json(const struct rung_inspected_side *side)
{
    if (!side->present)
        return json_null();
    const struct rung_modulo *verdict = &side->verdict;
    return json_pack("{s:s, s:i, s:i, s:i, s:i, s:o, s:b}", "verdict",
                     rung_verdict_text(verdict->word), "divide", (int)verdict->divide, "mask",
                     (int)verdict->mask, "multiply", (int)verdict->multiply, "barriers",
                     (int)verdict->barriers, "evidence", evidence_json(side), "complete",
                     !verdict->incomplete);
}

static json_t *text_or_null(const char *text)
{
    return text && text[0] ? json_string(text) : json_null();
}

static json_t *target_json(unsigned target)
{
    return target ? json_sprintf("sm_%u", target) : json_null();
}

static const char *status_word(enum rung_status status)
{
    return status == RUNG_OK        ? "ok"
           : status == RUNG_COMPILE ? "compile"
           : status == RUNG_UNABLE  ? "unsupported"
                                    : "runtime";
}

/* What all rows have; of a row without a kernel the rest is null. */
static json_t *row_json(const struct rung_inspect_row *row, const struct rung_inspected *kernel)
{
    const struct rung_inspect_item *item = row->item;
    enum rung_agreement agreement = kernel ? rung_inspected_agreement(kernel) : RUNG_ONE_SIDED;
    const char *why = row->status != RUNG_OK            ? row->err.text
                      : kernel && kernel->sass.why[0]   ? kernel->sass.why
                      : kernel && !kernel->sass.present ? "no cubin was given"
                                                        : NULL;
    const char *agree = agreement == RUNG_AGREE      ? "agree"
                        : agreement == RUNG_DISAGREE ? "disagree"
                                                     : NULL;
    json_t *object =
        json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
                  item->kind == RUNG_INSPECT_CONFIG ? "id" : "file", item->name, "kernel",
                  text_or_null(kernel ? kernel->kernel : NULL), "target", target_json(row->target),
                  "nvrtc", text_or_null(row->nvrtc ? rung_nvrtc_version(row->nvrtc) : NULL), "nvvm",
                  text_or_null(kernel ? kernel->nvvm : NULL), "agree", text_or_null(agree), "ptx",
                  kernel ? side_json(&kernel->ptx) : json_null(), "sass",
                  kernel ? side_json(&kernel->sass) : json_null());
    json_t *more = json_pack(
        "{s:o, s:s?, s:o, s:o, s:o, s:s, s:o}", "sass_target",
        target_json(kernel ? kernel->sass_target : 0), "image",
        !kernel || !kernel->sass_target ? NULL
        : row->from_driver              ? "ptx"
                                        : "cubin",
        "registers", kernel && kernel->registers ? json_integer(kernel->registers) : json_null(),
        "shared_bytes",
        kernel && kernel->sass_target ? json_integer((json_int_t)kernel->shared_bytes)
                                      : json_null(),
        "disassembler", text_or_null(row->inspection.disassembler), "status",
        status_word(row->status), "reason", text_or_null(why));
    json_object_update_missing(object, more);
    json_decref(more);
    return object;
}

json_t *rung_inspect_rows_json(const struct rung_inspect_result *result)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < result->n_rows; i++) {
        const struct rung_inspect_row *row = &result->rows[i];
        if (row->status != RUNG_OK)
            json_array_append_new(rows, row_json(row, NULL));
        for (size_t k = 0; row->status == RUNG_OK && k < row->inspection.n_kernels; k++)
            json_array_append_new(rows, row_json(row, &row->inspection.kernels[k]));
    }
    return rows;
}

/* ---- the table ---- */

/* One line of the table: a kernel of one toolkit, for one target or several in a row. */
struct line {
    const struct rung_inspect_row *first, *last;
    const struct rung_inspected *kernel; /* NULL where the row failed */
};

static void verdict_cell(char cell[32], const struct rung_inspected_side *side)
{
    char word[24] = "-";
    if (side->present)
        rung_verdict_short(&side->verdict, word);
    snprintf(cell, 32, "%s%s", word, side->present && side->verdict.incomplete ? "?" : "");
}

static bool same_verdicts(const struct rung_inspected *a, const struct rung_inspected *b)
{
    char cells[4][32];
    verdict_cell(cells[0], &a->ptx);
    verdict_cell(cells[1], &b->ptx);
    verdict_cell(cells[2], &a->sass);
    verdict_cell(cells[3], &b->sass);
    return strcmp(cells[0], cells[1]) == 0 && strcmp(cells[2], cells[3]) == 0 &&
           strcmp(a->nvvm ? a->nvvm : "", b->nvvm ? b->nvvm : "") == 0;
}

static const struct rung_inspected *find_kernel(const struct rung_inspect_row *row,
                                                const char *name)
{
    for (size_t k = 0; row->status == RUNG_OK && k < row->inspection.n_kernels; k++)
        if (strcmp(row->inspection.kernels[k].kernel, name) == 0)
            return &row->inspection.kernels[k];
    return NULL;
}

/* How far the rows of the same item and toolkit say the same of this kernel. */
static const struct rung_inspect_row *last_alike(const struct rung_inspect_result *result,
                                                 const struct rung_inspect_row *row,
                                                 const struct rung_inspected *kernel)
{
    const struct rung_inspect_row *end = result->rows + result->n_rows, *last = row;
    for (const struct rung_inspect_row *next = row + 1;
         next < end && next->item == row->item && next->nvrtc == row->nvrtc; next++) {
        const struct rung_inspected *same = find_kernel(next, kernel->kernel);
        if (!same || !same_verdicts(same, kernel))
            break;
        last = next;
    }
    return last;
}

static bool was_shown(const struct rung_inspect_result *result, const struct rung_inspect_row *row,
                      const struct rung_inspected *kernel)
{
    if (row == result->rows || row[-1].item != row->item || row[-1].nvrtc != row->nvrtc)
        return false;
    const struct rung_inspected *before = find_kernel(row - 1, kernel->kernel);
    return before && same_verdicts(before, kernel);
}

/* What decided: its first line, from PTX if there is any; a plain comparison where nothing did.
 * `brief`: without blanks and the marks of registers. */
static void decided_by(char text[64], const struct rung_inspected *kernel, bool brief)
{
    const struct rung_inspected_side *side = kernel->ptx.present ? &kernel->ptx : &kernel->sass;
    const char *line = "";
    for (uint32_t i = side->verdict.n_evidence; i-- > 0;)
        if (side->verdict.evidence[i].decides || side->verdict.word == RUNG_VERDICT_NONE)
            line = side->code.instructions[side->verdict.evidence[i].instruction].text;
    size_t n = 0;
    for (; *line && *line != ';' && n < 63; line++) {
        bool blank =
            *line == ' ' && (n == 0 || text[n - 1] == ' ' || (brief && text[n - 1] == ','));
        if (!blank && !(brief && *line == '%'))
            text[n++] = *line;
    }
    text[n] = '\0';
}

/* Which columns there are. */
struct layout {
    bool items, kernels, toolkits, decided_by;
    bool brief; /* for 80 columns: no "sm_", and SASS is "same" where it is */
    struct rung_column columns[8];
};

static void add_targets(struct rung_table *table, const struct line *line, bool brief)
{
    const char *prefix = brief ? "" : "sm_";
    if (line->first->target == 0)
        rung_table_empty(table);
    else if (line->first == line->last)
        rung_table_format(table, "%s%u", prefix, line->first->target);
    else
        rung_table_format(table, "%s%u-%u", prefix, line->first->target, line->last->target);
}

static void add_verdicts(struct rung_table *table, const struct rung_inspected *kernel, bool brief)
{
    char ptx[32], sass[32];
    verdict_cell(ptx, &kernel->ptx);
    verdict_cell(sass, &kernel->sass);
    rung_table_text(table, ptx);
    if (rung_inspected_agreement(kernel) == RUNG_DISAGREE)
        rung_table_format(table, "%s: disagree", sass);
    else
        rung_table_text(table, brief && strcmp(ptx, sass) == 0 && ptx[0] != '-' ? "same" : sass);
}

static void add_line(struct rung_table *table, const struct line *line, const struct layout *layout)
{
    const struct rung_inspected *kernel = line->kernel;
    char cell[64];
    rung_table_row(table);
    if (layout->items)
        rung_table_text(table, line->first->item->name);
    if (layout->kernels)
        rung_table_text(table, kernel ? kernel->kernel : "-");
    add_targets(table, line, layout->brief);
    if (layout->toolkits)
        rung_table_text(table, line->first->nvrtc ? rung_nvrtc_version(line->first->nvrtc) : "-");
    if (kernel && kernel->nvvm)
        rung_table_text(table, kernel->nvvm);
    else
        rung_table_empty(table);
    if (!kernel) {
        rung_table_text(table, status_word(line->first->status));
        return;
    }
    add_verdicts(table, kernel, layout->brief);
    if (layout->decided_by) {
        decided_by(cell, kernel, layout->brief);
        rung_table_text(table, cell);
    }
}

static struct rung_table *new_table(struct layout *layout)
{
    const struct {
        bool shown;
        struct rung_column column;
    } all[] = {
        {layout->items,      {"what", "WHAT", false}                           },
        {layout->kernels,    {"kernel", "KERNEL", false}                       },
        {true,               {"target", layout->brief ? "SM" : "TARGET", false}},
        {layout->toolkits,   {"nvrtc", "NVRTC", false}                         },
        {true,               {"nvvm", "NVVM", false}                           },
        {true,               {"ptx", "PTX", false}                             },
        {true,               {"sass", "SASS", false}                           },
        {layout->decided_by, {"decided_by", "DECIDED BY", false}               }
    };
    size_t n = 0;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i].shown)
            layout->columns[n++] = all[i].column;
    return rung_table_new(layout->columns, n);
}

static void print_evidence(const struct rung_inspect_row *row, const struct rung_inspected *kernel,
                           const struct rung_inspected_side *side, const char *language, FILE *to)
{
    char word[24];
    if (!side->present)
        return;
    rung_verdict_short(&side->verdict, word);
    fprintf(to, "\n%s  %s", row->item->name, kernel->kernel);
    if (row->target)
        fprintf(to, "  sm_%u", row->target);
    if (row->nvrtc)
        fprintf(to, "  NVRTC %s", rung_nvrtc_version(row->nvrtc));
    fprintf(to, "  %s: %s\n", language, word);
    for (uint32_t i = 0; i < side->verdict.n_evidence; i++) {
        const struct rung_evidence *evidence = &side->verdict.evidence[i];
        char name[16];
        rung_inspect_line_name(name, &side->code, evidence->instruction);
        fprintf(to, "%c %8s: %s\n", evidence->decides ? '>' : ' ', name,
                side->code.instructions[evidence->instruction].text);
    }
}

static struct layout choose_layout(const struct rung_inspect_result *result,
                                   enum rung_format format)
{
    bool files = false, table = format == RUNG_FORMAT_TABLE;
    for (size_t i = 0; i < result->n_items; i++)
        files = files || result->items[i].kind != RUNG_INSPECT_CONFIG;
    bool toolkits = result->n_toolkits > 1;
    return (struct layout){.items = !table || !files || result->n_items > 1,
                           .kernels = !table || files,
                           .toolkits = !table || toolkits,
                           .decided_by = !table || !toolkits,
                           .brief = table};
}

enum rung_status rung_inspect_print(const struct rung_inspect_result *result, bool evidence,
                                    enum rung_format format, FILE *to, struct rung_error *err)
{
    struct layout layout = choose_layout(result, format);
    struct rung_table *table = new_table(&layout);
    for (size_t i = 0; i < result->n_rows; i++) {
        const struct rung_inspect_row *row = &result->rows[i];
        if (row->status != RUNG_OK)
            add_line(table, &(struct line){row, row, NULL}, &layout);
        for (size_t k = 0; row->status == RUNG_OK && k < row->inspection.n_kernels; k++) {
            const struct rung_inspected *kernel = &row->inspection.kernels[k];
            struct line line = {row, row, kernel};
            if (format != RUNG_FORMAT_CSV && was_shown(result, row, kernel))
                continue;
            if (format != RUNG_FORMAT_CSV)
                line.last = last_alike(result, row, kernel);
            add_line(table, &line, &layout);
        }
    }
    enum rung_status status = rung_table_print(table, format, to, err);
    rung_table_free(table);
    for (size_t i = 0; evidence && status == RUNG_OK && i < result->n_rows; i++)
        for (size_t k = 0; k < result->rows[i].inspection.n_kernels; k++) {
            const struct rung_inspected *kernel = &result->rows[i].inspection.kernels[k];
            print_evidence(&result->rows[i], kernel, &kernel->ptx, "PTX", to);
            print_evidence(&result->rows[i], kernel, &kernel->sass, "SASS", to);
        }
    return status;
}
