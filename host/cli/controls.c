/* Owns the trial of a negative control: compile it, run it as a version of the ladder is run, and
 * list every check that tells. */
#include "cli/controls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/verify.h"
#include "cli/environment.h"
#include "gen/control.h"

struct trial {
    const struct rung_control *control;
    struct rung_config config;
    struct rung_verdict verdict;
    bool as_named;  /* the check that the control's file names is among those that told */
    bool too_small; /* it shows only at more elements than were asked for, and was not tried */
    bool blind;     /* only the simulator has the check that the control's file names */
};

static enum rung_status compile(struct rung_image *out, struct rung_stage *stage,
                                const struct rung_control *control,
                                const struct rung_config *config, struct rung_error *err)
{
    struct rung_text source = {0};
    struct rung_compiled compiled = {0};
    struct rung_image_facts facts;
    bool sim = stage->device.driver.kind == RUNG_DRIVER_SIM;
    char name[RUNG_ID_SIZE + 8], target[24];
    rung_config_symbol(config, name);
    strcat(name, ".cu");
    snprintf(target, sizeof target, "%s_%u", sim ? "compute" : "sm", stage->targets[0]);
    if (!stage->nvrtc)
        return rung_fail(err, RUNG_UNABLE, "a control is compiled when it is tried: %s",
                         stage->no_nvrtc.text);
    enum rung_status status = rung_template_emit(&source, control->tpl, config, err);
    const struct rung_compile_job job = {
        .source = rung_text_string(&source), .name = name, .target = target};
    if (status == RUNG_OK)
        status = rung_cached_compile(&compiled, stage->cache, stage->nvrtc, &job, err);
    rung_text_release(&source);
    if (status == RUNG_OK)
        status = rung_image_check(&facts, compiled.ptx, compiled.ptx_length, err);
    if (status == RUNG_OK) {
        *out = (struct rung_image){.ptx = compiled.ptx,
                                   .ptx_length = compiled.ptx_length,
                                   .cubin = compiled.cubin,
                                   .cubin_length = compiled.cubin_length,
                                   .ptx_target = facts.target,
                                   .cubin_target = compiled.cubin ? stage->targets[0] : 0,
                                   .origin = RUNG_ORIGIN_NVRTC};
        compiled.ptx = NULL; /* handed over */
        compiled.cubin = NULL;
    }
    rung_compiled_release(&compiled);
    return status;
}

static enum rung_status load(struct rung_reduction *out, struct rung_stage *stage,
                             const struct rung_control *control, const struct rung_config *config,
                             struct rung_error *err)
{
    struct rung_image first = {0}, later = {0};
    struct rung_config later_config = rung_later_config(config);
    enum rung_status status = compile(&first, stage, control, config, err);
    if (status == RUNG_OK && config->op == RUNG_OP_DOT)
        status = compile(&later, stage, control, &later_config, err);
    const struct rung_reduction_images images = {&first, &later, stage->image};
    if (status == RUNG_OK)
        status = rung_reduction_load(out, &stage->device, control->tpl, config, &images, err);
    rung_image_release(&first);
    rung_image_release(&later);
    return status;
}

static bool told(const struct rung_verdict *verdict, const char *word)
{
    for (unsigned check = 0; check < RUNG_CHECKS; check++)
        if ((verdict->caught >> check & 1) &&
            strcmp(rung_check_word((enum rung_check)check), word) == 0)
            return true;
    return false;
}

/* `caught_by` is the word of a check, or "pattern" for any of the sums. */
static bool told_as_named(const struct trial *trial)
{
    unsigned sums = (1u << RUNG_CHECK_GUARD) - 1;
    if (strcmp(trial->control->caught_by, "pattern") == 0)
        return trial->verdict.caught & sums;
    return told(&trial->verdict, trial->control->caught_by);
}

/* Sums, guards, launches and the model are looked at everywhere. */
static bool needs_simulator(const struct rung_control *control)
{
    return strcmp(control->caught_by, "pattern") != 0;
}

/* The axes are those of the selection; the version is the control's own. */
static enum rung_status try_control(struct trial *trial, struct rung_stage *stage,
                                    const struct rung_selection *selection, struct rung_error *err)
{
    struct rung_reduction reduction = {0};
    const uint64_t n = selection->n ? stage->expanded.ns[0] : 65537;
    trial->config = stage->expanded.configs[0];
    trial->config.version = rung_template_version(trial->control->tpl);
    trial->config.variant = rung_template_variant(trial->control->tpl);
    if (trial->control->block)
        trial->config.block = trial->control->block;
    trial->too_small = n < trial->control->least_n;
    trial->blind = stage->device.driver.kind == RUNG_DRIVER_CUDA && needs_simulator(trial->control);
    enum rung_status status = rung_template_supports(trial->control->tpl, &trial->config, err);
    if (status != RUNG_OK || trial->too_small)
        return status;
    if (status == RUNG_OK)
        status = load(&reduction, stage, trial->control, &trial->config, err);
    const struct rung_subject subject = {
        .reduction = &reduction, .tpl = trial->control->tpl, .verdict = &trial->verdict};
    const struct rung_verify_options options = {
        .n = n,
        .all_patterns = true,
        .awkward_sizes = true,
        .go_on = true,
        .seed = selection->seed,
        .progress = rung_stage_progress,
        .interrupted = rung_stage_interrupted,
        .context = stage,
    };
    struct rung_error failure = {0};
    if (status == RUNG_OK && rung_verify(&subject, 1, &options, &failure) != RUNG_OK &&
        trial->verdict.caught == 0)
        status = rung_fail(err, failure.status, "%s", failure.text);
    rung_reduction_release(&reduction);
    trial->as_named = status == RUNG_OK && told_as_named(trial);
    return status;
}

/* `brief` says that every pattern told in two words: a terminal is 80 columns wide. */
static void list_checks(struct rung_text *out, const struct rung_verdict *verdict, bool brief)
{
    const unsigned patterns = (1u << RUNG_CHECK_GUARD) - 1;
    brief = brief && (verdict->caught & patterns) == patterns;
    if (brief)
        rung_text_append(out, "every pattern");
    for (unsigned check = brief ? RUNG_CHECK_GUARD : 0; check < RUNG_CHECKS; check++)
        if (verdict->caught >> check & 1)
            rung_text_format(out, "%s%s", out->length ? " " : "",
                             rung_check_word((enum rung_check)check));
}

static json_t *trial_to_json(const struct trial *trial)
{
    char id[RUNG_ID_SIZE];
    json_t *checks = json_object();
    rung_config_id(&trial->config, id);
    for (unsigned check = 0; check < RUNG_CHECKS; check++)
        json_object_set_new(checks, rung_check_word((enum rung_check)check),
                            json_boolean(trial->verdict.caught >> check & 1));
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:b, s:b, s:b, s:o, s:s, s:I}", "control",
                     trial->control->name, "title", trial->control->title, "against",
                     trial->control->against, "id", id, "caught_by", trial->control->caught_by,
                     "caught", trial->verdict.caught != 0, "as_named", trial->as_named, "tried",
                     !trial->too_small, "checks", checks, "reason", trial->verdict.reason, "runs",
                     (json_int_t)trial->verdict.runs);
}

static enum rung_status print_json(const struct trial *trials, size_t n, struct rung_stage *stage,
                                   int argc, char **argv, struct rung_error *err)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(rows, trial_to_json(&trials[i]));
    return rung_document_print(
        rung_document("verify", argc, argv, rung_environment(&stage->device, stage->nvrtc), rows),
        stage->output.stream, err);
}

static void explain(const struct trial *trial, FILE *to)
{
    struct rung_text head = {0};
    rung_text_format(&head, "%s: %s (against %s)", trial->control->name, trial->control->title,
                     trial->control->against);
    fputc('\n', to);
    rung_print_wrapped(rung_text_string(&head), 0, 0, to);
    fputs("  ", to);
    rung_print_wrapped(trial->verdict.caught ? trial->verdict.reason
                       : trial->too_small    ? "shows only at more elements: give a larger --n"
                       : trial->blind ? "a card sums right by luck; --device sim has the check"
                                      : "nothing told",
                       2, 2, to);
    rung_text_release(&head);
}

static enum rung_status print_table(const struct trial *trials, size_t n, struct rung_stage *stage,
                                    struct rung_error *err)
{
    static const struct rung_column columns[] = {
        {"control",   "control",          false},
        {"caught_by", "must tell",        false},
        {"result",    "result",           false},
        {"checks",    "checks that told", false}
    };
    struct rung_table *table = rung_table_new(columns, sizeof columns / sizeof *columns);
    FILE *to = stage->output.stream;
    bool csv = stage->output.format == RUNG_FORMAT_CSV;
    for (size_t i = 0; i < n; i++) {
        struct rung_text checks = {0};
        list_checks(&checks, &trials[i].verdict, !csv);
        rung_table_row(table);
        rung_table_text(table, trials[i].control->name);
        rung_table_text(table, trials[i].control->caught_by);
        rung_table_text(table, trials[i].too_small        ? "not tried"
                               : trials[i].as_named       ? "caught"
                               : trials[i].verdict.caught ? "otherwise"
                               : trials[i].blind          ? "not seen"
                                                          : "MISSED");
        rung_table_text(table, rung_text_string(&checks));
        rung_text_release(&checks);
    }
    enum rung_status status = rung_table_print(table, stage->output.format, to, err);
    rung_table_free(table);
    for (size_t i = 0; i < n && !csv; i++)
        explain(&trials[i], to);
    return status;
}

static enum rung_status choose(struct trial **trials, size_t *n,
                               const struct rung_controls *controls, const char *name,
                               struct rung_error *err)
{
    *n = 0;
    *trials = calloc(controls->n_controls + 1, sizeof **trials);
    if (!*trials)
        return rung_fail(err, RUNG_MEMORY, "out of memory");
    /* What leaves its memory comes last: on a card it ends the context, and with it the process. */
    for (int last = 0; last < 2; last++)
        for (size_t i = 0; i < controls->n_controls; i++)
            if ((strcmp(controls->controls[i].caught_by, "bounds") == 0) == last &&
                (strcmp(name, "all") == 0 || strcmp(name, controls->controls[i].name) == 0))
                (*trials)[(*n)++].control = &controls->controls[i];
    if (*n)
        return RUNG_OK;
    struct rung_text names = {0};
    for (size_t i = 0; i < controls->n_controls; i++)
        rung_text_format(&names, "%s, ", controls->controls[i].name);
    enum rung_status status = rung_fail(err, RUNG_USAGE, "--control '%s': allowed are %sall", name,
                                        rung_text_string(&names));
    rung_text_release(&names);
    return status;
}

static enum rung_status verdict_on(const struct trial *trials, size_t n, struct rung_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (!trials[i].as_named && !trials[i].too_small && !trials[i].blind)
            return rung_fail(err, RUNG_WRONG, "%s was not caught by '%s'%s",
                             trials[i].control->name, trials[i].control->caught_by,
                             trials[i].verdict.caught ? ", but otherwise"
                                                      : " nor by anything else");
    return RUNG_OK;
}

/* A control is one kernel, tried once: of the axes it takes one value each, and no version. */
static enum rung_status check_axes(const struct rung_expanded *asked,
                                   const struct rung_selection *selection, struct rung_error *err)
{
    const char *own = selection->version ? "--version" : selection->variant ? "--variant" : NULL;
    bool many = asked->n_ns > 1;
    for (size_t i = 1; i < asked->n_configs; i++) {
        struct rung_config config = asked->configs[i];
        config.version = asked->configs[0].version;
        many |= !rung_config_equal(&config, &asked->configs[0]);
    }
    if (own)
        return rung_fail(err, RUNG_USAGE, "%s is not for --control: a control has its own", own);
    if (many)
        return rung_fail(err, RUNG_USAGE,
                         "--control takes one --n and one value of each axis, not lists");
    return RUNG_OK;
}

enum rung_status rung_controls_verify(struct rung_stage *stage, const char *name,
                                      const struct rung_selection *selection, int argc, char **argv,
                                      bool *printed, struct rung_error *err)
{
    struct rung_controls controls = {0};
    struct rung_selection checked = *selection;
    struct trial *trials = NULL;
    size_t n = 0;
    enum rung_status status = check_axes(&stage->expanded, selection, err);
    if (status == RUNG_OK)
        status = rung_controls_load(&controls, &stage->arena, err);
    if (status == RUNG_OK)
        status = choose(&trials, &n, &controls, name, err);
    checked.check = stage->device.driver.kind == RUNG_DRIVER_SIM; /* half of them need it */
    if (status == RUNG_OK && checked.check && !selection->check)
        status = rung_stage_reopen_device(stage, &checked, err);
    for (size_t i = 0; status == RUNG_OK && i < n; i++) {
        if (rung_stage_interrupted(stage))
            status = rung_fail(err, RUNG_INTERRUPTED, "interrupted");
        if (status == RUNG_OK)
            status = try_control(&trials[i], stage, &checked, err);
        bool dead = trials[i].verdict.caught >> RUNG_CHECK_LAUNCH & 1;
        if (status == RUNG_OK && dead && i + 1 < n)
            status = rung_stage_reopen_device(stage, &checked, err);
    }
    rung_progress_clear(&stage->progress);
    if (status == RUNG_OK) {
        status = stage->output.format == RUNG_FORMAT_JSON
                     ? print_json(trials, n, stage, argc, argv, err)
                     : print_table(trials, n, stage, err);
        *printed = status == RUNG_OK;
    }
    if (status == RUNG_OK)
        status = verdict_on(trials, n, err);
    free(trials);
    return status;
}

enum rung_status rung_control_try(struct rung_control_outcome *out, struct rung_stage *stage,
                                  const char *name, const struct rung_selection *selection,
                                  struct rung_error *err)
{
    struct rung_controls controls = {0};
    struct rung_text checks = {0};
    struct trial *trials = NULL;
    size_t n = 0;
    *out = (struct rung_control_outcome){0};
    enum rung_status status = rung_controls_load(&controls, &stage->arena, err);
    if (status == RUNG_OK)
        status = choose(&trials, &n, &controls, name, err);
    if (status == RUNG_OK)
        status = try_control(&trials[0], stage, selection, err);
    if (status == RUNG_OK) {
        const struct rung_verdict *verdict = &trials[0].verdict;
        list_checks(&checks, verdict, false);
        out->caught = verdict->caught != 0;
        out->wrong_sum = verdict->caught & ((1u << RUNG_CHECK_GUARD) - 1);
        snprintf(out->what, sizeof out->what, "%s%.80s%s%.400s",
                 out->caught ? "told by " : "no check told", rung_text_string(&checks),
                 out->caught ? ": " : "", verdict->reason);
    }
    rung_text_release(&checks);
    free(trials);
    return status;
}
