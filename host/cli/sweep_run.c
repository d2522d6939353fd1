/* Runs a sweep: journal, worker, cells, progress, and what is printed at the end. */
#define _GNU_SOURCE
#include "cli/sweep_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/environment.h"
#include "cli/interrupt.h"
#include "cli/print_results.h"
#include "cli/progress.h"
#include "cli/rows.h"
#include "cli/space.h"
#include "cli/sweep_noise.h"
#include "sweep/journal.h"
#include "sweep/measurer.h"
#include "sweep/provenance.h"
#include "sweep/sweep.h"

#define HANG_CARD_S 60
#define HANG_SIM_S 600

struct run {
    const struct rung_sweep_arguments *arguments;
    struct rung_selection selection;
    enum rung_format format;
    struct rung_arena arena;
    struct rung_ladder ladder;
    struct rung_interrupt *interrupt;
    struct rung_progress progress;
    struct rung_measurer_spec spec;
    struct rung_sweep sweep;
    struct rung_space space;
    struct rung_cell *todo; /* cells that the journal has not */
    size_t n_todo;
    struct rung_journal journal; /* closed where there is no -o */
    struct rung_results found;   /* what the journal had, and the rows of this run */
    struct rung_results second;  /* the second name of each cell of a noise sweep */
    double begin_s;
};

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static bool interrupted(void *context)
{
    return rung_interrupted(((const struct run *)context)->interrupt);
}

/* "[#####     ] 12/48  0:12 left  timing v3-b256-const". */
static void show_progress(void *context, size_t done, size_t total, const char *what)
{
    struct run *run = context;
    char bar[21] = "....................", left[24] = "", text[160];
    if (!run->progress.on)
        return;
    memset(bar, '#', total ? 20 * done / total : 0);
    double spent_s = now_s() - run->begin_s;
    if (done > 0 && done < total) {
        double left_s = spent_s / (double)done * (double)(total - done);
        snprintf(left, sizeof left, "  %d:%02d left", (int)(left_s / 60), (int)left_s % 60);
    }
    snprintf(text, sizeof text, "[%s] %zu/%zu%s  %.90s", bar, done, total, left, what);
    rung_progress_show(&run->progress, text);
}

static enum rung_status take_row(void *context, const struct rung_row *row, struct rung_error *err)
{
    struct run *run = context;
    bool second = strcmp(rung_row_word(row, "twin", "a"), "b") == 0;
    if (run->journal.path && !run->arguments->noise) {
        enum rung_status status = rung_journal_append_row(&run->journal, row, err);
        if (status != RUNG_OK)
            return status;
    }
    return rung_results_add(second ? &run->second : &run->found, row, err);
}

static enum rung_status read_rule(struct rung_stop_rule *rule,
                                  const struct rung_sweep_arguments *arguments,
                                  struct rung_error *err)
{
    struct rung_sampling unused;
    struct rung_timing_selection timing = arguments->timing;
    timing.state = timing.timer = NULL; /* lists here: space.c reads them */
    enum rung_status status = rung_timing_resolve(&unused, rule, &timing, err);
    if (arguments->min_samples) {
        rule->min_samples = arguments->min_samples;
        rule->ample_ms = 0;
    }
    if (arguments->timeout_s > 0)
        rule->timeout_s = arguments->timeout_s;
    if (arguments->width > 0)
        rule->max_width = arguments->width / 100;
    if (status == RUNG_OK && arguments->width > 0 && rule->rule != RUNG_STOP_CI)
        status = rung_fail(err, RUNG_USAGE, "--width is of --stop ci");
    if (status == RUNG_OK && rule->max_samples < rule->min_samples)
        rule->max_samples = rule->min_samples;
    return status;
}

static uint64_t seed_of(const struct run *run)
{
    return run->arguments->selection.seed ? run->arguments->selection.seed : (uint64_t)time(NULL);
}

static enum rung_status begin(struct run *run, struct rung_error *err)
{
    const struct rung_sweep_arguments *arguments = run->arguments;
    struct rung_sweep_options options = rung_sweep_default();
    enum rung_status status = read_rule(&options.stop, arguments, err);
    if (status != RUNG_OK)
        return status;
    bool classic = arguments->order && strcmp(arguments->order, "classic") == 0;
    options.in_order = classic;
    options.group = classic ? 1 : arguments->group ? arguments->group : options.group;
    options.seed = seed_of(run);
    options.hang_s = arguments->kill_after_s > 0 ? arguments->kill_after_s : HANG_SIM_S;
    options.interrupted = (struct rung_stop_asked){interrupted, run};
    options.row = take_row;
    options.progress = show_progress;
    options.context = run;
    run->spec = (struct rung_measurer_spec){.device = run->selection.device,
                                            .driver_path = run->selection.driver,
                                            .nvrtc_path = run->selection.nvrtc,
                                            .check = run->selection.check,
                                            .seed = run->selection.seed,
                                            .counters = arguments->counters};
    status = rung_sweep_begin(&run->sweep, rung_measurer_answer, &run->spec, &options, err);
    if (status == RUNG_OK && !(arguments->kill_after_s > 0) && !rung_sweep_simulated(&run->sweep))
        run->sweep.options.hang_s = HANG_CARD_S;
    return status;
}

static enum rung_status make_space(struct run *run, struct rung_error *err)
{
    unsigned supported[RUNG_TARGETS_MAX];
    size_t n = 0, i;
    const json_t *facts = run->sweep.facts, *target;
    json_t *targets = json_object_get(json_object_get(facts, "nvrtc"), "targets");
    json_array_foreach(targets, i, target) if (n < RUNG_TARGETS_MAX) supported[n++] =
        (unsigned)json_integer_value(target);
    unsigned cc = (unsigned)json_integer_value(json_object_get(facts, "cc"));
    if (!run->selection.n && rung_sweep_simulated(&run->sweep))
        run->selection.n = run->arguments->n_on_simulator;
    const struct rung_space_request request = {
        .selection = &run->selection,
        .timing = &run->arguments->timing,
        .where = run->arguments->where,
        .shard = run->arguments->shard,
        .native = rung_sweep_simulated(&run->sweep) ? 75 : cc,
        .supported = supported,
        .n_supported = n,
    };
    return rung_space_make(&run->space, &request, &run->ladder, err);
}

/* Rows of two cards in one journal could not be told apart. */
static enum rung_status check_device(const struct run *run, struct rung_error *err)
{
    size_t runs = json_array_size(run->found.runs);
    const json_t *before = runs ? rung_results_run_field(&run->found, runs - 1, "device") : NULL;
    const char *uuid = json_string_value(json_object_get(before, "uuid"));
    const char *name = json_string_value(json_object_get(before, "name"));
    const char *uuid_now = json_string_value(json_object_get(run->sweep.facts, "uuid"));
    const char *name_now = json_string_value(json_object_get(run->sweep.facts, "name"));
    if (before && uuid && name && (strcmp(uuid, uuid_now) != 0 || strcmp(name, name_now) != 0))
        return rung_fail(err, RUNG_USAGE,
                         "%s holds rows of %s %s; this is %s %s: give it its own file",
                         run->journal.path, name, uuid, name_now, uuid_now);
    return RUNG_OK;
}

static enum rung_status choose_cells(struct run *run, struct rung_error *err)
{
    run->todo = calloc(run->space.n_cells + 1, sizeof *run->todo);
    if (!run->todo)
        return rung_fail(err, RUNG_MEMORY, "out of memory");
    for (size_t i = 0; i < run->space.n_cells; i++) {
        char key[RUNG_CELL_KEY_SIZE];
        rung_cell_key(&run->space.cells[i], key);
        const struct rung_result *there = rung_results_find(&run->found, key);
        bool again = there && run->arguments->retry && there->row.status != RUNG_ROW_OK;
        if (!there || again)
            run->todo[run->n_todo++] = run->space.cells[i];
    }
    if (run->n_todo < run->space.n_cells)
        fprintf(stderr, "rung %s: %zu of %zu cells are in %s already\n", run->arguments->verb,
                run->space.n_cells - run->n_todo, run->space.n_cells, run->journal.path);
    return RUNG_OK;
}

static json_t *environment_of(const struct run *run)
{
    const json_t *facts = run->sweep.facts;
    struct rung_device device = {
        .driver.kind = rung_sweep_simulated(&run->sweep) ? RUNG_DRIVER_SIM : RUNG_DRIVER_CUDA,
        .cc = (unsigned)json_integer_value(json_object_get(facts, "cc")),
        .driver_version = (int)json_integer_value(json_object_get(facts, "driver_version")),
        .sm_count = (int)json_integer_value(json_object_get(facts, "sm_count")),
        .l2_bytes = (uint64_t)json_integer_value(json_object_get(facts, "l2_bytes")),
    };
    snprintf(device.name, sizeof device.name, "%s",
             json_string_value(json_object_get(facts, "name")));
    json_t *environment = rung_environment(&device, NULL);
    json_t *nvrtc = json_object_get(json_object_get(facts, "nvrtc"), "version");
    json_object_set(environment, "nvrtc", nvrtc ? nvrtc : json_null());
    json_object_set_new(environment, "read_ceiling_gb_per_s",
                        isfinite(run->sweep.ceiling) ? json_real(run->sweep.ceiling) : json_null());
    return environment;
}

static const char *uuid_of(const struct run *run)
{
    return json_string_value(json_object_get(run->sweep.facts, "uuid"));
}

static enum rung_status write_begin(struct run *run, struct rung_error *err)
{
    if (!run->journal.path)
        return RUNG_OK;
    const struct rung_sweep_options *options = &run->sweep.options;
    const struct rung_stop_rule *stop = &options->stop;
    char shard[32];
    snprintf(shard, sizeof shard, "%u/%u", run->space.shard, run->space.n_shards);
    json_t *argv = rung_argv_json(run->arguments->argc, run->arguments->argv);
    json_t *rule =
        json_pack("{s:s, s:f, s:f, s:I, s:I, s:f}", "rule", rung_stop_word(stop->rule), "max_width",
                  stop->max_width, "max_stdrel", stop->max_stdrel, "count", (json_int_t)stop->count,
                  "min_samples", (json_int_t)stop->min_samples, "timeout_s", stop->timeout_s);
    json_t *record =
        json_pack("{s:s, s:s, s:o, s:s, s:I, s:s, s:I, s:o, s:s, s:I, s:o, s:O, s:o, s:o}",
                  "record", "run", "schema", RUNG_JOURNAL_SCHEMA, "argv", argv, "command", "sweep",
                  "seed", (json_int_t)options->seed, "order",
                  options->in_order ? "classic" : "random", "group", (json_int_t)options->group,
                  "stop", rule, "shard", shard, "cells", (json_int_t)run->space.n_cells,
                  "environment", environment_of(run), "device", run->sweep.facts, "host",
                  rung_provenance_host(), "card", rung_provenance_card(uuid_of(run)));
    return rung_journal_append(&run->journal, record, err);
}

static enum rung_status write_end(struct run *run, enum rung_status how, struct rung_error *err)
{
    if (!run->journal.path)
        return RUNG_OK;
    const struct rung_sweep_times *t = &run->sweep.times;
    json_t *seconds =
        json_pack("{s:f, s:f, s:f, s:f, s:f}", "open", t->open_s, "build", t->build_s, "prepare",
                  t->prepare_s, "sample", t->sample_s, "total", now_s() - run->begin_s);
    json_t *record = json_pack("{s:s, s:s, s:I, s:I, s:o, s:o}", "record", "end", "status",
                               rung_status_text(how), "rows", (json_int_t)run->found.n_rows,
                               "workers", (json_int_t)(1 + run->sweep.restarts), "seconds", seconds,
                               "card", rung_provenance_card(uuid_of(run)));
    return rung_journal_append(&run->journal, record, err);
}

/* Two lines, for 80 columns; tools/bench reads the share that is outside. */
static void tell_times(const struct run *run)
{
    const struct rung_sweep_times *t = &run->sweep.times;
    double total_s = now_s() - run->begin_s;
    double outside_s = total_s - t->prepare_s - t->sample_s;
    fprintf(stderr,
            "rung %s: %zu cells in %.1f s: %.1f loading and verifying, %.1f sampling;\n"
            "  %.1f (%.1f %%) outside: %.1f process and context, %.1f images, %.1f journal\n",
            run->arguments->verb, run->n_todo, total_s, t->prepare_s, t->sample_s, outside_s,
            total_s > 0 ? 100 * outside_s / total_s : 0, t->open_s, t->build_s,
            outside_s - t->open_s - t->build_s);
}

static enum rung_status measure(struct run *run, struct rung_error *err)
{
    if (run->n_todo == 0)
        return RUNG_OK;
    fprintf(stderr, "rung %s: %zu cells to measure on %s\n", run->arguments->verb, run->n_todo,
            json_string_value(json_object_get(run->sweep.facts, "name")));
    rung_progress_show(&run->progress, "building images");
    enum rung_status status = rung_sweep_build(&run->sweep, run->todo, run->n_todo, err);
    if (status == RUNG_OK)
        status = write_begin(run, err);
    bool begun = status == RUNG_OK;
    if (begun)
        status =
            rung_sweep_measure(&run->sweep, run->todo, run->n_todo, run->arguments->noise, err);
    rung_progress_clear(&run->progress);
    struct rung_error ending = {0};
    enum rung_status end =
        status == RUNG_OK ? rung_results_status(run->found.rows, run->found.n_rows) : status;
    if (begun && write_end(run, end, &ending) != RUNG_OK && status == RUNG_OK)
        status = rung_fail(err, ending.status, "%s", ending.text);
    tell_times(run);
    return status;
}

/* In the order of the axes, which is that of the cells; rows of other cells of the journal last. */
static void put_in_order(struct run *run)
{
    size_t placed = 0;
    for (size_t i = 0; i < run->space.n_cells; i++) {
        char key[RUNG_CELL_KEY_SIZE];
        rung_cell_key(&run->space.cells[i], key);
        for (size_t j = placed; j < run->found.n_rows; j++) {
            if (strcmp(run->found.rows[j].key, key) != 0)
                continue;
            struct rung_result moved = run->found.rows[j];
            run->found.rows[j] = run->found.rows[placed];
            run->found.rows[placed++] = moved;
            break;
        }
    }
}

static enum rung_status print(struct run *run, struct rung_error *err)
{
    struct rung_results *results = &run->found;
    const struct rung_sweep_arguments *arguments = run->arguments;
    put_in_order(run);
    rung_results_relate(results->rows, results->n_rows);
    struct rung_row *rows = rung_results_bare(results);
    enum rung_status status = rows ? RUNG_OK : rung_fail(err, RUNG_MEMORY, "out of memory");
    if (status == RUNG_OK && run->format == RUNG_FORMAT_JSON) {
        status = rung_document_print(rung_document("sweep", arguments->argc, arguments->argv,
                                                   environment_of(run),
                                                   rung_rows_to_json(rows, results->n_rows)),
                                     stdout, err);
    } else if (status == RUNG_OK && run->format == RUNG_FORMAT_CSV) {
        status = rung_rows_print_csv(rows, results->n_rows, stdout, err);
    } else if (status == RUNG_OK) {
        printf("%s\n", json_string_value(json_object_get(run->sweep.facts, "name")));
        status = rung_results_print(results->rows, results->n_rows, run->format, stdout, err);
        if (status == RUNG_OK && arguments->counters)
            status = rung_results_print_counters(results->rows, results->n_rows, run->format,
                                                 stdout, err);
        if (status == RUNG_OK)
            status = rung_results_print_best(results->rows, results->n_rows, stdout, err);
    }
    free(rows);
    return status;
}

static enum rung_status list_cells(const struct run *run, struct rung_error *err)
{
    static const struct rung_column columns[] = {
        {"id",     "configuration", false},
        {"n",      "n",             true },
        {"target", "target",        false},
        {"image",  "image",         false},
        {"state",  "state",         false},
        {"timer",  "timer",         false},
    };
    struct rung_table *table = rung_table_new(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < run->space.n_cells; i++) {
        const struct rung_cell *cell = &run->space.cells[i];
        char id[RUNG_ID_SIZE];
        rung_config_id(&cell->config, id);
        rung_table_row(table);
        rung_table_text(table, id);
        rung_table_format(table, "%llu", (unsigned long long)cell->n);
        rung_table_format(table, "sm_%u", cell->target);
        rung_table_text(table, rung_image_kind_word(cell->image));
        rung_table_text(table, rung_state_word(cell->state));
        rung_table_text(table, rung_timer_word(cell->timer));
    }
    enum rung_status status = rung_table_print(table, run->format, stdout, err);
    rung_table_free(table);
    return status;
}

static void tell_plan(const struct run *run)
{
    const struct rung_stop_rule *stop = &run->sweep.options.stop;
    size_t images = 0;
    for (size_t i = 0; i < run->n_todo; i++) {
        bool first = true;
        for (size_t j = 0; j < i && first; j++)
            first = run->todo[j].target != run->todo[i].target ||
                    !rung_config_equal(&run->todo[j].config, &run->todo[i].config);
        images += first;
    }
    printf("%zu cells of %zu in the product, %zu to measure, with %zu images to find or build\n",
           run->space.n_cells, run->space.n_product, run->n_todo, images);
    if (rung_sweep_simulated(&run->sweep))
        puts("on the simulator: verified and counted, not timed");
    else
        printf("each with %zu or more samples, at most %.0f s: %.0f s to %.0f s in all\n",
               stop->min_samples, stop->timeout_s, 0.1 * (double)run->n_todo,
               stop->timeout_s * (double)run->n_todo);
}

/* Everything that can be wrong about what was typed, then what can be wrong about the file. */
static enum rung_status prepare(struct run *run, struct rung_error *err)
{
    const struct rung_sweep_arguments *arguments = run->arguments;
    run->selection = rung_space_defaults(&arguments->selection);
    enum rung_status status = rung_format_parse(&run->format, run->selection.format, err);
    if (status == RUNG_OK)
        status = rung_ladder_load(&run->ladder, &run->arena, err);
    bool looks_only = arguments->list || arguments->dry_run;
    if (status == RUNG_OK && run->selection.output && !looks_only)
        status = rung_journal_open(&run->journal, &run->found, run->selection.output, err);
    if (status == RUNG_OK && run->found.path)
        rung_results_name_left_out(&run->found, "sweep", stderr);
    if (status == RUNG_OK)
        status = rung_interrupt_watch(&run->interrupt, err);
    if (status == RUNG_OK)
        status = begin(run, err);
    if (status == RUNG_OK)
        status = make_space(run, err);
    if (status == RUNG_OK)
        status = check_device(run, err);
    return status == RUNG_OK ? choose_cells(run, err) : status;
}

static enum rung_status finish(struct run *run, enum rung_status status, struct rung_error *err)
{
    if (status != RUNG_OK && status != RUNG_INTERRUPTED)
        return status;
    struct rung_error printing = {0};
    enum rung_status printed =
        run->arguments->noise
            ? rung_noise_print(&run->found, &run->second, &run->journal, run->format, &printing)
            : print(run, &printing);
    if (printed != RUNG_OK && status == RUNG_OK)
        return rung_fail(err, printed, "%s", printing.text);
    if (status == RUNG_INTERRUPTED) {
        fprintf(stderr, "rung sweep: interrupted; %zu of %zu cells are finished%s\n",
                run->found.n_rows, run->space.n_cells,
                run->journal.path ? ", and the same command measures the others" : "");
        return status;
    }
    rung_results_name_failures(&run->found, "sweep", stderr);
    return rung_results_status(run->found.rows, run->found.n_rows);
}

static void release(struct run *run)
{
    rung_sweep_end(&run->sweep);
    rung_interrupt_stop(run->interrupt);
    rung_space_release(&run->space);
    rung_results_release(&run->found);
    rung_results_release(&run->second);
    rung_arena_release(&run->arena);
    free(run->todo);
}

enum rung_status rung_sweep_run(const struct rung_sweep_arguments *arguments,
                                struct rung_error *err)
{
    struct run run = {.arguments = arguments, .begin_s = now_s()};
    rung_progress_begin(&run.progress);
    enum rung_status status = prepare(&run, err);
    if (status == RUNG_OK && arguments->list) {
        status = list_cells(&run, err);
        fprintf(stderr, "%zu cells\n", run.space.n_cells);
    } else if (status == RUNG_OK && arguments->dry_run) {
        tell_plan(&run);
    } else if (status == RUNG_OK) {
        status = finish(&run, measure(&run, err), err);
    }
    struct rung_error closing = {0};
    if (rung_journal_close(&run.journal, &closing) != RUNG_OK && status == RUNG_OK)
        status = rung_fail(err, closing.status, "%s", closing.text);
    release(&run);
    return status;
}

enum rung_status rung_sweep_collect(struct rung_results *out, json_t **environment,
                                    const struct rung_sweep_arguments *arguments,
                                    struct rung_error *err)
{
    struct run run = {.arguments = arguments, .begin_s = now_s()};
    *out = (struct rung_results){0};
    *environment = NULL;
    rung_progress_begin(&run.progress);
    enum rung_status status = prepare(&run, err);
    if (status == RUNG_OK)
        status = measure(&run, err);
    if (status == RUNG_OK || status == RUNG_INTERRUPTED) {
        put_in_order(&run);
        rung_results_relate(run.found.rows, run.found.n_rows);
        *environment = environment_of(&run);
        *out = run.found;
        run.found = (struct rung_results){0};
    }
    release(&run);
    return status;
}
