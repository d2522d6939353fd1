/* A function's body: declarations, labels, scopes, instructions. */
#include "ptx/parser.h"

#include <string.h>

struct scope {
    uint32_t id, first_instruction, n_declarations, n_symbols;
};

/* .loc FILE LINE COLUMN [, function_name LABEL [+ N], inlined_at FILE LINE COLUMN] */
bool rung_ptx_parse_loc(struct ptx_parser *parser)
{
    uint64_t file, line, column;
    if (!rung_ptx_expect_integer(parser, &file, UINT32_MAX) ||
        !rung_ptx_expect_integer(parser, &line, UINT32_MAX) ||
        !rung_ptx_expect_integer(parser, &column, UINT32_MAX))
        return false;
    parser->source_file = (unsigned)file;
    parser->source_line = (unsigned)line;
    while (rung_ptx_accept(parser, ",")) {
        if (parser->token.kind != RUNG_PTX_TOKEN_WORD)
            return rung_ptx_fail_expected(parser, "`function_name` or `inlined_at`");
        bool inlined = rung_ptx_at(parser, "inlined_at");
        rung_ptx_advance(parser);
        if (inlined && (!rung_ptx_expect_integer(parser, &file, UINT32_MAX) ||
                        !rung_ptx_expect_integer(parser, &line, UINT32_MAX) ||
                        !rung_ptx_expect_integer(parser, &column, UINT32_MAX)))
            return false;
        if (!inlined) {
            rung_ptx_advance(parser); /* the label of the name */
            if (rung_ptx_accept(parser, "+") && !rung_ptx_expect_integer(parser, &line, UINT32_MAX))
                return false;
        }
    }
    return true;
}

static bool parse_local_variable(struct ptx_parser *parser, enum rung_ptx_space space)
{
    struct rung_ptx_symbol *symbol;
    do {
        if (!rung_ptx_parse_variable(parser, &symbol, space, false) ||
            !rung_ptx_array_add_pointer(parser, &parser->local_symbols, symbol) ||
            !rung_ptx_array_add_pointer(parser, &parser->scope_symbols, symbol))
            return false;
    } while (rung_ptx_accept(parser, ","));
    return rung_ptx_expect(parser, ";");
}

static bool parse_body_directive(struct ptx_parser *parser)
{
    if (rung_ptx_accept(parser, ".reg"))
        return rung_ptx_parse_registers(parser);
    if (rung_ptx_accept(parser, ".loc"))
        return rung_ptx_parse_loc(parser);
    if (rung_ptx_accept(parser, ".pragma") || rung_ptx_accept(parser, ".branchtargets") ||
        rung_ptx_accept(parser, ".calltargets") || rung_ptx_accept(parser, ".callprototype"))
        return rung_ptx_skip_statement(parser);
    enum rung_ptx_space space = rung_ptx_space_of(&parser->token);
    if (space == RUNG_PTX_SPACE_NONE)
        return rung_ptx_fail_expected(parser, "an instruction");
    rung_ptx_advance(parser);
    return parse_local_variable(parser, space);
}

static bool add_label(struct ptx_parser *parser, const struct rung_ptx_token *name, uint32_t scope)
{
    struct rung_ptx_label *labels = parser->labels.items;
    const uint32_t *scopes = parser->label_scopes.items;
    for (uint32_t i = 0; i < parser->labels.count; i++)
        if (scopes[i] == scope && rung_ptx_token_is(name, labels[i].name))
            return rung_ptx_fail(parser, name->line,
                                 "label `%s` is defined again (first on line %u)", labels[i].name,
                                 labels[i].line);
    struct rung_ptx_label *label = rung_ptx_array_add(parser, &parser->labels, sizeof *label);
    uint32_t *slot = rung_ptx_array_add(parser, &parser->label_scopes, sizeof *slot);
    if (!label || !slot)
        return false;
    label->name = rung_ptx_copy(parser, name->text, name->length);
    label->target = parser->instructions.count;
    label->line = name->line;
    *slot = scope;
    return label->name;
}

/* A word begins a label or an instruction: one more token tells which. */
static bool parse_statement(struct ptx_parser *parser, const struct scope *scope)
{
    if (parser->token.kind == RUNG_PTX_TOKEN_DOTTED)
        return parse_body_directive(parser);
    if (parser->token.kind == RUNG_PTX_TOKEN_WORD) {
        struct rung_ptx_lexer ahead = parser->lexer;
        struct rung_ptx_token next = rung_ptx_lexer_next(&ahead);
        if (next.kind == RUNG_PTX_TOKEN_PUNCT && *next.text == ':') {
            struct rung_ptx_token name = parser->token;
            rung_ptx_advance(parser);
            rung_ptx_advance(parser);
            return add_label(parser, &name, scope->id);
        }
    }
    return rung_ptx_parse_instruction(parser);
}

bool rung_ptx_parse_body(struct ptx_parser *parser)
{
    struct scope scopes[PTX_NESTING_MAX];
    unsigned depth = 1;
    scopes[0] = (struct scope){.id = parser->next_scope++};
    while (depth) {
        struct scope *top = &scopes[depth - 1];
        if (rung_ptx_at(parser, "{")) {
            if (depth == PTX_NESTING_MAX)
                return rung_ptx_fail(parser, parser->token.line, "braces are nested too deep");
            scopes[depth++] =
                (struct scope){parser->next_scope++, parser->instructions.count,
                               parser->declarations.count, parser->scope_symbols.count};
            rung_ptx_advance(parser);
        } else if (rung_ptx_at(parser, "}")) {
            rung_ptx_resolve_labels(parser, top->first_instruction, top->id);
            if (--depth) {
                parser->declarations.count = top->n_declarations;
                parser->scope_symbols.count = top->n_symbols;
            }
            rung_ptx_advance(parser);
        } else if (!parse_statement(parser, top)) {
            return false;
        }
    }
    return true;
}
