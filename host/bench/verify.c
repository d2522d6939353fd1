/* Owns the judgement of a run: sum, guards, counts, findings. */
#include "bench/verify.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/sim.h"

#define FINDINGS 64 /* of one run that are looked at: enough to see every kind */

static const struct {
    const char *word, *help;
} checks[RUNG_CHECKS] = {
#define CHECK(name, word, help) {word, help},
#include "bench/verify_checks.def"
#undef CHECK
};

const char *rung_check_word(enum rung_check check)
{
    return checks[check].word;
}

const char *rung_check_help(enum rung_check check)
{
    return checks[check].help;
}

static unsigned log2_of(uint64_t power)
{
    unsigned log = 0;
    while (power >>= 1)
        log++;
    return log;
}

double rung_rounding_bound(const struct rung_reduction *reduction, const struct rung_plan *plan,
                           double magnitude)
{
    const struct rung_shape *shape = &reduction->shape;
    double unit = reduction->config.type == RUNG_TYPE_F32 ? 0x1p-24 : 0x1p-53;
    double k = reduction->config.op == RUNG_OP_DOT ? 1 : 0;
    for (unsigned i = 0; i < plan->n_passes; i++) {
        const struct rung_pass *pass = &plan->passes[i];
        uint64_t threads = pass->blocks * reduction->config.block;
        uint64_t chain = shape->grid_rule == RUNG_GRID_FIXED ? pass->n_in / threads + 1
                                                             : shape->elements_per_thread - 1;
        k += (double)chain + log2_of(reduction->config.block);
    }
    /* The reference itself is off by at most two units of double. */
    return k * unit / (1 - k * unit) * magnitude + 0x1p-52 * magnitude;
}

static void write_value(char text[40], double value, enum rung_type type)
{
    bool whole = value == floor(value) && fabs(value) < 0x1p63;
    if (isnan(value)) /* whose sign says nothing */
        snprintf(text, 40, "nan");
    else
        snprintf(text, 40, whole || type == RUNG_TYPE_I32 ? "%.0f" : "%.17g", value);
}

/* Begins every reason with what was run. */
static void condemn(const struct rung_subject *subject, enum rung_check check, uint64_t n,
                    const struct rung_pattern *pattern, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

static void condemn(const struct rung_subject *subject, enum rung_check check, uint64_t n,
                    const struct rung_pattern *pattern, const char *format, ...)
{
    struct rung_verdict *verdict = subject->verdict;
    verdict->caught |= 1u << check;
    if (verdict->status != RUNG_ROW_OK)
        return;
    const struct rung_config *config = &subject->reduction->config;
    char id[RUNG_ID_SIZE], word[48];
    rung_config_id(config, id);
    rung_pattern_word(pattern, word);
    int used = snprintf(verdict->reason, sizeof verdict->reason,
                        "version %u, block %u, n = %llu, pattern %s (%s): ", config->version,
                        config->block, (unsigned long long)n, word, id);
    va_list args;
    va_start(args, format);
    vsnprintf(verdict->reason + used, sizeof verdict->reason - (size_t)used, format, args);
    va_end(args);
    verdict->status = RUNG_ROW_WRONG;
}

void rung_verify_value(const struct rung_subject *subject, const struct rung_plan *plan,
                       const struct rung_pattern *pattern, const struct rung_expected *expected,
                       uint64_t n, double sum)
{
    struct rung_verdict *verdict = subject->verdict;
    enum rung_type type = subject->reduction->config.type;
    double bound =
        expected->exact ? 0 : rung_rounding_bound(subject->reduction, plan, expected->magnitude);
    bool right = fabs(sum - expected->value) <= bound; /* false for NaN, which is right nowhere */
    bool speaks = !verdict->summed || (right ? verdict->n != n : verdict->status == RUNG_ROW_OK);
    if (speaks) {
        verdict->summed = true;
        verdict->n = n;
        verdict->sum = sum;
        verdict->expected = expected->value;
    }
    if (right)
        return;
    char want[40], got[40];
    write_value(want, expected->value, type);
    write_value(got, sum, type);
    enum rung_check check = (enum rung_check)(RUNG_CHECK_ONES + pattern->kind);
    if (expected->exact)
        condemn(subject, check, n, pattern, "expected %s, got %s", want, got);
    else
        condemn(subject, check, n, pattern, "expected %s within %.3g, got %s", want, bound, got);
}

/* The model of one launch, added up over the parts of a pass as reduce.c launches them. */
static enum rung_status model_pass(struct rung_model *model, const struct rung_subject *subject,
                                   const struct rung_config *config, const struct rung_pass *pass,
                                   struct rung_error *err)
{
    const struct rung_reduction *reduction = subject->reduction;
    uint64_t most = reduction->device->max_grid_x;
    uint64_t tile = (uint64_t)config->block * reduction->shape.elements_per_thread;
    enum rung_status status = RUNG_OK;
    for (uint64_t done = 0; status == RUNG_OK && done < pass->blocks; done += most) {
        uint64_t blocks = pass->blocks - done < most ? pass->blocks - done : most;
        status =
            rung_model_launch(model, subject->tpl, config, pass->n_in - done * tile, blocks, err);
    }
    return status;
}

enum rung_status rung_model_reduction(struct rung_counts *out, const struct rung_subject *subject,
                                      const struct rung_plan *plan, struct rung_error *err)
{
    struct rung_model model = {0};
    struct rung_config config = subject->reduction->config;
    enum rung_status status = RUNG_OK;
    for (unsigned i = 0; status == RUNG_OK && i < plan->n_passes; i++) {
        status = model_pass(&model, subject, &config, &plan->passes[i], err);
        config = rung_later_config(&config);
    }
    if (status == RUNG_OK)
        *out = (struct rung_counts){.known = true,
                                    .additions = model.additions,
                                    .body_runs = model.body_runs,
                                    .serialised = model.serialised};
    return status;
}

static struct rung_counts read_executed(const struct rung_sim_control *sim)
{
    struct rung_sim_counters counters = {0};
    sim->read_counters(&counters);
    return (struct rung_counts){.known = true,
                                .additions = counters.additions,
                                .body_runs = counters.body_runs,
                                .serialised = counters.serialised};
}

static enum rung_status check_counts(const struct rung_subject *subject,
                                     const struct rung_plan *plan, uint64_t n,
                                     const struct rung_pattern *pattern, struct rung_error *err)
{
    struct rung_counts model = {0};
    struct rung_counts executed = read_executed(subject->reduction->device->driver.sim);
    enum rung_status status = rung_model_reduction(&model, subject, plan, err);
    if (status != RUNG_OK)
        return status;
    if (model.additions != executed.additions || model.body_runs != executed.body_runs ||
        model.serialised != executed.serialised)
        condemn(subject, RUNG_CHECK_MODEL, n, pattern,
                "the model and the execution differ: additions %llu, executed %llu; body runs "
                "%llu, executed %llu; serialised %llu, executed %llu",
                (unsigned long long)model.additions, (unsigned long long)executed.additions,
                (unsigned long long)model.body_runs, (unsigned long long)executed.body_runs,
                (unsigned long long)model.serialised, (unsigned long long)executed.serialised);
    return RUNG_OK;
}

static void check_findings(const struct rung_subject *subject, uint64_t n,
                           const struct rung_pattern *pattern)
{
    const struct rung_sim_control *sim = subject->reduction->device->driver.sim;
    struct rung_sim_finding first, *found = &first;
    uint64_t count = sim->read_findings(&first, 1), room = 1;
    if (count > 1 && (found = calloc(FINDINGS, sizeof *found)))
        sim->read_findings(found, room = FINDINGS);
    else
        found = &first; /* the first alone condemns */
    for (uint64_t i = 0; i < count && i < room; i++)
        condemn(subject, (enum rung_check)(RUNG_CHECK_RACE + found[i].kind), n, pattern, "%s%s",
                found[i].text, count > 1 ? " (the first of several findings)" : "");
    if (found != &first)
        free(found);
}

static enum rung_status check_guards(const struct rung_subject *subject,
                                     const struct rung_workspace *workspace,
                                     const struct rung_pattern *pattern, struct rung_error *err)
{
    struct rung_error guards = {0};
    enum rung_status status = rung_workspace_check_guards(workspace, &guards);
    if (status != RUNG_WRONG)
        return status == RUNG_OK ? status
                                 : rung_fail_native(err, status, guards.native, "%s", guards.text);
    condemn(subject, RUNG_CHECK_GUARD, workspace->n, pattern, "%s", guards.text);
    return RUNG_OK;
}

/* A failed launch is the subject's own failure, and its verdict says so. */
static void blame(const struct rung_subject *subject, uint64_t n,
                  const struct rung_pattern *pattern, const struct rung_error *failure)
{
    condemn(subject, RUNG_CHECK_LAUNCH, n, pattern, "%s", failure->text);
    if (subject->verdict->status == RUNG_ROW_WRONG)
        subject->verdict->status =
            failure->native == CUDA_ERROR_LAUNCH_TIMEOUT ? RUNG_ROW_TIMEOUT : RUNG_ROW_RUNTIME;
}

enum rung_status rung_verify_run(const struct rung_subject *subject,
                                 const struct rung_workspace *workspace,
                                 const struct rung_pattern *pattern,
                                 const struct rung_expected *expected, struct rung_error *err)
{
    const struct rung_reduction *reduction = subject->reduction;
    const struct rung_sim_control *sim = reduction->device->driver.sim;
    struct rung_error failure = {0};
    struct rung_plan plan;
    double sum = 0;
    enum rung_status status = rung_reduction_plan(&plan, reduction, workspace->n, err);
    if (status != RUNG_OK)
        return status;
    if (sim)
        sim->reset();
    subject->verdict->runs++;
    status = rung_reduction_run(&sum, reduction, &plan, workspace, &failure);
    if (sim) /* before the failure: it names the line that the driver's code does not */
        check_findings(subject, workspace->n, pattern);
    if (status != RUNG_OK) {
        blame(subject, workspace->n, pattern, &failure);
        return rung_fail_native(err, status, failure.native, "%s", subject->verdict->reason);
    }
    rung_verify_value(subject, &plan, pattern, expected, workspace->n, sum);
    status = check_guards(subject, workspace, pattern, err);
    if (status == RUNG_OK && sim)
        status = check_counts(subject, &plan, workspace->n, pattern, err);
    return status;
}
