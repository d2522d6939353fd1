/* Expressions: a recursive-descent parser over the table of operators. The walks over the tree that
 * it makes are expr_eval.c's and expr_print.c's. */
#include <string.h>

#include "gen/expr_node.h"

#define DEPTH_MAX 64

const struct rung_operator rung_operators[N_BINARY] = {
#define OPERATOR(name, spelling, precedence) [OP_##name] = {spelling, precedence},
#include "gen/operators.def"
#undef OPERATOR
};

int rung_scope_find(const struct rung_scope *scope, const char *name, size_t length)
{
    for (size_t i = 0; i < scope->n_names; i++)
        if (strlen(scope->names[i]) == length && memcmp(scope->names[i], name, length) == 0)
            return (int)i;
    return -1;
}

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
static enum rung_op_code operator_at(const char *at)
{
    for (enum rung_op_code op = 0; op < N_BINARY; op++) {
        size_t length = strlen(rung_operators[op].spelling);
        if (strncmp(at, rung_operators[op].spelling, length) != 0)
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
        enum rung_op_code op = operator_at(p->at);
        if (op == N_BINARY || rung_operators[op].precedence < lowest)
            return left;
        p->at += strlen(rung_operators[op].spelling);
        const struct rung_expr *right = parse_binary(p, rung_operators[op].precedence + 1);
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
