/* `rung inspect`: did the modulo become a mask. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/environment.h"
#include "cli/inspect_view.h"

struct arguments {
    struct rung_inspect_request request;
    const char *show;
    bool evidence, diff;
};

enum { KEY_EVIDENCE = 0x300, KEY_SHOW, KEY_NVDISASM, KEY_JIT, KEY_DIFF };

static const struct argp_option options[] = {
    {"evidence",                                  KEY_EVIDENCE, NULL, 0, "Print every line that bears on a verdict", 0},
    {"show",                                       KEY_SHOW, "WHAT", 0,
     "Print ptx, sass or source of every kernel, what decided marked with >", 0},
    {"diff", KEY_DIFF, NULL, 0,
     "Compare the instructions of two: two names, or one name for two targets", 0},
    {"jit",                                           KEY_JIT, NULL, 0,
     "Inspect the SASS that the driver itself makes of the PTX (as --image ptx)", 0},
    {"nvdisasm",KEY_NVDISASM, "PATH", 0, "The disassembler (default RUNG_NVDISASM, else found)",
     0},
    {"compile-option",                                          'X', "OPTION", 0, "Pass OPTION to NVRTC, as -X -G; may be repeated", 0},
    {0                                         }
};

static bool add_option(struct rung_inspect_request *request, const char *option)
{
    size_t n = request->n_compile_options;
    const char **grown =
        realloc(request->compile_options, (n + 1) * sizeof *request->compile_options);
    if (!grown)
        return false;
    grown[n] = option;
    request->compile_options = grown;
    request->n_compile_options = n + 1;
    return true;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        for (int i = 0; i < 4; i++)
            state->child_inputs[i] = &arguments->request.selection;
        return 0;
    case KEY_EVIDENCE:
        arguments->evidence = true;
        return 0;
    case KEY_SHOW:
        arguments->show = arg;
        return 0;
    case KEY_DIFF:
        arguments->diff = true;
        return 0;
    case KEY_JIT:
        arguments->request.jit = true;
        return 0;
    case KEY_NVDISASM:
        arguments->request.nvdisasm = arg;
        return 0;
    case 'X':
        return add_option(&arguments->request, arg) ? 0 : ENOMEM;
    case ARGP_KEY_ARGS:
        arguments->request.names = state->argv + state->next;
        arguments->request.n_names = (size_t)(state->argc - state->next);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* clang-format off */
static const struct argp_child children[] = {
    {&rung_axes_argp, 0, NULL, 0},
    {&rung_no_n_argp, 0, NULL, 0},
    {&rung_where_argp, 0, NULL, 0},
    {&rung_output_argp, 0, NULL, 0},
    {0},
};
/* clang-format on */

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "[ID|FILE.cu|FILE.ptx|FILE.cubin][@sm_XX]...",
    .doc = "Tell from PTX and SASS whether a modulo of the thread index became a mask.\v"
           "Without ids and files, the configurations that the axes select. --nvrtc takes a list: "
           "the same question to several releases. --target all asks for every target that NVRTC "
           "has.\n\n"
           "divide: a division is left. mask: only ands with 2^k-1. multiply: division by a "
           "constant through a multiplication. mixed: several of these. none: plain "
           "comparisons.\n\n"
           "Exit status: 1 if verdicts from PTX and SASS disagree, 3 if nothing could be compiled, "
           "4 if some could not.",
    .children = children};

static enum rung_status read_listing(enum rung_inspect_listing *out, const char *word,
                                     struct rung_error *err)
{
    static const char *const words[] = {"", "ptx", "sass", "source"};
    *out = RUNG_INSPECT_LIST_NONE;
    for (int i = 1; word && i < 4; i++)
        if (strcmp(word, words[i]) == 0)
            *out = (enum rung_inspect_listing)i;
    if (word && *out == RUNG_INSPECT_LIST_NONE)
        return rung_fail(err, RUNG_USAGE, "--show '%s': allowed are ptx, sass, source", word);
    return RUNG_OK;
}

static enum rung_status print(const struct rung_inspect_result *result,
                              const struct arguments *arguments, enum rung_inspect_listing listing,
                              const struct rung_output *output, int argc, char **argv,
                              struct rung_error *err)
{
    if (listing != RUNG_INSPECT_LIST_NONE)
        return rung_inspect_list(result, listing, output->stream, err);
    json_t *rows = NULL;
    if (arguments->diff) {
        enum rung_status status = rung_inspect_diff(&rows, result, arguments->evidence,
                                                    output->format, output->stream, err);
        if (status != RUNG_OK || !rows)
            return status;
    } else if (output->format != RUNG_FORMAT_JSON)
        return rung_inspect_print(result, arguments->evidence, output->format, output->stream, err);
    const struct rung_nvrtc *nvrtc = result->n_toolkits ? result->toolkits[0] : NULL;
    return rung_document_print(rung_document("inspect", argc, argv, rung_environment(NULL, nvrtc),
                                             rows ? rows : rung_inspect_rows_json(result)),
                               output->stream, err);
}

/* Why kernels have no SASS: how many, and the first reason. */
static void print_notes(const struct rung_inspect_result *result)
{
    size_t n_without = 0, n = 0;
    const char *why = NULL;
    for (size_t i = 0; i < result->n_rows; i++)
        for (size_t k = 0; k < result->rows[i].inspection.n_kernels; k++, n++) {
            const char *reason = result->rows[i].inspection.kernels[k].sass.why;
            n_without += reason[0] != '\0';
            why = !why && reason[0] ? reason : why;
        }
    if (n_without > 0)
        fprintf(stderr, "rung inspect: no SASS for %zu of %zu kernels: %s\n", n_without, n, why);
}

/* Names and axes are two ways to say what is meant; of both, one would be left unheard. */
static enum rung_status refuse_both(const struct rung_inspect_request *request,
                                    struct rung_error *err)
{
    const struct rung_selection *axes = &request->selection;
    const struct {
        const char *option, *typed;
    } given[] = {
        {"--version",   axes->version  },
        {"--block",     axes->block    },
        {"--bound",     axes->bound    },
        {"--unroll",    axes->unroll   },
        {"--predicate", axes->predicate},
        {"--op",        axes->op       },
        {"--type",      axes->type     },
        {"--variant",   axes->variant  },
    };
    for (size_t i = 0; request->n_names > 0 && i < sizeof given / sizeof *given; i++)
        if (given[i].typed)
            return rung_fail(err, RUNG_USAGE,
                             "%s %s selects configurations, and '%s' names one: give one or the "
                             "other",
                             given[i].option, given[i].typed, request->names[0]);
    return RUNG_OK;
}

static enum rung_status run(struct arguments *arguments, int argc, char **argv,
                            struct rung_error *err)
{
    enum rung_format format;
    enum rung_inspect_listing listing;
    enum rung_image_kind image = RUNG_IMAGE_AUTO;
    struct rung_output output = {0};
    struct rung_inspect_result result = {0};
    const struct rung_selection *selection = &arguments->request.selection;
    enum rung_status status = rung_format_parse(&format, selection->format, err);
    if (status == RUNG_OK)
        status = rung_selection_image(&image, selection, err);
    arguments->request.jit =
        arguments->request.jit || (selection->image && image == RUNG_IMAGE_PTX);
    if (status == RUNG_OK)
        status = read_listing(&listing, arguments->show, err);
    if (status == RUNG_OK)
        status = refuse_both(&arguments->request, err);
    if (status == RUNG_OK)
        status = rung_output_open(&output, format, selection->output, err);
    if (status != RUNG_OK)
        return status;
    if (listing == RUNG_INSPECT_LIST_SOURCE && !add_option(&arguments->request, "-lineinfo"))
        status = rung_fail(err, RUNG_MEMORY, "out of memory");
    if (status == RUNG_OK)
        status = rung_inspect_collect(&result, &arguments->request, err);
    bool collected = status == RUNG_OK;
    struct rung_error conclusion = {0};
    enum rung_status concluded = collected ? rung_inspect_conclude(&result, &conclusion) : RUNG_OK;
    bool all_failed =
        concluded != RUNG_OK && concluded != RUNG_WRONG && concluded != RUNG_INCOMPLETE;
    if (collected && (!all_failed || format == RUNG_FORMAT_JSON))
        status = print(&result, arguments, listing, &output, argc, argv, err);
    if (collected)
        print_notes(&result);
    enum rung_status closed = rung_output_close(&output, status == RUNG_OK && !all_failed, err);
    if (status == RUNG_OK)
        status = closed;
    if (status == RUNG_OK && concluded != RUNG_OK)
        status = rung_fail(err, concluded, "%s", conclusion.text);
    rung_inspect_result_release(&result);
    return status;
}

enum rung_status rung_cmd_inspect(int argc, char **argv, struct rung_error *err)
{
    struct arguments arguments = {0};
    error_t failed = argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    enum rung_status status = failed ? rung_fail(err, RUNG_MEMORY, "%s", strerror(failed))
                                     : run(&arguments, argc, argv, err);
    free(arguments.request.compile_options);
    return status;
}
