/* The elements that a traced block reduces: patterns of any length, or a list of given numbers. */
#ifndef RUNG_TRACE_INPUT_H
#define RUNG_TRACE_INPUT_H

#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"

enum rung_trace_pattern {
    RUNG_TRACE_LIST,        /* numbers that were given */
    RUNG_TRACE_ONES,        /* 1, 1, 1, ... */
    RUNG_TRACE_IOTA,        /* 1, 2, 3, ... */
    RUNG_TRACE_ALTERNATING, /* 2, 1, 2, 1, ... */
    RUNG_TRACE_RANDOM       /* whole numbers of 0 ... 99, from the seed */
};

struct rung_trace_input {
    enum rung_trace_pattern pattern;
    const char *word; /* as it was asked for; borrowed */
    double *values;   /* of a list; in the arena */
    uint64_t n_values;
};

#define RUNG_TRACE_INPUT_MAX ((uint64_t)1 << 16)

/* Reads "ones", "iota", "alternating", "random", a list "1,2,3", or else the numbers of a file,
 * separated by blanks, line ends or commas ("-" is standard input). RUNG_USAGE names `option` and
 * what is wrong: which number is none, an empty list, more than RUNG_TRACE_INPUT_MAX. */
enum rung_status rung_trace_input_read(struct rung_trace_input *out, struct rung_arena *arena,
                                       const char *option, const char *word,
                                       struct rung_error *err);

/* `n` elements of `type`, each as the type holds it. RUNG_USAGE where a list has another length, or
 * a value that the type does not hold. */
enum rung_status rung_trace_input_make(const double **out, struct rung_arena *arena,
                                       const struct rung_trace_input *input, const char *option,
                                       uint64_t n, enum rung_type type, uint64_t seed,
                                       struct rung_error *err);

#endif
