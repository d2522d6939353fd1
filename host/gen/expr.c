/* Expressions: one recursive-descent parser over a table of operators, and three walks over the
 * tree it makes: evaluate, linear form, print. */
#include "gen/expr.h"

#include <string.h>

#define DEPTH_MAX 64

enum op {
    OP_OR,
    OP_AND,
    OP_BIT_OR,
    OP_BIT_XOR,
    OP_BIT_AND,
    OP_EQ,
    OP_NE,
    OP_LE,
    OP_GE,
    OP_SHL,
    OP_SHR,
    OP_LT,
    OP_GT,
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_DIV,
    OP_MOD,
    N_BINARY,
    OP_LITERAL = N_BINARY,
    OP_NAME,
    OP_PAREN,
    OP_NOT,
    OP_CHOOSE
};

/* Longer spellings first, so that "<<" is not read as "<". */
static const struct {
    const char *spelling;
    int precedence;
} binary[N_BINARY] = {
    [OP_OR] = {"||", 1 },
      [OP_AND] = {"&&", 2 },
      [OP_BIT_OR] = {"|",  3 },
      [OP_BIT_XOR] = {"^",  4 },
    [OP_BIT_AND] = {"&",  5 },
      [OP_EQ] = {"==", 6 },
      [OP_NE] = {"!=", 6 },
      [OP_LE] = {"<=", 7 },
    [OP_GE] = {">=", 7 },
      [OP_SHL] = {"<<", 8 },
      [OP_SHR] = {">>", 8 },
      [OP_LT] = {"<",  7 },
    [OP_GT] = {">",  7 },
      [OP_ADD] = {"+",  9 },
      [OP_SUB] = {"-",  9 },
      [OP_MUL] = {"*",  10},
    [OP_DIV] = {"/",  10},
      [OP_MOD] = {"%",  10},
};
#define PRECEDENCE_CHOOSE 0
#define PRECEDENCE_UNARY 11

struct rung_expr {
    enum op op;
    uint64_t value; /* of a literal */
    bool hex, is_unsigned;
    int slot; /* of a name */
    const struct rung_expr *a, *b, *c;
};

int rung_scope_find(const struct rung_scope *scope, const char *name, size_t length)
{
    for (size_t i = 0; i < scope->n_names; i++)
        if (strlen(scope->names[i]) == length && memcmp(scope->names[i], name, length) == 0)
            return (int)i;
    return -1;
}

/* ---- parsing ---- */

struct parser {
    struct rung_arena *arena;
    const struct rung_scope *scope;
    struct rung_place place;
    const char *at;
    struct rung_error *err;
    unsigned depth;
};

static const struct rung_expr *parse_choose(struct parser *p);

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static size_t name_length(const char *at)
{
    size_t length = 0;
    while (is_name_start(at[length]) || is_digit(at[length]) || at[length] == '.')
        length++;
    return length;
}

static void skip_blanks(struct parser *p)
{
    while (*p->at == ' ' || *p->at == '\t')
        p->at++;
}

static const struct rung_expr *fail(struct parser *p, const char *message)
{
    size_t length = strcspn(p->at, "\n");
    rung_fail(p->err, RUNG_USAGE, "%s:%u: %s at '%.*s'", p->place.file, p->place.line, message,
              (int)(length < 40 ? length : 40), p->at);
    return NULL;
}

static const struct rung_expr *make(struct parser *p, struct rung_expr node)
{
    struct rung_expr *expr = rung_arena_alloc(p->arena, sizeof *expr);
    if (!expr) {
        rung_fail(p->err, RUNG_MEMORY, "out of memory");
        return NULL;
    }
    *expr = node;
    return expr;
}

static const struct rung_expr *parse_literal(struct parser *p)
{
    struct rung_expr node = {.op = OP_LITERAL};
    node.hex = p->at[0] == '0' && p->at[1] == 'x';
    const char *digits = node.hex ? "0123456789abcdef" : "0123456789";
    const char *start = p->at + (node.hex ? 2 : 0);
    const char *at = start;
    for (const char *digit; *at && (digit = strchr(digits, *at)) != NULL; at++) {
        uint64_t base = node.hex ? 16 : 10;
        if (node.value > (UINT64_MAX - (uint64_t)(digit - digits)) / base)
            return fail(p, "a literal above 2^64 - 1");
        node.value = node.value * base + (uint64_t)(digit - digits);
    }
    if (at == start)
        return fail(p, "a literal without digits");
    node.is_unsigned = *at == 'u';
    at += node.is_unsigned;
    if (name_length(at) > 0)
        return fail(p, "not an integer literal");
    p->at = at;
    return make(p, node);
}

static const struct rung_expr *parse_name(struct parser *p)
{
    size_t length = name_length(p->at);
    int slot = rung_scope_find(p->scope, p->at, length);
    if (slot < 0) {
        struct rung_text known = {0};
        for (size_t i = 0; i < p->scope->n_names; i++)
            rung_text_format(&known, "%s%s", i ? ", " : "", p->scope->names[i]);
        rung_fail(p->err, RUNG_USAGE, "%s:%u: '%.*s' is not known here; known are %s",
                  p->place.file, p->place.line, (int)length, p->at, rung_text_string(&known));
        rung_text_release(&known);
        return NULL;
    }
    p->at += length;
    return make(p, (struct rung_expr){.op = OP_NAME, .slot = slot});
}

static const struct rung_expr *parse_primary(struct parser *p)
{
    skip_blanks(p);
    if (p->depth > DEPTH_MAX)
        return fail(p, "an expression nested too deeply");
    if (is_digit(*p->at))
        return parse_literal(p);
    if (is_name_start(*p->at))
        return parse_name(p);
    if (*p->at != '(' && !(*p->at == '!' && p->at[1] != '='))
        return fail(p, "an expression must stand");
    bool negated = *p->at++ == '!';
    p->depth++;
    const struct rung_expr *inner = negated ? parse_primary(p) : parse_choose(p);
    p->depth--;
    if (!inner)
        return NULL;
    if (!negated) {
        skip_blanks(p);
        if (*p->at != ')')
            return fail(p, "')' is missing");
        p->at++;
    }
    return make(p, (struct rung_expr){.op = negated ? OP_NOT : OP_PAREN, .a = inner});
}

/* The binary operator at the cursor, or N_BINARY; an assignment such as "+=" is none. */
static enum op operator_at(const char *at)
{
    for (enum op op = 0; op < N_BINARY; op++) {
        size_t length = strlen(binary[op].spelling);
        if (strncmp(at, binary[op].spelling, length) != 0)
            continue;
        bool compares = op == OP_EQ || op == OP_NE || op == OP_LE || op == OP_GE;
        return !compares && at[length] == '=' ? N_BINARY : op;
    }
    return N_BINARY;
}

static const struct rung_expr *parse_binary(struct parser *p, int lowest)
{
    const struct rung_expr *left = parse_primary(p);
    while (left) {
        skip_blanks(p);
        enum op op = operator_at(p->at);
        if (op == N_BINARY || binary[op].precedence < lowest)
            return left;
        p->at += strlen(binary[op].spelling);
        const struct rung_expr *right = parse_binary(p, binary[op].precedence + 1);
        if (!right)
            return NULL;
        left = make(p, (struct rung_expr){.op = op, .a = left, .b = right});
    }
    return NULL;
}

static const struct rung_expr *parse_choose(struct parser *p)
{
    const struct rung_expr *test = parse_binary(p, 1);
    if (!test)
        return NULL;
    skip_blanks(p);
    if (*p->at != '?')
        return test;
    if (++p->depth > DEPTH_MAX)
        return fail(p, "an expression nested too deeply");
    p->at++;
    const struct rung_expr *yes = parse_choose(p);
    if (!yes)
        return NULL;
    skip_blanks(p);
    if (*p->at != ':')
        return fail(p, "':' is missing");
    p->at++;
    const struct rung_expr *no = parse_choose(p);
    p->depth--;
    return no ? make(p, (struct rung_expr){.op = OP_CHOOSE, .a = test, .b = yes, .c = no}) : NULL;
}

enum rung_status rung_expr_parse(const struct rung_expr **out, struct rung_arena *arena,
                                 const struct rung_scope *scope, struct rung_place place,
                                 const char **at, struct rung_error *err)
{
    /* The status is read from the record, so there must be one. */
    struct rung_error local = {0};
    struct parser parser = {
        .arena = arena, .scope = scope, .place = place, .at = *at, .err = err ? err : &local};
    const struct rung_expr *expr = parse_choose(&parser);
    if (!expr)
        return parser.err->status;
    skip_blanks(&parser);
    *at = parser.at;
    *out = expr;
    return RUNG_OK;
}

/* ---- evaluation ---- */

static bool refuse(const char **why, const char *reason)
{
    *why = reason;
    return false;
}

static bool arithmetic(uint64_t *out, enum op op, uint64_t a, uint64_t b, const char **why)
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
        return rung_expr_eval(&b, expr->b, values, why) && arithmetic(out, expr->op, a, b, why);
    }
}

bool rung_expr_assign(uint64_t *out, const char *operation, uint64_t left, uint64_t right,
                      const char **why)
{
    size_t length = strlen(operation) - 1;
    for (enum op op = 0; op < N_BINARY; op++)
        if (strlen(binary[op].spelling) == length &&
            memcmp(binary[op].spelling, operation, length) == 0)
            return arithmetic(out, op, left, right, why);
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

/* ---- linear form ---- */

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
    return arithmetic(&form->constant, OP_MUL, form->constant, factor, &why) &&
           arithmetic(&form->per_x, OP_MUL, form->per_x, factor, &why) &&
           arithmetic(&form->per_y, OP_MUL, form->per_y, factor, &why);
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
    return arithmetic(&out->constant, OP_ADD, a.constant, b.constant, &why) &&
           arithmetic(&out->per_x, OP_ADD, a.per_x, b.per_x, &why) &&
           arithmetic(&out->per_y, OP_ADD, a.per_y, b.per_y, &why);
}

/* ---- printing ---- */

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
    return arithmetic(&out->value, expr->op, a.value, b.value, &why);
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
    int precedence = expr->op < N_BINARY     ? binary[expr->op].precedence
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
        rung_text_format(p->text, " %s ", binary[expr->op].spelling);
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
