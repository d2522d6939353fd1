/* Functions: the head with parameters and performance directives, the body with its scopes. */
#include "ptx/parser.h"

#include <stdlib.h>
#include <string.h>

/* Where each parameter of an entry lies, as the driver packs them. */
static bool place_parameters(struct ptx_parser *parser, struct rung_ptx_function *function)
{
    uint64_t offset = 0;
    for (uint32_t i = 0; i < function->n_params; i++) {
        struct rung_ptx_symbol *param = function->params[i];
        uint64_t align = param->align ? param->align : 1;
        offset = (offset + align - 1) / align * align;
        param->offset = offset;
        if (param->bytes > 32764 || offset + param->bytes > 32764)
            return rung_ptx_fail(parser, param->line, "the parameters of `%s` are over 32764 bytes",
                                 function->name);
        offset += param->bytes;
    }
    function->param_bytes = (uint32_t)offset;
    return true;
}

/* (.param .u64 a, .reg .b32 %r) */
static bool parse_parameters(struct ptx_parser *parser, struct ptx_array *params)
{
    if (!rung_ptx_accept(parser, "(") || rung_ptx_accept(parser, ")"))
        return true;
    do {
        struct rung_ptx_symbol *param;
        enum rung_ptx_space space = rung_ptx_space_of(&parser->token);
        if (space != RUNG_PTX_SPACE_PARAM && space != RUNG_PTX_SPACE_REG)
            return rung_ptx_fail_expected(parser, "`.param`");
        rung_ptx_advance(parser);
        if (!rung_ptx_parse_variable(parser, &param, space, false) ||
            !rung_ptx_array_add_pointer(parser, params, param) ||
            !rung_ptx_array_add_pointer(parser, &parser->scope_symbols, param))
            return false;
        if (space == RUNG_PTX_SPACE_REG) {
            struct ptx_declaration *declaration =
                rung_ptx_array_add(parser, &parser->declarations, sizeof *declaration);
            if (!declaration)
                return false;
            *declaration = (struct ptx_declaration){.prefix = param->name,
                                                    .prefix_length = strlen(param->name),
                                                    .type = param->type,
                                                    .id = ++parser->next_declaration};
        }
    } while (rung_ptx_accept(parser, ","));
    return rung_ptx_expect(parser, ")");
}

/* Up to three numbers, as .maxntid and .reqntid have. */
static bool parse_shape(struct ptx_parser *parser, uint32_t shape[3])
{
    for (int i = 0; i < 3; i++) {
        uint64_t n;
        if (!rung_ptx_expect_integer(parser, &n, UINT32_MAX))
            return false;
        shape[i] = (uint32_t)n;
        if (i < 2 && !rung_ptx_accept(parser, ",")) {
            for (int k = i + 1; k < 3; k++)
                shape[k] = 1;
            break;
        }
    }
    return true;
}

static bool parse_head_directive(struct ptx_parser *parser, struct rung_ptx_function *function)
{
    uint64_t number;
    uint32_t shape[3];
    if (rung_ptx_accept(parser, ".maxntid"))
        return parse_shape(parser, function->max_ntid);
    if (rung_ptx_accept(parser, ".reqntid"))
        return parse_shape(parser, function->req_ntid);
    if (rung_ptx_accept(parser, ".minnctapersm")) {
        bool good = rung_ptx_expect_integer(parser, &number, UINT32_MAX);
        function->min_nctapersm = good ? (uint32_t)number : 0;
        return good;
    }
    if (rung_ptx_accept(parser, ".maxnreg"))
        return rung_ptx_expect_integer(parser, &number, UINT32_MAX);
    if (rung_ptx_accept(parser, ".maxclusterrank"))
        return rung_ptx_expect_integer(parser, &number, UINT32_MAX);
    if (rung_ptx_accept(parser, ".noreturn"))
        return true;
    if (rung_ptx_accept(parser, ".pragma"))
        return rung_ptx_skip_statement(parser);
    if (rung_ptx_accept(parser, ".explicitcluster") ||
        rung_ptx_accept(parser, ".blocksareclusters")) {
        function->needs_cluster = true;
        return true;
    }
    if (rung_ptx_accept(parser, ".reqnctapercluster")) {
        function->needs_cluster = true;
        return parse_shape(parser, shape);
    }
    return rung_ptx_fail_expected(parser, "`{`");
}

static void start_function(struct ptx_parser *parser, struct rung_ptx_function *function)
{
    static const struct ptx_array none;
    free(parser->interned);
    parser->interned = NULL;
    parser->interned_room = 0;
    parser->function = function;
    parser->instructions = parser->labels = parser->registers = parser->local_symbols = none;
    parser->declarations = parser->scope_symbols = parser->label_scopes = none;
    parser->next_declaration = parser->next_scope = 0;
    parser->source_line = parser->source_file = 0;
}

static bool finish_function(struct ptx_parser *parser)
{
    struct rung_ptx_function *function = parser->function;
    function->symbols = parser->local_symbols.items;
    function->n_symbols = parser->local_symbols.count;
    function->registers = parser->registers.items;
    function->n_registers = parser->registers.count;
    function->labels = parser->labels.items;
    function->n_labels = parser->labels.count;
    function->instructions = parser->instructions.items;
    function->n_instructions = parser->instructions.count;
    return rung_ptx_check_names(parser);
}

/* The name of a function is known to the calls behind it. */
static bool declare_function(struct ptx_parser *parser, struct rung_ptx_function *function)
{
    struct rung_ptx_symbol *symbol = rung_arena_alloc(&parser->module->arena, sizeof *symbol);
    if (!symbol)
        return rung_ptx_fail_memory(parser);
    *symbol = (struct rung_ptx_symbol){
        .name = function->name, .space = RUNG_PTX_SPACE_CODE, .line = function->line};
    return rung_ptx_array_add_pointer(parser, &parser->symbols, symbol);
}

static bool check_entry(struct ptx_parser *parser, const struct rung_ptx_function *function)
{
    for (uint32_t i = 0; i < parser->functions.count; i++) {
        const struct rung_ptx_function *other =
            ((struct rung_ptx_function **)parser->functions.items)[i];
        if (!other->is_prototype && !strcmp(other->name, function->name))
            return rung_ptx_fail(parser, function->line, "`%s` is defined again (first on line %u)",
                                 function->name, other->line);
    }
    return true;
}

bool rung_ptx_parse_function(struct ptx_parser *parser, bool is_entry, bool is_extern)
{
    struct rung_ptx_function *function = rung_arena_alloc(&parser->module->arena, sizeof *function);
    struct ptx_array results = {0}, params = {0};
    if (!function)
        return rung_ptx_fail_memory(parser);
    start_function(parser, function);
    function->is_entry = is_entry;
    function->line = parser->token.line;
    if (!is_entry && rung_ptx_at(parser, ".attribute"))
        return rung_ptx_fail(parser, function->line, "unknown attribute of a function");
    if (!is_entry && !parse_parameters(parser, &results))
        return false;
    if (!rung_ptx_expect_name(parser, &function->name, "the name of a function") ||
        !parse_parameters(parser, &params))
        return false;
    function->params = params.items;
    function->n_params = params.count;
    if (!place_parameters(parser, function))
        return false;
    while (parser->token.kind == RUNG_PTX_TOKEN_DOTTED)
        if (!parse_head_directive(parser, function))
            return false;
    function->is_prototype = rung_ptx_accept(parser, ";");
    if (!function->is_prototype &&
        (is_extern || !check_entry(parser, function) || !rung_ptx_expect(parser, "{")))
        return is_extern ? rung_ptx_fail_expected(parser, "`;`") : false;
    if (!declare_function(parser, function) ||
        !rung_ptx_array_add_pointer(parser, &parser->functions, function))
        return false;
    return function->is_prototype || (rung_ptx_parse_body(parser) && finish_function(parser));
}
