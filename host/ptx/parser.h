/* What the files of the parser share; nobody else includes it. One token of look-ahead; every
 * function returns false after the first error, which is in `err`. */
#ifndef RUNG_PTX_PARSER_H
#define RUNG_PTX_PARSER_H

#include "ptx/lexer.h"
#include "ptx/module.h"

#define PTX_NESTING_MAX 64 /* braces in a body, and operands in operands */

/* A growing array in the module's arena. */
struct ptx_array {
    void *items;
    uint32_t count, room;
};

/* One .reg declaration: a plain name (count 0) or prefix<count>. */
struct ptx_declaration {
    const char *prefix;
    size_t prefix_length;
    uint32_t count;
    enum rung_ptx_type type;
    uint32_t id; /* unique in the function */
};

/* Registers that occur: (declaration, number) -> index. */
struct ptx_interned {
    uint64_t key; /* 0: free */
    uint32_t index;
};

struct ptx_parser {
    struct rung_ptx_lexer lexer;
    struct rung_ptx_token token;
    struct rung_ptx_module *module;
    struct rung_error *err;
    struct ptx_array symbols, functions; /* of the module: pointers */
    unsigned source_line, source_file;   /* by the last .loc */
    unsigned depth;                      /* of nested operands */

    /* the function that is being read */
    struct rung_ptx_function *function;
    struct ptx_array instructions, labels, registers, local_symbols;
    struct ptx_array declarations;  /* those in scope */
    struct ptx_array scope_symbols; /* pointers; those in scope, parameters first */
    struct ptx_array label_scopes;  /* uint32_t, parallel to labels */
    uint32_t next_declaration, next_scope;
    struct ptx_interned *interned;
    uint32_t interned_room;
};

/* A zeroed element behind the last one; NULL with the error recorded when memory is out. */
void *rung_ptx_array_add(struct ptx_parser *parser, struct ptx_array *array, size_t size);
bool rung_ptx_array_add_pointer(struct ptx_parser *parser, struct ptx_array *array,
                                const void *pointer);
char *rung_ptx_copy(struct ptx_parser *parser, const char *text, size_t length);

bool rung_ptx_fail(struct ptx_parser *parser, unsigned line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool rung_ptx_fail_memory(struct ptx_parser *parser);
/* "line N: expected WHAT, found `token`" */
bool rung_ptx_fail_expected(struct ptx_parser *parser, const char *what);

void rung_ptx_advance(struct ptx_parser *parser);
bool rung_ptx_at(const struct ptx_parser *parser, const char *text);
bool rung_ptx_accept(struct ptx_parser *parser, const char *text);
bool rung_ptx_expect(struct ptx_parser *parser, const char *text);
/* A word token, copied; false unless there is one. */
bool rung_ptx_expect_name(struct ptx_parser *parser, const char **name, const char *what);
/* An integer of at most `max`, with an optional minus where `max` is negative-able. */
bool rung_ptx_expect_integer(struct ptx_parser *parser, uint64_t *value, uint64_t max);
/* Everything up to and with the next ';' at this level. */
bool rung_ptx_skip_statement(struct ptx_parser *parser);
/* From '{' to its '}'. */
bool rung_ptx_skip_braces(struct ptx_parser *parser);

/* declarations */
bool rung_ptx_parse_registers(struct ptx_parser *parser); /* behind .reg */
/* A variable or parameter from its state space on, up to ';', ',' or ')', which is left.
 * `out` is in the arena and in no list yet. */
bool rung_ptx_parse_variable(struct ptx_parser *parser, struct rung_ptx_symbol **out,
                             enum rung_ptx_space space, bool is_extern);
enum rung_ptx_space rung_ptx_space_of(const struct rung_ptx_token *token);
enum rung_ptx_type rung_ptx_type_of(const char *word, size_t length); /* without the dot */

/* functions */
bool rung_ptx_parse_function(struct ptx_parser *parser, bool is_entry, bool is_extern);
bool rung_ptx_parse_body(struct ptx_parser *parser); /* behind '{', up to and with its '}' */
bool rung_ptx_parse_loc(struct ptx_parser *parser);  /* behind .loc */

/* instructions and operands */
bool rung_ptx_parse_instruction(struct ptx_parser *parser); /* up to and with ';' */
bool rung_ptx_parse_operand(struct ptx_parser *parser, struct rung_ptx_operand *out);
/* The register of that name; false (and no error) if none is declared. */
bool rung_ptx_find_register(struct ptx_parser *parser, uint32_t *index, const char *name,
                            size_t length);
const struct rung_ptx_symbol *rung_ptx_find_symbol(const struct ptx_parser *parser,
                                                   const char *name, size_t length);
/* Turns the names of the instructions from `first` on that are labels of `scope` into labels. */
void rung_ptx_resolve_labels(struct ptx_parser *parser, uint32_t first, uint32_t scope);
/* Refuses names that nothing declares. */
bool rung_ptx_check_names(struct ptx_parser *parser);

#endif
