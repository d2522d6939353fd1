/* Compiled code in one form, whether it came from PTX text or from disassembled SASS: what each
 * instruction computes from what, which memory it touches, and where control goes. Verdicts are
 * reached on this form alone, so that both sides are judged by the same rules. Everything lives in
 * an arena that outlives the code. */
#ifndef RUNG_INSPECT_CODE_H
#define RUNG_INSPECT_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

enum rung_code_op {
    RUNG_CODE_OTHER,       /* computes its results from its sources, in some way */
    RUNG_CODE_MOVE,        /* a copy, or a conversion between integers */
    RUNG_CODE_OPAQUE,      /* results have nothing to do with the sources: shuffle, vote, %ctaid */
    RUNG_CODE_TID,         /* reads the index of the thread in its block */
    RUNG_CODE_ADD,         /* sum of its sources, some of them negated */
    RUNG_CODE_SCALE_ADD,   /* sources: value, addend, distance to shift the value left by */
    RUNG_CODE_AND,         /* bitwise; a source may be inverted */
    RUNG_CODE_NOT,         /* bitwise */
    RUNG_CODE_LOW_MASK,    /* the lowest x bits set */
    RUNG_CODE_SHIFT_LEFT,  /* sources: value, distance */
    RUNG_CODE_SHIFT_RIGHT, /* sources: value, distance */
    RUNG_CODE_ROTATE,      /* the first source, by the second */
    RUNG_CODE_MULTIPLY,    /* low half; the first two sources are the factors */
    RUNG_CODE_MULTIPLY_HIGH, /* high half; likewise */
    RUNG_CODE_MULTIPLY_WIDE, /* both halves; likewise */
    RUNG_CODE_DIVIDE,        /* integer quotient or remainder as one instruction or call */
    RUNG_CODE_TO_FLOAT,      /* integer to floating point */
    RUNG_CODE_RECIPROCAL,    /* approximate, of a floating-point number */
    RUNG_CODE_TO_INTEGER,    /* floating point to integer */
    RUNG_CODE_EQUAL,         /* == or !=, of integers; result a predicate */
    RUNG_CODE_ORDER,         /* <, <=, >, >=, of integers; result a predicate */
    RUNG_CODE_LOGIC,         /* of predicates */
    RUNG_CODE_SELECT,        /* by a predicate */
    RUNG_CODE_LOAD,          /* results come from memory; sources are addresses */
    RUNG_CODE_STORE,         /* sources are addresses, then values */
    RUNG_CODE_ATOMIC,        /* reads and writes memory at once */
    RUNG_CODE_BARRIER,       /* of the block */
    RUNG_CODE_BRANCH,
    RUNG_CODE_CALL,
    RUNG_CODE_RETURN, /* from a subroutine */
    RUNG_CODE_EXIT    /* ends the thread */
};

enum rung_code_space {
    RUNG_SPACE_NONE,
    RUNG_SPACE_SHARED,
    RUNG_SPACE_GLOBAL, /* generic addresses too */
    RUNG_SPACE_OTHER   /* parameters, constants, local memory */
};

enum rung_code_source_kind { RUNG_SOURCE_REGISTER, RUNG_SOURCE_CONSTANT, RUNG_SOURCE_UNKNOWN };

struct rung_code_source {
    enum rung_code_source_kind kind;
    bool inverted;    /* all bits, before use */
    bool negated;     /* a register: taken negatively */
    uint32_t reg;     /* REGISTER */
    int64_t constant; /* CONSTANT, sign-extended from 32 bits where written so */
};

#define RUNG_CODE_NOWHERE UINT32_MAX
#define RUNG_CODE_NO_REGISTER UINT32_MAX

struct rung_code_instruction {
    enum rung_code_op op;
    enum rung_code_space space;
    bool is_float;        /* computes in floating point: never part of a modulo of integers */
    bool sets_predicate;  /* an AND whose result is only compared with zero */
    bool divides_by_name; /* a CALL of a division routine of the compiler's library */
    bool in_library;      /* part of such a routine */
    bool indirect;        /* a BRANCH to an address in a register */
    uint32_t guard;       /* predicate register, RUNG_CODE_NO_REGISTER without one */
    uint32_t target;      /* of BRANCH and CALL: instruction index, RUNG_CODE_NOWHERE unknown */
    uint32_t *defs;       /* registers written */
    struct rung_code_source *sources;
    uint32_t n_defs, n_sources;
    uint32_t n_addresses; /* how many of the sources, from the first, make up an address */
    uint32_t line;        /* PTX: line of the text, from 1; SASS: offset in bytes */
    uint32_t source_line; /* PTX compiled with line information: of the CUDA source; else 0 */
    const char *mnemonic; /* "LDS.U", "ld.shared.f32" */
    const char *text;     /* as the reader knows it, on one line */
};

/* A text by lines: lines[1] is the first, each without indent and ended by a NUL. */
struct rung_lines {
    const char **lines;
    uint32_t n; /* index of the last */
};

struct rung_code {
    const char *name; /* of the kernel */
    bool is_sass;     /* lines are offsets */
    struct rung_code_instruction *instructions;
    uint32_t n_instructions;
    uint32_t n_registers; /* every register of the code is below */
};

#endif
