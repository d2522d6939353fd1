/* Ids, words and sizes of a configuration. Numbers and lists of them are number.c's. */
#include "config/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define WORD(name, word, help) word,

const char *const rung_bound_words[] = {
#define AXIS_BOUND WORD
#include "config/axes.def"
    NULL};
const char *const rung_unroll_words[] = {
#define AXIS_UNROLL WORD
#include "config/axes.def"
    NULL};
const char *const rung_predicate_words[] = {
#define AXIS_PREDICATE WORD
#include "config/axes.def"
    NULL};
const char *const rung_op_words[] = {
#define AXIS_OP WORD
#include "config/axes.def"
    NULL};
const char *const rung_type_words[] = {
#define AXIS_TYPE WORD
#include "config/axes.def"
    NULL};
const char *const rung_variant_words[] = {
#define AXIS_VARIANT WORD
#include "config/axes.def"
    NULL};

/* An axis as the tail of an id sees it: its name for messages and its words, the default first. */
struct axis {
    const char *name;
    const char *const *words;
    size_t n_words;
};
enum { BOUND, UNROLL, PREDICATE, OP, TYPE, VARIANT, N_AXES };

#define COUNT(words) (sizeof(words) / sizeof *(words)-1) /* without the NULL */

static const struct axis axes[N_AXES] = {
    [BOUND] = {"bound",     rung_bound_words,     COUNT(rung_bound_words)    },
    [UNROLL] = {"unroll",    rung_unroll_words,    COUNT(rung_unroll_words)   },
    [PREDICATE] = {"predicate", rung_predicate_words, COUNT(rung_predicate_words)},
    [OP] = {"op",        rung_op_words,        COUNT(rung_op_words)       },
    [TYPE] = {"type",      rung_type_words,      COUNT(rung_type_words)     },
    [VARIANT] = {"variant",   rung_variant_words,   COUNT(rung_variant_words)  },
};

const char *rung_bound_word(enum rung_bound value)
{
    return rung_bound_words[value];
}

const char *rung_unroll_word(enum rung_unroll value)
{
    return rung_unroll_words[value];
}

const char *rung_predicate_word(enum rung_predicate value)
{
    return rung_predicate_words[value];
}

const char *rung_op_word(enum rung_op value)
{
    return rung_op_words[value];
}

const char *rung_type_word(enum rung_type value)
{
    return rung_type_words[value];
}

const char *rung_variant_word(enum rung_variant value)
{
    return rung_variant_words[value];
}

size_t rung_type_size(enum rung_type type)
{
    switch (type) {
    case RUNG_TYPE_F32:
        return sizeof(float);
    case RUNG_TYPE_F64:
        return sizeof(double);
    case RUNG_TYPE_I32:
        return sizeof(int32_t);
    }
    return 0;
}

/* The fields in the order of the struct, as numbers. */
#define N_FIELDS (2 + N_AXES)

static void fields_of(unsigned fields[N_FIELDS], const struct rung_config *config)
{
    const unsigned values[N_FIELDS] = {
        config->version,   config->block, config->bound, config->unroll,
        config->predicate, config->op,    config->type,  config->variant,
    };
    memcpy(fields, values, sizeof values);
}

int rung_config_compare(const void *a, const void *b)
{
    unsigned left[N_FIELDS], right[N_FIELDS];
    fields_of(left, a);
    fields_of(right, b);
    for (size_t i = 0; i < N_FIELDS; i++)
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    return 0;
}

int rung_config_order(const struct rung_config *a, const struct rung_config *b)
{
    struct rung_config x = *a, y = *b;
    x.version = y.version = 0;
    int order = rung_config_compare(&x, &y);
    return order ? order : (a->version > b->version) - (a->version < b->version);
}

bool rung_config_equal(const struct rung_config *a, const struct rung_config *b)
{
    return rung_config_compare(a, b) == 0;
}

/* Whether the id spells the axis: not at its default, nor where the bound leaves it no choice. */
static bool spelled(size_t axis, unsigned value, enum rung_bound bound)
{
    if (axis == BOUND)
        return true;
    return value != 0 && !(axis == UNROLL && bound == RUNG_BOUND_RUNTIME);
}

static void spell(char id[RUNG_ID_SIZE], const struct rung_config *config, const char *prefix,
                  char separator)
{
    unsigned fields[N_FIELDS];
    fields_of(fields, config);
    int length =
        snprintf(id, RUNG_ID_SIZE, "%sv%u%cb%u", prefix, config->version, separator, config->block);
    for (size_t axis = 0; axis < N_AXES; axis++) {
        unsigned value = fields[2 + axis];
        if (spelled(axis, value, config->bound))
            length += snprintf(id + length, RUNG_ID_SIZE - (size_t)length, "%c%s", separator,
                               axes[axis].words[value]);
    }
}

void rung_config_id(const struct rung_config *config, char id[RUNG_ID_SIZE])
{
    spell(id, config, "", '-');
}

void rung_config_symbol(const struct rung_config *config, char symbol[RUNG_ID_SIZE])
{
    spell(symbol, config, "reduce_", '_');
}

/* The words that may still stand in an id, from `axis` on. */
static void list_words(struct rung_text *text, size_t axis)
{
    for (size_t i = axis; i < N_AXES; i++)
        for (size_t w = i == BOUND ? 0 : 1; w < axes[i].n_words; w++)
            rung_text_format(text, "%s%s", text->length ? ", " : "", axes[i].words[w]);
}

static enum rung_status unknown_word(const char *id, const char *word, size_t length, size_t axis,
                                     struct rung_error *err)
{
    struct rung_text text = {0};
    list_words(&text, axis);
    enum rung_status status = rung_fail(
        err, RUNG_USAGE, "id '%s': '%.*s' cannot stand there%s%s; an id reads v1-b256-const", id,
        (int)length, word, text.length ? ", only one of " : ": nothing may follow",
        rung_text_string(&text));
    rung_text_release(&text);
    return status;
}

/* The axis from `axis` on that has the word, or N_AXES. */
static size_t find_word(unsigned *value, size_t axis, const char *word, size_t length)
{
    for (; axis < N_AXES; axis++)
        for (size_t w = 0; w < axes[axis].n_words; w++)
            if (strlen(axes[axis].words[w]) == length &&
                memcmp(axes[axis].words[w], word, length) == 0) {
                *value = (unsigned)w;
                return axis;
            }
    return N_AXES;
}

/* "v12-" or "b256-": the letter, then 1 to 9 digits without a leading 0. */
static bool read_field(unsigned *out, const char **at, char letter)
{
    const char *p = *at;
    if (*p != letter || p[1] < '1' || p[1] > '9')
        return false;
    unsigned value = 0;
    for (p++; *p >= '0' && *p <= '9'; p++) {
        if (value > 99999999)
            return false;
        value = value * 10 + (unsigned)(*p - '0');
    }
    if (*p != '-')
        return false;
    *out = value;
    *at = p + 1;
    return true;
}

/* The words after version and block, each axis at most once and in order. */
static enum rung_status read_words(unsigned fields[N_AXES], bool given[N_AXES], const char *id,
                                   const char *at, struct rung_error *err)
{
    for (size_t next = BOUND;;) {
        size_t length = strcspn(at, "-");
        unsigned value = 0;
        size_t axis = find_word(&value, next, at, length);
        if (axis == N_AXES || (next == BOUND && axis != BOUND))
            return unknown_word(id, at, length, next, err);
        fields[axis] = value;
        given[axis] = true;
        next = axis + 1;
        if (!at[length])
            return RUNG_OK;
        at += length + 1;
    }
}

enum rung_status rung_config_parse_id(struct rung_config *out, const char *id,
                                      struct rung_error *err)
{
    struct rung_config config = {0};
    const char *at = id;
    if (!read_field(&config.version, &at, 'v'))
        return rung_fail(err, RUNG_USAGE, "id '%s': must begin with v and a version: v1-b256-const",
                         id);
    if (!read_field(&config.block, &at, 'b'))
        return rung_fail(err, RUNG_USAGE,
                         "id '%s': after the version must stand b and the threads per block, then "
                         "the bound: v1-b256-const",
                         id);
    if (config.block < RUNG_BLOCK_MIN || config.block > RUNG_BLOCK_MAX ||
        (config.block & (config.block - 1)) != 0)
        return rung_fail(err, RUNG_USAGE,
                         "id '%s': %u threads per block: must be a power of two, %d ... %d", id,
                         config.block, RUNG_BLOCK_MIN, RUNG_BLOCK_MAX);
    unsigned values[N_AXES] = {0};
    bool given[N_AXES] = {false};
    enum rung_status status = read_words(values, given, id, at, err);
    if (status != RUNG_OK)
        return status;
    config.bound = (enum rung_bound)values[BOUND];
    if (config.bound == RUNG_BOUND_RUNTIME && given[UNROLL] && values[UNROLL] == RUNG_UNROLL_FULL)
        return rung_fail(err, RUNG_USAGE,
                         "id '%s': a loop with a run-time bound is never unrolled in full", id);
    config.unroll =
        config.bound == RUNG_BOUND_RUNTIME ? RUNG_UNROLL_NONE : (enum rung_unroll)values[UNROLL];
    config.predicate = (enum rung_predicate)values[PREDICATE];
    config.op = (enum rung_op)values[OP];
    config.type = (enum rung_type)values[TYPE];
    config.variant = (enum rung_variant)values[VARIANT];
    *out = config;
    return RUNG_OK;
}
