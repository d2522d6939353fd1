/* The values of one axis, as typed: what `--block 64:1024:*2` or `--bound all` stands for. Used by
 * expand.c only. */
#ifndef RUNG_CLI_AXES_H
#define RUNG_CLI_AXES_H

#include <stdbool.h>

#include "base/text.h"
#include "gen/template.h"

/* In the order in which a product counts: the last one turns fastest. */
enum rung_axis {
    RUNG_AXIS_BLOCK,
    RUNG_AXIS_BOUND,
    RUNG_AXIS_UNROLL,
    RUNG_AXIS_PREDICATE,
    RUNG_AXIS_OP,
    RUNG_AXIS_TYPE,
    RUNG_AXIS_VARIANT,
    RUNG_AXIS_VERSION,
    RUNG_AXES
};

/* Distinct, in the order typed: numbers, or places in the enumeration of the axis. */
struct rung_axis_values {
    unsigned *items;
    bool *left; /* for the product's use: a combination with this value exists */
    size_t n;
    bool named; /* typed one by one, not as "all" and not by default */
};

/* `typed` NULL stands for the default. RUNG_USAGE names the value and what is allowed. */
enum rung_status rung_axis_read(struct rung_axis_values *out, enum rung_axis axis,
                                const char *typed, const struct rung_ladder *ladder,
                                struct rung_error *err);
void rung_axis_release(struct rung_axis_values *values);

bool rung_axis_has(const struct rung_axis_values *values, unsigned item);

/* Appends a value as it is typed: "--bound runtime". */
void rung_axis_name(struct rung_text *out, enum rung_axis axis, unsigned item);

/* Numbers of an option, its name and value in what is said of a wrong one. */
enum rung_status rung_option_numbers(uint64_t **numbers, size_t *n, const char *option,
                                     const char *typed, struct rung_error *err);

#endif
