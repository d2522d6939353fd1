/* rung verify: correctness only. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/controls.h"
#include "cli/environment.h"
#include "cli/rows.h"
#include "cli/stage.h"

#define KEY_CONTROL 0x300

struct arguments {
    struct rung_selection selection;
    const char *control;
};

/* clang-format off */
static const struct argp_option options[] = {
    {"control", KEY_CONTROL, "NAME", 0,
     "Try a kernel that is wrong on purpose, or all of them: which checks tell?", 0},
    {0},
};
/* clang-format on */

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->selection;
        return 0;
    case KEY_CONTROL:
        arguments->control = arg;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "'%s': versions are chosen with --version", arg);
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&rung_selection_argp, 0, NULL, 0},
    {0               }
};

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .doc = "Verify every selected configuration, and time nothing.\v"
           "Each is run with inputs that reveal a dropped, doubled or misplaced element, over "
           "poisoned memory with guards around it, at the sizes where kernels go wrong and at each "
           "--n (default 65537 on the simulator, 16776605 on a GPU). On the simulator the counts "
           "executed must equal the model; --check adds races, barriers and bounds, and --control "
           "turns it on by itself.\n\n"
           "Examples:\n"
           "  rung verify --version all --block 2:1024:*2 --bound all --device sim\n"
           "  rung verify --op sum,dot --type all --check --device sim\n"
           "  rung verify --control all --device sim\n",
};

struct work {
    struct rung_stage stage;
    struct rung_row *rows;
    size_t n_rows;
};

/* The simulator takes a second for 16 million elements; three passes are reached far below. */
static uint64_t size_of(const struct work *work, const struct rung_selection *selection, size_t i)
{
    bool sim = work->stage.device.driver.kind == RUNG_DRIVER_SIM;
    return sim && !selection->n ? 65537 : work->stage.expanded.ns[i];
}

static enum rung_status verify_bench(struct work *work, struct rung_bench *bench,
                                     const struct rung_selection *selection, struct rung_error *err)
{
    enum rung_status status = RUNG_OK;
    for (size_t i = 0; status == RUNG_OK && i < work->stage.expanded.n_ns; i++) {
        const struct rung_measure_options measure = {
            .n = size_of(work, selection, i),
            .awkward_sizes = i == 0,
            .all_patterns = work->stage.device.driver.kind == RUNG_DRIVER_CUDA,
            .seed = selection->seed,
            .ceiling_gb_per_s = NAN,
            .progress = rung_stage_progress,
            .interrupted = rung_stage_interrupted,
            .context = &work->stage,
        };
        status = rung_bench_measure(work->rows + work->n_rows, bench, &measure, err);
        rung_bench_remember(bench, work->rows + work->n_rows);
        work->n_rows += bench->n_entries;
    }
    return status;
}

static enum rung_status verify_all(struct work *work, const struct rung_selection *selection,
                                   struct rung_error *err)
{
    struct rung_stage *stage = &work->stage;
    size_t most = stage->n_targets * stage->expanded.n_configs * stage->expanded.n_ns;
    work->rows = calloc(most ? most : 1, sizeof *work->rows);
    if (!work->rows)
        return rung_fail(err, RUNG_MEMORY, "out of memory for %zu rows", most);
    enum rung_status status = RUNG_OK;
    for (size_t i = 0; status == RUNG_OK && i < stage->n_targets; i++) {
        const struct rung_bench_spec spec = {
            .device = &stage->device,
            .ladder = &stage->ladder,
            .images = &stage->images,
            .image = stage->image,
            .target = stage->targets[i],
        };
        struct rung_bench bench;
        rung_stage_progress(stage, "compiling");
        status =
            rung_bench_open(&bench, &spec, stage->expanded.configs, stage->expanded.n_configs, err);
        if (status == RUNG_OK)
            status = verify_bench(work, &bench, selection, err);
        rung_bench_close(&bench);
    }
    rung_progress_clear(&stage->progress);
    return status;
}

static enum rung_status print_table(const struct work *work, struct rung_error *err)
{
    static const struct rung_column columns[] = {
        {"id",     "id",     false},
        {"n",      "n",      true },
        {"runs",   "runs",   true },
        {"target", "PTX",    false},
        {"image",  "image",  false},
        {"result", "result", false}
    };
    const struct rung_stage *stage = &work->stage;
    FILE *to = stage->output.stream;
    struct rung_table *table = rung_table_new(columns, sizeof columns / sizeof *columns);
    size_t right = 0;
    for (size_t i = 0; i < work->n_rows; i++) {
        const struct rung_row *row = &work->rows[i];
        const json_t *runs = json_object_get(row->extra, "verified_runs");
        char id[RUNG_ID_SIZE];
        rung_config_id(&row->config, id);
        rung_table_row(table);
        rung_table_text(table, id);
        rung_table_format(table, "%" PRIu64, row->n);
        rung_table_format(table, "%" PRIu64, runs ? (uint64_t)json_integer_value(runs) : 0);
        if (row->ptx_target)
            rung_table_format(table, "sm_%u", row->ptx_target);
        else
            rung_table_empty(table);
        rung_table_text(table, row->image[0] ? row->image : "-");
        rung_table_text(table, rung_row_status_word(row->status));
        right += row->correct;
    }
    rung_stage_print(stage, to);
    fputc('\n', to);
    enum rung_status status = rung_table_print(table, stage->output.format, to, err);
    rung_table_free(table);
    fprintf(to, "\n%zu of %zu configurations right in every run%s.\n", right, work->n_rows,
            stage->device.driver.kind == RUNG_DRIVER_SIM ? ", counts equal to the model" : "");
    return status;
}

static enum rung_status print(const struct work *work, int argc, char **argv,
                              struct rung_error *err)
{
    const struct rung_stage *stage = &work->stage;
    FILE *to = stage->output.stream;
    if (stage->output.format == RUNG_FORMAT_JSON)
        return rung_document_print(rung_document("verify", argc, argv,
                                                 rung_environment(&stage->device, stage->nvrtc),
                                                 rung_rows_to_json(work->rows, work->n_rows)),
                                   to, err);
    if (stage->output.format == RUNG_FORMAT_CSV)
        return rung_rows_print_csv(work->rows, work->n_rows, to, err);
    return print_table(work, err);
}

static enum rung_status verify_ladder(struct work *work, const struct rung_selection *selection,
                                      int argc, char **argv, bool *printed, struct rung_error *err)
{
    enum rung_status status = verify_all(work, selection, err);
    if (status == RUNG_OK || status == RUNG_INTERRUPTED) {
        struct rung_error printing = {0};
        *printed = print(work, argc, argv, &printing) == RUNG_OK;
        if (!*printed)
            status = rung_fail(err, printing.status, "%s", printing.text);
    }
    if (status == RUNG_OK)
        status = rung_rows_status(work->rows, work->n_rows);
    rung_rows_name_failures(work->rows, work->n_rows, "verify");
    for (size_t i = 0; i < work->n_rows; i++)
        rung_row_release(&work->rows[i]);
    free(work->rows);
    return status;
}

enum rung_status rung_cmd_verify(int argc, char **argv, struct rung_error *err)
{
    struct arguments arguments = {0};
    struct work work = {0};
    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    bool printed = false;
    enum rung_status status = rung_stage_open(&work.stage, &arguments.selection, "verify", err);
    if (status != RUNG_OK)
        return status;
    if (arguments.control)
        status = rung_controls_verify(&work.stage, arguments.control, &arguments.selection, argc,
                                      argv, &printed, err);
    else
        status = verify_ladder(&work, &arguments.selection, argc, argv, &printed, err);
    struct rung_error closing = {0};
    if (rung_stage_close(&work.stage, printed, &closing) != RUNG_OK && status == RUNG_OK)
        status = rung_fail(err, closing.status, "%s", closing.text);
    return status;
}
