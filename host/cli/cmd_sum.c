/* rung sum: librung on this machine, verified and timed as the ladder is. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "bench/ceiling.h"
#include "bench/library.h"
#include "cli/command.h"
#include "cli/environment.h"
#include "cli/stage.h"
#include "cli/timing_options.h"

enum { KEY_OP = 0x300, KEY_TYPE, KEY_N, KEY_DEVICE, KEY_DRIVER };

struct arguments {
    struct rung_selection selection;
    struct rung_timing_selection timing;
};

/* clang-format off */
static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "What is summed (each a list; all: every value):", 1},
    {"op", KEY_OP, "LIST", 0, "Operation: sum, dot (default sum)", 1},
    {"type", KEY_TYPE, "LIST", 0, "Element type: f32, f64, i32 (default f32)", 1},
    {"n", KEY_N, "LIST", 0,
     "Elements, 0...2^40, as 1000, 64Ki, 2^24-611 (default 16776605 on a card, 1000003 on the "
     "simulator)",
     1},
    {NULL, 0, NULL, 0, "Where it runs:", 2},
    {"device", KEY_DEVICE, "DEVICE", 0,
     "auto, cuda, cuda:K or sim (default auto: a GPU if there is one, else the simulator)", 2},
    {"driver", KEY_DRIVER, "PATH", 0, "The driver library in place of libcuda.so.1", 2},
    {0},
};
/* clang-format on */

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    struct rung_selection *selection = &arguments->selection;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->timing;
        for (int i = 1; i <= 3; i++)
            state->child_inputs[i] = selection;
        return 0;
    case KEY_OP:
        selection->op = arg;
        return 0;
    case KEY_TYPE:
        selection->type = arg;
        return 0;
    case KEY_N:
        selection->n = arg;
        return 0;
    case KEY_DEVICE:
        selection->device = arg;
        return 0;
    case KEY_DRIVER:
        selection->driver = arg;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "'%s': sizes are chosen with --n", arg);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&rung_timing_argp, 0, NULL, 0},
    {&rung_check_argp,             0, NULL, 0},
    {&rung_seed_argp,                 0, NULL, 0},
    {&rung_output_argp,    0, NULL, 0},
    {0               }
};

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .doc =
        "Verify librung, the sum at the top of the ladder, and time it.\v"
        "One launch from n elements to one value. Every size is verified before it is timed, with "
        "random numbers and, up to 2^26 elements, with inputs that reveal a dropped, doubled or "
        "misplaced element. The simulator starts librung's blocks in order, whatever the seed. A "
        "graph's replay (--timer graph) shows what a launch costs beside the "
        "work.\n\n"
        "Examples:\n"
        "  rung sum --n 1000,64Ki,2^20,16776605,2^28\n"
        "  rung sum --op all --type all\n"
        "  rung sum --n 2^20 --timer graph\n",
};

struct work {
    struct rung_stage stage;
    struct rung_timing_options timing;
    double ceiling;
    struct rung_library_row *rows;
    size_t n_rows;
};

static bool on_card(const struct work *work)
{
    return work->stage.device.driver.kind == RUNG_DRIVER_CUDA;
}

static enum rung_status open_timing(struct work *work, struct rung_error *err)
{
    struct rung_ceiling ceiling;
    work->ceiling = NAN;
    if (!on_card(work))
        return RUNG_OK;
    work->timing.warm_up_ms = 100;
    enum rung_status status =
        rung_ceiling_measure(&ceiling, &work->stage.device, &work->stage.images, err);
    if (status != RUNG_OK)
        return status;
    work->ceiling = ceiling.gb_per_s;
    return rung_sampler_open(&work->timing.sampler, &work->stage.device, err);
}

/* The simulator takes seconds for many million elements; every kernel is reached below. */
static uint64_t size_of(const struct work *work, const struct rung_selection *selection, size_t i)
{
    return !on_card(work) && !selection->n ? 1000003 : work->stage.expanded.ns[i];
}

static struct rung_library_request request_of(struct work *work,
                                              const struct rung_selection *selection, size_t row)
{
    const struct rung_expanded *expanded = &work->stage.expanded;
    const struct rung_config *config = &expanded->configs[row / expanded->n_ns];
    return (struct rung_library_request){
        .op = config->op,
        .type = config->type,
        .n = size_of(work, selection, row % expanded->n_ns),
        .all_patterns = true,
        .seed = selection->seed,
        .timing = on_card(work) ? &work->timing : NULL,
        .ceiling_gb_per_s = work->ceiling,
        .interrupted = rung_stage_interrupted,
        .context = &work->stage,
    };
}

/* The memory for every row is asked for before the first is measured. */
static enum rung_status check_room(struct work *work, const struct rung_selection *selection,
                                   size_t n_rows, struct rung_error *err)
{
    enum rung_status status = RUNG_OK;
    for (size_t i = 0; i < n_rows && status == RUNG_OK; i++) {
        const struct rung_library_request request = request_of(work, selection, i);
        status = rung_library_fits(&work->stage.device, &request, err);
    }
    return status;
}

static enum rung_status measure_all(struct work *work, const struct rung_selection *selection,
                                    struct rung_error *err)
{
    const size_t n_rows = work->stage.expanded.n_ns * work->stage.expanded.n_configs;
    work->rows = calloc(n_rows + 1, sizeof *work->rows);
    if (!work->rows)
        return rung_fail(err, RUNG_MEMORY, "out of memory");
    enum rung_status status = check_room(work, selection, n_rows, err);
    if (status == RUNG_OK)
        status = open_timing(work, err);
    for (size_t i = 0; i < n_rows && status == RUNG_OK; i++) {
        const struct rung_library_request request = request_of(work, selection, i);
        rung_stage_progress(&work->stage, "summing");
        status = rung_library_measure(&work->rows[i], &work->stage.device, &request, err);
        if (status == RUNG_OK)
            work->n_rows++;
        else
            rung_library_row_release(&work->rows[i]);
    }
    rung_progress_clear(&work->stage.progress);
    return status;
}

/* --- printing ----------------------------------------------------------------------------------
 */

static enum rung_status print_json(const struct work *work, int argc, char **argv,
                                   struct rung_error *err)
{
    const struct rung_stage *stage = &work->stage;
    json_t *rows = json_array(), *environment = rung_environment(&stage->device, stage->nvrtc);
    for (size_t i = 0; i < work->n_rows; i++)
        json_array_append_new(rows, rung_library_row_to_json(&work->rows[i]));
    if (environment && isfinite(work->ceiling))
        json_object_set_new(environment, "read_ceiling_gb_per_s", json_real(work->ceiling));
    return rung_document_print(rung_document("sum", argc, argv, environment, rows),
                               stage->output.stream, err);
}

static void print_row(struct rung_table *table, const struct rung_library_row *row)
{
    rung_table_row(table);
    rung_table_text(table, rung_op_word(row->op));
    rung_table_text(table, rung_type_word(row->type));
    rung_table_format(table, "%" PRIu64, row->n);
    rung_table_text(table, row->form);
    rung_table_format(table, "%u x %u", row->blocks, row->threads);
    rung_table_text(table, rung_row_status_word(row->status));
    if (!row->time_ms.known)
        return;
    rung_table_format(table, "%.2f", 1e3 * row->time_ms.median);
    rung_table_format(table, "%.1f",
                      100 * (row->time_ms.q3 - row->time_ms.q1) / row->time_ms.median);
    rung_table_format(table, "%.0f", row->gb_per_s);
    rung_table_format(table, "%.0f", 100 * row->of_ceiling);
}

static enum rung_status print_table(const struct work *work, struct rung_error *err)
{
    static const struct rung_column columns[] = {
        {"op",         "op",        false},
        {"type",       "type",      false},
        {"n",          "n",         true },
        {"kernel",     "kernel",    false},
        {"grid",       "blocks",    true },
        {"status",     "sum",       false},
        {"time_us",    "time, us",  true },
        {"iqr",        "IQR %",     true },
        {"gb_per_s",   "GB/s",      true },
        {"of_ceiling", "ceiling %", true },
    };
    const struct rung_stage *stage = &work->stage;
    FILE *to = stage->output.stream;
    struct rung_table *table = rung_table_new(columns, sizeof columns / sizeof *columns);
    uint64_t runs = 0;
    for (size_t i = 0; i < work->n_rows; i++) {
        print_row(table, &work->rows[i]);
        runs += work->rows[i].runs;
    }
    if (stage->output.format != RUNG_FORMAT_CSV) {
        rung_stage_print(stage, to);
        fputc('\n', to);
    }
    enum rung_status status = rung_table_print(table, stage->output.format, to, err);
    rung_table_free(table);
    if (stage->output.format != RUNG_FORMAT_CSV)
        fprintf(to, "\n%" PRIu64 " sums verified.%s\n", runs,
                work->timing.sampler ? "" : " The simulator tells no times.");
    return status;
}

static enum rung_status wrong_rows(const struct work *work)
{
    enum rung_status status = RUNG_OK;
    for (size_t i = 0; i < work->n_rows; i++)
        if (work->rows[i].status != RUNG_ROW_OK) {
            fprintf(stderr, "rung sum: %s of %s: %s\n", rung_op_word(work->rows[i].op),
                    rung_type_word(work->rows[i].type), work->rows[i].reason);
            status = RUNG_WRONG;
        }
    return status;
}

/* What ended the rows after some were done is told with its row. */
static enum rung_status incomplete(struct work *work, const struct rung_selection *selection,
                                   struct rung_error *err)
{
    const struct rung_library_request failed = request_of(work, selection, work->n_rows);
    fprintf(stderr, "rung sum: %s of %s at n = %" PRIu64 ": %s\n", rung_op_word(failed.op),
            rung_type_word(failed.type), failed.n, err->text);
    rung_error_clear(err);
    return RUNG_INCOMPLETE;
}

static enum rung_status run(struct work *work, const struct arguments *arguments, int argc,
                            char **argv, bool *printed, struct rung_error *err)
{
    enum rung_status status = measure_all(work, &arguments->selection, err);
    if (status != RUNG_OK && status != RUNG_INTERRUPTED && work->n_rows == 0)
        return status;
    struct rung_error printing = {0};
    enum rung_status print = work->stage.output.format == RUNG_FORMAT_JSON
                                 ? print_json(work, argc, argv, &printing)
                                 : print_table(work, &printing);
    *printed = print == RUNG_OK;
    if (!*printed)
        return rung_fail(err, print, "%s", printing.text);
    if (status == RUNG_INTERRUPTED)
        return status;
    const enum rung_status whole =
        status == RUNG_OK ? RUNG_OK : incomplete(work, &arguments->selection, err);
    const enum rung_status right = wrong_rows(work);
    return right == RUNG_OK ? whole : right;
}

enum rung_status rung_cmd_sum(int argc, char **argv, struct rung_error *err)
{
    /* Of the ladder's axes librung has three: one version stands for all. */
    struct arguments arguments = {.selection = {.version = "1"}};
    struct work work = {0};
    bool printed = false;
    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    enum rung_status status =
        rung_timing_resolve(&work.timing.how, &work.timing.stop, &arguments.timing, err);
    if (status == RUNG_OK)
        status = rung_stage_open(&work.stage, &arguments.selection, "sum", err);
    if (status == RUNG_OK)
        status = run(&work, &arguments, argc, argv, &printed, err);
    rung_sampler_close(work.timing.sampler);
    for (size_t i = 0; i < work.n_rows; i++)
        rung_library_row_release(&work.rows[i]);
    free(work.rows);
    enum rung_status closed = rung_stage_close(&work.stage, printed, err);
    return status == RUNG_OK ? closed : status;
}
