/* rung best: the configurations that cannot be told from the fastest. */
#include <argp.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "cli/command.h"
#include "cli/environment.h"
#include "cli/print_results.h"
#include "cli/select.h"
#include "report/best.h"

struct arguments {
    struct rung_selection selection;
    char **files;
    size_t n_files;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    (void)arg;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->selection;
        return 0;
    case ARGP_KEY_ARGS:
        arguments->files = state->argv + state->next;
        arguments->n_files = (size_t)(state->argc - state->next);
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "result files are wanted: rung best FILE...");
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&rung_output_argp, 0, NULL, 0},
    {0            }
};

static const struct argp argp = {
    .parser = parse,
    .args_doc = "FILE...",
    .children = children,
    .doc =
        "Name the best configurations of result files: a set, not a winner.\v"
        "Rows with the same operation, type, n, target, image, state and timer answer one "
        "question. "
        "Its set is every row whose interval of the median reaches the fastest one's; behind the "
        "set stands the next row, with how far it is behind.\n\n"
        "Examples:\n"
        "  rung best ladder.jsonl\n"
        "  rung best ladder.jsonl --format csv -o best.csv\n",
};

/* One row of the output: a member of a set, or what stands behind it. */
struct place {
    const char *file, *question;
    bool in_set;
    const struct rung_row *row;
    double ratio; /* its time over the fastest's */
};

static void add_cells(struct rung_table *table, const struct place *place)
{
    char id[RUNG_ID_SIZE];
    rung_config_id(&place->row->config, id);
    rung_table_row(table);
    rung_table_text(table, place->file);
    rung_table_text(table, place->question);
    rung_table_text(table, place->in_set ? "best" : "next");
    rung_table_text(table, id);
    rung_table_format(table, "%.9g", place->row->time_ms.median);
    rung_table_format(table, "%.3f", place->ratio);
}

static void add_json(json_t *rows, const struct place *place)
{
    char id[RUNG_ID_SIZE];
    rung_config_id(&place->row->config, id);
    json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:s, s:f, s:f}", "file", place->file,
                                          "question", place->question, "place",
                                          place->in_set ? "best" : "next", "id", id, "time_ms",
                                          place->row->time_ms.median, "ratio", place->ratio));
}

/* `table` or `rows` is NULL. */
static enum rung_status add_file(struct rung_table *table, json_t *rows,
                                 const struct rung_results *results, struct rung_error *err)
{
    struct rung_bests bests;
    enum rung_status status = rung_best_find(&bests, results->rows, results->n_rows, err);
    if (status != RUNG_OK)
        return status;
    for (size_t b = 0; b < bests.n; b++) {
        const struct rung_best *best = &bests.bests[b];
        for (size_t i = 0; i < best->n_set + (best->next != NULL); i++) {
            struct place place = {results->path, best->question, i < best->n_set, NULL, NAN};
            place.row = place.in_set ? &best->set[i]->row : &best->next->row;
            place.ratio = place.row->time_ms.median / best->set[0]->row.time_ms.median;
            if (table)
                add_cells(table, &place);
            if (rows)
                add_json(rows, &place);
        }
    }
    rung_bests_release(&bests);
    return RUNG_OK;
}

static enum rung_status one_file(const char *path, struct rung_table *table, json_t *rows,
                                 const struct rung_output *output, struct rung_error *err)
{
    struct rung_results results = {0};
    enum rung_status status = rung_results_load(&results, path, err);
    if (status != RUNG_OK)
        return status;
    rung_results_name_left_out(&results, "best", stderr);
    size_t timed = 0;
    for (size_t r = 0; r < results.n_rows; r++)
        timed += results.rows[r].row.time_ms.known;
    if (!timed)
        status = rung_fail(err, RUNG_UNABLE, "%s has no times: nothing to choose by", results.path);
    else if (output->format == RUNG_FORMAT_TABLE)
        status = rung_results_print_best(results.rows, results.n_rows, output->stream, err);
    else
        status = add_file(table, rows, &results, err);
    rung_results_release(&results);
    return status;
}

static enum rung_status print(const struct arguments *arguments, const struct rung_output *output,
                              int argc, char **argv, struct rung_error *err)
{
    static const struct rung_column columns[] = {
        {"file",     "file",     false},
        {"question", "question", false},
        {"place",    "place",    false},
        {"id",       "id",       false},
        {"time_ms",  "ms",       true },
        {"ratio",    "ratio",    true }
    };
    bool json = output->format == RUNG_FORMAT_JSON;
    json_t *rows = json ? json_array() : NULL;
    struct rung_table *table = json ? NULL : rung_table_new(columns, 6);
    enum rung_status status = RUNG_OK;
    for (size_t i = 0; i < arguments->n_files && status == RUNG_OK; i++)
        status = one_file(arguments->files[i], table, rows, output, err);
    if (status == RUNG_OK && json)
        status = rung_document_print(
            rung_document("best", argc, argv, rung_environment(NULL, NULL), json_incref(rows)),
            output->stream, err);
    else if (status == RUNG_OK && output->format != RUNG_FORMAT_TABLE)
        status = rung_table_print(table, output->format, output->stream, err);
    json_decref(rows);
    rung_table_free(table);
    return status;
}

enum rung_status rung_cmd_best(int argc, char **argv, struct rung_error *err)
{
    struct arguments arguments = {0};
    struct rung_output output = {0};
    enum rung_format format;
    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    enum rung_status status = rung_format_parse(&format, arguments.selection.format, err);
    if (status == RUNG_OK)
        status = rung_output_open(&output, format, arguments.selection.output, err);
    if (status == RUNG_OK)
        status = print(&arguments, &output, argc, argv, err);
    enum rung_status closed = rung_output_close(&output, status == RUNG_OK, err);
    return status == RUNG_OK ? closed : status;
}
