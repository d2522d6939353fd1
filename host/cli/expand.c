/* Owns the product of the axes: lists of values as typed, every combination of them, and what is
 * said of those that cannot exist. */
#define _GNU_SOURCE
#include "cli/select.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/axes.h"

struct product {
    struct rung_axis_values axis[RUNG_AXES];
    const struct rung_ladder *ladder;
    struct rung_expanded *out;
};

static enum rung_status no_memory(struct rung_error *err)
{
    return rung_fail(err, RUNG_MEMORY, "out of memory");
}

static enum rung_status read_axes(struct product *product, const struct rung_selection *selection,
                                  struct rung_error *err)
{
    const char *const typed[RUNG_AXES] = {
        [RUNG_AXIS_BLOCK] = selection->block,     [RUNG_AXIS_BOUND] = selection->bound,
        [RUNG_AXIS_UNROLL] = selection->unroll,   [RUNG_AXIS_PREDICATE] = selection->predicate,
        [RUNG_AXIS_OP] = selection->op,           [RUNG_AXIS_TYPE] = selection->type,
        [RUNG_AXIS_VARIANT] = selection->variant, [RUNG_AXIS_VERSION] = selection->version,
    };
    enum rung_status status = RUNG_OK;
    for (int axis = RUNG_AXES - 1; status == RUNG_OK && axis >= 0; axis--)
        status = rung_axis_read(&product->axis[axis], (enum rung_axis)axis, typed[axis],
                                product->ladder, err);
    return status;
}

/* The product. Where no unrolling was asked for it follows the bound. */

/* Of a product with both unrollings: a run-time bound has only the other one, which is there. */
static bool is_nothing_new(const struct product *product, const struct rung_config *config)
{
    return config->bound == RUNG_BOUND_RUNTIME && config->unroll == RUNG_UNROLL_FULL &&
           rung_axis_has(&product->axis[RUNG_AXIS_UNROLL], RUNG_UNROLL_NONE) &&
           rung_axis_has(&product->axis[RUNG_AXIS_BOUND], RUNG_BOUND_CONST);
}

static void configure(struct rung_config *out, const struct product *product, size_t index,
                      bool unroll_follows)
{
    unsigned value[RUNG_AXES];
    for (int axis = RUNG_AXES - 1; axis >= 0; axis--) {
        const struct rung_axis_values *values = &product->axis[axis];
        value[axis] = values->items[index % values->n];
        index /= values->n;
    }
    if (unroll_follows && value[RUNG_AXIS_BOUND] == RUNG_BOUND_RUNTIME)
        value[RUNG_AXIS_UNROLL] = RUNG_UNROLL_NONE;
    *out = (struct rung_config){
        .version = value[RUNG_AXIS_VERSION],
        .block = value[RUNG_AXIS_BLOCK],
        .bound = (enum rung_bound)value[RUNG_AXIS_BOUND],
        .unroll = (enum rung_unroll)value[RUNG_AXIS_UNROLL],
        .predicate = (enum rung_predicate)value[RUNG_AXIS_PREDICATE],
        .op = (enum rung_op)value[RUNG_AXIS_OP],
        .type = (enum rung_type)value[RUNG_AXIS_TYPE],
        .variant = (enum rung_variant)value[RUNG_AXIS_VARIANT],
    };
}

static enum rung_status check(const struct rung_config *config, const struct rung_ladder *ladder,
                              struct rung_error *err)
{
    if (config->bound == RUNG_BOUND_RUNTIME && config->unroll == RUNG_UNROLL_FULL)
        return rung_fail(err, RUNG_USAGE,
                         "full unrolling needs --bound const: with a run-time bound the loop is "
                         "always kept");
    const struct rung_template *tpl = rung_ladder_find(ladder, config->version, config->variant);
    if (!tpl)
        return rung_fail(err, RUNG_USAGE, "version %u has no variant '%s'", config->version,
                         rung_variant_word(config->variant));
    return rung_template_supports(tpl, config, err);
}

static void mark_left(struct product *product, size_t index)
{
    for (int axis = RUNG_AXES - 1; axis >= 0; axis--) {
        struct rung_axis_values *values = &product->axis[axis];
        values->left[index % values->n] = true;
        index /= values->n;
    }
}

static void refuse(struct rung_expanded *out, const struct rung_config *config, const char *reason)
{
    struct rung_refusal *refusal = &out->refused[out->n_refused++];
    refusal->config = *config;
    size_t length = strnlen(reason, sizeof refusal->reason - 1);
    memcpy(refusal->reason, reason, length);
    refusal->reason[length] = '\0';
}

static enum rung_status multiply_out(struct product *product, bool unroll_follows,
                                     struct rung_error *err)
{
    struct rung_expanded *out = product->out;
    size_t total = 1;
    for (int axis = 0; axis < RUNG_AXES; axis++)
        total *= product->axis[axis].n;
    out->configs = calloc(total, sizeof *out->configs);
    out->refused = calloc(total, sizeof *out->refused);
    if (!out->configs || !out->refused)
        return no_memory(err);
    for (size_t i = 0; i < total; i++) {
        struct rung_config config;
        struct rung_error reason = {0};
        configure(&config, product, i, unroll_follows);
        if (is_nothing_new(product, &config))
            continue;
        if (check(&config, product->ladder, &reason) != RUNG_OK) {
            refuse(out, &config, reason.text);
            continue;
        }
        out->configs[out->n_configs++] = config;
        mark_left(product, i);
    }
    return RUNG_OK;
}

static bool config_has(const struct rung_config *config, enum rung_axis axis, unsigned item)
{
    const unsigned value[RUNG_AXES] = {
        [RUNG_AXIS_BLOCK] = config->block,     [RUNG_AXIS_BOUND] = config->bound,
        [RUNG_AXIS_UNROLL] = config->unroll,   [RUNG_AXIS_PREDICATE] = config->predicate,
        [RUNG_AXIS_OP] = config->op,           [RUNG_AXIS_TYPE] = config->type,
        [RUNG_AXIS_VARIANT] = config->variant, [RUNG_AXIS_VERSION] = config->version,
    };
    return value[axis] == item;
}

static enum rung_status nothing_left(const struct product *product, enum rung_axis axis,
                                     unsigned item, struct rung_error *err)
{
    const struct rung_expanded *out = product->out;
    const char *reason = "no combination of the values asked for exists";
    for (size_t i = 0; i < out->n_refused; i++)
        if (config_has(&out->refused[i].config, axis, item)) {
            reason = out->refused[i].reason;
            break;
        }
    struct rung_text name = {0};
    rung_axis_name(&name, axis, item);
    enum rung_status status = rung_fail(err, RUNG_USAGE, "%s: %s", rung_text_string(&name), reason);
    rung_text_release(&name);
    return status;
}

static enum rung_status check_left(const struct product *product, struct rung_error *err)
{
    const struct rung_axis_values *versions = &product->axis[RUNG_AXIS_VERSION];
    for (enum rung_axis axis = RUNG_AXIS_VERSION;; axis--) {
        const struct rung_axis_values *values = &product->axis[axis];
        for (size_t i = 0; values->named && i < values->n; i++)
            if (!values->left[i])
                return nothing_left(product, axis, values->items[i], err);
        if (axis == RUNG_AXIS_BLOCK)
            break;
    }
    return product->out->n_configs
               ? RUNG_OK
               : nothing_left(product, RUNG_AXIS_VERSION, versions->items[0], err);
}

/* A value twice counts once, as on every axis: the first one stays. */
static void drop_repeated(uint64_t *values, size_t *count)
{
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++) {
        size_t same = 0;
        while (same < kept && values[same] != values[i])
            same++;
        if (same == kept)
            values[kept++] = values[i];
    }
    *count = kept;
}

static enum rung_status read_ns(struct rung_expanded *out, const char *typed,
                                struct rung_error *err)
{
    if (typed) {
        enum rung_status status = rung_option_numbers(&out->ns, &out->n_ns, "--n", typed, err);
        if (status == RUNG_OK)
            drop_repeated(out->ns, &out->n_ns);
        return status;
    }
    out->ns = malloc(sizeof *out->ns);
    if (!out->ns)
        return no_memory(err);
    out->ns[0] = RUNG_N_DEFAULT;
    out->n_ns = 1;
    return RUNG_OK;
}

enum rung_status rung_selection_expand(struct rung_expanded *out,
                                       const struct rung_selection *selection,
                                       const struct rung_ladder *ladder, struct rung_error *err)
{
    struct rung_expanded expanded = {0};
    struct product product = {.ladder = ladder, .out = &expanded};
    enum rung_status status = read_axes(&product, selection, err);
    if (status == RUNG_OK)
        status = read_ns(&expanded, selection->n, err);
    if (status == RUNG_OK)
        status = multiply_out(&product, !selection->unroll, err);
    if (status == RUNG_OK)
        status = check_left(&product, err);
    for (int axis = 0; axis < RUNG_AXES; axis++)
        rung_axis_release(&product.axis[axis]);
    if (status == RUNG_OK)
        *out = expanded;
    else
        rung_expanded_release(&expanded);
    return status;
}

void rung_expanded_release(struct rung_expanded *expanded)
{
    free(expanded->configs);
    free(expanded->refused);
    free(expanded->ns);
    *expanded = (struct rung_expanded){0};
}

static bool told_before(const struct rung_expanded *expanded, size_t i)
{
    for (size_t before = 0; before < i; before++)
        if (strcmp(expanded->refused[before].reason, expanded->refused[i].reason) == 0)
            return true;
    return false;
}

/* A product of many axes leaves out hundreds for one reason: as many as fit a line are named. */
#define NAMED_MAX 4

void rung_expanded_report(const struct rung_expanded *expanded, const char *command, FILE *to)
{
    for (size_t i = 0; i < expanded->n_refused; i++) {
        if (told_before(expanded, i))
            continue;
        size_t n = 0;
        fprintf(to, "rung %s: left out", command);
        for (size_t j = i; j < expanded->n_refused; j++) {
            char id[RUNG_ID_SIZE];
            if (strcmp(expanded->refused[j].reason, expanded->refused[i].reason) != 0)
                continue;
            rung_config_id(&expanded->refused[j].config, id);
            if (n++ < NAMED_MAX)
                fprintf(to, " %s", id);
        }
        if (n > NAMED_MAX)
            fprintf(to, " and %zu more", n - NAMED_MAX);
        fprintf(to, ": %s\n", expanded->refused[i].reason);
    }
}
