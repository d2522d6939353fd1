/* rung compare: two result files, row by row. */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/environment.h"
#include "cli/print_compare.h"
#include "cli/print_results.h"
#include "cli/select.h"

enum { KEY_FAIL_ON = 0x300, KEY_FLOOR, KEY_EXPLAIN };

/* clang-format off */
static const struct argp_option options[] = {
    {"fail-on", KEY_FAIL_ON, "CLASS", 0, "Exit with 1 on slower or missing rows (slower, the default), on "
     "those and unclear ones (unclear), on all but same (any), or never (none)", 1},
    {"floor", KEY_FLOOR, "PERCENT", 0, "Differences below it are noise (default 1.5; measure it with "
     "rung sweep --noise)", 1},
    {"explain", KEY_EXPLAIN, NULL, 0, "Say of each row why it is in its class", 1},
    {0},
};
/* clang-format on */

enum fail_on { FAIL_NONE, FAIL_SLOWER, FAIL_UNCLEAR, FAIL_ANY };

struct arguments {
    struct rung_selection selection; /* its output part */
    const char *files[2];
    size_t n_files;
    enum fail_on fail_on;
    double floor;
    bool explain;
};

static void read_fail_on(struct arguments *arguments, const char *arg, struct argp_state *state)
{
    static const char *const words[] = {"none", "slower", "unclear", "any"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(arg, words[i]) == 0) {
            arguments->fail_on = (enum fail_on)i;
            return;
        }
    }
    argp_error(state, "--fail-on '%s': slower, unclear, any or none", arg);
}

static void read_floor(struct arguments *arguments, const char *arg, struct argp_state *state)
{
    char *end;
    double percent = strtod(arg, &end);
    end += *end == '%';
    if (end == arg || *end || !(percent >= 0 && percent < 100))
        argp_error(state, "--floor '%s': per cent, from 0 to below 100", arg);
    arguments->floor = percent / 100;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->selection;
        return 0;
    case KEY_FAIL_ON:
        read_fail_on(arguments, arg, state);
        return 0;
    case KEY_FLOOR:
        read_floor(arguments, arg, state);
        return 0;
    case KEY_EXPLAIN:
        arguments->explain = true;
        return 0;
    case ARGP_KEY_ARG:
        if (arguments->n_files == 2)
            argp_error(state, "'%s': two files are compared, no more", arg);
        else
            arguments->files[arguments->n_files++] = arg;
        return 0;
    case ARGP_KEY_END:
        if (arguments->n_files < 2)
            argp_error(state, "two result files are wanted: rung compare BEFORE AFTER");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&rung_output_argp, 0, NULL, 0},
    {0            }
};

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "BEFORE AFTER",
    .children = children,
    .doc =
        "Compare two result files row by row: same, faster, slower or unclear.\v"
        "A file is a journal of `rung sweep -o` or the JSON of `--format json`. Rows are matched "
        "by "
        "their axes. A row is faster or slower only if the ranges of its samples lie apart by more "
        "than the noise floor, the ranks differ after correction for all rows, and clock cycles "
        "say "
        "the same where clocks were measured; what does not suffice is unclear, with the "
        "reason.\n\n"
        "Exit status: 0 if --fail-on has nothing against it, else 1; 2 if a file has no rows.\n\n"
        "Examples:\n"
        "  rung compare monday.jsonl tuesday.jsonl\n"
        "  rung compare --explain --fail-on any cuda12.jsonl cuda13.jsonl\n",
};

/* A file without rows would be the same as any other. */
static enum rung_status check_rows(const struct rung_results *file, struct rung_error *err)
{
    return file->n_rows ? RUNG_OK
                        : rung_fail(err, RUNG_USAGE, "%s has no rows: there is nothing to compare",
                                    file->path);
}

static enum rung_status verdict(const struct rung_comparison *comparison, enum fail_on fail_on,
                                struct rung_error *err)
{
    const size_t *counts = comparison->counts;
    size_t slower = counts[RUNG_CHANGE_SLOWER] + counts[RUNG_CHANGE_MISSING];
    size_t unclear = counts[RUNG_CHANGE_UNCLEAR];
    size_t other = counts[RUNG_CHANGE_FASTER] + counts[RUNG_CHANGE_NEW];
    if (fail_on != FAIL_NONE && slower)
        return rung_fail(err, RUNG_WRONG, "%zu rows are slower or missing", slower);
    if (fail_on >= FAIL_UNCLEAR && unclear)
        return rung_fail(err, RUNG_WRONG, "%zu rows are unclear", unclear);
    if (fail_on == FAIL_ANY && other)
        return rung_fail(err, RUNG_WRONG, "%zu rows are faster or new", other);
    return RUNG_OK;
}

static enum rung_status print(const struct rung_comparison *comparison,
                              const struct arguments *arguments, const struct rung_output *output,
                              int argc, char **argv, struct rung_error *err)
{
    FILE *to = output->stream;
    if (output->format == RUNG_FORMAT_JSON)
        return rung_document_print(rung_document("compare", argc, argv,
                                                 rung_environment(NULL, NULL),
                                                 rung_comparison_to_json(comparison)),
                                   to, err);
    enum rung_status status =
        rung_comparison_print(comparison, arguments->explain, output->format, to, err);
    if (status == RUNG_OK && output->format == RUNG_FORMAT_TABLE)
        rung_comparison_print_counts(comparison, to);
    return status;
}

enum rung_status rung_cmd_compare(int argc, char **argv, struct rung_error *err)
{
    struct arguments arguments = {.fail_on = FAIL_SLOWER, .floor = -1};
    struct rung_results a = {0}, b = {0};
    struct rung_comparison comparison = {0};
    struct rung_output output = {0};
    enum rung_format format = RUNG_FORMAT_TABLE;
    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    struct rung_compare_options how = rung_compare_default();
    if (arguments.floor >= 0)
        how.floor = arguments.floor;
    enum rung_status status = rung_format_parse(&format, arguments.selection.format, err);
    if (status == RUNG_OK)
        status = rung_results_load(&a, arguments.files[0], err);
    if (status == RUNG_OK)
        status = rung_results_load(&b, arguments.files[1], err);
    if (status == RUNG_OK)
        status = check_rows(&a, err);
    if (status == RUNG_OK)
        status = check_rows(&b, err);
    if (status == RUNG_OK)
        status = rung_output_open(&output, format, arguments.selection.output, err);
    if (status == RUNG_OK)
        status = rung_compare(&comparison, &a, &b, &how, err);
    bool printed = false;
    if (status == RUNG_OK) {
        rung_results_name_left_out(&a, "compare", stderr);
        rung_results_name_left_out(&b, "compare", stderr);
        status = print(&comparison, &arguments, &output, argc, argv, err);
        printed = status == RUNG_OK;
    }
    enum rung_status closed = rung_output_close(&output, printed, err);
    if (status == RUNG_OK)
        status = closed == RUNG_OK ? verdict(&comparison, arguments.fail_on, err) : closed;
    rung_comparison_release(&comparison);
    rung_results_release(&a);
    rung_results_release(&b);
    return status;
}
