/* What an expression comes to: its value, and its form as a sum of multiples of two variables. */
#include <string.h>

#include "gen/expr_node.h"

static bool refuse(const char **why, const char *reason)
{
    *why = reason;
    return false;
}

bool rung_expr_apply(uint64_t *out, enum rung_op_code op, uint64_t a, uint64_t b, const char **why)
{
    switch (op) {
    case OP_ADD:
        *out = a + b;
        return *out >= a || refuse(why, "a sum is above 2^64 - 1");
    case OP_SUB:
        *out = a - b;
        return a >= b || refuse(why, "a difference is below zero");
    case OP_MUL:
        *out = a * b;
        return !a || *out / a == b || refuse(why, "a product is above 2^64 - 1");
    case OP_DIV:
        if (b == 0)
            return refuse(why, "a division by zero");
        *out = a / b;
        return true;
    case OP_MOD:
        if (b == 0)
            return refuse(why, "a remainder by zero");
        *out = a % b;
        return true;
    case OP_SHL:
        if (b > 63 || a > UINT64_MAX >> b)
            return refuse(why, "a shift is above 2^64 - 1");
        *out = a << b;
        return true;
    case OP_SHR:
        *out = b > 63 ? 0 : a >> b;
        return true;
    case OP_BIT_OR:
        *out = a | b;
        return true;
    case OP_BIT_XOR:
        *out = a ^ b;
        return true;
    case OP_BIT_AND:
        *out = a & b;
        return true;
    case OP_EQ:
        *out = a == b;
        return true;
    case OP_NE:
        *out = a != b;
        return true;
    case OP_LE:
        *out = a <= b;
        return true;
    case OP_GE:
        *out = a >= b;
        return true;
    case OP_LT:
        *out = a < b;
        return true;
    case OP_GT:
        *out = a > b;
        return true;
    case OP_OR:
    case OP_AND:
    case OP_LITERAL:
    case OP_NAME:
    case OP_PAREN:
    case OP_NOT:
    case OP_CHOOSE:
        break; /* evaluated by their own rules below */
    }
    return refuse(why, "not an operation");
}

bool rung_expr_eval(uint64_t *out, const struct rung_expr *expr, const uint64_t *values,
                    const char **why)
{
    uint64_t a, b;
    switch (expr->op) {
    case OP_LITERAL:
        *out = expr->value;
        return true;
    case OP_NAME:
        *out = values[expr->slot];
        return true;
    case OP_PAREN:
        return rung_expr_eval(out, expr->a, values, why);
    default:
        break;
    }
    if (!rung_expr_eval(&a, expr->a, values, why))
        return false;
    switch (expr->op) {
    case OP_NOT:
        *out = !a;
        return true;
    case OP_CHOOSE:
        return rung_expr_eval(out, a ? expr->b : expr->c, values, why);
    case OP_OR:
    case OP_AND:
        *out = expr->op == OP_OR;
        if ((a != 0) == (expr->op == OP_OR))
            return true;
        if (!rung_expr_eval(&b, expr->b, values, why))
            return false;
        *out = b != 0;
        return true;
    default:
        return rung_expr_eval(&b, expr->b, values, why) &&
               rung_expr_apply(out, expr->op, a, b, why);
    }
}

bool rung_expr_assign(uint64_t *out, const char *operation, uint64_t left, uint64_t right,
                      const char **why)
{
    size_t length = strlen(operation) - 1;
    for (enum rung_op_code op = 0; op < N_BINARY; op++)
        if (strlen(rung_operators[op].spelling) == length &&
            memcmp(rung_operators[op].spelling, operation, length) == 0)
            return rung_expr_apply(out, op, left, right, why);
    return refuse(why, "not an operation");
}

bool rung_expr_is_hex(const struct rung_expr *expr)
{
    return expr && (expr->hex || rung_expr_is_hex(expr->a) || rung_expr_is_hex(expr->b) ||
                    rung_expr_is_hex(expr->c));
}

bool rung_expr_uses_only(const struct rung_expr *expr, const bool *allowed)
{
    if (!expr)
        return true;
    if (expr->op == OP_NAME)
        return allowed[expr->slot];
    return rung_expr_uses_only(expr->a, allowed) && rung_expr_uses_only(expr->b, allowed) &&
           rung_expr_uses_only(expr->c, allowed);
}

bool rung_expr_same(const struct rung_expr *a, const struct rung_expr *b)
{
    if (!a || !b)
        return a == b;
    return a->op == b->op && a->value == b->value && a->slot == b->slot &&
           rung_expr_same(a->a, b->a) && rung_expr_same(a->b, b->b) && rung_expr_same(a->c, b->c);
}

static bool mentions(const struct rung_expr *expr, int x, int y)
{
    if (!expr)
        return false;
    if (expr->op == OP_NAME)
        return expr->slot == x || expr->slot == y;
    return mentions(expr->a, x, y) || mentions(expr->b, x, y) || mentions(expr->c, x, y);
}

static bool scale(struct rung_affine *form, uint64_t factor)
{
    const char *why;
    return rung_expr_apply(&form->constant, OP_MUL, form->constant, factor, &why) &&
           rung_expr_apply(&form->per_x, OP_MUL, form->per_x, factor, &why) &&
           rung_expr_apply(&form->per_y, OP_MUL, form->per_y, factor, &why);
}

bool rung_expr_affine(struct rung_affine *out, const struct rung_expr *expr, int x, int y,
                      const uint64_t *values)
{
    struct rung_affine a = {0}, b = {0};
    const char *why;
    if (!mentions(expr, x, y)) {
        *out = a;
        return rung_expr_eval(&out->constant, expr, values, &why);
    }
    if (expr->op == OP_NAME) {
        *out = (struct rung_affine){.per_x = expr->slot == x, .per_y = expr->slot == y};
        return true;
    }
    if (expr->op == OP_PAREN)
        return rung_expr_affine(out, expr->a, x, y, values);
    if (expr->op != OP_ADD && expr->op != OP_MUL)
        return false;
    if (!rung_expr_affine(&a, expr->a, x, y, values) ||
        !rung_expr_affine(&b, expr->b, x, y, values))
        return false;
    if (expr->op == OP_MUL) {
        bool left_varies = a.per_x || a.per_y;
        if (left_varies && (b.per_x || b.per_y))
            return false;
        *out = left_varies ? a : b;
        return scale(out, left_varies ? b.constant : a.constant);
    }
    return rung_expr_apply(&out->constant, OP_ADD, a.constant, b.constant, &why) &&
           rung_expr_apply(&out->per_x, OP_ADD, a.per_x, b.per_x, &why) &&
           rung_expr_apply(&out->per_y, OP_ADD, a.per_y, b.per_y, &why);
}
