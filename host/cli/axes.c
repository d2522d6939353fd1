/* Owns the reading of one axis: words, numbers, "all", and what is said of a wrong value. */
#define _GNU_SOURCE
#include "cli/axes.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *option;
    const char *const *words; /* NULL: an axis of numbers */
} axes[RUNG_AXES] = {
    [RUNG_AXIS_BLOCK] = {"--block",     NULL                },
    [RUNG_AXIS_BOUND] = {"--bound",     rung_bound_words    },
    [RUNG_AXIS_UNROLL] = {"--unroll",    rung_unroll_words   },
    [RUNG_AXIS_PREDICATE] = {"--predicate", rung_predicate_words},
    [RUNG_AXIS_OP] = {"--op",        rung_op_words       },
    [RUNG_AXIS_TYPE] = {"--type",      rung_type_words     },
    [RUNG_AXIS_VARIANT] = {"--variant",   rung_variant_words  },
    [RUNG_AXIS_VERSION] = {"--version",   NULL                },
};

static enum rung_status no_memory(struct rung_error *err)
{
    return rung_fail(err, RUNG_MEMORY, "out of memory");
}

static enum rung_status make_room(struct rung_axis_values *values, size_t n, struct rung_error *err)
{
    values->items = calloc(n, sizeof *values->items);
    values->left = calloc(n, sizeof *values->left);
    return values->items && values->left ? RUNG_OK : no_memory(err);
}

static void add(struct rung_axis_values *values, unsigned item)
{
    for (size_t i = 0; i < values->n; i++)
        if (values->items[i] == item)
            return;
    values->items[values->n++] = item;
}

/* Axes of words. */

static size_t count_words(enum rung_axis axis)
{
    size_t n = 0;
    while (axes[axis].words[n])
        n++;
    return n;
}

static enum rung_status refuse_word(enum rung_axis axis, const char *word, struct rung_error *err)
{
    struct rung_text allowed = {0};
    for (size_t i = 0; axes[axis].words[i]; i++)
        rung_text_format(&allowed, "%s, ", axes[axis].words[i]);
    enum rung_status status = rung_fail(err, RUNG_USAGE, "%s '%s': allowed are %sall",
                                        axes[axis].option, word, rung_text_string(&allowed));
    rung_text_release(&allowed);
    return status;
}

static enum rung_status add_word(struct rung_axis_values *values, enum rung_axis axis,
                                 const char *word, struct rung_error *err)
{
    for (size_t i = 0; axes[axis].words[i]; i++)
        if (strcmp(word, axes[axis].words[i]) == 0) {
            add(values, (unsigned)i);
            values->named = true;
            return RUNG_OK;
        }
    if (strcmp(word, "all") != 0)
        return refuse_word(axis, word, err);
    for (size_t i = 0; axes[axis].words[i]; i++)
        add(values, (unsigned)i);
    return RUNG_OK;
}

static enum rung_status read_words(struct rung_axis_values *values, enum rung_axis axis,
                                   const char *typed, struct rung_error *err)
{
    enum rung_status status = make_room(values, count_words(axis), err);
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

enum rung_status rung_option_numbers(uint64_t **numbers, size_t *n, const char *option,
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

static enum rung_status read_blocks(struct rung_axis_values *values, const char *typed,
                                    struct rung_error *err)
{
    values->named = typed && strcmp(typed, "all") != 0;
    if (typed && !values->named)
        typed = "2:1024:*2";
    uint64_t *numbers = NULL;
    size_t n = 0;
    enum rung_status status =
        rung_option_numbers(&numbers, &n, axes[RUNG_AXIS_BLOCK].option, typed ? typed : "256", err);
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

static enum rung_status read_versions(struct rung_axis_values *values, const char *typed,
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
    enum rung_status status = rung_option_numbers(&numbers, &n, axes[RUNG_AXIS_VERSION].option,
                                                  typed ? typed : "1:4", err);
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

enum rung_status rung_axis_read(struct rung_axis_values *out, enum rung_axis axis,
                                const char *typed, const struct rung_ladder *ladder,
                                struct rung_error *err)
{
    *out = (struct rung_axis_values){0};
    if (axis == RUNG_AXIS_BLOCK)
        return read_blocks(out, typed, err);
    if (axis == RUNG_AXIS_VERSION)
        return read_versions(out, typed, ladder, err);
    return read_words(out, axis, typed, err);
}

void rung_axis_release(struct rung_axis_values *values)
{
    free(values->items);
    free(values->left);
    *values = (struct rung_axis_values){0};
}

bool rung_axis_has(const struct rung_axis_values *values, unsigned item)
{
    for (size_t i = 0; i < values->n; i++)
        if (values->items[i] == item)
            return true;
    return false;
}

void rung_axis_name(struct rung_text *out, enum rung_axis axis, unsigned item)
{
    if (axes[axis].words)
        rung_text_format(out, "%s %s", axes[axis].option, axes[axis].words[item]);
    else
        rung_text_format(out, "%s %u", axes[axis].option, item);
}
