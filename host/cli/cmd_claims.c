/* rung claims: what is said about the ladder, tried here. */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/claims_code.h"
#include "cli/command.h"
#include "cli/controls.h"
#include "cli/environment.h"
#include "cli/print_results.h"
#include "cli/sweep_run.h"

#define CONTROL "v5-volatile"

enum { KEY_N = 0x300 };

static const struct argp_option options[] = {
    {"n",  KEY_N, "N", 0, "Elements (default 16776605 on a card, 100000 on the simulator)", 1},
    {0},
};

struct arguments {
    struct rung_selection selection; /* where it runs, and the output */
    char **files;
    size_t n_files;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        for (int i = 0; i < 4; i++)
            state->child_inputs[i] = &arguments->selection;
        return 0;
    case KEY_N:
        arguments->selection.n = arg;
        return 0;
    case ARGP_KEY_ARGS:
        arguments->files = state->argv + state->next;
        arguments->n_files = (size_t)(state->argc - state->next);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* clang-format off */
static const struct argp_child children[] = {
    {&rung_where_argp, 0, NULL, 0},
    {&rung_check_argp, 0, NULL, 0},
    {&rung_seed_argp, 0, NULL, 0},
    {&rung_output_argp, 0, NULL, 0},
    {0},
};
/* clang-format on */

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "[FILE...]",
    .children = children,
    .doc =
        "Try each statement that is made about the ladder: confirmed, refuted, or cannot tell.\v"
        "Each statement stands with the figures that decide it here, and with the command that "
        "measures them again. Without files, versions 1 to 4 are measured at blocks of 64, 256 and "
        "1024 threads with both loop bounds; with result files, their rows decide. Statements "
        "about "
        "counts, bytes and compiled code need no card. A refuted statement is a result, not a "
        "failure: the exit status is 0.\n",
};

struct work {
    struct rung_results rows;
    json_t *environment;
    struct rung_claim_evidence evidence;
    struct rung_claim claims[RUNG_CLAIMS];
};

static enum rung_status measure(struct work *work, const struct arguments *arguments, int argc,
                                char **argv, struct rung_error *err)
{
    struct rung_sweep_arguments sweep = {.selection = arguments->selection,
                                         .verb = "claims",
                                         .n_on_simulator = "100000",
                                         .argc = argc,
                                         .argv = argv};
    sweep.selection.version = "1:4";
    sweep.selection.block = "64,256,1024";
    sweep.selection.bound = "const,runtime";
    sweep.selection.format = sweep.selection.output = NULL;
    return rung_sweep_collect(&work->rows, &work->environment, &sweep, err);
}

static enum rung_status load(struct work *work, const struct arguments *arguments,
                             struct rung_error *err)
{
    for (size_t f = 0; f < arguments->n_files; f++) {
        struct rung_results file;
        enum rung_status status = rung_results_load(&file, arguments->files[f], err);
        if (status != RUNG_OK)
            return status;
        rung_results_name_left_out(&file, "claims", stderr);
        for (size_t i = 0; i < file.n_rows && status == RUNG_OK; i++)
            status = rung_results_add(&work->rows, &file.rows[i].row, err);
        rung_results_release(&file);
        if (status != RUNG_OK)
            return status;
    }
    work->environment = rung_environment(NULL, NULL);
    return RUNG_OK;
}

/* The control is tried as a version would be; what keeps it from being tried is told. */
static void try_control(struct rung_claim_control *out, struct rung_stage *stage,
                        const struct rung_selection *selection)
{
    struct rung_control_outcome outcome;
    struct rung_error why = {0};
    enum rung_status status = rung_control_try(&outcome, stage, CONTROL, selection, &why);
    out->tried = status == RUNG_OK;
    out->caught = status == RUNG_OK && outcome.caught;
    out->wrong_sum = status == RUNG_OK && outcome.wrong_sum;
    memcpy(out->what, status == RUNG_OK ? outcome.what : why.text, sizeof out->what - 1);
}

static size_t choose_targets(unsigned targets[RUNG_CLAIM_TARGETS], const struct rung_stage *stage,
                             const struct work *work)
{
    unsigned supported[RUNG_TARGETS_MAX];
    size_t n_supported = stage->nvrtc ? rung_nvrtc_targets(stage->nvrtc, supported) : 0, n = 0;
    unsigned wanted[] = {75, work->rows.n_rows ? work->rows.rows[0].row.ptx_target : 0,
                         n_supported ? supported[n_supported - 1] : 0};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        bool known = wanted[i] == 0;
        for (size_t k = 0; k < n; k++)
            known |= targets[k] == wanted[i];
        if (!known)
            targets[n++] = wanted[i];
    }
    return n;
}

/* The simulator with its checks, whatever else there is: it shows what a card may hide. */
static enum rung_status look_without_card(struct work *work, const struct arguments *arguments,
                                          struct rung_error *err)
{
    struct rung_stage stage;
    struct rung_selection selection = arguments->selection;
    unsigned targets[RUNG_CLAIM_TARGETS];
    selection.device = "sim";
    selection.check = true;
    selection.n = selection.target = selection.image = selection.output = NULL;
    enum rung_status status = rung_stage_open(&stage, &selection, "claims", err);
    if (status != RUNG_OK)
        return status;
    struct rung_claim_evidence *evidence = &work->evidence;
    try_control(&evidence->on_simulator, &stage, &selection);
    evidence->n_code = choose_targets(targets, &stage, work);
    rung_claims_read_code(evidence->code, targets, evidence->n_code, &stage.images);
    return rung_stage_close(&stage, false, err);
}

static bool on_card(const struct work *work)
{
    const json_t *device = json_object_get(work->environment, "device");
    const char *kind = json_string_value(json_object_get(device, "kind"));
    return kind && strcmp(kind, "cuda") == 0;
}

static void look_on_card(struct work *work, const struct arguments *arguments)
{
    struct rung_stage stage;
    struct rung_selection selection = arguments->selection;
    selection.check = false;
    selection.n = selection.output = NULL;
    if (!on_card(work) || rung_stage_open(&stage, &selection, "claims", NULL) != RUNG_OK)
        return;
    try_control(&work->evidence.on_card, &stage, &selection);
    rung_stage_close(&stage, false, NULL);
}

/* Files stand in the place of measuring, and of all that says how. */
static enum rung_status refuse_both(const struct arguments *arguments, struct rung_error *err)
{
    const struct rung_selection *selection = &arguments->selection;
    const struct {
        const char *option;
        bool given;
    } of_measuring[] = {
        {"--n",      selection->n != NULL     },
        {"--device", selection->device != NULL},
        {"--driver", selection->driver != NULL},
        {"--target", selection->target != NULL},
        {"--image",  selection->image != NULL },
        {"--check",  selection->check         },
        {"--seed",   selection->seed != 0     },
    };
    for (size_t i = 0; arguments->n_files && i < sizeof of_measuring / sizeof *of_measuring; i++)
        if (of_measuring[i].given)
            return rung_fail(err, RUNG_USAGE,
                             "%s says how to measure, and the rows are those of %s: give one or "
                             "the other",
                             of_measuring[i].option, arguments->files[0]);
    return RUNG_OK;
}

static enum rung_status gather(struct work *work, const struct arguments *arguments, int argc,
                               char **argv, struct rung_error *err)
{
    enum rung_status status =
        arguments->n_files ? load(work, arguments, err) : measure(work, arguments, argc, argv, err);
    if (status != RUNG_OK)
        return status;
    struct rung_claim_evidence *evidence = &work->evidence;
    evidence->rows = work->rows.rows;
    evidence->n_rows = work->rows.n_rows;
    if (arguments->n_files)
        evidence->no_times = "the files have no times of the rows that decide it";
    else if (!on_card(work))
        evidence->no_times = "no card: the simulator has no times";
    status = look_without_card(work, arguments, err);
    if (status == RUNG_OK)
        look_on_card(work, arguments);
    return status;
}

static json_t *claims_to_json(const struct rung_claim *claims)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < RUNG_CLAIMS; i++)
        json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "claim",
                                              claims[i].name, "statement", claims[i].statement,
                                              "source", claims[i].source, "answer",
                                              rung_answer_word(claims[i].answer), "figures",
                                              claims[i].figures, "command", claims[i].command));
    return rows;
}

static void print_text(const struct rung_claim *claims, FILE *to)
{
    size_t counts[3] = {0};
    for (size_t i = 0; i < RUNG_CLAIMS; i++) {
        char head[256];
        const struct rung_claim *claim = &claims[i];
        counts[claim->answer]++;
        snprintf(head, sizeof head, "%zu. %s.", i + 1, claim->statement);
        rung_print_wrapped(head, 0, 3, to);
        snprintf(head, sizeof head, "%s:", rung_answer_word(claim->answer));
        for (char *at = head; *at; at++)
            *at = (char)(*at >= 'a' && *at <= 'z' ? *at - 'a' + 'A' : *at);
        fprintf(to, "   %s\n", head);
        fputs("   ", to);
        rung_print_wrapped(claim->figures, 3, 3, to);
        fprintf(to, "   $ %s\n\n", claim->command);
    }
    fprintf(to, "%zu confirmed, %zu refuted, %zu cannot be told here\n", counts[RUNG_CONFIRMED],
            counts[RUNG_REFUTED], counts[RUNG_CANNOT_TELL]);
}

static enum rung_status print_table(const struct rung_claim *claims,
                                    const struct rung_output *output, struct rung_error *err)
{
    static const struct rung_column columns[] = {
        {"claim",     "claim",     false},
        {"statement", "statement", false},
        {"answer",    "answer",    false},
        {"figures",   "figures",   false},
        {"command",   "command",   false},
    };
    struct rung_table *table = rung_table_new(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < RUNG_CLAIMS; i++) {
        rung_table_row(table);
        rung_table_text(table, claims[i].name);
        rung_table_text(table, claims[i].statement);
        rung_table_text(table, rung_answer_word(claims[i].answer));
        rung_table_text(table, claims[i].figures);
        rung_table_text(table, claims[i].command);
    }
    enum rung_status status = rung_table_print(table, output->format, output->stream, err);
    rung_table_free(table);
    return status;
}

static enum rung_status print(struct work *work, const struct rung_output *output, int argc,
                              char **argv, struct rung_error *err)
{
    if (output->format == RUNG_FORMAT_JSON)
        return rung_document_print(rung_document("claims", argc, argv,
                                                 json_incref(work->environment),
                                                 claims_to_json(work->claims)),
                                   output->stream, err);
    if (output->format != RUNG_FORMAT_TABLE)
        return print_table(work->claims, output, err);
    print_text(work->claims, output->stream);
    return RUNG_OK;
}

static enum rung_status answer(struct work *work, const struct arguments *arguments, int argc,
                               char **argv, struct rung_error *err)
{
    struct rung_output output = {0};
    enum rung_format format = RUNG_FORMAT_TABLE;
    enum rung_status status = rung_format_parse(&format, arguments->selection.format, err);
    if (status == RUNG_OK)
        status = refuse_both(arguments, err);
    if (status == RUNG_OK)
        status = rung_output_open(&output, format, arguments->selection.output, err);
    if (status == RUNG_OK)
        status = gather(work, arguments, argc, argv, err);
    if (status == RUNG_OK)
        status = rung_claims_decide(work->claims, &work->evidence, err);
    if (status == RUNG_OK)
        status = print(work, &output, argc, argv, err);
    enum rung_status closed = rung_output_close(&output, status == RUNG_OK, err);
    if (status == RUNG_OK)
        status = closed;
    if (status != RUNG_OK)
        return status;
    rung_results_name_failures(&work->rows, "claims", stderr);
    return rung_results_status(work->rows.rows, work->rows.n_rows);
}

enum rung_status rung_cmd_claims(int argc, char **argv, struct rung_error *err)
{
    struct arguments arguments = {0};
    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    struct work *work = calloc(1, sizeof *work);
    if (!work)
        return rung_fail(err, RUNG_MEMORY, "out of memory");
    enum rung_status status = answer(work, &arguments, argc, argv, err);
    rung_results_release(&work->rows);
    json_decref(work->environment);
    free(work);
    return status;
}
