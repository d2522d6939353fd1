/* `rung doctor`: what this machine can do, why not more, and what would provide it. */
#include <argp.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/doctor.h"
#include "cli/environment.h"
#include "cli/select.h"
#include "ptx/opcodes.h"

#define KEY_NVRTC 0x200
#define KEY_DRIVER 0x201
#define KEY_OPCODES 0x202
#define INDENT 20 /* of the text: after state and part */

struct arguments {
    struct rung_selection selection; /* --format and -o */
    const char *nvrtc, *driver;
    bool opcodes;
};

static const struct argp_option options[] = {
    {"nvrtc",                                           KEY_NVRTC, "PATH", 0, "The NVRTC library, or the folder that holds it", 1},
    {"driver",                                           KEY_DRIVER, "PATH", 0, "The driver library in place of libcuda.so.1", 1},
    {"opcodes", KEY_OPCODES, 0, 0, "List the PTX instructions that the simulator executes", 1},
    {0                                                }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->selection;
        return 0;
    case KEY_NVRTC:
        arguments->nvrtc = arg;
        return 0;
    case KEY_DRIVER:
        arguments->driver = arg;
        return 0;
    case KEY_OPCODES:
        arguments->opcodes = true;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "'%s' is not expected: doctor takes options only", arg);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&rung_output_argp, 0, NULL, 0},
    {0            }
};
static const struct argp argp = {.options = options,
                                 .parser = parse,
                                 .doc =
                                     "What this machine can do, and what would provide the rest.\v"
                                     "Exit status 0 if kernels can at least be simulated, else 3.",
                                 .children = children};

static json_t *rows_json(const struct rung_findings *findings)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < findings->count; i++) {
        const struct rung_finding *finding = &findings->list[i];
        json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:s?}", "part", finding->part,
                                              "state", rung_finding_word(finding->state), "found",
                                              finding->found, "provided_by", finding->provided_by));
    }
    return rows;
}

static enum rung_status print_rows(const struct rung_findings *findings,
                                   const struct rung_output *output, struct rung_error *err)
{
    static const struct rung_column columns[] = {
        {"part",        "PART",        false},
        {"state",       "STATE",       false},
        {"found",       "FOUND",       false},
        {"provided_by", "PROVIDED BY", false}
    };
    struct rung_table *table = rung_table_new(columns, 4);
    for (size_t i = 0; i < findings->count; i++) {
        const struct rung_finding *finding = &findings->list[i];
        rung_table_row(table);
        rung_table_text(table, finding->part);
        rung_table_text(table, rung_finding_word(finding->state));
        rung_table_text(table, finding->found);
        if (finding->provided_by)
            rung_table_text(table, finding->provided_by);
        else
            rung_table_empty(table);
    }
    enum rung_status status = rung_table_print(table, output->format, output->stream, err);
    rung_table_free(table);
    return status;
}

static void print_finding(const struct rung_finding *finding, FILE *to, bool colour)
{
    static const char *const colours[] = {"\033[32m", "\033[33m", "\033[31m"};
    fprintf(to, "%s%-9s%s%-11s", colour ? colours[finding->state] : "",
            rung_finding_word(finding->state), colour ? "\033[0m" : "", finding->part);
    rung_print_wrapped(finding->found, INDENT, INDENT, to);
    if (finding->provided_by) {
        fprintf(to, "%*sprovided by ", INDENT, "");
        rung_print_wrapped(finding->provided_by, INDENT + 12, INDENT, to);
    }
}

static void print_summary(const struct rung_findings *findings, FILE *to)
{
    const struct {
        bool can;
        const char *what;
    } verbs[] = {
        {true,                                         "generate and model"     },
        {findings->compiles,                           "compile and inspect PTX"},
        {findings->disassembles && findings->compiles, "inspect SASS"           },
        {findings->simulates,                          "simulate"               },
        {findings->times,                              "time on a card"         },
    };
    fputc('\n', to);
    for (int can = 1; can >= 0; can--) {
        struct rung_text line = {0};
        for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
            if (verbs[i].can == can)
                rung_text_format(&line, "%s%s",
                                 line.length ? ", "
                                 : can       ? "This machine can "
                                             : "It cannot ",
                                 verbs[i].what);
        if (line.length) {
            rung_text_append(&line, ".");
            rung_print_wrapped(rung_text_string(&line), 0, 0, to);
        }
        rung_text_release(&line);
    }
}

static enum rung_status print(const struct rung_findings *findings, int argc, char **argv,
                              const struct rung_output *output, struct rung_error *err)
{
    if (output->format == RUNG_FORMAT_JSON)
        return rung_document_print(
            rung_document("doctor", argc, argv, rung_environment(NULL, NULL), rows_json(findings)),
            output->stream, err);
    if (output->format != RUNG_FORMAT_TABLE)
        return print_rows(findings, output, err);
    for (size_t i = 0; i < findings->count; i++)
        print_finding(&findings->list[i], output->stream, rung_colour_wanted(output->stream));
    print_summary(findings, output->stream);
    return RUNG_OK;
}

static enum rung_status print_opcodes(const struct rung_output *output, struct rung_error *err)
{
    struct rung_text text = {0};
    rung_ptx_opcodes_print(&text);
    bool good = rung_text_ok(&text);
    if (good)
        fputs(rung_text_string(&text), output->stream);
    rung_text_release(&text);
    return good ? RUNG_OK : rung_fail(err, RUNG_MEMORY, "out of memory");
}

enum rung_status rung_cmd_doctor(int argc, char **argv, struct rung_error *err)
{
    struct arguments arguments = {0};
    struct rung_output output = {0};
    struct rung_findings findings = {0};
    enum rung_format format;
    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    enum rung_status status = rung_format_parse(&format, arguments.selection.format, err);
    if (status == RUNG_OK)
        status = rung_output_open(&output, format, arguments.selection.output, err);
    if (status != RUNG_OK)
        return status;
    if (arguments.opcodes) {
        status = print_opcodes(&output, err);
        enum rung_status ended = rung_output_close(&output, status == RUNG_OK, err);
        return status == RUNG_OK ? ended : status;
    }
    rung_findings_collect(&findings, arguments.nvrtc, arguments.driver);
    status = findings.failed ? rung_fail(err, RUNG_MEMORY, "out of memory")
                             : print(&findings, argc, argv, &output, err);
    enum rung_status closed = rung_output_close(&output, status == RUNG_OK, err);
    if (status == RUNG_OK)
        status = closed;
    if (status == RUNG_OK && !findings.simulates)
        status = RUNG_UNABLE;
    rung_findings_release(&findings);
    return status;
}
