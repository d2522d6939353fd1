/* Decoding: from a parsed instruction to an op. Every family has one function; it chooses what runs
 * and finds the rows of the operands, or refuses with opcode and line. */
#ifndef RUNG_SIM_DECODE_H
#define RUNG_SIM_DECODE_H

#include "sim/exec.h"

struct sim_decoder {
    struct rung_sim_kernel *kernel;
    const struct rung_sim_program *program;
    const struct rung_ptx_instruction *at;
    struct sim_op *op;
    struct rung_arena *arena;
    struct rung_error *err;
    uint32_t constants_room;
};

typedef bool sim_decode(struct sim_decoder *decoder);
#define OPCODE(name, mnemonic, arity, types, modifiers, class, family, title)                      \
    sim_decode rung_sim_decode_##family;
#include "ptx/opcodes.def"
#undef OPCODE

/* "unsupported instruction `X` at line N" with a reason; always false. */
bool rung_sim_refuse(struct sim_decoder *decoder, const char *reason);

/* The row of a source operand for values of `type`: a register of that size, a literal, a special
 * register or the address of a symbol. */
bool rung_sim_decode_source(struct sim_decoder *decoder, uint32_t *offset,
                            const struct rung_ptx_operand *operand, enum rung_ptx_type type);
/* The row of a register operand that is written, of `bits` bits. */
bool rung_sim_decode_destination(struct sim_decoder *decoder, uint32_t *offset,
                                 const struct rung_ptx_operand *operand, unsigned bits);
/* A predicate, perhaps negated; literals 0 and 1 are taken. */
bool rung_sim_decode_predicate(struct sim_decoder *decoder, uint32_t *offset, bool *negated,
                               const struct rung_ptx_operand *operand);
/* A register of at least the size of `type`, as ld, st and cvt take; `*bits` is its size. */
bool rung_sim_decode_wide(struct sim_decoder *decoder, uint32_t *offset, uint8_t *bits,
                          const struct rung_ptx_operand *operand, enum rung_ptx_type type);
/* [base + offset] into op->a, op->offset, op->address_bits. */
bool rung_sim_decode_address(struct sim_decoder *decoder, const struct rung_ptx_operand *operand);
/* An integer literal. */
bool rung_sim_decode_literal(struct sim_decoder *decoder, uint64_t *value,
                             const struct rung_ptx_operand *operand);
/* The row of a constant of `width` bits a lane (1: predicate). */
bool rung_sim_decode_constant(struct sim_decoder *decoder, uint32_t *offset, uint64_t bits,
                              unsigned width);
/* An even more of rows: `bytes` of the file. */
bool rung_sim_decode_room(struct sim_decoder *decoder, uint32_t *offset, uint32_t bytes);

static inline bool sim_has(const struct sim_decoder *decoder, enum rung_ptx_modifier modifier)
{
    return rung_ptx_has(decoder->at->modifiers, modifier);
}

/* A choice by opcode and type. */
struct sim_choice {
    enum rung_ptx_opcode opcode;
    enum rung_ptx_type type;
    uint8_t mode; /* the family's own: a modifier, for instance */
    sim_run *run;
};
/* NULL if the table has none. */
sim_run *rung_sim_choose(const struct sim_choice *choices, size_t n, enum rung_ptx_opcode opcode,
                         enum rung_ptx_type type, uint8_t mode);

/* One decoded entry; lives in the program's arena. */
bool rung_sim_kernel_decode(struct rung_sim_kernel *out, const struct rung_sim_program *program,
                            const struct rung_ptx_function *function, struct rung_arena *arena,
                            struct rung_error *err);
/* Segments of the decoded ops. */
bool rung_sim_kernel_segments(struct rung_sim_kernel *kernel, const struct rung_ptx_flow *flow,
                              struct rung_arena *arena);
/* Marks additions of data and the loads and stores around them. */
bool rung_sim_kernel_classify(struct rung_sim_kernel *kernel, const struct rung_ptx_flow *flow,
                              struct rung_arena *arena);
/* Device address of a module scope variable; 0 if it has none. */
uint64_t rung_sim_program_address(const struct rung_sim_program *program,
                                  const struct rung_ptx_symbol *symbol);

#endif
