/* One configuration: a point on the axes that decide what is compiled. Where it runs, how many
 * elements it reduces and for which target it is compiled are not part of it. Whether a version
 * has a given point at all is the template's to say (gen/template.h). */
#ifndef RUNG_CONFIG_CONFIG_H
#define RUNG_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum rung_bound {
#define AXIS_BOUND(name, word, help) RUNG_BOUND_##name,
#include "config/axes.def"
};
enum rung_unroll {
#define AXIS_UNROLL(name, word, help) RUNG_UNROLL_##name,
#include "config/axes.def"
};
enum rung_predicate {
#define AXIS_PREDICATE(name, word, help) RUNG_PREDICATE_##name,
#include "config/axes.def"
};
enum rung_op {
#define AXIS_OP(name, word, help) RUNG_OP_##name,
#include "config/axes.def"
};
enum rung_type {
#define AXIS_TYPE(name, word, help) RUNG_TYPE_##name,
#include "config/axes.def"
};
enum rung_variant {
#define AXIS_VARIANT(name, word, help) RUNG_VARIANT_##name,
#include "config/axes.def"
};

#define RUNG_BLOCK_MIN 2
#define RUNG_BLOCK_MAX 1024
#define RUNG_N_MAX ((uint64_t)1 << 40)
#define RUNG_N_DEFAULT ((uint64_t)16776605) /* 2^24 - 611: below 2^24, and off every block size */

struct rung_config {
    unsigned version; /* 1, 2, ... */
    unsigned block;   /* threads per block: a power of two, RUNG_BLOCK_MIN ... RUNG_BLOCK_MAX */
    enum rung_bound bound;
    enum rung_unroll unroll; /* with a run-time bound always RUNG_UNROLL_NONE */
    enum rung_predicate predicate;
    enum rung_op op;
    enum rung_type type;
    enum rung_variant variant;
};

#define RUNG_ID_SIZE 96

/* "v1-b256-const", then each axis that is not at its default, in the order of the struct; `unroll`
 * is not spelled with a run-time bound, where it has one value. */
void rung_config_id(const struct rung_config *config, char id[RUNG_ID_SIZE]);

/* The same with '_' for '-' and "reduce_" before it: "reduce_v1_b256_const". It names the kernel,
 * and the files under generated/. */
void rung_config_symbol(const struct rung_config *config, char symbol[RUNG_ID_SIZE]);

/* Reads an id back. RUNG_USAGE names the token that is wrong and what may stand there. */
enum rung_status rung_config_parse_id(struct rung_config *out, const char *id,
                                      struct rung_error *err);

bool rung_config_equal(const struct rung_config *a, const struct rung_config *b);

/* Orders by the fields in the order of the struct, for qsort. */
int rung_config_compare(const void *a, const void *b);

/* Orders as a product of the axes counts: blocks turn slowest and versions fastest, so that the
 * rungs of one ladder stand together. */
int rung_config_order(const struct rung_config *a, const struct rung_config *b);

size_t rung_type_size(enum rung_type type); /* bytes of one element */

/* The words of an axis in the order of its enumeration, the default first, NULL at the end. */
extern const char *const rung_bound_words[];
extern const char *const rung_unroll_words[];
extern const char *const rung_predicate_words[];
extern const char *const rung_op_words[];
extern const char *const rung_type_words[];
extern const char *const rung_variant_words[];

/* The word of a value, "const" for RUNG_BOUND_CONST. */
const char *rung_bound_word(enum rung_bound value);
const char *rung_unroll_word(enum rung_unroll value);
const char *rung_predicate_word(enum rung_predicate value);
const char *rung_op_word(enum rung_op value);
const char *rung_type_word(enum rung_type value);
const char *rung_variant_word(enum rung_variant value);

/* A number of elements: decimal digits with an optional suffix Ki, Mi or Gi, powers "2^24", and
 * sums and differences of those, "2^24-611". 0 ... RUNG_N_MAX, else RUNG_USAGE naming the value. */
enum rung_status rung_parse_n(uint64_t *out, const char *text, struct rung_error *err);

/* A list of numbers: "1,2,4", ranges "1:4", stepped ranges "1:9:2" and geometric ranges
 * "64:1024:*2", in any mixture; each number as rung_parse_n reads it. `*values` is freed by the
 * caller. Empty items, ranges that run backwards, a step of 0 and lists of over 4096 values are
 * RUNG_USAGE. */
enum rung_status rung_parse_numbers(uint64_t **values, size_t *count, const char *text,
                                    struct rung_error *err);

#endif
