/* Operands: registers, literals, names, addresses, vectors, lists; and who is behind a name. */
#include "ptx/parser.h"

#include <stdlib.h>
#include <string.h>

const struct rung_ptx_symbol *rung_ptx_find_symbol(const struct ptx_parser *parser,
                                                   const char *name, size_t length)
{
    const struct ptx_array *const places[] = {&parser->scope_symbols, &parser->symbols};
    for (int place = 0; place < 2; place++) {
        struct rung_ptx_symbol **symbols = places[place]->items;
        for (uint32_t i = places[place]->count; i-- > 0;)
            if (strlen(symbols[i]->name) == length && !memcmp(symbols[i]->name, name, length))
                return symbols[i];
    }
    return NULL;
}

/* The number behind the prefix of a range; false unless it is below its count. */
static bool range_number(const struct ptx_declaration *declaration, const char *name, size_t length,
                         uint32_t *number)
{
    uint64_t value = 0;
    if (length <= declaration->prefix_length || length > declaration->prefix_length + 10 ||
        (name[declaration->prefix_length] == '0' && length > declaration->prefix_length + 1))
        return false;
    for (size_t i = declaration->prefix_length; i < length; i++) {
        if (name[i] < '0' || name[i] > '9')
            return false;
        value = value * 10 + (uint64_t)(name[i] - '0');
    }
    *number = (uint32_t)value;
    return value < declaration->count;
}

static struct ptx_interned *interned_slot(struct ptx_interned *table, uint32_t room, uint64_t key)
{
    uint64_t hash = key * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t at = (uint32_t)(hash >> 32) & (room - 1);
    while (table[at].key && table[at].key != key)
        at = (at + 1) & (room - 1);
    return &table[at];
}

static bool grow_interned(struct ptx_parser *parser)
{
    uint32_t room = parser->interned_room ? parser->interned_room * 2 : 64;
    struct ptx_interned *table = calloc(room, sizeof *table);
    if (!table)
        return rung_ptx_fail_memory(parser);
    for (uint32_t i = 0; i < parser->interned_room; i++)
        if (parser->interned[i].key)
            *interned_slot(table, room, parser->interned[i].key) = parser->interned[i];
    free(parser->interned);
    parser->interned = table;
    parser->interned_room = room;
    return true;
}

static bool intern(struct ptx_parser *parser, uint32_t *index, const char *name, size_t length,
                   const struct ptx_declaration *declaration, uint32_t number)
{
    if (parser->registers.count * 2 >= parser->interned_room && !grow_interned(parser))
        return false;
    uint64_t key = (uint64_t)declaration->id << 32 | number;
    struct ptx_interned *slot = interned_slot(parser->interned, parser->interned_room, key);
    if (!slot->key) {
        struct rung_ptx_register *reg = rung_ptx_array_add(parser, &parser->registers, sizeof *reg);
        if (!reg)
            return false;
        reg->name = rung_ptx_copy(parser, name, length);
        reg->type = declaration->type;
        *slot = (struct ptx_interned){key, parser->registers.count - 1};
        if (!reg->name)
            return false;
    }
    *index = slot->index;
    return true;
}

bool rung_ptx_find_register(struct ptx_parser *parser, uint32_t *index, const char *name,
                            size_t length)
{
    const struct ptx_declaration *declarations = parser->declarations.items;
    for (uint32_t i = parser->declarations.count; i-- > 0;) { /* the innermost first */
        const struct ptx_declaration *at = &declarations[i];
        uint32_t number = 0;
        if (length < at->prefix_length || memcmp(name, at->prefix, at->prefix_length))
            continue;
        if (at->count ? range_number(at, name, length, &number) : length == at->prefix_length)
            return intern(parser, index, name, length, at, number);
    }
    return false;
}

static enum rung_ptx_special find_special(const char *name)
{
    static const char *const words[RUNG_PTX_SR_COUNT] = {
#define PTX_SPECIAL(name, word, type) [RUNG_PTX_SR_##name] = word,
#include "ptx/specials.def"
#undef PTX_SPECIAL
    };
    for (int i = RUNG_PTX_SR_NONE + 1; i < RUNG_PTX_SR_COUNT; i++)
        if (!strcmp(words[i], name))
            return (enum rung_ptx_special)i;
    return RUNG_PTX_SR_NONE;
}

/* %tid.x comes as two tokens. */
static bool parse_special(struct ptx_parser *parser, struct rung_ptx_operand *out)
{
    const char *text = parser->token.text;
    size_t length = parser->token.length;
    unsigned line = parser->token.line;
    rung_ptx_advance(parser);
    if (parser->token.kind == RUNG_PTX_TOKEN_DOTTED && parser->token.text == text + length) {
        length += parser->token.length;
        rung_ptx_advance(parser);
    }
    out->kind = RUNG_PTX_SPECIAL;
    out->name = rung_ptx_copy(parser, text, length);
    if (!out->name)
        return false;
    out->special = find_special(out->name);
    /* Registers of a kind unknown here keep their name; what looks numbered was never declared. */
    if (!out->special && text[length - 1] >= '0' && text[length - 1] <= '9' &&
        strncmp(out->name, "%envreg", 7) && strncmp(out->name, "%pm", 3) &&
        strncmp(out->name, "%reserved", 9))
        return rung_ptx_fail(parser, line, "register `%s` is not declared", out->name);
    return true;
}

static bool parse_offset(struct ptx_parser *parser, struct rung_ptx_operand *out)
{
    while (rung_ptx_at(parser, "+") || rung_ptx_at(parser, "-")) {
        bool minus = rung_ptx_at(parser, "-");
        uint64_t value;
        rung_ptx_advance(parser);
        if (rung_ptx_accept(parser, "-"))
            minus = !minus;
        if (!rung_ptx_expect_integer(parser, &value, INT64_MAX))
            return false;
        out->offset = (int64_t)((uint64_t)out->offset + (minus ? -value : value));
    }
    return true;
}

static bool parse_word(struct ptx_parser *parser, struct rung_ptx_operand *out)
{
    const struct rung_ptx_token token = parser->token;
    if (rung_ptx_find_register(parser, &out->index, token.text, token.length)) {
        out->kind = RUNG_PTX_REGISTER;
        out->name = ((struct rung_ptx_register *)parser->registers.items)[out->index].name;
        rung_ptx_advance(parser);
        return true;
    }
    if (*token.text == '%' || rung_ptx_at(parser, "WARP_SZ"))
        return parse_special(parser, out);
    rung_ptx_advance(parser);
    if (rung_ptx_token_is(&token, "_")) {
        out->kind = RUNG_PTX_SINK;
        return true;
    }
    out->symbol = rung_ptx_find_symbol(parser, token.text, token.length);
    out->kind = out->symbol ? RUNG_PTX_SYMBOL : RUNG_PTX_NAME;
    out->name = rung_ptx_copy(parser, token.text, token.length);
    return out->name && (out->kind == RUNG_PTX_NAME || parse_offset(parser, out));
}

static void take_literal(struct ptx_parser *parser, struct rung_ptx_operand *out, bool minus)
{
    bool real = parser->token.kind == RUNG_PTX_TOKEN_FLOAT;
    out->kind = real ? RUNG_PTX_FLOAT : RUNG_PTX_INTEGER;
    out->bits = parser->token.bits;
    out->float_bits = parser->token.float_bits;
    if (minus)
        out->bits = real ? out->bits ^ UINT64_C(1) << (out->float_bits - 1) : -out->bits;
    rung_ptx_advance(parser);
}

/* Operands up to `close`, a comma between them. */
static bool parse_items(struct ptx_parser *parser, struct rung_ptx_operand *out, const char *close)
{
    struct ptx_array items = {0};
    if (++parser->depth > PTX_NESTING_MAX)
        return rung_ptx_fail(parser, parser->token.line, "operands are nested too deep");
    while (!rung_ptx_at(parser, close)) {
        struct rung_ptx_operand *item = rung_ptx_array_add(parser, &items, sizeof *item);
        if (!item || !rung_ptx_parse_operand(parser, item))
            return false;
        if (!rung_ptx_accept(parser, ",") && !rung_ptx_at(parser, close))
            return rung_ptx_expect(parser, close);
    }
    out->items = items.items;
    out->n_items = items.count;
    parser->depth--;
    return rung_ptx_expect(parser, close);
}

/* [base + offset], [base], and with more than one operand those of textures. */
static bool parse_address(struct ptx_parser *parser, struct rung_ptx_operand *out)
{
    unsigned line = parser->token.line;
    out->kind = RUNG_PTX_ADDRESS;
    if (!parse_items(parser, out, "]"))
        return false;
    if (!out->n_items)
        return rung_ptx_fail(parser, line, "an address is empty");
    out->offset = out->items[0].offset; /* as the name or register had it */
    out->items[0].offset = 0;
    return true;
}

static bool parse_primary(struct ptx_parser *parser, struct rung_ptx_operand *out)
{
    bool minus = rung_ptx_accept(parser, "-");
    enum rung_ptx_token_kind kind = parser->token.kind;
    if (kind == RUNG_PTX_TOKEN_INTEGER || kind == RUNG_PTX_TOKEN_FLOAT) {
        take_literal(parser, out, minus);
        return true;
    }
    out->negated = minus || rung_ptx_accept(parser, "!");
    if (parser->token.kind == RUNG_PTX_TOKEN_WORD) {
        if (!parse_word(parser, out))
            return false;
        return out->kind != RUNG_PTX_REGISTER || parse_offset(parser, out);
    }
    if (out->negated)
        return rung_ptx_fail_expected(parser, "a register");
    if (rung_ptx_accept(parser, "["))
        return parse_address(parser, out);
    bool brace = rung_ptx_at(parser, "{");
    if (!rung_ptx_accept(parser, "{") && !rung_ptx_accept(parser, "("))
        return rung_ptx_fail_expected(parser, "an operand");
    out->kind = brace ? RUNG_PTX_VECTOR : RUNG_PTX_LIST;
    return parse_items(parser, out, brace ? "}" : ")");
}

bool rung_ptx_parse_operand(struct ptx_parser *parser, struct rung_ptx_operand *out)
{
    if (!parse_primary(parser, out))
        return false;
    if (!rung_ptx_accept(parser, "|"))
        return true;
    struct rung_ptx_operand *items = rung_arena_array(&parser->module->arena, 2, sizeof *items);
    if (!items)
        return rung_ptx_fail_memory(parser);
    items[0] = *out;
    *out = (struct rung_ptx_operand){.kind = RUNG_PTX_PAIR, .items = items, .n_items = 2};
    return parse_primary(parser, &items[1]);
}
