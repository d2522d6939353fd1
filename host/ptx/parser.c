/* The parser's core and the module level of PTX: .version, .target, variables, functions. */
#include "ptx/parser.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *rung_ptx_array_add(struct ptx_parser *parser, struct ptx_array *array, size_t size)
{
    if (array->count == array->room) {
        uint32_t room = array->room ? array->room * 2 : 16;
        void *items =
            room > array->room ? rung_arena_array(&parser->module->arena, room, size) : NULL;
        if (!items) {
            rung_ptx_fail_memory(parser);
            return NULL;
        }
        if (array->count)
            memcpy(items, array->items, array->count * size);
        array->items = items;
        array->room = room;
    }
    void *item = (char *)array->items + size * array->count++;
    memset(item, 0, size);
    return item;
}

bool rung_ptx_array_add_pointer(struct ptx_parser *parser, struct ptx_array *array,
                                const void *pointer)
{
    const void **slot = rung_ptx_array_add(parser, array, sizeof *slot);
    if (slot)
        *slot = pointer;
    return slot;
}

char *rung_ptx_copy(struct ptx_parser *parser, const char *text, size_t length)
{
    char *copy = rung_arena_copy(&parser->module->arena, text, length);
    if (!copy)
        rung_ptx_fail_memory(parser);
    return copy;
}

bool rung_ptx_fail(struct ptx_parser *parser, unsigned line, const char *format, ...)
{
    char what[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    rung_fail_native(parser->err, RUNG_COMPILE, RUNG_PTX_INVALID, "line %u: %s", line, what);
    return false;
}

bool rung_ptx_fail_memory(struct ptx_parser *parser)
{
    rung_fail(parser->err, RUNG_MEMORY, "out of memory while reading PTX");
    return false;
}

bool rung_ptx_fail_expected(struct ptx_parser *parser, const char *what)
{
    const struct rung_ptx_token *token = &parser->token;
    if (token->kind == RUNG_PTX_TOKEN_END)
        return rung_ptx_fail(parser, token->line, "expected %s, found the end of the text", what);
    int length = token->length > 60 ? 60 : (int)token->length;
    if (token->kind == RUNG_PTX_TOKEN_BAD && length > 0 && (unsigned char)token->text[0] >= 0x7f)
        return rung_ptx_fail(parser, token->line, "expected %s, found the byte 0x%02x", what,
                             (unsigned char)token->text[0]);
    return rung_ptx_fail(parser, token->line, "expected %s, found `%.*s`", what, length,
                         token->text);
}

void rung_ptx_advance(struct ptx_parser *parser)
{
    parser->token = rung_ptx_lexer_next(&parser->lexer);
}

bool rung_ptx_at(const struct ptx_parser *parser, const char *text)
{
    enum rung_ptx_token_kind kind = parser->token.kind;
    return kind != RUNG_PTX_TOKEN_END && kind != RUNG_PTX_TOKEN_STRING &&
           rung_ptx_token_is(&parser->token, text);
}

bool rung_ptx_accept(struct ptx_parser *parser, const char *text)
{
    bool here = rung_ptx_at(parser, text);
    if (here)
        rung_ptx_advance(parser);
    return here;
}

bool rung_ptx_expect(struct ptx_parser *parser, const char *text)
{
    if (rung_ptx_accept(parser, text))
        return true;
    char what[32];
    snprintf(what, sizeof what, "`%s`", text);
    return rung_ptx_fail_expected(parser, what);
}

bool rung_ptx_expect_name(struct ptx_parser *parser, const char **name, const char *what)
{
    if (parser->token.kind != RUNG_PTX_TOKEN_WORD)
        return rung_ptx_fail_expected(parser, what);
    *name = rung_ptx_copy(parser, parser->token.text, parser->token.length);
    rung_ptx_advance(parser);
    return *name;
}

bool rung_ptx_expect_integer(struct ptx_parser *parser, uint64_t *value, uint64_t max)
{
    if (parser->token.kind != RUNG_PTX_TOKEN_INTEGER)
        return rung_ptx_fail_expected(parser, "a number");
    if (parser->token.bits > max)
        return rung_ptx_fail(parser, parser->token.line, "`%.*s` is above %llu",
                             (int)parser->token.length, parser->token.text,
                             (unsigned long long)max);
    *value = parser->token.bits;
    rung_ptx_advance(parser);
    return true;
}

bool rung_ptx_skip_statement(struct ptx_parser *parser)
{
    while (!rung_ptx_at(parser, ";")) {
        if (parser->token.kind == RUNG_PTX_TOKEN_END || rung_ptx_at(parser, "}"))
            return rung_ptx_fail_expected(parser, "`;`");
        rung_ptx_advance(parser);
    }
    rung_ptx_advance(parser);
    return true;
}

bool rung_ptx_skip_braces(struct ptx_parser *parser)
{
    uint64_t depth = 0;
    do {
        if (parser->token.kind == RUNG_PTX_TOKEN_END)
            return rung_ptx_fail_expected(parser, "`}`");
        depth += rung_ptx_at(parser, "{");
        depth -= rung_ptx_at(parser, "}");
        rung_ptx_advance(parser);
    } while (depth);
    return true;
}

static bool parse_version(struct ptx_parser *parser)
{
    const struct rung_ptx_token *token = &parser->token;
    unsigned major, minor;
    char text[16] = "", extra;
    if (token->kind == RUNG_PTX_TOKEN_FLOAT && token->length < sizeof text)
        memcpy(text, token->text, token->length);
    if (sscanf(text, "%2u.%1u%c", &major, &minor, &extra) != 2)
        return rung_ptx_fail_expected(parser, "a version such as 9.0");
    parser->module->version = major * 10 + minor;
    rung_ptx_advance(parser);
    return true;
}

static bool parse_target_word(struct ptx_parser *parser)
{
    const char *word = NULL;
    unsigned line = parser->token.line;
    if (!rung_ptx_expect_name(parser, &word, "a target such as sm_75"))
        return false;
    if (!strncmp(word, "texmode_", 8) || !strcmp(word, "debug") || !strcmp(word, "map_f64_to_f32"))
        return true;
    char *end = NULL;
    unsigned long number = strncmp(word, "sm_", 3) ? 0 : strtoul(word + 3, &end, 10);
    if (!number || number > 9999 || strlen(end) > 1)
        return rung_ptx_fail(parser, line, "unknown .target `%s`", word);
    parser->module->target = (unsigned)number;
    parser->module->target_word = word;
    return true;
}

static bool parse_target(struct ptx_parser *parser)
{
    do {
        if (!parse_target_word(parser))
            return false;
    } while (rung_ptx_accept(parser, ","));
    return true;
}

/* .file INDEX "NAME" [, TIME, SIZE] */
static bool parse_file(struct ptx_parser *parser)
{
    uint64_t number;
    if (!rung_ptx_expect_integer(parser, &number, UINT32_MAX))
        return false;
    if (parser->token.kind != RUNG_PTX_TOKEN_STRING)
        return rung_ptx_fail_expected(parser, "a file name");
    rung_ptx_advance(parser);
    while (rung_ptx_accept(parser, ","))
        if (!rung_ptx_expect_integer(parser, &number, UINT64_MAX))
            return false;
    return true;
}

/* .section NAME { ... }: debug information, which nothing here reads. */
static bool parse_section(struct ptx_parser *parser)
{
    parser->module->has_debug_sections = true;
    if (parser->token.kind != RUNG_PTX_TOKEN_DOTTED && parser->token.kind != RUNG_PTX_TOKEN_WORD)
        return rung_ptx_fail_expected(parser, "the name of a section");
    rung_ptx_advance(parser);
    return rung_ptx_at(parser, "{") ? rung_ptx_skip_braces(parser)
                                    : rung_ptx_fail_expected(parser, "`{`");
}

static bool parse_module_variable(struct ptx_parser *parser, bool is_extern)
{
    enum rung_ptx_space space = rung_ptx_space_of(&parser->token);
    struct rung_ptx_symbol *symbol;
    if (space == RUNG_PTX_SPACE_NONE)
        return rung_ptx_fail_expected(parser, "a directive");
    rung_ptx_advance(parser);
    if (space == RUNG_PTX_SPACE_REG || space == RUNG_PTX_SPACE_PARAM)
        return rung_ptx_fail_expected(parser, "a variable in .global, .const or .shared");
    do {
        if (!rung_ptx_parse_variable(parser, &symbol, space, is_extern))
            return false;
        if (!rung_ptx_array_add_pointer(parser, &parser->symbols, symbol))
            return false;
    } while (rung_ptx_accept(parser, ","));
    return rung_ptx_expect(parser, ";");
}

/* A linkable thing: [.extern|.visible|.weak|.common] then .entry, .func or a variable. */
static bool parse_linkable(struct ptx_parser *parser)
{
    bool is_extern = false;
    while (rung_ptx_at(parser, ".extern") || rung_ptx_at(parser, ".visible") ||
           rung_ptx_at(parser, ".weak") || rung_ptx_at(parser, ".common")) {
        is_extern |= rung_ptx_at(parser, ".extern");
        rung_ptx_advance(parser);
    }
    if (rung_ptx_accept(parser, ".entry"))
        return rung_ptx_parse_function(parser, true, is_extern);
    if (rung_ptx_accept(parser, ".func"))
        return rung_ptx_parse_function(parser, false, is_extern);
    return parse_module_variable(parser, is_extern);
}

static bool parse_directive(struct ptx_parser *parser)
{
    uint64_t size = 0;
    if (rung_ptx_accept(parser, ".target"))
        return parse_target(parser);
    if (rung_ptx_accept(parser, ".address_size")) {
        bool good = rung_ptx_expect_integer(parser, &size, 64);
        parser->module->address_size = (unsigned)size;
        return good;
    }
    if (rung_ptx_accept(parser, ".file"))
        return parse_file(parser);
    if (rung_ptx_accept(parser, ".section"))
        return parse_section(parser);
    if (rung_ptx_accept(parser, ".loc"))
        return rung_ptx_parse_loc(parser);
    if (rung_ptx_accept(parser, ".pragma") || rung_ptx_accept(parser, ".alias"))
        return rung_ptx_skip_statement(parser);
    return parse_linkable(parser);
}

/* The code generator's own version, from the comment at the head of what it writes. */
static const char *find_nvvm(struct ptx_parser *parser, const char *text, size_t length)
{
    static const char mark[] = "Based on NVVM ";
    size_t head = length < 2000 ? length : 2000;
    for (size_t i = 0; i + sizeof mark - 1 < head; i++) {
        if (memcmp(text + i, mark, sizeof mark - 1))
            continue;
        size_t from = i + sizeof mark - 1, to = from;
        while (to < head && ((text[to] >= '0' && text[to] <= '9') || text[to] == '.'))
            to++;
        return rung_ptx_copy(parser, text + from, to - from);
    }
    return NULL;
}

static bool parse_module(struct ptx_parser *parser)
{
    rung_ptx_advance(parser);
    if (!rung_ptx_accept(parser, ".version")) {
        rung_fail_native(parser->err, RUNG_COMPILE, RUNG_PTX_NOT_PTX,
                         "line %u: not PTX: the text does not begin with .version",
                         parser->token.line);
        return false;
    }
    if (!parse_version(parser))
        return false;
    if (!rung_ptx_at(parser, ".target"))
        return rung_ptx_fail_expected(parser, "`.target`");
    while (parser->token.kind != RUNG_PTX_TOKEN_END)
        if (!parse_directive(parser))
            return false;
    if (!parser->module->target)
        return rung_ptx_fail(parser, parser->token.line, "no sm_NN in .target");
    return true;
}

enum rung_status rung_ptx_parse(struct rung_ptx_module *out, const char *text, size_t length,
                                struct rung_error *err)
{
    memset(out, 0, sizeof *out);
    out->address_size = 64;
    struct rung_error own = {0};
    struct ptx_parser parser = {.module = out, .err = err ? err : &own};
    rung_ptx_lexer_start(&parser.lexer, text, length);
    out->nvvm = find_nvvm(&parser, text, (size_t)(parser.lexer.end - text));
    bool good = parse_module(&parser);
    free(parser.interned);
    out->symbols = parser.symbols.items;
    out->n_symbols = parser.symbols.count;
    out->functions = parser.functions.items;
    out->n_functions = parser.functions.count;
    return good ? RUNG_OK : parser.err->status;
}

void rung_ptx_module_release(struct rung_ptx_module *module)
{
    rung_arena_release(&module->arena);
    memset(module, 0, sizeof *module);
}

const struct rung_ptx_function *rung_ptx_entry(const struct rung_ptx_module *module,
                                               const char *name)
{
    for (uint32_t i = 0; i < module->n_functions; i++)
        if (module->functions[i]->is_entry && !strcmp(module->functions[i]->name, name))
            return module->functions[i];
    return NULL;
}
