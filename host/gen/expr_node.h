/* The tree of an expression, shared by the parser and the walks over it. */
#ifndef RUNG_GEN_EXPR_NODE_H
#define RUNG_GEN_EXPR_NODE_H

#include "gen/expr.h"

enum rung_op_code {
#define OPERATOR(name, spelling, precedence) OP_##name,
#include "gen/operators.def"
#undef OPERATOR
    N_BINARY,
    OP_LITERAL = N_BINARY,
    OP_NAME,
    OP_PAREN, /* kept, so that an expression prints as its author wrote it */
    OP_NOT,
    OP_CHOOSE
};

struct rung_operator {
    const char *spelling;
    int precedence; /* higher binds tighter */
};
extern const struct rung_operator rung_operators[N_BINARY];
#define PRECEDENCE_CHOOSE 0
#define PRECEDENCE_UNARY 11

struct rung_expr {
    enum rung_op_code op;
    uint64_t value; /* of a literal */
    bool hex, is_unsigned;
    int slot; /* of a name */
    const struct rung_expr *a, *b, *c;
};

/* The result of a binary operator other than && and ||; false, and why, when there is none. */
bool rung_expr_apply(uint64_t *out, enum rung_op_code op, uint64_t a, uint64_t b, const char **why);

#endif
