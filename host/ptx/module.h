/* PTX text as a value. A module holds everything that the text declares and every instruction of
 * every function, in order, with its line. The parser knows the grammar, not the instruction set:
 * an opcode outside opcodes.def is kept by its text with opcode RUNG_PTX_OP_UNKNOWN, so that any
 * output of NVRTC can be read, sliced and shown; who executes refuses (sim/machine.h).
 *
 * Everything lives in the module's arena until rung_ptx_module_release. Lines count from 1. */
#ifndef RUNG_PTX_MODULE_H
#define RUNG_PTX_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

enum rung_ptx_type {
    RUNG_PTX_TYPE_NONE,
#define PTX_TYPE(name, word, bits, kind) RUNG_PTX_##name,
#include "ptx/types.def"
#undef PTX_TYPE
    RUNG_PTX_TYPE_COUNT
};

enum rung_ptx_kind {
    RUNG_PTX_KIND_BITS,
    RUNG_PTX_KIND_UNSIGNED,
    RUNG_PTX_KIND_SIGNED,
    RUNG_PTX_KIND_FLOAT,
    RUNG_PTX_KIND_PREDICATE
};

/* State spaces, of a declaration or of a memory instruction; NONE is generic. */
enum rung_ptx_space {
    RUNG_PTX_SPACE_NONE,
    RUNG_PTX_SPACE_REG,
    RUNG_PTX_SPACE_PARAM,
    RUNG_PTX_SPACE_SHARED,
    RUNG_PTX_SPACE_GLOBAL,
    RUNG_PTX_SPACE_CONST,
    RUNG_PTX_SPACE_LOCAL,
    RUNG_PTX_SPACE_CODE /* the name of a function */
};

enum rung_ptx_opcode {
    RUNG_PTX_OP_UNKNOWN,
#define OPCODE(name, mnemonic, arity, types, modifiers, class, family, title) RUNG_PTX_OP_##name,
#include "ptx/opcodes.def"
#undef OPCODE
    RUNG_PTX_OP_COUNT
};

/* Everything after a dot that is not a type: .global, .rn, .lo, .sync, .v2 ... One bit each in
 * `modifiers` of an instruction. */
enum rung_ptx_modifier {
#define PTX_MODIFIER(name, word) RUNG_PTX_M_##name,
#include "ptx/modifiers.def"
#undef PTX_MODIFIER
    RUNG_PTX_M_COUNT
};
_Static_assert(RUNG_PTX_M_COUNT <= 128, "modifiers are bits of two 64-bit words");

struct rung_ptx_modifiers {
    uint64_t words[2];
};

static inline bool rung_ptx_has(struct rung_ptx_modifiers set, enum rung_ptx_modifier modifier)
{
    return set.words[modifier / 64] >> modifier % 64 & 1;
}

enum rung_ptx_special {
    RUNG_PTX_SR_NONE,
#define PTX_SPECIAL(name, word, type) RUNG_PTX_SR_##name,
#include "ptx/specials.def"
#undef PTX_SPECIAL
    RUNG_PTX_SR_COUNT
};

struct rung_ptx_symbol {
    const char *name;
    enum rung_ptx_space space;
    enum rung_ptx_type type; /* of one element */
    uint32_t align;          /* bytes */
    uint64_t bytes;          /* 0 for `x[]` */
    uint64_t offset;         /* PARAM: in the parameter block; else 0 */
    bool is_extern;
    const unsigned char *init; /* the first `init_bytes` bytes; what follows is zero */
    uint64_t init_bytes;
    bool init_has_names; /* the initialiser holds addresses, which are not kept */
    unsigned line;
};

enum rung_ptx_operand_kind {
    RUNG_PTX_REGISTER, /* index into the function's registers */
    RUNG_PTX_INTEGER,  /* bits: the literal, sign-extended to 64 */
    RUNG_PTX_FLOAT,    /* bits: of an f64 (0d, decimal) or f32 (0f) as `float_bits` says */
    RUNG_PTX_SPECIAL,  /* special: %tid.x, WARP_SZ ...; UNKNOWN ones keep `name` */
    RUNG_PTX_SYMBOL,   /* symbol (+ offset) */
    RUNG_PTX_ADDRESS,  /* [items[0] + offset]; items[0] a register, symbol or integer */
    RUNG_PTX_VECTOR,   /* {items...} */
    RUNG_PTX_PAIR,     /* items[0]|items[1], as in setp p|q and shfl r|p */
    RUNG_PTX_LIST,     /* (items...), of calls */
    RUNG_PTX_LABEL,    /* index into the function's labels */
    RUNG_PTX_SINK,     /* _ */
    RUNG_PTX_NAME      /* a name that only a call or a prototype can mean */
};

struct rung_ptx_operand {
    enum rung_ptx_operand_kind kind;
    bool negated;       /* !%p, or -%r */
    uint8_t float_bits; /* 32 or 64, of a FLOAT */
    uint32_t index;     /* REGISTER, LABEL */
    uint64_t bits;      /* INTEGER, FLOAT */
    int64_t offset;     /* ADDRESS, SYMBOL */
    enum rung_ptx_special special;
    const struct rung_ptx_symbol *symbol;
    const char *name; /* as written: REGISTER, SPECIAL, SYMBOL, LABEL, NAME */
    struct rung_ptx_operand *items;
    uint32_t n_items;
};

#define RUNG_PTX_TYPES_MAX 4 /* of one instruction: cvt has two, mma four */

struct rung_ptx_instruction {
    const char *text;     /* the opcode as written, "ld.global.nc.f32" */
    const char *mnemonic; /* its first word, "ld" */
    enum rung_ptx_opcode opcode;
    bool has_unknown_word; /* a dotted word in none of the tables: cannot be executed */
    enum rung_ptx_type types[RUNG_PTX_TYPES_MAX]; /* as written, first to last */
    uint8_t n_types;
    uint8_t vector; /* 1, or 2, 4, 8 for .v2 ... */
    enum rung_ptx_space space;
    struct rung_ptx_modifiers modifiers; /* spaces and vectors too */
    bool guarded;                        /* @%p or @!%p stands before it */
    bool guard_negated;
    uint32_t guard;                    /* register index */
    struct rung_ptx_operand *operands; /* destination first, as written */
    uint32_t n_operands;
    unsigned line;        /* of the PTX text */
    unsigned source_line; /* by .loc, 0 if none */
    unsigned source_file; /* by .loc, index of .file, 0 if none */
};

struct rung_ptx_register {
    const char *name;
    enum rung_ptx_type type;
};

struct rung_ptx_label {
    const char *name;
    uint32_t target; /* index of the instruction after it; n_instructions at the end */
    unsigned line;
};

struct rung_ptx_function {
    const char *name;
    bool is_entry;                   /* .entry, else .func */
    bool is_prototype;               /* has no body */
    struct rung_ptx_symbol **params; /* with their offsets in the parameter block */
    uint32_t n_params;
    uint32_t param_bytes;
    struct rung_ptx_symbol **symbols; /* declared in the body: .shared, .local, .param */
    uint32_t n_symbols;
    struct rung_ptx_register *registers; /* those that occur, in the order of first use */
    uint32_t n_registers;
    struct rung_ptx_label *labels;
    uint32_t n_labels;
    struct rung_ptx_instruction *instructions;
    uint32_t n_instructions;
    uint32_t max_ntid[3], req_ntid[3]; /* 0 where not said */
    uint32_t min_nctapersm;
    bool needs_cluster; /* a cluster directive stands at it */
    unsigned line;
};

struct rung_ptx_module {
    struct rung_arena arena;
    unsigned version;        /* 90 for .version 9.0 */
    unsigned target;         /* 75 for sm_75, 90 for sm_90a */
    const char *target_word; /* "sm_90a" */
    unsigned address_size;
    const char *nvvm; /* "7.0.1" of "Based on NVVM 7.0.1", NULL if the header lacks it */
    bool has_debug_sections;
    struct rung_ptx_symbol **symbols; /* of module scope */
    uint32_t n_symbols;
    struct rung_ptx_function **functions;
    uint32_t n_functions;
};

/* The codes of the driver for text that it does not take, recorded as `native` of the error. */
#define RUNG_PTX_NOT_PTX 200
#define RUNG_PTX_INVALID 218

/* Parses `length` bytes (a NUL ends them earlier). RUNG_COMPILE with "line N: what" on the first
 * error; RUNG_MEMORY. `*out` is released by the caller in every case. */
enum rung_status rung_ptx_parse(struct rung_ptx_module *out, const char *text, size_t length,
                                struct rung_error *err);
void rung_ptx_module_release(struct rung_ptx_module *module);

/* The entry of that name, NULL if there is none. */
const struct rung_ptx_function *rung_ptx_entry(const struct rung_ptx_module *module,
                                               const char *name);

unsigned rung_ptx_type_bits(enum rung_ptx_type type); /* 0 for NONE */
enum rung_ptx_kind rung_ptx_type_kind(enum rung_ptx_type type);
const char *rung_ptx_type_word(enum rung_ptx_type type); /* "f32" */
const char *rung_ptx_modifier_word(enum rung_ptx_modifier modifier);
int rung_ptx_modifier_find(const char *word, size_t length); /* without the dot; -1 if none */

#endif
