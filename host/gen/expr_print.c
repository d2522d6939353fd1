/* Expressions as C, with what the bindings make constant folded away. */
#include "gen/expr_node.h"

struct printer {
    struct rung_text *text;
    const struct rung_scope *scope;
    const struct rung_binding *bindings;
};

/* What the bindings make of a subtree that is constant under them. */
struct folded {
    uint64_t value;
    bool hex, is_unsigned;
};

static bool fold(struct folded *out, const struct printer *p, const struct rung_expr *expr);

/* && and ||: one side may decide whatever the other is. */
static bool fold_logic(struct folded *out, const struct printer *p, const struct rung_expr *expr)
{
    struct folded a, b;
    bool decides = expr->op == OP_OR;
    bool a_known = fold(&a, p, expr->a), b_known = fold(&b, p, expr->b);
    *out = (struct folded){.value = decides};
    if ((a_known && (a.value != 0) == decides) || (b_known && (b.value != 0) == decides))
        return true;
    out->value = !decides;
    return a_known && b_known;
}

static bool fold(struct folded *out, const struct printer *p, const struct rung_expr *expr)
{
    const char *why;
    struct folded a, b = {0};
    if (expr->op == OP_OR || expr->op == OP_AND)
        return fold_logic(out, p, expr);
    if (expr->op == OP_LITERAL) {
        *out = (struct folded){expr->value, expr->hex, expr->is_unsigned};
        return true;
    }
    if (expr->op == OP_NAME) {
        const struct rung_binding *binding = &p->bindings[expr->slot];
        *out = (struct folded){binding->value, binding->hex, false};
        return binding->kind == RUNG_BIND_VALUE ||
               (binding->kind == RUNG_BIND_EXPR && fold(out, p, binding->expr));
    }
    if (!fold(&a, p, expr->a))
        return false;
    if (expr->op == OP_PAREN) {
        *out = a;
        return true;
    }
    if (expr->op == OP_NOT) {
        *out = (struct folded){.value = !a.value};
        return true;
    }
    if (expr->op == OP_CHOOSE)
        return fold(out, p, a.value ? expr->b : expr->c);
    if (!fold(&b, p, expr->b))
        return false;
    out->hex = a.hex || b.hex;
    out->is_unsigned = a.is_unsigned || b.is_unsigned;
    return rung_expr_apply(&out->value, expr->op, a.value, b.value, &why);
}

bool rung_expr_constant(const struct rung_expr *expr, const struct rung_binding *bindings)
{
    struct folded folded;
    const struct printer printer = {.bindings = bindings};
    return fold(&folded, &printer, expr);
}

static void print_literal(struct rung_text *text, struct folded literal)
{
    const char *suffix = literal.value > UINT32_MAX                         ? "ull"
                         : literal.is_unsigned || literal.value > INT32_MAX ? "u"
                                                                            : "";
    rung_text_format(text, literal.hex ? "0x%llx%s" : "%llu%s", (unsigned long long)literal.value,
                     suffix);
}

static void print(const struct printer *p, const struct rung_expr *expr, int context);

static void print_name(const struct printer *p, int slot, int context)
{
    const struct rung_binding *binding = &p->bindings[slot];
    if (binding->kind == RUNG_BIND_EXPR)
        print(p, binding->expr, context);
    else
        rung_text_append(p->text,
                         binding->kind == RUNG_BIND_TEXT ? binding->text : p->scope->names[slot]);
}

/* `context` is the lowest precedence that needs no parentheses where the expression stands. */
static void print(const struct printer *p, const struct rung_expr *expr, int context)
{
    struct folded literal;
    if (fold(&literal, p, expr)) {
        print_literal(p->text, literal);
        return;
    }
    if (expr->op == OP_NAME) {
        print_name(p, expr->slot, context);
        return;
    }
    if (expr->op == OP_OR || expr->op == OP_AND) { /* a side that is known does not decide */
        struct folded side;
        if (fold(&side, p, expr->a) || fold(&side, p, expr->b)) {
            print(p, fold(&side, p, expr->a) ? expr->b : expr->a, context);
            return;
        }
    }
    int precedence = expr->op < N_BINARY     ? rung_operators[expr->op].precedence
                     : expr->op == OP_CHOOSE ? PRECEDENCE_CHOOSE
                                             : PRECEDENCE_UNARY;
    bool wrapped = precedence < context || expr->op == OP_PAREN;
    rung_text_append(p->text, wrapped ? "(" : "");
    if (expr->op == OP_PAREN) {
        print(p, expr->a, 0);
    } else if (expr->op == OP_NOT) {
        rung_text_append(p->text, "!");
        print(p, expr->a, PRECEDENCE_UNARY);
    } else if (expr->op == OP_CHOOSE) {
        print(p, expr->a, PRECEDENCE_CHOOSE + 1);
        rung_text_append(p->text, " ? ");
        print(p, expr->b, PRECEDENCE_CHOOSE);
        rung_text_append(p->text, " : ");
        print(p, expr->c, PRECEDENCE_CHOOSE);
    } else {
        print(p, expr->a, precedence);
        rung_text_format(p->text, " %s ", rung_operators[expr->op].spelling);
        print(p, expr->b, precedence + 1);
    }
    rung_text_append(p->text, wrapped ? ")" : "");
}

void rung_expr_print(struct rung_text *text, const struct rung_expr *expr,
                     const struct rung_scope *scope, const struct rung_binding *bindings)
{
    const struct printer printer = {text, scope, bindings};
    print(&printer, expr, 0);
}
