/* A function's body: declarations, labels, scopes, instructions. */
#include "ptx/parser.h"

#include <string.h>

struct scope {
    uint32_t id, first_instruction, n_declarations, n_symbols;
};

/* .loc FILE LINE COLUMN [, function_name LABEL [+ N], inlined_at FILE LINE COLUMN] */
bool ptx_parse_loc(struct ptx_parser *parser)
{
    uint64_t file, line, column;
    if (!ptx_expect_integer(parser, &file, UINT32_MAX) ||
        !ptx_expect_integer(parser, &line, UINT32_MAX) ||
        !ptx_expect_integer(parser, &column, UINT32_MAX))
        return false;
    parser->source_file = (unsigned)file;
    parser->source_line = (unsigned)line;
    while (ptx_accept(parser, ",")) {
        if (parser->token.kind != RUNG_PTX_TOKEN_WORD)
            return ptx_fail_expected(parser, "`function_name` or `inlined_at`");
        bool inlined = ptx_at(parser, "inlined_at");
        ptx_advance(parser);
        if (inlined && (!ptx_expect_integer(parser, &file, UINT32_MAX) ||
                        !ptx_expect_integer(parser, &line, UINT32_MAX) ||
                        !ptx_expect_integer(parser, &column, UINT32_MAX)))
            return false;
        if (!inlined) {
            ptx_advance(parser); /* the label of the name */
            if (ptx_accept(parser, "+") && !ptx_expect_integer(parser, &line, UINT32_MAX))
                return false;
        }
    }
    return true;
}

static bool parse_local_variable(struct ptx_parser *parser, enum rung_ptx_space space)
{
    struct rung_ptx_symbol *symbol;
    do {
        if (!ptx_parse_variable(parser, &symbol, space, false) ||
            !ptx_array_add_pointer(parser, &parser->local_symbols, symbol) ||
            !ptx_array_add_pointer(parser, &parser->scope_symbols, symbol))
            return false;
    } while (ptx_accept(parser, ","));
    return ptx_expect(parser, ";");
}

static bool parse_body_directive(struct ptx_parser *parser)
{
    if (ptx_accept(parser, ".reg"))
        return ptx_parse_registers(parser);
    if (ptx_accept(parser, ".loc"))
        return ptx_parse_loc(parser);
    if (ptx_accept(parser, ".pragma") || ptx_accept(parser, ".branchtargets") ||
        ptx_accept(parser, ".calltargets") || ptx_accept(parser, ".callprototype"))
        return ptx_skip_statement(parser);
    enum rung_ptx_space space = ptx_space_of(&parser->token);
    if (space == RUNG_PTX_SPACE_NONE)
        return ptx_fail_expected(parser, "an instruction");
    ptx_advance(parser);
    return parse_local_variable(parser, space);
}

static bool add_label(struct ptx_parser *parser, const struct rung_ptx_token *name, uint32_t scope)
{
    struct rung_ptx_label *labels = parser->labels.items;
    const uint32_t *scopes = parser->label_scopes.items;
    for (uint32_t i = 0; i < parser->labels.count; i++)
        if (scopes[i] == scope && rung_ptx_token_is(name, labels[i].name))
            return ptx_fail(parser, name->line, "label `%s` is defined again (first on line %u)",
                            labels[i].name, labels[i].line);
    struct rung_ptx_label *label = ptx_array_add(parser, &parser->labels, sizeof *label);
    uint32_t *slot = ptx_array_add(parser, &parser->label_scopes, sizeof *slot);
    if (!label || !slot)
        return false;
    label->name = ptx_copy(parser, name->text, name->length);
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
            ptx_advance(parser);
            ptx_advance(parser);
            return add_label(parser, &name, scope->id);
        }
    }
    return ptx_parse_instruction(parser);
}

bool ptx_parse_body(struct ptx_parser *parser)
{
    struct scope scopes[PTX_NESTING_MAX];
    unsigned depth = 1;
    scopes[0] = (struct scope){.id = parser->next_scope++};
    while (depth) {
        struct scope *top = &scopes[depth - 1];
        if (ptx_at(parser, "{")) {
            if (depth == PTX_NESTING_MAX)
                return ptx_fail(parser, parser->token.line, "braces are nested too deep");
            scopes[depth++] =
                (struct scope){parser->next_scope++, parser->instructions.count,
                               parser->declarations.count, parser->scope_symbols.count};
            ptx_advance(parser);
        } else if (ptx_at(parser, "}")) {
            ptx_resolve_labels(parser, top->first_instruction, top->id);
            if (--depth) {
                parser->declarations.count = top->n_declarations;
                parser->scope_symbols.count = top->n_symbols;
            }
            ptx_advance(parser);
        } else if (!parse_statement(parser, top)) {
            return false;
        }
    }
    return true;
}
