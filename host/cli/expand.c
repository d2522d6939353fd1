/* Owns the product of the axes: lists of values as typed, every combination of them, and what is
 * said of those that cannot exist. */
#define _GNU_SOURCE
#include "cli/select.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* In the order in which the product counts: the last one turns fastest. */
enum axis { BLOCK, BOUND, UNROLL, PREDICATE, OP, TYPE, VARIANT, VERSION, N_AXES };

struct values {
    unsigned *items;
    bool *left; /* a combination with this value exists */
    size_t n;
    bool named; /* typed one by one, not as "all" and not by default */
};

struct product {
    struct values axis[N_AXES];
    const struct rung_ladder *ladder;
    struct rung_expanded *out;
};

#define WORD(name, word, help) word,
static const char *const bound_words[] = {
#define AXIS_BOUND WORD
#include "config/axes.def"
};
static const char *const unroll_words[] = {
#define AXIS_UNROLL WORD
#include "config/axes.def"
};
static const char *const predicate_words[] = {
#define AXIS_PREDICATE WORD
#include "config/axes.def"
};
static const char *const op_words[] = {
#define AXIS_OP WORD
#include "config/axes.def"
};
static const char *const type_words[] = {
#define AXIS_TYPE WORD
#include "config/axes.def"
};
static const char *const variant_words[] = {
#define AXIS_VARIANT WORD
#include "config/axes.def"
};
#undef WORD
#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct {
    const char *option;
    const char *const *words; /* NULL: an axis of numbers */
    size_t n_words;
} axes[N_AXES] = {
    [BLOCK] = {"--block",     NULL,            0                     },
    [BOUND] = {"--bound",     bound_words,     COUNT(bound_words)    },
    [UNROLL] = {"--unroll",    unroll_words,    COUNT(unroll_words)   },
    [PREDICATE] = {"--predicate", predicate_words, COUNT(predicate_words)},
    [OP] = {"--op",        op_words,        COUNT(op_words)       },
    [TYPE] = {"--type",      type_words,      COUNT(type_words)     },
    [VARIANT] = {"--variant",   variant_words,   COUNT(variant_words)  },
    [VERSION] = {"--version",   NULL,            0                     },
};

static enum rung_status no_memory(struct rung_error *err)
{
    return rung_fail(err, RUNG_MEMORY, "out of memory");
}

static enum rung_status make_room(struct values *values, size_t n, struct rung_error *err)
{
    values->items = calloc(n, sizeof *values->items);
    values->left = calloc(n, sizeof *values->left);
    return values->items && values->left ? RUNG_OK : no_memory(err);
}

static void add(struct values *values, unsigned item)
{
    for (size_t i = 0; i < values->n; i++)
        if (values->items[i] == item)
            return;
    values->items[values->n++] = item;
}

/* Axes of words. */

static enum rung_status refuse_word(enum axis axis, const char *word, struct rung_error *err)
{
    struct rung_text allowed = {0};
    for (size_t i = 0; i < axes[axis].n_words; i++)
        rung_text_format(&allowed, "%s, ", axes[axis].words[i]);
    enum rung_status status = rung_fail(err, RUNG_USAGE, "%s '%s': allowed are %sall",
                                        axes[axis].option, word, rung_text_string(&allowed));
    rung_text_release(&allowed);
    return status;
}

static enum rung_status add_word(struct values *values, enum axis axis, const char *word,
                                 struct rung_error *err)
{
    for (size_t i = 0; i < axes[axis].n_words; i++)
        if (strcmp(word, axes[axis].words[i]) == 0) {
            add(values, (unsigned)i);
            values->named = true;
            return RUNG_OK;
        }
    if (strcmp(word, "all") != 0)
        return refuse_word(axis, word, err);
    for (size_t i = 0; i < axes[axis].n_words; i++)
        add(values, (unsigned)i);
    return RUNG_OK;
}

static enum rung_status read_words(struct values *values, enum axis axis, const char *typed,
                                   struct rung_error *err)
{
    enum rung_status status = make_room(values, axes[axis].n_words, err);
    if (status != RUNG_OK)
        return status;
    if (!typed) {
        values->n = 1; /* the first word of an axis is its default */
        return RUNG_OK;
    }
    char *copy = strdup(typed);
    if (!copy)
        return no_memory(err);
    char *rest = copy;
    for (char *word; status == RUNG_OK && (word = strsep(&rest, ","));)
        status = add_word(values, axis, word, err);
    free(copy);
    return status;
}

/* Axes of numbers. */

static enum rung_status read_numbers(uint64_t **numbers, size_t *n, const char *option,
                                     const char *typed, struct rung_error *err)
{
    struct rung_error inner = {0};
    enum rung_status status = rung_parse_numbers(numbers, n, typed, &inner);
    if (status == RUNG_OK)
        return RUNG_OK;
    if (typed[0] && strstr(inner.text, typed)) /* names the value already */
        return rung_fail(err, status, "%s %s", option, inner.text);
    return rung_fail(err, status, "%s '%s': %s", option, typed, inner.text);
}

static enum rung_status check_block(uint64_t block, struct rung_error *err)
{
    if (block < RUNG_BLOCK_MIN)
        return rung_fail(err, RUNG_USAGE,
                         "--block %llu: too small; allowed are the powers of two from %d to %d",
                         (unsigned long long)block, RUNG_BLOCK_MIN, RUNG_BLOCK_MAX);
    if (block > RUNG_BLOCK_MAX)
        return rung_fail(err, RUNG_USAGE,
                         "--block %llu: too large; allowed are the powers of two from %d to %d",
                         (unsigned long long)block, RUNG_BLOCK_MIN, RUNG_BLOCK_MAX);
    if ((block & (block - 1)) == 0)
        return RUNG_OK;
    unsigned below = RUNG_BLOCK_MIN;
    while (2 * (uint64_t)below < block)
        below *= 2;
    return rung_fail(err, RUNG_USAGE,
                     "--block %llu: not a power of two; its neighbours %u and %u are allowed",
                     (unsigned long long)block, below, 2 * below);
}

static enum rung_status read_blocks(struct values *values, const char *typed,
                                    struct rung_error *err)
{
    values->named = typed && strcmp(typed, "all") != 0;
    if (typed && !values->named)
        typed = "2:1024:*2";
    uint64_t *numbers = NULL;
    size_t n = 0;
    enum rung_status status =
        read_numbers(&numbers, &n, axes[BLOCK].option, typed ? typed : "256", err);
    if (status == RUNG_OK)
        status = make_room(values, n, err);
    for (size_t i = 0; status == RUNG_OK && i < n; i++) {
        status = check_block(numbers[i], err);
        if (status == RUNG_OK)
            add(values, (unsigned)numbers[i]);
    }
    free(numbers);
    return status;
}

static bool ladder_has(const struct rung_ladder *ladder, uint64_t version)
{
    for (size_t i = 0; i < ladder->n_versions; i++)
        if (rung_template_version(ladder->versions[i]) == version)
            return true;
    return false;
}

static enum rung_status refuse_version(const struct rung_ladder *ladder, uint64_t version,
                                       struct rung_error *err)
{
    struct rung_text allowed = {0};
    unsigned last = 0;
    for (size_t i = 0; i < ladder->n_versions; i++) {
        unsigned number = rung_template_version(ladder->versions[i]);
        if (number != last)
            rung_text_format(&allowed, "%u, ", number);
        last = number;
    }
    enum rung_status status =
        rung_fail(err, RUNG_USAGE, "--version %llu: no such version; allowed are %sall",
                  (unsigned long long)version, rung_text_string(&allowed));
    rung_text_release(&allowed);
    return status;
}

static enum rung_status read_versions(struct values *values, const char *typed,
                                      const struct rung_ladder *ladder, struct rung_error *err)
{
    if (typed && strcmp(typed, "all") == 0) {
        enum rung_status status = make_room(values, ladder->n_versions, err);
        for (size_t i = 0; status == RUNG_OK && i < ladder->n_versions; i++)
            add(values, rung_template_version(ladder->versions[i]));
        return status;
    }
    values->named = typed != NULL;
    uint64_t *numbers = NULL;
    size_t n = 0;
    enum rung_status status =
        read_numbers(&numbers, &n, axes[VERSION].option, typed ? typed : "1:4", err);
    if (status == RUNG_OK)
        status = make_room(values, n, err);
    for (size_t i = 0; status == RUNG_OK && i < n; i++) {
        if (ladder_has(ladder, numbers[i]))
            add(values, (unsigned)numbers[i]);
        else
            status = refuse_version(ladder, numbers[i], err);
    }
    free(numbers);
    return status;
}

static enum rung_status read_axes(struct product *product, const struct rung_selection *selection,
                                  struct rung_error *err)
{
    const char *typed[N_AXES] = {
        [BOUND] = selection->bound,         [UNROLL] = selection->unroll,
        [PREDICATE] = selection->predicate, [OP] = selection->op,
        [TYPE] = selection->type,           [VARIANT] = selection->variant,
    };
    enum rung_status status =
        read_versions(&product->axis[VERSION], selection->version, product->ladder, err);
    if (status == RUNG_OK)
        status = read_blocks(&product->axis[BLOCK], selection->block, err);
    for (enum axis axis = BOUND; status == RUNG_OK && axis < VERSION; axis++)
        status = read_words(&product->axis[axis], axis, typed[axis], err);
    return status;
}

/* The product. Where no unrolling was asked for it follows the bound. */

static bool has_item(const struct values *values, unsigned item)
{
    for (size_t i = 0; i < values->n; i++)
        if (values->items[i] == item)
            return true;
    return false;
}

/* Of a product with both unrollings: a run-time bound has only the other one, which is there. */
static bool is_nothing_new(const struct product *product, const struct rung_config *config)
{
    return config->bound == RUNG_BOUND_RUNTIME && config->unroll == RUNG_UNROLL_FULL &&
           has_item(&product->axis[UNROLL], RUNG_UNROLL_NONE) &&
           has_item(&product->axis[BOUND], RUNG_BOUND_CONST);
}

static void configure(struct rung_config *out, const struct product *product, size_t index,
                      bool unroll_follows)
{
    unsigned value[N_AXES];
    for (int axis = N_AXES - 1; axis >= 0; axis--) {
        const struct values *values = &product->axis[axis];
        value[axis] = values->items[index % values->n];
        index /= values->n;
    }
    if (unroll_follows && value[BOUND] == RUNG_BOUND_RUNTIME)
        value[UNROLL] = RUNG_UNROLL_NONE;
    *out = (struct rung_config){
        .version = value[VERSION],
        .block = value[BLOCK],
        .bound = (enum rung_bound)value[BOUND],
        .unroll = (enum rung_unroll)value[UNROLL],
        .predicate = (enum rung_predicate)value[PREDICATE],
        .op = (enum rung_op)value[OP],
        .type = (enum rung_type)value[TYPE],
        .variant = (enum rung_variant)value[VARIANT],
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
    for (int axis = N_AXES - 1; axis >= 0; axis--) {
        struct values *values = &product->axis[axis];
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
    for (int axis = 0; axis < N_AXES; axis++)
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

/* The value of an axis as it is typed. */
static void name_value(struct rung_text *out, enum axis axis, unsigned item)
{
    if (axes[axis].words)
        rung_text_format(out, "%s %s", axes[axis].option, axes[axis].words[item]);
    else
        rung_text_format(out, "%s %u", axes[axis].option, item);
}

static bool config_has(const struct rung_config *config, enum axis axis, unsigned item)
{
    const unsigned value[N_AXES] = {
        [BLOCK] = config->block,         [BOUND] = config->bound,     [UNROLL] = config->unroll,
        [PREDICATE] = config->predicate, [OP] = config->op,           [TYPE] = config->type,
        [VARIANT] = config->variant,     [VERSION] = config->version,
    };
    return value[axis] == item;
}

static enum rung_status nothing_left(const struct product *product, enum axis axis, unsigned item,
                                     struct rung_error *err)
{
    const struct rung_expanded *out = product->out;
    const char *reason = "no combination of the values asked for exists";
    for (size_t i = 0; i < out->n_refused; i++)
        if (config_has(&out->refused[i].config, axis, item)) {
            reason = out->refused[i].reason;
            break;
        }
    struct rung_text name = {0};
    name_value(&name, axis, item);
    enum rung_status status = rung_fail(err, RUNG_USAGE, "%s: %s", rung_text_string(&name), reason);
    rung_text_release(&name);
    return status;
}

static enum rung_status check_left(const struct product *product, struct rung_error *err)
{
    const struct values *versions = &product->axis[VERSION];
    for (enum axis axis = VERSION;; axis--) {
        const struct values *values = &product->axis[axis];
        for (size_t i = 0; values->named && i < values->n; i++)
            if (!values->left[i])
                return nothing_left(product, axis, values->items[i], err);
        if (axis == BLOCK)
            break;
    }
    return product->out->n_configs ? RUNG_OK
                                   : nothing_left(product, VERSION, versions->items[0], err);
}

static enum rung_status read_ns(struct rung_expanded *out, const char *typed,
                                struct rung_error *err)
{
    if (typed)
        return read_numbers(&out->ns, &out->n_ns, "--n", typed, err);
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
    for (int axis = 0; axis < N_AXES; axis++) {
        free(product.axis[axis].items);
        free(product.axis[axis].left);
    }
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

void rung_expanded_report(const struct rung_expanded *expanded, const char *command, FILE *to)
{
    for (size_t i = 0; i < expanded->n_refused; i++) {
        if (told_before(expanded, i))
            continue;
        fprintf(to, "rung %s: left out", command);
        for (size_t j = i; j < expanded->n_refused; j++) {
            char id[RUNG_ID_SIZE];
            if (strcmp(expanded->refused[j].reason, expanded->refused[i].reason) != 0)
                continue;
            rung_config_id(&expanded->refused[j].config, id);
            fprintf(to, " %s", id);
        }
        fprintf(to, ": %s\n", expanded->refused[i].reason);
    }
}
