/* rung best: the configurations that cannot be told from the fastest. */
#include <argp.h>
#include <errno.h>

#include "cli/command.h"
#include "cli/print_results.h"

struct arguments {
    char **files;
    size_t n_files;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    (void)arg;
    switch (key) {
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

static const struct argp argp = {
    .parser = parse,
    .args_doc = "FILE...",
    .doc =
        "Name the best configurations of result files: a set, not a winner.\v"
        "Rows with the same operation, type, n, target, image, state and timer answer one "
        "question. "
        "Its set is every row whose interval of the median reaches the fastest one's; behind the "
        "set stands the next row, with how far it is behind.\n",
};

enum rung_status rung_cmd_best(int argc, char **argv, struct rung_error *err)
{
    struct arguments arguments = {0};
    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    enum rung_status status = RUNG_OK;
    for (size_t i = 0; i < arguments.n_files && status == RUNG_OK; i++) {
        struct rung_results results = {0};
        status = rung_results_load(&results, arguments.files[i], err);
        if (status != RUNG_OK)
            break;
        rung_results_name_left_out(&results, "best", stderr);
        size_t timed = 0;
        for (size_t r = 0; r < results.n_rows; r++)
            timed += results.rows[r].row.time_ms.known;
        if (timed)
            status = rung_results_print_best(results.rows, results.n_rows, stdout, err);
        else
            status =
                rung_fail(err, RUNG_UNABLE, "%s has no times: nothing to choose by", results.path);
        rung_results_release(&results);
    }
    return status;
}
