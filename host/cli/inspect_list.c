/* Code with what decided marked in it: PTX and SASS of every kernel, and the CUDA source by the
 * line information of its PTX. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "cli/inspect_view.h"

#define COLOUR_DECIDES "\033[1;31m"
#define COLOUR_BEARS "\033[33m"
#define COLOUR_OFF "\033[0m"

enum mark { MARK_NONE, MARK_BEARS, MARK_DECIDES };

struct printer {
    FILE *to;
    bool colour;
};

static void print_line(const struct printer *printer, enum mark mark, const char *name,
                       const char *text)
{
    const char *on = !printer->colour       ? ""
                     : mark == MARK_DECIDES ? COLOUR_DECIDES
                     : mark == MARK_BEARS   ? COLOUR_BEARS
                                            : "";
    fprintf(printer->to, "%c %s%7s  %s%s\n", mark == MARK_DECIDES ? '>' : ' ', on, name, text,
            on[0] ? COLOUR_OFF : "");
}

static enum mark mark_of(const struct rung_evidence *evidence)
{
    return evidence->decides ? MARK_DECIDES : MARK_BEARS;
}

static void print_title(const struct printer *printer, const struct rung_inspect_row *row,
                        const struct rung_inspected *kernel, unsigned target, const char *language,
                        const struct rung_inspected_side *side)
{
    char word[24];
    rung_verdict_short(&side->verdict, word);
    fprintf(printer->to, "%s  %s  sm_%u  %s: %s\n", row->item->name, kernel->kernel, target,
            language, word);
}

static void list_ptx(const struct printer *printer, const struct rung_inspect_row *row,
                     const struct rung_inspected *kernel)
{
    const struct rung_modulo *verdict = &kernel->ptx.verdict;
    const struct rung_lines *lines = &row->inspection.ptx_lines;
    uint32_t next = 0;
    print_title(printer, row, kernel, kernel->ptx_target, "PTX", &kernel->ptx);
    for (uint32_t line = kernel->first_line; line <= kernel->last_line && line <= lines->n;
         line++) {
        enum mark mark = MARK_NONE;
        char name[16];
        for (; next < verdict->n_evidence &&
               kernel->ptx.code.instructions[verdict->evidence[next].instruction].line == line;
             next++)
            if (mark_of(&verdict->evidence[next]) > mark)
                mark = mark_of(&verdict->evidence[next]);
        snprintf(name, sizeof name, "%u", line);
        print_line(printer, mark, name, lines->lines[line]);
    }
}

static void list_sass(const struct printer *printer, const struct rung_inspect_row *row,
                      const struct rung_inspected *kernel)
{
    const struct rung_modulo *verdict = &kernel->sass.verdict;
    const struct rung_code *code = &kernel->sass.code;
    uint32_t next = 0;
    if (!kernel->sass.present) {
        fprintf(printer->to, "%s  %s: no SASS: %s\n", row->item->name, kernel->kernel,
                kernel->sass.why);
        return;
    }
    print_title(printer, row, kernel, kernel->sass_target, "SASS", &kernel->sass);
    for (uint32_t i = 0; i < code->n_instructions; i++) {
        enum mark mark = MARK_NONE;
        char name[16];
        if (next < verdict->n_evidence && verdict->evidence[next].instruction == i)
            mark = mark_of(&verdict->evidence[next++]);
        rung_inspect_line_name(name, code, i);
        if (strcmp(code->instructions[i].mnemonic, "NOP") != 0)
            print_line(printer, mark, name, code->instructions[i].text);
    }
}

/* The last line of source that the kernel's code comes from. */
static uint32_t last_source_line(const struct rung_code *code)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < code->n_instructions; i++)
        if (code->instructions[i].source_line > last)
            last = code->instructions[i].source_line;
    return last;
}

/* The source up to the end of the kernel; marked where one of its lines became a line of PTX that
 * bears on a verdict. */
static enum rung_status list_source(const struct printer *printer,
                                    const struct rung_inspect_row *row,
                                    const struct rung_inspected *kernel, struct rung_error *err)
{
    const struct rung_inspect_item *item = row->item;
    if (item->kind == RUNG_INSPECT_PTX || item->kind == RUNG_INSPECT_CUBIN)
        return rung_fail(err, RUNG_USAGE, "--show source: %s is compiled code, without its source",
                         item->name);
    const struct rung_modulo *verdict = &kernel->ptx.verdict;
    const char *at = item->bytes;
    uint32_t last = last_source_line(&kernel->ptx.code);
    bool ended = false;
    print_title(printer, row, kernel, kernel->ptx_target, "source", &kernel->ptx);
    for (uint32_t line = 1; *at && !ended; line++) {
        ended = last > 0 && line >= last && *at == '}';
        size_t length = strcspn(at, "\n");
        enum mark mark = MARK_NONE;
        char name[16];
        for (uint32_t i = 0; i < verdict->n_evidence; i++) {
            uint32_t instruction = verdict->evidence[i].instruction;
            if (kernel->ptx.code.instructions[instruction].source_line == line &&
                mark_of(&verdict->evidence[i]) > mark)
                mark = mark_of(&verdict->evidence[i]);
        }
        char *text = strndup(at, length);
        snprintf(name, sizeof name, "%u", line);
        print_line(printer, mark, name, text ? text : "");
        free(text);
        at += length + (at[length] == '\n');
    }
    return RUNG_OK;
}

enum rung_status rung_inspect_list(const struct rung_inspect_result *result,
                                   enum rung_inspect_listing listing, FILE *to,
                                   struct rung_error *err)
{
    struct printer printer = {to, rung_colour_wanted(to)};
    enum rung_status status = RUNG_OK;
    bool first = true;
    for (size_t i = 0; i < result->n_rows; i++) {
        const struct rung_inspect_row *row = &result->rows[i];
        for (size_t k = 0; status == RUNG_OK && k < row->inspection.n_kernels; k++) {
            const struct rung_inspected *kernel = &row->inspection.kernels[k];
            if (!first)
                fputc('\n', to);
            first = false;
            if (listing == RUNG_INSPECT_LIST_SASS)
                list_sass(&printer, row, kernel);
            else if (!kernel->ptx.present)
                fprintf(to, "%s  %s: a cubin holds no PTX\n", row->item->name, kernel->kernel);
            else if (listing == RUNG_INSPECT_LIST_PTX)
                list_ptx(&printer, row, kernel);
            else
                status = list_source(&printer, row, kernel, err);
        }
    }
    return status;
}
