/* rung run: the ladder, verified and timed to one value. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/ceiling.h"
#include "bench/library.h"
#include "cli/command.h"
#include "cli/environment.h"
#include "cli/modulo.h"
#include "cli/page.h"
#include "cli/rows.h"
#include "cli/stage.h"
#include "cli/timing_options.h"

struct arguments {
    struct rung_selection selection;
    struct rung_timing_selection timing;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->selection;
        state->child_inputs[1] = &arguments->timing;
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
    {&rung_timing_argp,                0, NULL, 0},
    {0                   }
};

static const struct argp argp = {
    .parser = parse,
    .children = children,
    .doc = "Verify the selected versions and time each to one value.\v"
           "Every version is verified before it is timed: exactly, with inputs that reveal a "
           "dropped, doubled or misplaced element, at awkward sizes and at the size asked for. A "
           "version that is wrong is named with what it summed to, and is not timed. Without a "
           "GPU the simulator runs the same PTX and counts what the model predicts.\n\n"
           "Examples:\n"
           "  rung run\n"
           "  rung run --bound const,runtime\n"
           "  rung run --block 64,256,1024\n"
           "  rung run --version all --device sim --check\n",
};

struct work {
    struct rung_stage stage;
    struct rung_timing_options timing;
    double ceiling;
    struct rung_row *rows;
    size_t n_rows;
    struct rung_library_row top; /* what stands at the top; without a form where not tried */
};

/* Only a card has times; their ceiling is measured once. */
static enum rung_status open_timing(struct work *work, struct rung_error *err)
{
    work->ceiling = NAN;
    if (work->stage.device.driver.kind == RUNG_DRIVER_SIM)
        return RUNG_OK;
    work->timing.warm_up_ms = 100;
    struct rung_ceiling ceiling;
    rung_stage_progress(&work->stage, "measuring the read ceiling");
    enum rung_status status =
        rung_ceiling_measure(&ceiling, &work->stage.device, &work->stage.images, err);
    if (status != RUNG_OK)
        return status;
    work->ceiling = ceiling.gb_per_s;
    return rung_sampler_open(&work->timing.sampler, &work->stage.device, err);
}

static enum rung_status measure(struct work *work, struct rung_bench *bench,
                                const struct rung_selection *selection, struct rung_error *err)
{
    struct rung_stage *stage = &work->stage;
    bool card = work->timing.sampler != NULL;
    enum rung_status status = RUNG_OK;
    for (size_t i = 0; status == RUNG_OK && i < stage->expanded.n_ns; i++) {
        const struct rung_measure_options options = {
            .n = stage->expanded.ns[i],
            .awkward_sizes = i == 0, /* they are the same for every n */
            .all_patterns = card,
            .seed = selection->seed,
            .timing = card ? &work->timing : NULL,
            .ceiling_gb_per_s = work->ceiling,
            .progress = rung_stage_progress,
            .interrupted = rung_stage_interrupted,
            .context = stage,
        };
        status = rung_bench_measure(work->rows + work->n_rows, bench, &options, err);
        rung_bench_remember(bench, work->rows + work->n_rows);
        work->n_rows += bench->n_entries;
        work->timing.warm_up_ms = 20; /* the clock is up */
    }
    return status;
}

static enum rung_status run_target(struct work *work, unsigned target,
                                   const struct rung_selection *selection, struct rung_error *err)
{
    struct rung_stage *stage = &work->stage;
    const struct rung_bench_spec spec = {
        .device = &stage->device,
        .ladder = &stage->ladder,
        .images = &stage->images,
        .image = stage->image,
        .target = target,
    };
    struct rung_bench bench;
    rung_stage_progress(stage, "compiling");
    enum rung_status status =
        rung_bench_open(&bench, &spec, stage->expanded.configs, stage->expanded.n_configs, err);
    size_t first = work->n_rows;
    if (status == RUNG_OK)
        status = measure(work, &bench, selection, err);
    rung_modulo_note(work->rows + first, work->n_rows - first, &stage->images, target);
    rung_bench_close(&bench);
    return status;
}

/* librung at the first n, for whoever asks how far the ladder is from the top. The ladder's rows do
 * not depend on it: where it cannot be had, that is told and no more. */
static enum rung_status run_library(struct work *work, const struct rung_selection *selection,
                                    struct rung_error *err)
{
    struct rung_stage *stage = &work->stage;
    struct rung_error failure = {0};
    const struct rung_library_request request = {
        .op = stage->expanded.configs[0].op,
        .type = stage->expanded.configs[0].type,
        .n = stage->expanded.ns[0],
        .seed = selection->seed,
        .timing = &work->timing,
        .ceiling_gb_per_s = work->ceiling,
        .interrupted = rung_stage_interrupted,
        .context = stage,
    };
    rung_stage_progress(stage, "librung");
    enum rung_status status = rung_library_measure(&work->top, &stage->device, &request, &failure);
    if (status == RUNG_OK)
        return RUNG_OK;
    rung_library_row_release(&work->top);
    work->top = (struct rung_library_row){0};
    if (status == RUNG_INTERRUPTED)
        return rung_fail(err, status, "%s", failure.text);
    rung_progress_clear(&stage->progress);
    fprintf(stderr, "rung run: %s\n", failure.text);
    return RUNG_OK;
}

/* The memory for the elements of every row is asked for before the first is measured. */
static enum rung_status check_room(const struct rung_stage *stage, struct rung_error *err)
{
    const struct rung_expanded *expanded = &stage->expanded;
    enum rung_status status = RUNG_OK;
    for (size_t i = 0; i < expanded->n_configs; i++)
        for (size_t k = 0; k < expanded->n_ns && status == RUNG_OK; k++) {
            const struct rung_config *config = &expanded->configs[i];
            const struct rung_workspace_spec spec = {
                .op = config->op, .type = config->type, .n = expanded->ns[k], .room = 1};
            status = rung_workspace_fits(&stage->device, &spec, err);
        }
    return status;
}

static enum rung_status run_all(struct work *work, const struct rung_selection *selection,
                                struct rung_error *err)
{
    struct rung_stage *stage = &work->stage;
    size_t most = stage->n_targets * stage->expanded.n_configs * stage->expanded.n_ns;
    work->rows = calloc(most ? most : 1, sizeof *work->rows);
    if (!work->rows)
        return rung_fail(err, RUNG_MEMORY, "out of memory for %zu rows", most);
    enum rung_status status = check_room(stage, err);
    if (status == RUNG_OK)
        status = open_timing(work, err);
    for (size_t i = 0; status == RUNG_OK && i < stage->n_targets; i++)
        status = run_target(work, stage->targets[i], selection, err);
    if (status == RUNG_OK && work->timing.sampler && stage->expanded.n_configs)
        status = run_library(work, selection, err);
    rung_rows_relate(work->rows, work->n_rows);
    rung_progress_clear(&stage->progress);
    return status;
}

/* After an interrupt: what was finished is kept, what was not even begun or broken off is not. */
static void drop_unfinished(struct work *work)
{
    bool card = work->timing.sampler != NULL;
    size_t kept = 0;
    for (size_t i = 0; i < work->n_rows; i++) {
        struct rung_row *row = &work->rows[i];
        bool finished = row->status == RUNG_ROW_OK ? row->summed && (!card || row->time_ms.known)
                                                   : row->status != RUNG_ROW_RUNTIME;
        if (!finished) {
            rung_row_release(row);
            continue;
        }
        if (kept != i)
            work->rows[kept] = *row;
        kept++;
    }
    work->n_rows = kept;
}

/* Whether the rows have more than one operation, type or size, and librung's must be told. */
static bool several_inputs(const struct rung_expanded *expanded)
{
    bool several = expanded->n_ns > 1;
    for (size_t i = 1; i < expanded->n_configs; i++)
        several |= expanded->configs[i].op != expanded->configs[0].op ||
                   expanded->configs[i].type != expanded->configs[0].type;
    return several;
}

static void print_library(const struct work *work, FILE *to)
{
    const struct rung_library_row *row = &work->top;
    if (!row->form)
        return;
    fputs("\nThe top, librung:", to);
    if (several_inputs(&work->stage.expanded))
        fprintf(to, " %s of %s at n = %llu:\n ", rung_op_word(row->op), rung_type_word(row->type),
                (unsigned long long)row->n);
    if (row->time_ms.known)
        fprintf(to, " %.4f ms, %.0f GB/s, %.0f %% of the ceiling (rung sum)\n", row->time_ms.median,
                row->gb_per_s, 100 * row->of_ceiling);
    else
        fprintf(to, " wrong: %s\n", row->reason);
}

static enum rung_status print(struct work *work, int argc, char **argv, struct rung_error *err)
{
    struct rung_stage *stage = &work->stage;
    FILE *to = stage->output.stream;
    const struct rung_page page = {
        .rows = work->rows,
        .n_rows = work->n_rows,
        .ladder = &stage->ladder,
        .format = stage->output.format,
        .ceiling_gb_per_s = work->ceiling,
        .counted = stage->device.driver.kind == RUNG_DRIVER_SIM,
    };
    switch (stage->output.format) {
    case RUNG_FORMAT_JSON: {
        json_t *environment = rung_environment(&stage->device, stage->nvrtc);
        if (environment && isfinite(work->ceiling))
            json_object_set_new(environment, "read_ceiling_gb_per_s", json_real(work->ceiling));
        json_t *document = rung_document("run", argc, argv, environment,
                                         rung_rows_to_json(work->rows, work->n_rows));
        if (document && work->top.form)
            json_object_set_new(document, "library", rung_library_row_to_json(&work->top));
        return rung_document_print(document, to, err);
    }
    case RUNG_FORMAT_CSV:
        return rung_rows_print_csv(work->rows, work->n_rows, to, err);
    default:
        rung_stage_print(stage, to);
        if (rung_page_print(&page, to, err) != RUNG_OK)
            return err->status;
        if (rung_modulo_print(work->rows, work->n_rows, page.format, to, err) != RUNG_OK)
            return err->status;
        print_library(work, to);
        return RUNG_OK;
    }
}

static void release(struct work *work)
{
    for (size_t i = 0; i < work->n_rows; i++)
        rung_row_release(&work->rows[i]);
    free(work->rows);
    rung_library_row_release(&work->top);
    rung_sampler_close(work->timing.sampler);
}

enum rung_status rung_cmd_run(int argc, char **argv, struct rung_error *err)
{
    struct arguments arguments = {0};
    struct work work = {0};
    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    enum rung_status status =
        rung_timing_resolve(&work.timing.how, &work.timing.stop, &arguments.timing, err);
    if (status == RUNG_OK)
        status = rung_stage_open(&work.stage, &arguments.selection, "run", err);
    if (status != RUNG_OK)
        return status;
    status = run_all(&work, &arguments.selection, err);
    if (status == RUNG_INTERRUPTED)
        drop_unfinished(&work);
    bool printed = false;
    if (status == RUNG_OK || status == RUNG_INTERRUPTED) { /* what there is, is kept */
        struct rung_error printing = {0};
        printed = print(&work, argc, argv, &printing) == RUNG_OK;
        if (!printed)
            status = rung_fail(err, printing.status, "%s", printing.text);
    }
    if (status == RUNG_OK)
        status = rung_rows_status(work.rows, work.n_rows);
    if (status == RUNG_OK && work.top.status == RUNG_ROW_WRONG)
        status = rung_fail(err, RUNG_WRONG, "librung: %s", work.top.reason);
    enum rung_format format = work.stage.output.format;
    if (!printed || format == RUNG_FORMAT_JSON || format == RUNG_FORMAT_CSV)
        rung_rows_name_failures(work.rows, work.n_rows, "run"); /* the page has them in itself */
    release(&work);
    struct rung_error closing = {0};
    if (rung_stage_close(&work.stage, printed, &closing) != RUNG_OK && status == RUNG_OK)
        status = rung_fail(err, closing.status, "%s", closing.text);
    return status;
}
