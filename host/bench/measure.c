/* Owns the making of rows: what is known before anything runs, then the verdict, then the times. */
#include "bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/verify.h"

struct run {
    struct rung_row *rows;
    const struct rung_bench *bench;
    const struct rung_measure_options *options;
    struct rung_verdict *verdicts;
    struct rung_subject *subjects; /* of the group at work */
    size_t *index;                 /* subject to entry */
    size_t n_subjects;
};

static bool interrupted(const struct run *run)
{
    return run->options->interrupted && run->options->interrupted(run->options->context);
}

static void fail_row(struct rung_row *row, enum rung_row_status status, const char *reason)
{
    row->status = status;
    snprintf(row->reason, sizeof row->reason, "%.*s", (int)sizeof row->reason - 1, reason);
}

void rung_bench_row(struct rung_row *row, const struct rung_bench_entry *entry, uint64_t n)
{
    const struct rung_reduction *reduction = &entry->reduction;
    struct rung_model model;
    struct rung_plan plan;
    rung_row_init(row, &entry->config, n);
    row->ptx_target = entry->target;
    if (rung_model_block(&model, entry->tpl, &entry->config, NULL) == RUNG_OK)
        row->model = (struct rung_counts){.known = true,
                                          .additions = model.additions,
                                          .body_runs = model.body_runs,
                                          .serialised = model.serialised};
    if (entry->status != RUNG_ROW_OK) {
        fail_row(row, entry->status, entry->reason);
        return;
    }
    memcpy(row->image, reduction->first.image, sizeof row->image);
    row->ptx_target = reduction->first.ptx_target;
    row->sass_target = reduction->first.sass_target;
    row->registers = reduction->first.registers;
    row->shared_bytes = reduction->first.shared_bytes;
    if (rung_reduction_plan(&plan, reduction, n, NULL) != RUNG_OK)
        return;
    row->planned = true;
    row->passes = plan.n_passes;
    row->launches = plan.launches;
    row->bytes = plan.bytes_read + plan.bytes_written;
}

/* Everything counted of one full block, by the simulator's own names. */
static json_t *counters_to_json(const struct rung_sim_counters *c)
{
    const struct {
        const char *key;
        uint64_t value;
    } all[] = {
        {"warp_instructions",       c->warp_instructions      },
        {"thread_instructions",     c->thread_instructions    },
        {"arithmetic",              c->arithmetic             },
        {"logic",                   c->logic                  },
        {"compare",                 c->compare                },
        {"move",                    c->move                   },
        {"convert",                 c->convert                },
        {"branch",                  c->branch                 },
        {"barrier",                 c->barrier                },
        {"shared_load",             c->shared_load            },
        {"shared_store",            c->shared_store           },
        {"global_load",             c->global_load            },
        {"global_store",            c->global_store           },
        {"other_memory",            c->other_memory           },
        {"shuffle",                 c->shuffle                },
        {"vote",                    c->vote                   },
        {"atomic",                  c->atomic                 },
        {"control",                 c->control                },
        {"divergent_branches",      c->divergent_branches     },
        {"shared_load_wavefronts",  c->shared_load_wavefronts },
        {"shared_store_wavefronts", c->shared_store_wavefronts},
        {"shared_load_conflicts",   c->shared_load_conflicts  },
        {"shared_store_conflicts",  c->shared_store_conflicts },
        {"global_load_sectors",     c->global_load_sectors    },
        {"global_store_sectors",    c->global_store_sectors   },
        {"block_barriers",          c->block_barriers         },
    };
    json_t *object = json_object();
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        json_object_set_new(object, all[i].key, json_integer((json_int_t)all[i].value));
    return object;
}

void rung_row_take_verdict(struct rung_row *row, const struct rung_verdict *verdict)
{
    row->summed = verdict->summed;
    row->sum = verdict->sum;
    row->expected = verdict->expected;
    row->correct = verdict->summed && verdict->status == RUNG_ROW_OK;
    row->executed = verdict->executed;
    if (verdict->status != RUNG_ROW_OK)
        fail_row(row, verdict->status, verdict->reason);
    if (!row->extra)
        row->extra = json_object();
    json_object_set_new(row->extra, "verified_runs", json_integer((json_int_t)verdict->runs));
    if (verdict->executed.known)
        json_object_set_new(row->extra, "counters", counters_to_json(&verdict->counters));
}

/* The entries of one operation and type that can run and are not yet done. */
static void gather(struct run *run, enum rung_op op, enum rung_type type)
{
    run->n_subjects = 0;
    for (size_t i = 0; i < run->bench->n_entries; i++) {
        const struct rung_bench_entry *entry = &run->bench->entries[i];
        if (entry->status != RUNG_ROW_OK || entry->config.op != op || entry->config.type != type)
            continue;
        run->index[run->n_subjects] = i;
        run->subjects[run->n_subjects++] = (struct rung_subject){
            .reduction = &entry->reduction, .tpl = entry->tpl, .verdict = &run->verdicts[i]};
    }
}

/* A failed call may have taken the context with it: what could not be tried says so. */
static void take_verdicts(struct run *run, enum rung_status status,
                          const struct rung_error *failure)
{
    for (size_t s = 0; s < run->n_subjects; s++) {
        struct rung_verdict *verdict = &run->verdicts[run->index[s]];
        if (status != RUNG_OK && verdict->status == RUNG_ROW_OK) {
            verdict->status = RUNG_ROW_RUNTIME;
            snprintf(verdict->reason, sizeof verdict->reason, "not verified to the end: %.400s",
                     failure->text);
        }
        rung_row_take_verdict(&run->rows[run->index[s]], verdict);
    }
}

static enum rung_status verify_group(struct run *run, struct rung_error *err)
{
    const struct rung_verify_options options = {
        .n = run->options->n,
        .all_patterns = run->options->all_patterns,
        .awkward_sizes = run->options->awkward_sizes,
        .seed = run->options->seed,
        .progress = run->options->progress,
        .interrupted = run->options->interrupted,
        .context = run->options->context,
    };
    struct rung_error failure = {0};
    enum rung_status status = rung_verify(run->subjects, run->n_subjects, &options, &failure);
    if (status == RUNG_USAGE) /* n does not fit: nothing was launched */
        return rung_fail(err, status, "%s", failure.text);
    take_verdicts(run, status, &failure);
    return status == RUNG_INTERRUPTED ? rung_fail(err, status, "interrupted") : RUNG_OK;
}

void rung_row_rate(struct rung_row *row, double ceiling_gb_per_s)
{
    double vectors = row->config.op == RUNG_OP_DOT ? 2 : 1;
    double bytes = vectors * (double)row->n * (double)rung_type_size(row->config.type);
    if (row->n == 0 || !(row->time_ms.median > 0))
        return;
    row->gb_per_s = bytes / row->time_ms.median / 1e6;
    row->of_ceiling = row->gb_per_s / ceiling_gb_per_s; /* NAN where there is none */
}

static json_t *facts_to_json(const struct rung_timing_facts *facts,
                             const struct rung_timing_options *timing)
{
    return json_pack("{s:s, s:s, s:s, s:I, s:o}", "state", rung_state_word(timing->how.state),
                     "timer", rung_timer_word(timing->how.timer), "stop", facts->stop, "throttled",
                     (json_int_t)facts->throttled, "sm_mhz",
                     isfinite(facts->sm_mhz) ? json_real(facts->sm_mhz) : json_null());
}

/* Times one row, looks at the sum that the last timed reduction left, and verifies once more. */
static enum rung_status time_row(struct run *run, size_t s, const struct rung_workspace *workspace,
                                 const struct rung_pattern *pattern,
                                 const struct rung_expected *expected, struct rung_error *err)
{
    const struct rung_subject *subject = &run->subjects[s];
    struct rung_row *row = &run->rows[run->index[s]];
    struct rung_timing_facts facts;
    struct rung_plan plan;
    double sum = 0;
    enum rung_status status = rung_reduction_plan(&plan, subject->reduction, workspace->n, err);
    if (status == RUNG_OK)
        status = rung_workspace_poison(workspace, err);
    const struct rung_timed work = {subject->reduction, &plan, workspace};
    if (status == RUNG_OK)
        status = rung_time_reduction(&row->time_ms, &facts, &work, run->options->timing, err);
    CUdeviceptr result = workspace->partials[(plan.n_passes - 1) % 2].data;
    if (status == RUNG_OK)
        status = rung_value_read(&sum, subject->reduction->device, result, workspace->type, err);
    if (status != RUNG_OK) {
        fail_row(row, RUNG_ROW_RUNTIME, err->text);
        return status;
    }
    rung_verify_value(subject, &plan, pattern, expected, workspace->n, sum);
    /* Once more over poison: a partial sum that is no longer written would still be there from the
     * reduction before. */
    if (subject->verdict->status == RUNG_ROW_OK)
        status = rung_verify_run(subject, workspace, pattern, expected, err);
    if (status != RUNG_OK) {
        fail_row(row, RUNG_ROW_RUNTIME, err->text);
        return status;
    }
    if (subject->verdict->status != RUNG_ROW_OK) { /* right before, wrong while timed */
        free(row->time_ms.samples);
        row->time_ms = (struct rung_times){0};
        rung_row_take_verdict(row, subject->verdict);
        return RUNG_OK;
    }
    rung_row_rate(row, run->options->ceiling_gb_per_s);
    json_object_set_new(row->extra, "timing", facts_to_json(&facts, run->options->timing));
    return RUNG_OK;
}

static enum rung_status time_rows(struct run *run, const struct rung_workspace *workspace,
                                  struct rung_error *err)
{
    const struct rung_pattern pattern = {.kind = RUNG_PATTERN_RANDOM01, .seed = run->options->seed};
    struct rung_expected expected;
    enum rung_status status = rung_pattern_upload(&expected, workspace, &pattern, err);
    if (status == RUNG_OK)
        status = rung_workspace_replicate(workspace, err);
    for (size_t s = 0; status == RUNG_OK && s < run->n_subjects; s++) {
        char id[RUNG_ID_SIZE], text[RUNG_ID_SIZE + 16];
        if (run->subjects[s].verdict->status != RUNG_ROW_OK)
            continue;
        if (interrupted(run))
            return rung_fail(err, RUNG_INTERRUPTED, "interrupted");
        rung_config_id(&run->subjects[s].reduction->config, id);
        snprintf(text, sizeof text, "timing %s", id);
        if (run->options->progress)
            run->options->progress(run->options->context, text);
        status = time_row(run, s, workspace, &pattern, &expected, err);
    }
    return status;
}

static enum rung_status time_group(struct run *run, struct rung_error *err)
{
    const struct rung_config *config = &run->subjects[0].reduction->config;
    struct rung_workspace workspace = {0};
    struct rung_workspace_spec spec = {
        .op = config->op, .type = config->type, .n = run->options->n, .room = 1};
    for (size_t s = 0; s < run->n_subjects; s++) {
        struct rung_plan plan;
        enum rung_status status =
            rung_reduction_plan(&plan, run->subjects[s].reduction, spec.n, err);
        if (status != RUNG_OK)
            return status;
        if (plan.partials_room > spec.room)
            spec.room = plan.partials_room;
    }
    const struct rung_device *device = run->subjects[0].reduction->device;
    spec.places = rung_timing_places(run->options->timing->how.state,
                                     spec.n * rung_type_size(spec.type), device->l2_bytes);
    enum rung_status status = rung_workspace_open(&workspace, device, &spec, err);
    if (status == RUNG_OK)
        status = time_rows(run, &workspace, err);
    rung_workspace_release(&workspace);
    return status;
}

/* A device that fails while timing fails every row that has no time yet. */
static void fail_untimed(struct run *run, const char *reason)
{
    for (size_t s = 0; s < run->n_subjects; s++) {
        struct rung_row *row = &run->rows[run->index[s]];
        if (row->status == RUNG_ROW_OK && !row->time_ms.known)
            fail_row(row, RUNG_ROW_RUNTIME, reason);
    }
}

static enum rung_status measure_group(struct run *run, struct rung_error *err)
{
    if (run->n_subjects == 0)
        return RUNG_OK;
    if (interrupted(run))
        return rung_fail(err, RUNG_INTERRUPTED, "interrupted");
    enum rung_status status = verify_group(run, err);
    if (status != RUNG_OK || !run->options->timing)
        return status;
    struct rung_error failure = {0};
    status = time_group(run, &failure);
    if (status == RUNG_INTERRUPTED)
        return rung_fail(err, status, "interrupted");
    if (status != RUNG_OK)
        fail_untimed(run, failure.text);
    return RUNG_OK;
}

enum rung_status rung_bench_measure(struct rung_row *rows, const struct rung_bench *bench,
                                    const struct rung_measure_options *options,
                                    struct rung_error *err)
{
    size_t n = bench->n_entries;
    struct run run = {
        .rows = rows,
        .bench = bench,
        .options = options,
        .verdicts = calloc(n + 1, sizeof *run.verdicts),
        .subjects = calloc(n + 1, sizeof *run.subjects),
        .index = calloc(n + 1, sizeof *run.index),
    };
    enum rung_status status = RUNG_OK;
    for (size_t i = 0; i < n; i++)
        rung_bench_row(&rows[i], &bench->entries[i], options->n);
    if (!run.verdicts || !run.subjects || !run.index)
        status = rung_fail(err, RUNG_MEMORY, "out of memory for %zu rows", n);
    for (int op = RUNG_OP_SUM; op <= RUNG_OP_DOT; op++)
        for (int type = RUNG_TYPE_F32; status == RUNG_OK && type <= RUNG_TYPE_I32; type++) {
            gather(&run, (enum rung_op)op, (enum rung_type)type);
            status = measure_group(&run, err);
        }
    free(run.verdicts);
    free(run.subjects);
    free(run.index);
    return status;
}

static bool same_rung_but_version(const struct rung_row *a, const struct rung_row *b)
{
    return a->config.block == b->config.block && a->config.bound == b->config.bound &&
           a->config.unroll == b->config.unroll && a->config.op == b->config.op &&
           a->config.type == b->config.type && a->n == b->n && a->ptx_target == b->ptx_target;
}

void rung_rows_relate(struct rung_row *rows, size_t n_rows)
{
    for (size_t i = 0; i < n_rows; i++) {
        const struct rung_row *base = NULL;
        for (size_t j = 0; j < n_rows; j++) {
            if (rows[j].config.version != 1 || !rows[j].time_ms.known ||
                rows[j].status != RUNG_ROW_OK || !same_rung_but_version(&rows[i], &rows[j]))
                continue;
            if (!base || rows[j].config.predicate == RUNG_PREDICATE_MOD)
                base = &rows[j];
        }
        if (base && rows[i].time_ms.known && rows[i].status == RUNG_ROW_OK)
            rows[i].vs_v1 = base->time_ms.median / rows[i].time_ms.median;
    }
}

enum rung_status rung_rows_status(const struct rung_row *rows, size_t n_rows)
{
    static const enum rung_status meaning[] = {
        [RUNG_ROW_OK] = RUNG_OK,
        [RUNG_ROW_WRONG] = RUNG_WRONG,
        [RUNG_ROW_COMPILE] = RUNG_COMPILE,
        [RUNG_ROW_CONSTRAINTS] = RUNG_USAGE,
        [RUNG_ROW_UNSUPPORTED] = RUNG_UNABLE,
        [RUNG_ROW_RUNTIME] = RUNG_DRIVER,
        [RUNG_ROW_TIMEOUT] = RUNG_DRIVER,
    };
    enum rung_status failure = RUNG_OK;
    size_t well = 0;
    for (size_t i = 0; i < n_rows; i++) {
        if (rows[i].status == RUNG_ROW_WRONG)
            return RUNG_WRONG;
        if (rows[i].status == RUNG_ROW_OK)
            well++;
        else if (failure == RUNG_OK)
            failure = meaning[rows[i].status];
    }
    return failure != RUNG_OK && well > 0 ? RUNG_INCOMPLETE : failure;
}
