/* rung report: one page from result files, or the same results in the format of another tool. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/print_results.h"
#include "cli/rows.h"
#include "report/export.h"
#include "report/page.h"

enum { KEY_EXPORT = 0x300, KEY_KEEP, KEY_TITLE };

/* clang-format off */
static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "Write to FILE (default report.html; exports: standard output)", 1},
    {"title", KEY_TITLE, "TEXT", 0, "The title of the page", 1},
    {"keep", KEY_KEEP, "FOLDER", 0, "Keep the plots' gnuplot scripts, with their data, and SVGs", 1},
    {"export", KEY_EXPORT, "FORMAT", 0, "csv, md, nvbench or t4 in place of the page", 1},
    {0},
};
/* clang-format on */

enum export_format { EXPORT_NONE, EXPORT_CSV, EXPORT_MD, EXPORT_NVBENCH, EXPORT_T4 };

struct arguments {
    char **files;
    size_t n_files;
    const char *output;
    struct rung_page_options page;
    enum export_format format;
};

/* The words of --export, and the endings that a file of each form may have. */
static const struct {
    const char *word, *endings[3];
} forms[] = {
    [EXPORT_NONE] = {"",        {"html", "htm"}          },
    [EXPORT_CSV] = {"csv",     {"csv", "txt"}           },
    [EXPORT_MD] = {"md",      {"md", "markdown", "txt"}},
    [EXPORT_NVBENCH] = {"nvbench", {"json"}                 },
    [EXPORT_T4] = {"t4",      {"json"}                 },
};

static void read_format(struct arguments *arguments, const char *arg, struct argp_state *state)
{
    for (size_t i = EXPORT_CSV; i < sizeof forms / sizeof *forms; i++) {
        if (strcmp(arg, forms[i].word) == 0) {
            arguments->format = (enum export_format)i;
            return;
        }
    }
    argp_error(state, "--export '%s': csv, md, nvbench or t4", arg);
}

/* A file is not given a name that says something else than what is in it. */
static enum rung_status check_ending(const struct arguments *arguments, struct rung_error *err)
{
    const char *ending = rung_path_ending(arguments->output);
    const char *const *allowed = forms[arguments->format].endings;
    for (size_t i = 0; i < 3 && allowed[i]; i++)
        if (!ending[0] || strcasecmp(ending, allowed[i]) == 0)
            return RUNG_OK;
    return rung_fail(err, RUNG_USAGE,
                     "-o '%s': the page is .html; --export csv makes .csv, md .md, nvbench and t4 "
                     ".json",
                     arguments->output);
}

static enum rung_status check_arguments(const struct arguments *arguments, struct rung_error *err)
{
    const char *of_page = arguments->page.title  ? "--title"
                          : arguments->page.keep ? "--keep"
                                                 : NULL;
    if (arguments->format == EXPORT_NONE)
        return check_ending(arguments, err);
    if (arguments->n_files > 1)
        return rung_fail(err, RUNG_USAGE, "--export takes one result file at a time");
    if (of_page)
        return rung_fail(err, RUNG_USAGE, "%s is of the page: --export makes none", of_page);
    return check_ending(arguments, err);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case 'o':
        arguments->output = arg;
        return 0;
    case KEY_TITLE:
        arguments->page.title = arg;
        return 0;
    case KEY_KEEP:
        arguments->page.keep = arg;
        return 0;
    case KEY_EXPORT:
        read_format(arguments, arg, state);
        return 0;
    case ARGP_KEY_ARGS:
        arguments->files = state->argv + state->next;
        arguments->n_files = (size_t)(state->argc - state->next);
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "result files are wanted: rung report FILE...");
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "FILE...",
    .doc =
        "Make one self-contained HTML page of result files.\v"
        "A file is a journal of `rung sweep -o` or the JSON of `--format json`; several, such as "
        "the "
        "shards of one sweep, make one page. The page needs no network. Its plots are made by "
        "gnuplot. --export writes the same rows for other tools: nvbench's JSON with its files of "
        "samples, Kernel Tuner's T4, CSV or Markdown.\n\n"
        "Examples:\n"
        "  rung report ladder.jsonl -o ladder.html\n"
        "  rung report part0.jsonl part1.jsonl --keep plots\n"
        "  rung report ladder.jsonl --export nvbench -o ladder.json\n",
};

static enum rung_status write_json(json_t *object, FILE *to, struct rung_error *err)
{
    int failed = json_dumpf(object, to, JSON_INDENT(1)) != 0 || fputc('\n', to) == EOF;
    json_decref(object);
    return failed ? rung_fail(err, RUNG_IO, "the output could not be written") : RUNG_OK;
}

static enum rung_status export_rows(struct rung_results *results, enum export_format format,
                                    const struct rung_output *output, struct rung_error *err)
{
    json_t *object = NULL;
    enum rung_status status = RUNG_OK;
    rung_results_relate(results->rows, results->n_rows);
    if (format == EXPORT_MD)
        return rung_results_print(results->rows, results->n_rows, RUNG_FORMAT_MD, output->stream,
                                  err);
    if (format == EXPORT_CSV) {
        struct rung_row *rows = rung_results_bare(results);
        status = rows ? rung_rows_print_csv(rows, results->n_rows, output->stream, err)
                      : rung_fail(err, RUNG_MEMORY, "out of memory");
        free(rows);
        return status;
    }
    status = format == EXPORT_T4 ? rung_export_t4(&object, results, err)
                                 : rung_export_nvbench(&object, results, output->path, err);
    return status == RUNG_OK ? write_json(object, output->stream, err) : status;
}

static enum rung_status write_page(struct rung_results *files, const struct arguments *arguments,
                                   const struct rung_output *output, struct rung_error *err)
{
    struct rung_text page = {0};
    enum rung_status status =
        rung_page_make(&page, files, arguments->n_files, &arguments->page, err);
    if (status == RUNG_OK && fwrite(page.data, 1, page.length, output->stream) != page.length)
        status = rung_fail(err, RUNG_IO, "the page could not be written");
    rung_text_release(&page);
    return status;
}

static enum rung_status load_all(struct rung_results *files, const struct arguments *arguments,
                                 struct rung_error *err)
{
    enum rung_status status = RUNG_OK;
    size_t rows = 0;
    for (size_t i = 0; i < arguments->n_files && status == RUNG_OK; i++) {
        status = rung_results_load(&files[i], arguments->files[i], err);
        if (status == RUNG_OK)
            rung_results_name_left_out(&files[i], "report", stderr);
        rows += files[i].n_rows;
    }
    if (status == RUNG_OK && rows == 0)
        status = rung_fail(err, RUNG_USAGE, "there are no rows in %s%s", arguments->files[0],
                           arguments->n_files > 1 ? " and the others" : "");
    return status;
}

enum rung_status rung_cmd_report(int argc, char **argv, struct rung_error *err)
{
    struct arguments arguments = {0};
    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    if (check_arguments(&arguments, err) != RUNG_OK)
        return RUNG_USAGE;
    if (!arguments.page.title)
        arguments.page.title = "Parallel reduction, rung by rung";
    if (!arguments.output && arguments.format == EXPORT_NONE)
        arguments.output = "report.html";
    struct rung_output output = {0};
    struct rung_results *files = calloc(arguments.n_files + 1, sizeof *files);
    enum rung_status status =
        files ? load_all(files, &arguments, err) : rung_fail(err, RUNG_MEMORY, "out of memory");
    if (status == RUNG_OK)
        status = rung_output_open(&output, RUNG_FORMAT_TABLE, arguments.output, err);
    if (status == RUNG_OK)
        status = arguments.format == EXPORT_NONE
                     ? write_page(files, &arguments, &output, err)
                     : export_rows(&files[0], arguments.format, &output, err);
    enum rung_status closed = rung_output_close(&output, status == RUNG_OK, err);
    for (size_t i = 0; files && i < arguments.n_files; i++)
        rung_results_release(&files[i]);
    free(files);
    return status == RUNG_OK ? closed : status;
}
