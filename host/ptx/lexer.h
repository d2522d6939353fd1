/* PTX text as tokens. The lexer never reads outside [text, text + length) and never fails: what is
 * no token comes as RUNG_PTX_TOKEN_BAD. Comments and white space vanish; CRLF is one line end. */
#ifndef RUNG_PTX_LEXER_H
#define RUNG_PTX_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rung_ptx_token_kind {
    RUNG_PTX_TOKEN_END,
    RUNG_PTX_TOKEN_WORD,    /* name, opcode's first word, %register; may hold $ _ % */
    RUNG_PTX_TOKEN_DOTTED,  /* ".global", ".shared::cta": the dot is in the text */
    RUNG_PTX_TOKEN_INTEGER, /* bits */
    RUNG_PTX_TOKEN_FLOAT,   /* bits and float_bits */
    RUNG_PTX_TOKEN_STRING,  /* with its quotes */
    RUNG_PTX_TOKEN_PUNCT,   /* one character */
    RUNG_PTX_TOKEN_BAD
};

struct rung_ptx_token {
    enum rung_ptx_token_kind kind;
    const char *text; /* borrowed from the input; not terminated */
    size_t length;
    unsigned line;
    uint64_t bits;
    uint8_t float_bits; /* 32 for 0f, 64 for 0d and decimals */
};

struct rung_ptx_lexer {
    const char *at, *end;
    unsigned line;
};

void rung_ptx_lexer_start(struct rung_ptx_lexer *lexer, const char *text, size_t length);
struct rung_ptx_token rung_ptx_lexer_next(struct rung_ptx_lexer *lexer);

bool rung_ptx_token_is(const struct rung_ptx_token *token, const char *text);

#endif
