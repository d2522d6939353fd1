/* Runs the loop of a phase: its variable, its condition, its lets. */
#include "gen/strides.h"

#include "gen/model.h"

enum rung_status rung_kernel_eval(uint64_t *out, const struct rung_kernel *kernel,
                                  const struct rung_expr *expr, unsigned line,
                                  struct rung_error *err)
{
    const char *why;
    if (rung_expr_eval(out, expr, kernel->values, &why))
        return RUNG_OK;
    return rung_template_fail(kernel->tpl, line, err, "%s (tid %llu, s %llu, %u threads)", why,
                              (unsigned long long)kernel->values[RUNG_SLOT_TID],
                              (unsigned long long)kernel->values[RUNG_SLOT_S],
                              kernel->config.block);
}

enum rung_status rung_lets_eval(struct rung_kernel *kernel, const struct rung_phase *phase,
                                unsigned tid, struct rung_error *err)
{
    kernel->values[RUNG_SLOT_TID] = tid;
    for (unsigned i = 0; i < phase->n_lets; i++) {
        enum rung_status status = rung_kernel_eval(&kernel->values[phase->lets[i].slot], kernel,
                                                   phase->lets[i].value, phase->line, err);
        if (status != RUNG_OK)
            return status;
    }
    return RUNG_OK;
}

static enum rung_status test(struct rung_strides *strides, struct rung_error *err)
{
    uint64_t more = 0;
    enum rung_status status =
        rung_kernel_eval(&more, strides->kernel, strides->phase->more, strides->phase->line, err);
    strides->more = more != 0;
    if (status == RUNG_OK && strides->more && strides->n_steps == RUNG_MODEL_STEPS_MAX)
        return rung_template_fail(strides->kernel->tpl, strides->phase->line, err,
                                  "the loop does not end within %d steps", RUNG_MODEL_STEPS_MAX);
    return status;
}

enum rung_status rung_strides_begin(struct rung_strides *out, struct rung_kernel *kernel,
                                    const struct rung_phase *phase, struct rung_error *err)
{
    *out = (struct rung_strides){.kernel = kernel, .phase = phase};
    enum rung_status status =
        rung_kernel_eval(&kernel->values[phase->variable], kernel, phase->first, phase->line, err);
    return status == RUNG_OK ? test(out, err) : status;
}

enum rung_status rung_strides_next(struct rung_strides *strides, struct rung_error *err)
{
    struct rung_kernel *k = strides->kernel;
    const struct rung_phase *phase = strides->phase;
    uint64_t by = 0, *variable = &k->values[phase->variable];
    const char *why;
    enum rung_status status = rung_kernel_eval(&by, k, phase->update, phase->line, err);
    if (status == RUNG_OK && !rung_expr_assign(variable, phase->operation, *variable, by, &why))
        status = rung_template_fail(k->tpl, phase->line, err, "steps: %s", why);
    strides->n_steps++;
    return status == RUNG_OK ? test(strides, err) : status;
}
