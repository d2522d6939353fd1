/* The words of one SASS instruction as nvdisasm writes them: opcodes with dotted parts, operands.
 */
#ifndef RUNG_INSPECT_SASS_OPERAND_H
#define RUNG_INSPECT_SASS_OPERAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Registers of the four files, in one numbering. */
enum {
    RUNG_SASS_R = 0,
    RUNG_SASS_UR = 256,
    RUNG_SASS_P = 512,
    RUNG_SASS_UP = 520,
    RUNG_SASS_REGISTERS = 528
};

struct rung_sass_operand {
    const char *text; /* up to the comma behind it */
    size_t length;
    bool predicate_file;    /* P or UP */
    bool is_register;       /* reg */
    bool is_zero;           /* RZ, URZ; PT, UPT, which is true */
    bool is_memory;         /* has an address in brackets */
    bool is_constant;       /* constant, with its sign */
    bool negated, inverted; /* -x; ~x, or !p */
    uint32_t reg;
    int64_t constant;
};

/* Reads an operand of `length` bytes. */
void rung_sass_read_operand(struct rung_sass_operand *out, const char *text, size_t length);

/* Reads "R12", "UR4", "P0", "UPT", "RZ" at the start of `text`; false if none stands there. */
bool rung_sass_read_register(struct rung_sass_operand *out, const char *text);

/* Whether `opcode` is `word`, or that with a dot and more behind. */
bool rung_sass_continues(const char *opcode, const char *word);

/* Whether `word` is one of the dotted parts of `opcode` behind the first. */
bool rung_sass_has_word(const char *opcode, const char *word);

#endif
