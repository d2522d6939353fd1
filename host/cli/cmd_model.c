/* rung model: what one block does, counted from the templates. Runs nothing and needs nothing. */
#include <argp.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/plan.h"
#include "bench/row.h"
#include "cli/command.h"
#include "cli/environment.h"
#include "cli/select.h"
#include "gen/model.h"

#define KEY_STEPS 0x200

struct arguments {
    struct rung_selection selection;
    bool steps;
};

struct counting {
    struct rung_arena arena;
    struct rung_ladder ladder;
    struct rung_expanded expanded;
    struct rung_output output;
    struct rung_model *models; /* one for each configuration */
    bool steps;
};

static const struct argp_option options[] = {
    {"steps", KEY_STEPS, 0, 0, "Each step of the tree on its own", 0},
    {0     }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        for (int i = 0; i < 3; i++)
            state->child_inputs[i] = &arguments->selection;
        return 0;
    case KEY_STEPS:
        arguments->steps = true;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "'%s': versions are chosen with --version", arg);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* clang-format off */
static const struct argp_child children[] = {
    {&rung_axes_argp, 0, NULL, 0},
    {&rung_n_argp, 0, NULL, 0},
    {&rung_output_argp, 0, NULL, 0},
    {0},
};
/* clang-format on */
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .doc = "Count what one block does, before anything runs.\v"
           "A body run is one warp executing the tree's addition once, with at least one lane "
           "active; serialised weighs each by its bank conflicts. Additions are those of a block "
           "whose every thread has all its elements, on load and in the tree.\n\n"
           "Examples:\n"
           "  rung model\n"
           "  rung model --block 64,256,1024 --version 1,3\n"
           "  rung model --version 2 --steps\n",
};

static const struct rung_template *template_of(const struct counting *counting, size_t i)
{
    const struct rung_config *config = &counting->expanded.configs[i];
    return rung_ladder_find(&counting->ladder, config->version, config->variant);
}

static enum rung_status count_all(struct counting *counting, struct rung_error *err)
{
    const struct rung_expanded *expanded = &counting->expanded;
    counting->models = calloc(expanded->n_configs + 1, sizeof *counting->models);
    if (!counting->models)
        return rung_fail(err, RUNG_MEMORY, "out of memory");
    enum rung_status status = RUNG_OK;
    for (size_t i = 0; i < expanded->n_configs && status == RUNG_OK; i++)
        status = rung_model_block(&counting->models[i], template_of(counting, i),
                                  &expanded->configs[i], err);
    return status;
}

/* ---- JSON ---- */

static json_t *steps_json(const struct rung_model *model)
{
    json_t *steps = json_array();
    for (unsigned i = 0; i < model->n_steps; i++) {
        const struct rung_model_step *step = &model->steps[i];
        json_array_append_new(steps,
                              json_pack("{s:i, s:i, s:i, s:i}", "stride", (int)step->stride,
                                        "active", (int)step->active, "body_runs",
                                        (int)step->body_runs, "serialised", (int)step->serialised));
    }
    return steps;
}

/* The passes follow from n where no card decides the grid. */
static void plan_row(struct rung_row *row, const struct rung_template *tpl)
{
    struct rung_shape shape;
    struct rung_plan plan;
    rung_template_shape(&shape, tpl, &row->config);
    row->planned =
        shape.grid_rule == RUNG_GRID_TILES &&
        rung_plan_make(&plan, &row->config, &shape, row->n, INT32_MAX, 1, NULL) == RUNG_OK;
    if (!row->planned)
        return;
    row->passes = plan.n_passes;
    row->launches = plan.launches;
    row->bytes = plan.bytes_read + plan.bytes_written;
}

static json_t *row_json(const struct counting *counting, size_t i, uint64_t n)
{
    const struct rung_model *model = &counting->models[i];
    struct rung_row row = {
        .config = counting->expanded.configs[i],
        .n = n,
        .model = {true, model->additions, model->body_runs, model->serialised},
        .gb_per_s = NAN,
        .of_ceiling = NAN,
        .vs_v1 = NAN,
        .registers = -1,
        .shared_bytes = -1,
        .extra = json_pack("{s:I}", "tree_additions", (json_int_t)model->tree_additions),
    };
    if (counting->steps && row.extra)
        json_object_set_new(row.extra, "steps", steps_json(model));
    plan_row(&row, template_of(counting, i));
    json_t *object = rung_row_to_json(&row);
    rung_row_release(&row);
    return object;
}

static enum rung_status print_json(const struct counting *counting, int argc, char **argv,
                                   struct rung_error *err)
{
    json_t *rows = json_array();
    for (size_t k = 0; k < counting->expanded.n_ns; k++)
        for (size_t i = 0; i < counting->expanded.n_configs; i++)
            json_array_append_new(rows, row_json(counting, i, counting->expanded.ns[k]));
    return rung_document_print(
        rung_document("model", argc, argv, rung_environment(NULL, NULL), rows),
        counting->output.stream, err);
}

/* ---- CSV ---- */

static enum rung_status print_csv(const struct counting *counting, struct rung_error *err)
{
    static const struct rung_column columns[] = {
        {"id",             "id",             false},
        {"version",        "version",        true },
        {"block",          "block",          true },
        {"additions",      "additions",      true },
        {"tree_additions", "tree_additions", true },
        {"body_runs",      "body_runs",      true },
        {"serialised",     "serialised",     true },
    };
    struct rung_table *table = rung_table_new(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < counting->expanded.n_configs; i++) {
        const struct rung_config *config = &counting->expanded.configs[i];
        const struct rung_model *model = &counting->models[i];
        char id[RUNG_ID_SIZE];
        rung_config_id(config, id);
        rung_table_row(table);
        rung_table_text(table, id);
        rung_table_format(table, "%u", config->version);
        rung_table_format(table, "%u", config->block);
        rung_table_format(table, "%" PRIu64, model->additions);
        rung_table_format(table, "%" PRIu64, model->tree_additions);
        rung_table_format(table, "%" PRIu64, model->body_runs);
        rung_table_format(table, "%" PRIu64, model->serialised);
    }
    enum rung_status status =
        rung_table_print(table, RUNG_FORMAT_CSV, counting->output.stream, err);
    rung_table_free(table);
    return status;
}

static void step_cells(struct rung_table *table, unsigned number,
                       const struct rung_model_step *step)
{
    rung_table_format(table, "%u", number);
    rung_table_format(table, "%u", step->stride);
    rung_table_format(table, "%u", step->active);
    rung_table_format(table, "%u", step->body_runs);
    rung_table_format(table, "%u", step->serialised);
}

static enum rung_status print_csv_steps(const struct counting *counting, struct rung_error *err)
{
    static const struct rung_column columns[] = {
        {"id",         "id",         false},
        {"step",       "step",       true },
        {"stride",     "stride",     true },
        {"active",     "active",     true },
        {"body_runs",  "body_runs",  true },
        {"serialised", "serialised", true },
    };
    struct rung_table *table = rung_table_new(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < counting->expanded.n_configs; i++) {
        char id[RUNG_ID_SIZE];
        rung_config_id(&counting->expanded.configs[i], id);
        for (unsigned s = 0; s < counting->models[i].n_steps; s++) {
            rung_table_row(table);
            rung_table_text(table, id);
            step_cells(table, s + 1, &counting->models[i].steps[s]);
        }
    }
    enum rung_status status =
        rung_table_print(table, RUNG_FORMAT_CSV, counting->output.stream, err);
    rung_table_free(table);
    return status;
}

/* ---- for a person ---- */

/* Configurations that differ in the version alone stand in one table. */
static bool same_section(const struct rung_config *a, const struct rung_config *b)
{
    struct rung_config other = *b;
    other.version = a->version;
    return rung_config_equal(a, &other);
}

static void print_heading(const struct counting *counting, size_t begin)
{
    const struct rung_config *config = &counting->expanded.configs[begin];
    FILE *to = counting->output.stream;
    fprintf(to, "%s%s%u threads per block, %s of %s, bound %s", begin ? "\n" : "",
            counting->output.format == RUNG_FORMAT_MD ? "### " : "", config->block,
            rung_op_word(config->op), rung_type_word(config->type), rung_bound_word(config->bound));
    if (config->bound == RUNG_BOUND_CONST && config->unroll == RUNG_UNROLL_NONE)
        fputs(", loop kept", to);
    if (config->predicate != RUNG_PREDICATE_MOD)
        fprintf(to, ", predicate %s", rung_predicate_word(config->predicate));
    fputs(counting->output.format == RUNG_FORMAT_MD ? "\n\n" : "\n", to);
}

static void append_label(struct rung_table *table, const struct counting *counting, size_t i)
{
    const struct rung_template *tpl = template_of(counting, i);
    rung_table_format(table, "%u  %s", rung_template_version(tpl), rung_template_title(tpl));
}

static enum rung_status print_section(const struct counting *counting, size_t begin, size_t end,
                                      struct rung_error *err)
{
    static const struct rung_column columns[] = {
        {"version",        "version",    false},
        {"body_runs",      "body runs",  true },
        {"serialised",     "serialised", true },
        {"additions",      "additions",  true },
        {"tree_additions", "in tree",    true },
    };
    struct rung_table *table = rung_table_new(columns, sizeof columns / sizeof *columns);
    for (size_t i = begin; i < end; i++) {
        const struct rung_model *model = &counting->models[i];
        rung_table_row(table);
        append_label(table, counting, i);
        rung_table_format(table, "%" PRIu64, model->body_runs);
        rung_table_format(table, "%" PRIu64, model->serialised);
        rung_table_format(table, "%" PRIu64, model->additions);
        rung_table_format(table, "%" PRIu64, model->tree_additions);
    }
    enum rung_status status =
        rung_table_print(table, counting->output.format, counting->output.stream, err);
    rung_table_free(table);
    return status;
}

static enum rung_status print_steps(const struct counting *counting, size_t i,
                                    struct rung_error *err)
{
    static const struct rung_column columns[] = {
        {"step",       "step",       true},
        {"stride",     "stride",     true},
        {"active",     "active",     true},
        {"body_runs",  "body runs",  true},
        {"serialised", "serialised", true},
    };
    const struct rung_template *tpl = template_of(counting, i);
    fprintf(counting->output.stream, "\nVersion %u, %s, step by step\n%s",
            rung_template_version(tpl), rung_template_title(tpl),
            counting->output.format == RUNG_FORMAT_MD ? "\n" : "");
    struct rung_table *table = rung_table_new(columns, sizeof columns / sizeof *columns);
    for (unsigned s = 0; s < counting->models[i].n_steps; s++) {
        rung_table_row(table);
        step_cells(table, s + 1, &counting->models[i].steps[s]);
    }
    enum rung_status status =
        rung_table_print(table, counting->output.format, counting->output.stream, err);
    rung_table_free(table);
    return status;
}

/* What divergence costs by the count: the body runs of version 1 over those of version 3. */
static void print_ratio(const struct counting *counting, size_t begin, size_t end)
{
    const struct rung_model *first = NULL, *third = NULL;
    for (size_t i = begin; i < end; i++) {
        if (counting->expanded.configs[i].version == 1)
            first = &counting->models[i];
        if (counting->expanded.configs[i].version == 3)
            third = &counting->models[i];
    }
    if (first && third)
        fprintf(counting->output.stream,
                "%sbody runs, v1 : v3 = %" PRIu64 " : %" PRIu64 " = %.2f\n",
                counting->output.format == RUNG_FORMAT_MD ? "\n" : "", first->body_runs,
                third->body_runs, (double)first->body_runs / (double)third->body_runs);
}

static enum rung_status print_for_reader(const struct counting *counting, struct rung_error *err)
{
    const struct rung_expanded *expanded = &counting->expanded;
    enum rung_status status = RUNG_OK;
    for (size_t begin = 0, end; begin < expanded->n_configs && status == RUNG_OK; begin = end) {
        for (end = begin + 1; end < expanded->n_configs; end++)
            if (!same_section(&expanded->configs[begin], &expanded->configs[end]))
                break;
        print_heading(counting, begin);
        status = print_section(counting, begin, end, err);
        print_ratio(counting, begin, end);
        for (size_t i = begin; i < end && counting->steps && status == RUNG_OK; i++)
            status = print_steps(counting, i, err);
    }
    return status;
}

static enum rung_status print(const struct counting *counting, int argc, char **argv,
                              struct rung_error *err)
{
    switch (counting->output.format) {
    case RUNG_FORMAT_JSON:
        return print_json(counting, argc, argv, err);
    case RUNG_FORMAT_CSV:
        return counting->steps ? print_csv_steps(counting, err) : print_csv(counting, err);
    case RUNG_FORMAT_TABLE:
    case RUNG_FORMAT_MD:
        break;
    }
    return print_for_reader(counting, err);
}

enum rung_status rung_cmd_model(int argc, char **argv, struct rung_error *err)
{
    struct arguments arguments = {0};
    struct counting counting = {0};
    enum rung_format format = RUNG_FORMAT_TABLE;
    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    counting.steps = arguments.steps;
    enum rung_status status = rung_format_parse(&format, arguments.selection.format, err);
    if (status == RUNG_OK)
        status = rung_ladder_load(&counting.ladder, &counting.arena, err);
    if (status == RUNG_OK)
        status =
            rung_selection_expand(&counting.expanded, &arguments.selection, &counting.ladder, err);
    if (status == RUNG_OK) {
        rung_expanded_report(&counting.expanded, "model", stderr);
        status = count_all(&counting, err);
    }
    if (status == RUNG_OK)
        status = rung_output_open(&counting.output, format, arguments.selection.output, err);
    if (status == RUNG_OK) {
        status = print(&counting, argc, argv, err);
        enum rung_status closed = rung_output_close(&counting.output, status == RUNG_OK, err);
        status = status == RUNG_OK ? closed : status;
    }
    free(counting.models);
    rung_expanded_release(&counting.expanded);
    rung_arena_release(&counting.arena);
    return status;
}
