/* The lexer of PTX text. */
#include "ptx/lexer.h"

#include <stdlib.h>
#include <string.h>

void rung_ptx_lexer_start(struct rung_ptx_lexer *lexer, const char *text, size_t length)
{
    const char *nul = length ? memchr(text, 0, length) : NULL;
    lexer->at = text;
    lexer->end = nul ? nul : text + length;
    lexer->line = 1;
}

bool rung_ptx_token_is(const struct rung_ptx_token *token, const char *text)
{
    return strlen(text) == token->length && !memcmp(text, token->text, token->length);
}

/* ASCII only: the C locale functions take other letters elsewhere. */
static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_name(char c)
{
    return is_letter(c) || is_digit(c) || c == '_' || c == '$';
}

static char peek(const struct rung_ptx_lexer *lexer, size_t ahead)
{
    return (size_t)(lexer->end - lexer->at) > ahead ? lexer->at[ahead] : 0;
}

/* False when a block comment does not end. */
static bool skip_blanks(struct rung_ptx_lexer *lexer)
{
    while (lexer->at < lexer->end) {
        char c = *lexer->at;
        if (c == '/' && peek(lexer, 1) == '/') {
            while (lexer->at < lexer->end && *lexer->at != '\n')
                lexer->at++;
        } else if (c == '/' && peek(lexer, 1) == '*') {
            lexer->at += 2;
            while (lexer->at < lexer->end && !(*lexer->at == '*' && peek(lexer, 1) == '/'))
                lexer->line += *lexer->at++ == '\n';
            if (lexer->at == lexer->end)
                return false;
            lexer->at += 2;
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v') {
            lexer->line += c == '\n';
            lexer->at++;
        } else {
            break;
        }
    }
    return true;
}

static void take_names(struct rung_ptx_lexer *lexer)
{
    while (lexer->at < lexer->end && is_name(*lexer->at))
        lexer->at++;
}

static void take_dotted(struct rung_ptx_lexer *lexer)
{
    lexer->at++;
    take_names(lexer);
    while (peek(lexer, 0) == ':' && peek(lexer, 1) == ':' && is_name(peek(lexer, 2))) {
        lexer->at += 2;
        take_names(lexer);
    }
}

static int digit_value(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return 99;
}

/* Digits of `base`, with an optional U at the end; false when anything else is there, or when the
 * value does not fit 64 bits. */
static bool read_digits(uint64_t *bits, const char *text, size_t length, int base)
{
    if (length && text[length - 1] == 'U')
        length--;
    uint64_t value = 0;
    for (size_t i = 0; i < length; i++) {
        int digit = digit_value(text[i]);
        if (digit >= base || value > (UINT64_MAX - (uint64_t)digit) / (uint64_t)base)
            return false;
        value = value * (uint64_t)base + (uint64_t)digit;
    }
    *bits = value;
    return length > 0;
}

static bool is_decimal_float(const char *text, size_t length)
{
    if (length > 1 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
        return false;
    return memchr(text, '.', length) || memchr(text, 'e', length) || memchr(text, 'E', length);
}

static bool read_decimal_float(uint64_t *bits, const char *text, size_t length)
{
    char copy[64];
    if (length >= sizeof copy)
        return false;
    memcpy(copy, text, length);
    copy[length] = 0;
    char *end;
    double value = strtod(copy, &end);
    memcpy(bits, &value, sizeof value);
    return *end == 0;
}

static void read_number(struct rung_ptx_token *token)
{
    const char *text = token->text;
    size_t length = token->length;
    char prefix = length > 1 && text[0] == '0' ? text[1] : 0;
    bool good;
    token->kind = RUNG_PTX_TOKEN_INTEGER;
    if (prefix == 'f' || prefix == 'F' || prefix == 'd' || prefix == 'D') {
        bool single = prefix == 'f' || prefix == 'F';
        token->kind = RUNG_PTX_TOKEN_FLOAT;
        token->float_bits = single ? 32 : 64;
        good = length == (single ? 10 : 18) && read_digits(&token->bits, text + 2, length - 2, 16);
    } else if (prefix == 'x' || prefix == 'X') {
        good = read_digits(&token->bits, text + 2, length - 2, 16);
    } else if (prefix == 'b' || prefix == 'B') {
        good = read_digits(&token->bits, text + 2, length - 2, 2);
    } else if (is_decimal_float(text, length)) {
        token->kind = RUNG_PTX_TOKEN_FLOAT;
        token->float_bits = 64;
        good = read_decimal_float(&token->bits, text, length);
    } else {
        good = read_digits(&token->bits, text, length, is_digit(prefix) ? 8 : 10);
    }
    if (!good)
        token->kind = RUNG_PTX_TOKEN_BAD;
}

/* Digits, letters and one dot; a sign only behind the e of a decimal float. */
static void take_number(struct rung_ptx_lexer *lexer)
{
    const char *start = lexer->at;
    bool hex = peek(lexer, 0) == '0' && is_letter(peek(lexer, 1));
    while (lexer->at < lexer->end) {
        char c = *lexer->at;
        bool sign = (c == '+' || c == '-') && !hex && lexer->at > start &&
                    (lexer->at[-1] == 'e' || lexer->at[-1] == 'E');
        if (!is_digit(c) && !is_letter(c) && !sign && !(c == '.' && !hex))
            break;
        lexer->at++;
    }
}

static void take_string(struct rung_ptx_lexer *lexer, struct rung_ptx_token *token)
{
    lexer->at++;
    while (lexer->at < lexer->end && *lexer->at != '"' && *lexer->at != '\n') {
        if (*lexer->at == '\\' && peek(lexer, 1) && peek(lexer, 1) != '\n')
            lexer->at++;
        lexer->at++;
    }
    token->kind = peek(lexer, 0) == '"' ? RUNG_PTX_TOKEN_STRING : RUNG_PTX_TOKEN_BAD;
    if (token->kind == RUNG_PTX_TOKEN_STRING)
        lexer->at++;
}

struct rung_ptx_token rung_ptx_lexer_next(struct rung_ptx_lexer *lexer)
{
    bool closed = skip_blanks(lexer);
    struct rung_ptx_token token = {.text = lexer->at, .line = lexer->line};
    if (lexer->at == lexer->end) {
        token.kind = closed ? RUNG_PTX_TOKEN_END : RUNG_PTX_TOKEN_BAD;
        return token;
    }
    char c = *lexer->at, next = peek(lexer, 1);
    if (c == '.' && (is_letter(next) || is_digit(next) || next == '_')) {
        token.kind = RUNG_PTX_TOKEN_DOTTED;
        take_dotted(lexer);
    } else if (is_digit(c)) {
        take_number(lexer);
        token.length = (size_t)(lexer->at - token.text);
        read_number(&token);
    } else if (c == '"') {
        take_string(lexer, &token);
    } else if (is_name(c) || (c == '%' && is_name(next))) {
        token.kind = RUNG_PTX_TOKEN_WORD;
        lexer->at++;
        take_names(lexer);
    } else {
        bool printable = c > ' ' && c < 0x7f;
        token.kind = printable ? RUNG_PTX_TOKEN_PUNCT : RUNG_PTX_TOKEN_BAD;
        lexer->at++;
    }
    token.length = (size_t)(lexer->at - token.text);
    return token;
}
