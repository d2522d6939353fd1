/* Ids, words and sizes of a configuration. */
#include "config/config.h"

#include <stdio.h>
#include <string.h>

/* WORDS(axis): the table of an axis and the function that reads it. */
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

const char *rung_bound_word(enum rung_bound value)
{
    return bound_words[value];
}

const char *rung_unroll_word(enum rung_unroll value)
{
    return unroll_words[value];
}

const char *rung_predicate_word(enum rung_predicate value)
{
    return predicate_words[value];
}

const char *rung_op_word(enum rung_op value)
{
    return op_words[value];
}

const char *rung_type_word(enum rung_type value)
{
    return type_words[value];
}

const char *rung_variant_word(enum rung_variant value)
{
    return variant_words[value];
}
