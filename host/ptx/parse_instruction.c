/* Instructions: the guard, the opcode's words, the operands, and the names in them. */
#include "ptx/opcodes.h"
#include "ptx/parser.h"

#include <string.h>

static bool parse_guard(struct ptx_parser *parser, struct rung_ptx_instruction *out)
{
    if (!rung_ptx_accept(parser, "@"))
        return true;
    out->guarded = true;
    out->guard_negated = rung_ptx_accept(parser, "!");
    const struct rung_ptx_token *token = &parser->token;
    if (token->kind != RUNG_PTX_TOKEN_WORD ||
        !rung_ptx_find_register(parser, &out->guard, token->text, token->length))
        return rung_ptx_fail_expected(parser, "a predicate register");
    const struct rung_ptx_register *registers = parser->registers.items;
    if (registers[out->guard].type != RUNG_PTX_PRED)
        return rung_ptx_fail_expected(parser, "a predicate register");
    rung_ptx_advance(parser);
    return true;
}

static void note_word(struct rung_ptx_instruction *out, const char *word, size_t length)
{
    static const uint8_t spaces[] = {
        [RUNG_PTX_M_PARAM] = RUNG_PTX_SPACE_PARAM,   [RUNG_PTX_M_SHARED] = RUNG_PTX_SPACE_SHARED,
        [RUNG_PTX_M_GLOBAL] = RUNG_PTX_SPACE_GLOBAL, [RUNG_PTX_M_CONST] = RUNG_PTX_SPACE_CONST,
        [RUNG_PTX_M_LOCAL] = RUNG_PTX_SPACE_LOCAL,
    };
    enum rung_ptx_type type = rung_ptx_type_of(word, length);
    int modifier = type ? -1 : rung_ptx_modifier_find(word, length);
    if (type && out->n_types < RUNG_PTX_TYPES_MAX)
        out->types[out->n_types++] = type;
    else if (modifier >= 0)
        out->modifiers.words[modifier / 64] |= UINT64_C(1) << modifier % 64;
    else
        out->has_unknown_word = true;
    if (modifier >= 0 && (size_t)modifier < sizeof spaces && !out->space)
        out->space = spaces[modifier];
    if (modifier == RUNG_PTX_M_V2 || modifier == RUNG_PTX_M_V4 || modifier == RUNG_PTX_M_V8)
        out->vector = (uint8_t)(word[1] - '0');
}

/* The opcode's words may not be apart, so its text is one piece of the input. */
static bool parse_opcode(struct ptx_parser *parser, struct rung_ptx_instruction *out)
{
    struct rung_ptx_token first = parser->token;
    if (first.kind != RUNG_PTX_TOKEN_WORD || *first.text == '%')
        return rung_ptx_fail_expected(parser, "an instruction");
    size_t length = first.length;
    out->line = first.line;
    out->vector = 1;
    out->opcode = rung_ptx_opcode_find(first.text, first.length);
    out->mnemonic = rung_ptx_copy(parser, first.text, first.length);
    rung_ptx_advance(parser);
    while (parser->token.kind == RUNG_PTX_TOKEN_DOTTED &&
           parser->token.text == first.text + length) {
        note_word(out, parser->token.text + 1, parser->token.length - 1);
        length += parser->token.length;
        rung_ptx_advance(parser);
    }
    out->text = rung_ptx_copy(parser, first.text, length);
    return out->mnemonic && out->text;
}

/* `call` may have its result list and callee without commas missing; everything else is a plain
 * list. */
static bool parse_operands(struct ptx_parser *parser, struct rung_ptx_instruction *out)
{
    struct ptx_array operands = {0};
    if (rung_ptx_accept(parser, ";"))
        return true;
    do {
        struct rung_ptx_operand *operand = rung_ptx_array_add(parser, &operands, sizeof *operand);
        if (!operand || !rung_ptx_parse_operand(parser, operand))
            return false;
    } while (rung_ptx_accept(parser, ","));
    out->operands = operands.items;
    out->n_operands = operands.count;
    return rung_ptx_expect(parser, ";");
}

bool rung_ptx_parse_instruction(struct ptx_parser *parser)
{
    struct rung_ptx_instruction instruction = {.source_line = parser->source_line,
                                               .source_file = parser->source_file};
    if (!parse_guard(parser, &instruction) || !parse_opcode(parser, &instruction) ||
        !parse_operands(parser, &instruction))
        return false;
    struct rung_ptx_instruction *slot =
        rung_ptx_array_add(parser, &parser->instructions, sizeof *slot);
    if (slot)
        *slot = instruction;
    return slot;
}

static void resolve_operand(const struct ptx_parser *parser, struct rung_ptx_operand *operand,
                            uint32_t scope)
{
    const struct rung_ptx_label *labels = parser->labels.items;
    const uint32_t *scopes = parser->label_scopes.items;
    for (uint32_t i = 0; i < operand->n_items; i++)
        resolve_operand(parser, &operand->items[i], scope);
    if (operand->kind != RUNG_PTX_NAME)
        return;
    for (uint32_t i = 0; i < parser->labels.count; i++)
        if (scopes[i] == scope && !strcmp(labels[i].name, operand->name)) {
            operand->kind = RUNG_PTX_LABEL;
            operand->index = i;
            return;
        }
}

void rung_ptx_resolve_labels(struct ptx_parser *parser, uint32_t first, uint32_t scope)
{
    struct rung_ptx_instruction *instructions = parser->instructions.items;
    for (uint32_t i = first; i < parser->instructions.count; i++)
        for (uint32_t k = 0; k < instructions[i].n_operands; k++)
            resolve_operand(parser, &instructions[i].operands[k], scope);
}

static const struct rung_ptx_operand *find_name(const struct rung_ptx_operand *operand)
{
    if (operand->kind == RUNG_PTX_NAME)
        return operand;
    for (uint32_t i = 0; i < operand->n_items; i++) {
        const struct rung_ptx_operand *name = find_name(&operand->items[i]);
        if (name)
            return name;
    }
    return NULL;
}

bool rung_ptx_check_names(struct ptx_parser *parser)
{
    const struct rung_ptx_function *function = parser->function;
    for (uint32_t i = 0; i < function->n_instructions; i++) {
        const struct rung_ptx_instruction *at = &function->instructions[i];
        bool may_name = at->opcode == RUNG_PTX_OP_UNKNOWN; /* a call, a prototype */
        for (uint32_t k = 0; k < at->n_operands && !may_name; k++) {
            const struct rung_ptx_operand *name = find_name(&at->operands[k]);
            if (name)
                return rung_ptx_fail(parser, at->line, "`%s` is not declared", name->name);
        }
        bool branch = at->opcode == RUNG_PTX_OP_BRA;
        if (branch && (at->n_operands != 1 || at->operands[0].kind != RUNG_PTX_LABEL))
            return rung_ptx_fail(parser, at->line, "`%s` needs one label", at->text);
    }
    return true;
}
