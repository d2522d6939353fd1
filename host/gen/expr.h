/* C-like integer expressions over named variables: the directives of a template are written in
 * them, the model evaluates them and the emitter prints them. All values are unsigned 64-bit; an
 * operation whose mathematical result does not fit (below zero, above 2^64 - 1) is an error, never
 * a wrap.
 *
 * Grammar: C's operators ?: || && | ^ & == != < <= > >= << >> + - * / % ! and parentheses, decimal
 * and hexadecimal literals with an optional suffix u, and the names of a scope. */
#ifndef RUNG_GEN_EXPR_H
#define RUNG_GEN_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"

#define RUNG_NAMES_MAX 32

struct rung_expr; /* immutable; lives in the arena it was parsed into */

/* The names that an expression may use; the index of a name is its slot. */
struct rung_scope {
    const char *names[RUNG_NAMES_MAX]; /* borrowed */
    size_t n_names;
};

/* The slot of a name; -1 if the scope does not have it. */
int rung_scope_find(const struct rung_scope *scope, const char *name, size_t length);

/* What stands for a name when an expression is printed: a value, another expression, other text,
 * or, zero-initialised, the name itself. */
struct rung_binding {
    enum { RUNG_BIND_NAME, RUNG_BIND_VALUE, RUNG_BIND_EXPR, RUNG_BIND_TEXT } kind;
    uint64_t value;
    bool hex; /* print the value in hexadecimal */
    const struct rung_expr *expr;
    const char *text;
};

/* Where a piece of template text stands, for messages. */
struct rung_place {
    const char *file;
    unsigned line;
};

/* Parses the longest expression at *at and moves *at behind it and the blanks that follow. Stops
 * before an assignment operator such as "+=". RUNG_USAGE names file, line and what is wrong. */
enum rung_status rung_expr_parse(const struct rung_expr **out, struct rung_arena *arena,
                                 const struct rung_scope *scope, struct rung_place place,
                                 const char **at, struct rung_error *err);

/* Evaluates over values[slot]. False when an operation has no result; `*why` then says which. */
bool rung_expr_eval(uint64_t *out, const struct rung_expr *expr, const uint64_t *values,
                    const char **why);

/* left op right, for an assignment operator such as "*=". */
bool rung_expr_assign(uint64_t *out, const char *operation, uint64_t left, uint64_t right,
                      const char **why);

/* Whether the expression has a hexadecimal literal: its value then prints as one. */
bool rung_expr_is_hex(const struct rung_expr *expr);

/* Whether the bindings make the whole expression one value. */
bool rung_expr_constant(const struct rung_expr *expr, const struct rung_binding *bindings);

/* Whether every name in the expression has allowed[slot]. */
bool rung_expr_uses_only(const struct rung_expr *expr, const bool *allowed);

/* Whether two expressions are spelled alike. */
bool rung_expr_same(const struct rung_expr *a, const struct rung_expr *b);

/* The expression as constant + per_x * x + per_y * y, where x and y are the slots given and every
 * other variable has its value. False where it is no such sum. */
struct rung_affine {
    uint64_t constant, per_x, per_y;
};
bool rung_expr_affine(struct rung_affine *out, const struct rung_expr *expr, int x, int y,
                      const uint64_t *values);

/* Appends the expression as C. Whatever the bindings make constant is folded to one literal. */
void rung_expr_print(struct rung_text *text, const struct rung_expr *expr,
                     const struct rung_scope *scope, const struct rung_binding *bindings);

#endif
