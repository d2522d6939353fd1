/* The table of opcodes.def as data, and the check of an instruction against its row. */
#include "ptx/opcodes.h"

#include <stdlib.h>
#include <string.h>

/* clang-format off */
static const struct rung_ptx_opcode_row rows[RUNG_PTX_OP_COUNT] = {
#define OPCODE(name, mnemonic, arity, types, modifiers, class, family, title) \
    [RUNG_PTX_OP_##name] = {mnemonic, arity, types, modifiers, RUNG_PTX_CLASS_##class, #family, title},
#include "ptx/opcodes.def"
#undef OPCODE
};
/* clang-format on */

const struct rung_ptx_opcode_row *rung_ptx_opcode_row(enum rung_ptx_opcode opcode)
{
    return opcode == RUNG_PTX_OP_UNKNOWN ? NULL : &rows[opcode];
}

enum rung_ptx_opcode rung_ptx_opcode_find(const char *mnemonic, size_t length)
{
    for (int i = RUNG_PTX_OP_UNKNOWN + 1; i < RUNG_PTX_OP_COUNT; i++)
        if (strlen(rows[i].mnemonic) == length && !memcmp(rows[i].mnemonic, mnemonic, length))
            return (enum rung_ptx_opcode)i;
    return RUNG_PTX_OP_UNKNOWN;
}

/* Whether `words`, with a space between, holds this word. */
static bool holds(const char *words, const char *word, size_t length)
{
    for (const char *at = words; *at;) {
        size_t here = strcspn(at, " ");
        if (here == length && !memcmp(at, word, length))
            return true;
        at += here + (at[here] == ' ');
    }
    return false;
}

static bool words_allowed(const struct rung_ptx_opcode_row *row, const char *text)
{
    const char *dot = strchr(text, '.');
    while (dot) {
        const char *word = dot + 1;
        dot = strchr(word, '.');
        size_t length = dot ? (size_t)(dot - word) : strlen(word);
        if (length == 11 && !memcmp(word, "shared::cta", 11))
            length = 6;
        if (!holds(row->types, word, length) && !holds(row->modifiers, word, length))
            return false;
    }
    return true;
}

static bool arity_allowed(const struct rung_ptx_opcode_row *row, uint32_t n)
{
    const char *dash = strchr(row->arity, '-');
    uint32_t low = (uint32_t)atoi(row->arity);
    return n >= low && n <= (dash ? (uint32_t)atoi(dash + 1) : low);
}

enum rung_status rung_ptx_opcode_check(const struct rung_ptx_instruction *instruction,
                                       struct rung_error *err)
{
    const struct rung_ptx_opcode_row *row = rung_ptx_opcode_row(instruction->opcode);
    if (!row || instruction->has_unknown_word || !words_allowed(row, instruction->text))
        return rung_fail_native(err, RUNG_COMPILE, RUNG_PTX_INVALID,
                                "unsupported instruction `%s` at line %u", instruction->text,
                                instruction->line);
    if (!arity_allowed(row, instruction->n_operands))
        return rung_fail_native(err, RUNG_COMPILE, RUNG_PTX_INVALID,
                                "line %u: `%s` takes %s operands, found %u", instruction->line,
                                instruction->text, row->arity, instruction->n_operands);
    return RUNG_OK;
}

/* Appends words and breaks lines before column 80. */
static void print_words(struct rung_text *text, size_t *column, const char *lead, const char *words)
{
    rung_text_append(text, *words ? lead : "");
    *column += *words ? strlen(lead) : 0;
    for (const char *at = words; *at;) {
        size_t length = strcspn(at, " ");
        if (*column + 2 + length > 79) {
            rung_text_append(text, "\n                 ");
            *column = 17;
        }
        rung_text_append(text, " .");
        rung_text_append_bytes(text, at, length);
        *column += 2 + length;
        at += length + (at[length] == ' ');
    }
}

void rung_ptx_opcodes_print(struct rung_text *text)
{
    rung_text_append(text, "opcode     operands types | modifiers\n");
    for (int i = RUNG_PTX_OP_UNKNOWN + 1; i < RUNG_PTX_OP_COUNT; i++) {
        size_t column = 17;
        rung_text_format(text, "%-10s %-6s", rows[i].mnemonic, rows[i].arity);
        print_words(text, &column, "", rows[i].types);
        print_words(text, &column, " |", rows[i].modifiers);
        rung_text_append(text, "\n");
    }
}
