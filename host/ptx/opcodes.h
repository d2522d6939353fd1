/* The table of opcodes.def as data: what each instruction may look like, for the loader's check and
 * for the printed list of what the simulator executes. */
#ifndef RUNG_PTX_OPCODES_H
#define RUNG_PTX_OPCODES_H

#include "base/text.h"
#include "ptx/module.h"

/* How an instruction is counted. MEMORY becomes a load or a store of its state space. */
enum rung_ptx_class {
    RUNG_PTX_CLASS_ARITHMETIC,
    RUNG_PTX_CLASS_LOGIC,
    RUNG_PTX_CLASS_COMPARE,
    RUNG_PTX_CLASS_MOVE,
    RUNG_PTX_CLASS_CONVERT,
    RUNG_PTX_CLASS_BRANCH,
    RUNG_PTX_CLASS_BARRIER,
    RUNG_PTX_CLASS_MEMORY,
    RUNG_PTX_CLASS_SHUFFLE,
    RUNG_PTX_CLASS_VOTE,
    RUNG_PTX_CLASS_ATOMIC,
    RUNG_PTX_CLASS_CONTROL
};

struct rung_ptx_opcode_row {
    const char *mnemonic;
    const char *arity;     /* "3", "1-2" */
    const char *types;     /* words, a space between */
    const char *modifiers; /* words, a space between */
    enum rung_ptx_class class;
    const char *family;
    const char *title; /* section of NVIDIA's PTX ISA manual */
};

/* The row of an opcode; NULL for RUNG_PTX_OP_UNKNOWN. */
const struct rung_ptx_opcode_row *rung_ptx_opcode_row(enum rung_ptx_opcode opcode);

/* UNKNOWN when no row has the mnemonic. */
enum rung_ptx_opcode rung_ptx_opcode_find(const char *mnemonic, size_t length);

/* Whether the instruction's words and number of operands are those of its row. RUNG_COMPILE names
 * opcode and line: "unsupported instruction `wgmma.fence` at line 40". */
enum rung_status rung_ptx_opcode_check(const struct rung_ptx_instruction *instruction,
                                       struct rung_error *err);

/* The table for a reader, one opcode a line, in 80 columns. */
void rung_ptx_opcodes_print(struct rung_text *text);

#endif
