/* Declarations: .reg, and variables with their sizes and initial values. */
#include "ptx/parser.h"

#include <string.h>

#define INIT_BYTES_MAX (UINT64_C(64) << 20)

enum rung_ptx_space rung_ptx_space_of(const struct rung_ptx_token *token)
{
    static const struct {
        const char *word;
        enum rung_ptx_space space;
    } spaces[] = {
        {".reg",    RUNG_PTX_SPACE_REG   },
        {".param",  RUNG_PTX_SPACE_PARAM },
        {".shared", RUNG_PTX_SPACE_SHARED},
        {".global", RUNG_PTX_SPACE_GLOBAL},
        {".const",  RUNG_PTX_SPACE_CONST },
        {".local",  RUNG_PTX_SPACE_LOCAL },
    };
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (token->kind == RUNG_PTX_TOKEN_DOTTED && rung_ptx_token_is(token, spaces[i].word))
            return spaces[i].space;
    return RUNG_PTX_SPACE_NONE;
}

static bool parse_type(struct ptx_parser *parser, enum rung_ptx_type *type)
{
    if (parser->token.kind != RUNG_PTX_TOKEN_DOTTED)
        return rung_ptx_fail_expected(parser, "a type");
    *type = rung_ptx_type_of(parser->token.text + 1, parser->token.length - 1);
    if (!*type)
        return rung_ptx_fail_expected(parser, "a type");
    rung_ptx_advance(parser);
    return true;
}

/* NAME or NAME<COUNT> */
static bool parse_register_name(struct ptx_parser *parser, enum rung_ptx_type type)
{
    uint64_t count = 0;
    if (parser->token.kind != RUNG_PTX_TOKEN_WORD)
        return rung_ptx_fail_expected(parser, "the name of a register");
    struct ptx_declaration *declaration =
        rung_ptx_array_add(parser, &parser->declarations, sizeof *declaration);
    if (!declaration)
        return false;
    *declaration = (struct ptx_declaration){.prefix = parser->token.text,
                                            .prefix_length = parser->token.length,
                                            .type = type,
                                            .id = ++parser->next_declaration};
    rung_ptx_advance(parser);
    if (!rung_ptx_accept(parser, "<"))
        return true;
    if (!rung_ptx_expect_integer(parser, &count, INT32_MAX))
        return false;
    if (!count)
        return rung_ptx_fail(parser, parser->token.line, "no registers in `<0>`");
    declaration->count = (uint32_t)count;
    return rung_ptx_expect(parser, ">");
}

bool rung_ptx_parse_registers(struct ptx_parser *parser)
{
    enum rung_ptx_type type;
    if (!parse_type(parser, &type))
        return false;
    do {
        if (!parse_register_name(parser, type))
            return false;
    } while (rung_ptx_accept(parser, ","));
    return rung_ptx_expect(parser, ";");
}

/* .align N and what else may stand before a variable's type or name. */
static bool parse_attributes(struct ptx_parser *parser, struct rung_ptx_symbol *symbol)
{
    uint64_t align = 0;
    while (parser->token.kind == RUNG_PTX_TOKEN_DOTTED) {
        unsigned line = parser->token.line;
        if (rung_ptx_accept(parser, ".align")) {
            if (!rung_ptx_expect_integer(parser, &align, 1024))
                return false;
            if (!align || (align & (align - 1)))
                return rung_ptx_fail(parser, line, ".align %u is no power of two", (unsigned)align);
            symbol->align = (uint32_t)align;
        } else if (rung_ptx_accept(parser, ".attribute")) {
            while (!rung_ptx_accept(parser, ")")) {
                if (parser->token.kind == RUNG_PTX_TOKEN_END)
                    return rung_ptx_fail_expected(parser, "`)`");
                rung_ptx_advance(parser);
            }
        } else if (rung_ptx_at(parser, ".v2") || rung_ptx_at(parser, ".v4")) {
            symbol->bytes = (uint64_t)(parser->token.text[2] - '0');
            rung_ptx_advance(parser);
        } else {
            break;
        }
    }
    return true;
}

/* .ptr [.global|...] [.align N] behind a parameter's type: what it points to. */
static bool parse_pointee(struct ptx_parser *parser)
{
    uint64_t align;
    if (!rung_ptx_accept(parser, ".ptr"))
        return true;
    if (rung_ptx_space_of(&parser->token) != RUNG_PTX_SPACE_NONE)
        rung_ptx_advance(parser);
    return !rung_ptx_accept(parser, ".align") ||
           rung_ptx_expect_integer(parser, &align, UINT32_MAX);
}

/* [N][M]...; the first may be empty. `*count` is the product, 0 for []. */
static bool parse_dimensions(struct ptx_parser *parser, uint64_t *count)
{
    while (rung_ptx_accept(parser, "[")) {
        uint64_t n = 0;
        unsigned line = parser->token.line;
        if (!rung_ptx_at(parser, "]") && !rung_ptx_expect_integer(parser, &n, UINT64_MAX))
            return false;
        if (__builtin_mul_overflow(*count, n, count) || *count > (UINT64_C(1) << 48))
            return rung_ptx_fail(parser, line, "an array of this size does not fit any memory");
        if (!rung_ptx_expect(parser, "]"))
            return false;
    }
    return true;
}

struct initial {
    struct rung_ptx_symbol *symbol;
    unsigned char *bytes;
    uint64_t room;
};

static bool add_value(struct ptx_parser *parser, struct initial *to, bool minus)
{
    unsigned width = rung_ptx_type_bits(to->symbol->type) / 8;
    const struct rung_ptx_token *token = &parser->token;
    uint64_t bits = token->bits;
    if (token->kind == RUNG_PTX_TOKEN_FLOAT && token->float_bits == 64 && width == 4) {
        double value;
        memcpy(&value, &bits, sizeof value);
        float narrow = (float)value;
        bits = 0;
        memcpy(&bits, &narrow, sizeof narrow);
    }
    if (minus) /* of a float: flip the sign */
        bits = token->kind == RUNG_PTX_TOKEN_FLOAT ? bits ^ UINT64_C(1) << (width * 8 - 1) : -bits;
    if (!width || width > 8 || to->symbol->init_bytes + width > to->room)
        return rung_ptx_fail(parser, token->line, "`%s` has more initial values than room",
                             to->symbol->name);
    for (unsigned i = 0; i < width; i++)
        to->bytes[to->symbol->init_bytes++] = (unsigned char)(bits >> 8 * i);
    rung_ptx_advance(parser);
    return true;
}

/* = VALUE or = {VALUES, {VALUES}}; braces are flattened. Names are addresses; the module only
 * notes that there are some. */
static bool parse_initial(struct ptx_parser *parser, struct rung_ptx_symbol *symbol)
{
    struct initial to = {.symbol = symbol, .room = symbol->bytes};
    unsigned depth = 0;
    if (to.room > INIT_BYTES_MAX)
        return rung_ptx_fail(parser, parser->token.line, "`%s` is too large for initial values",
                             symbol->name);
    to.bytes = rung_arena_alloc(&parser->module->arena, to.room);
    if (!to.bytes)
        return rung_ptx_fail_memory(parser);
    symbol->init = to.bytes;
    do {
        bool minus = rung_ptx_accept(parser, "-");
        if (parser->token.kind == RUNG_PTX_TOKEN_INTEGER ||
            parser->token.kind == RUNG_PTX_TOKEN_FLOAT) {
            if (!symbol->init_has_names && !add_value(parser, &to, minus))
                return false;
            if (symbol->init_has_names)
                rung_ptx_advance(parser);
        } else if (rung_ptx_accept(parser, "{")) {
            depth++;
        } else if (rung_ptx_accept(parser, "}")) {
            if (!depth--)
                return rung_ptx_fail_expected(parser, "a value");
        } else if (depth && rung_ptx_accept(parser, ",")) {
            continue;
        } else if (parser->token.kind == RUNG_PTX_TOKEN_WORD || rung_ptx_at(parser, "(") ||
                   rung_ptx_at(parser, ")") || rung_ptx_at(parser, "+")) {
            symbol->init_has_names = true;
            rung_ptx_advance(parser);
        } else {
            return rung_ptx_fail_expected(parser, "a value");
        }
    } while (depth || !(rung_ptx_at(parser, ";") || rung_ptx_at(parser, ",")));
    return true;
}

bool rung_ptx_parse_variable(struct ptx_parser *parser, struct rung_ptx_symbol **out,
                             enum rung_ptx_space space, bool is_extern)
{
    struct rung_ptx_symbol *symbol = rung_arena_alloc(&parser->module->arena, sizeof *symbol);
    if (!symbol)
        return rung_ptx_fail_memory(parser);
    symbol->space = space;
    symbol->is_extern = is_extern;
    symbol->line = parser->token.line;
    symbol->bytes = 1; /* elements, until the type is known */
    if (!parse_attributes(parser, symbol) || !parse_type(parser, &symbol->type) ||
        !parse_pointee(parser) || !parse_attributes(parser, symbol) ||
        !rung_ptx_expect_name(parser, &symbol->name, "a name"))
        return false;
    uint64_t width = (rung_ptx_type_bits(symbol->type) + 7) / 8;
    if (!symbol->align)
        symbol->align = (uint32_t)(width * symbol->bytes);
    if (!parse_dimensions(parser, &symbol->bytes))
        return false;
    symbol->bytes *= width;
    *out = symbol;
    if (rung_ptx_accept(parser, "="))
        return parse_initial(parser, symbol);
    return true;
}
