/* PTX into the common form. */
#include "inspect/lower.h"

#include <string.h>

#include "inspect/lookup.h"
#include "ptx/flow.h"

#define SOURCES_MAX 64
#define DEFS_MAX 32

struct draft {
    struct rung_code_source sources[SOURCES_MAX];
    uint32_t defs[DEFS_MAX];
    uint32_t n_sources, n_defs;
};

static void add_operand(struct draft *draft, const struct rung_ptx_operand *operand, bool defines)
{
    for (uint32_t i = 0; i < operand->n_items; i++)
        add_operand(draft, &operand->items[i], defines && operand->kind != RUNG_PTX_ADDRESS);
    if (operand->n_items > 0 || operand->kind == RUNG_PTX_SINK || operand->kind == RUNG_PTX_LABEL ||
        operand->kind == RUNG_PTX_ADDRESS)
        return;
    if (defines) {
        if (operand->kind == RUNG_PTX_REGISTER && draft->n_defs < DEFS_MAX)
            draft->defs[draft->n_defs++] = operand->index;
        return;
    }
    if (draft->n_sources == SOURCES_MAX)
        return;
    struct rung_code_source source = {.kind = RUNG_SOURCE_UNKNOWN, .inverted = operand->negated};
    if (operand->kind == RUNG_PTX_REGISTER) {
        source.kind = RUNG_SOURCE_REGISTER;
        source.reg = operand->index;
    } else if (operand->kind == RUNG_PTX_INTEGER) {
        source.kind = RUNG_SOURCE_CONSTANT;
        source.inverted = false;
        source.constant = (int64_t)operand->bits;
    }
    draft->sources[draft->n_sources++] = source;
}

/* The registers of addresses first, then the rest in order. */
static uint32_t take_operands(struct draft *draft, const struct rung_ptx_instruction *instruction)
{
    uint32_t destinations = rung_ptx_destinations(instruction);
    for (uint32_t i = 0; i < instruction->n_operands; i++)
        if (instruction->operands[i].kind == RUNG_PTX_ADDRESS)
            add_operand(draft, &instruction->operands[i], false);
    uint32_t n_addresses = draft->n_sources;
    for (uint32_t i = 0; i < instruction->n_operands; i++)
        if (instruction->operands[i].kind != RUNG_PTX_ADDRESS)
            add_operand(draft, &instruction->operands[i], i < destinations);
    return n_addresses;
}

static bool is_integer(enum rung_ptx_type type)
{
    enum rung_ptx_kind kind = rung_ptx_type_kind(type);
    return type != RUNG_PTX_TYPE_NONE &&
           (kind == RUNG_PTX_KIND_BITS || kind == RUNG_PTX_KIND_UNSIGNED ||
            kind == RUNG_PTX_KIND_SIGNED);
}

static bool has(const struct rung_ptx_instruction *instruction, enum rung_ptx_modifier modifier)
{
    return rung_ptx_has(instruction->modifiers, modifier);
}

static enum rung_code_op product(const struct rung_ptx_instruction *instruction)
{
    return has(instruction, RUNG_PTX_M_HI)     ? RUNG_CODE_MULTIPLY_HIGH
           : has(instruction, RUNG_PTX_M_WIDE) ? RUNG_CODE_MULTIPLY_WIDE
                                               : RUNG_CODE_MULTIPLY;
}

static enum rung_code_op conversion(const struct rung_ptx_instruction *instruction)
{
    if (instruction->n_types < 2)
        return RUNG_CODE_OTHER;
    bool to = is_integer(instruction->types[0]), from = is_integer(instruction->types[1]);
    return to && from ? RUNG_CODE_MOVE
           : to       ? RUNG_CODE_TO_INTEGER
           : from     ? RUNG_CODE_TO_FLOAT
                      : RUNG_CODE_OTHER;
}

static enum rung_code_op move(const struct rung_ptx_instruction *instruction)
{
    for (uint32_t i = 0; i < instruction->n_operands; i++) {
        const struct rung_ptx_operand *operand = &instruction->operands[i];
        if (operand->kind != RUNG_PTX_SPECIAL)
            continue;
        return operand->special == RUNG_PTX_SR_TID_X || operand->special == RUNG_PTX_SR_TID_Y ||
                       operand->special == RUNG_PTX_SR_TID_Z
                   ? RUNG_CODE_TID
                   : RUNG_CODE_OPAQUE;
    }
    return instruction->types[0] == RUNG_PTX_PRED ? RUNG_CODE_LOGIC : RUNG_CODE_MOVE;
}

/* What opcodes without a row of the executable set are, as far as it matters here. */
static enum rung_code_op by_mnemonic(const struct rung_ptx_instruction *instruction)
{
    static const struct {
        const char *word;
        enum rung_code_op op;
    } rows[] = {
        {"ldu",        RUNG_CODE_LOAD      },
        {"ldmatrix",   RUNG_CODE_LOAD      },
        {"stmatrix",   RUNG_CODE_STORE     },
        {"vote",       RUNG_CODE_OPAQUE    },
        {"match",      RUNG_CODE_OPAQUE    },
        {"redux",      RUNG_CODE_OPAQUE    },
        {"activemask", RUNG_CODE_OPAQUE    },
        {"call",       RUNG_CODE_OPAQUE    },
        {"tex",        RUNG_CODE_OPAQUE    },
        {"tld4",       RUNG_CODE_OPAQUE    },
        {"mul24",      RUNG_CODE_MULTIPLY  },
        {"mad24",      RUNG_CODE_MULTIPLY  },
        {"bmsk",       RUNG_CODE_LOW_MASK  },
        {"brx",        RUNG_CODE_BRANCH    },
        {"trap",       RUNG_CODE_EXIT      },
        {"rcp",        RUNG_CODE_RECIPROCAL}
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(instruction->mnemonic, rows[i].word) == 0)
            return rows[i].op;
    return RUNG_CODE_OTHER;
}

static enum rung_code_op operation(const struct rung_ptx_instruction *instruction)
{
    bool integer = is_integer(instruction->types[0]);
    bool predicate = instruction->types[0] == RUNG_PTX_PRED;
    switch (instruction->opcode) {
    case RUNG_PTX_OP_ADD:
    case RUNG_PTX_OP_SUB:
        return integer ? RUNG_CODE_ADD : RUNG_CODE_OTHER;
    case RUNG_PTX_OP_MUL:
    case RUNG_PTX_OP_MAD:
        return integer ? product(instruction) : RUNG_CODE_OTHER;
    case RUNG_PTX_OP_DIV:
    case RUNG_PTX_OP_REM:
        return integer ? RUNG_CODE_DIVIDE : RUNG_CODE_OTHER;
    case RUNG_PTX_OP_AND:
        return predicate ? RUNG_CODE_LOGIC : RUNG_CODE_AND;
    case RUNG_PTX_OP_OR:
    case RUNG_PTX_OP_XOR:
        return predicate ? RUNG_CODE_LOGIC : RUNG_CODE_OTHER;
    case RUNG_PTX_OP_NOT:
        return predicate ? RUNG_CODE_LOGIC : RUNG_CODE_NOT;
    case RUNG_PTX_OP_SHL:
        return RUNG_CODE_SHIFT_LEFT;
    case RUNG_PTX_OP_SHR:
        return RUNG_CODE_SHIFT_RIGHT;
    case RUNG_PTX_OP_SETP:
        return !integer ? RUNG_CODE_OTHER
               : has(instruction, RUNG_PTX_M_EQ) || has(instruction, RUNG_PTX_M_NE)
                   ? RUNG_CODE_EQUAL
                   : RUNG_CODE_ORDER;
    case RUNG_PTX_OP_SELP:
        return RUNG_CODE_SELECT;
    case RUNG_PTX_OP_MOV:
        return move(instruction);
    case RUNG_PTX_OP_CVT:
        return conversion(instruction);
    case RUNG_PTX_OP_CVTA:
        return RUNG_CODE_MOVE;
    case RUNG_PTX_OP_LD:
        return RUNG_CODE_LOAD;
    case RUNG_PTX_OP_ST:
        return RUNG_CODE_STORE;
    case RUNG_PTX_OP_ATOM:
    case RUNG_PTX_OP_RED:
        return RUNG_CODE_ATOMIC;
    case RUNG_PTX_OP_BAR:
    case RUNG_PTX_OP_BARRIER:
        return has(instruction, RUNG_PTX_M_WARP) ||
                       strncmp(instruction->text, "barrier.cluster", 15) == 0
                   ? RUNG_CODE_OTHER
                   : RUNG_CODE_BARRIER;
    case RUNG_PTX_OP_SHFL:
        return RUNG_CODE_OPAQUE;
    case RUNG_PTX_OP_BRA:
        return RUNG_CODE_BRANCH;
    case RUNG_PTX_OP_RET:
    case RUNG_PTX_OP_EXIT:
        return RUNG_CODE_EXIT;
    default:
        return by_mnemonic(instruction);
    }
}

static enum rung_code_space space_of(const struct rung_ptx_instruction *instruction)
{
    switch (instruction->space) {
    case RUNG_PTX_SPACE_SHARED:
        return RUNG_SPACE_SHARED;
    case RUNG_PTX_SPACE_GLOBAL:
    case RUNG_PTX_SPACE_NONE:
        return RUNG_SPACE_GLOBAL;
    default:
        return RUNG_SPACE_OTHER;
    }
}

/* What the operands add to the opcode: constants in another form, truth tables, labels. */
static void refine(struct rung_code_instruction *result, struct draft *draft,
                   const struct rung_ptx_instruction *instruction,
                   const struct rung_ptx_function *function)
{
    struct rung_code_source *sources = draft->sources;
    switch (instruction->opcode) {
    case RUNG_PTX_OP_SUB: /* x - c is x + -c */
        if (draft->n_sources == 2 && sources[1].kind == RUNG_SOURCE_CONSTANT)
            sources[1].constant = (int64_t)(0 - (uint64_t)sources[1].constant);
        else if (draft->n_sources == 2)
            sources[1].negated = true;
        break;
    case RUNG_PTX_OP_LOP3:
        if (draft->n_sources >= 4 && sources[3].kind == RUNG_SOURCE_CONSTANT)
            rung_lookup_read(result, sources, &draft->n_sources, (uint8_t)sources[3].constant);
        break;
    case RUNG_PTX_OP_SHF:
        if (draft->n_sources == 3 && sources[0].kind == RUNG_SOURCE_REGISTER &&
            sources[1].kind == RUNG_SOURCE_REGISTER && sources[0].reg == sources[1].reg) {
            sources[1] = sources[2];
            draft->n_sources = 2;
            result->op = RUNG_CODE_ROTATE;
        }
        break;
    case RUNG_PTX_OP_BFE: /* from bit 0 and without a sign: an and */
        if (draft->n_sources == 3 &&
            rung_ptx_type_kind(instruction->types[0]) == RUNG_PTX_KIND_UNSIGNED &&
            sources[1].kind == RUNG_SOURCE_CONSTANT && sources[1].constant == 0 &&
            sources[2].kind == RUNG_SOURCE_CONSTANT && sources[2].constant < 63) {
            result->op = RUNG_CODE_AND;
            sources[1] = sources[2];
            sources[1].constant = ((int64_t)1 << (sources[2].constant & 63)) - 1;
            draft->n_sources = 2;
        }
        break;
    default:
        break;
    }
    if (result->op != RUNG_CODE_BRANCH)
        return;
    const struct rung_ptx_operand *to = instruction->n_operands ? instruction->operands : NULL;
    if (instruction->opcode == RUNG_PTX_OP_BRA && to && to->kind == RUNG_PTX_LABEL)
        result->target = function->labels[to->index].target;
    result->indirect = instruction->opcode != RUNG_PTX_OP_BRA;
    draft->n_sources = 0;
}

static bool lower_one(struct rung_code_instruction *result,
                      const struct rung_ptx_instruction *instruction,
                      const struct rung_ptx_function *function, const struct rung_lines *lines,
                      struct rung_arena *arena)
{
    struct draft draft = {0};
    result->op = operation(instruction);
    result->is_float = instruction->n_types > 0 &&
                       rung_ptx_type_kind(instruction->types[0]) == RUNG_PTX_KIND_FLOAT;
    result->guard = instruction->guarded ? instruction->guard : RUNG_CODE_NO_REGISTER;
    result->target = RUNG_CODE_NOWHERE;
    result->line = instruction->line;
    result->source_line = instruction->source_file <= 1 ? instruction->source_line : 0;
    result->mnemonic = rung_arena_copy(arena, instruction->text, strlen(instruction->text));
    result->text = instruction->line <= lines->n ? lines->lines[instruction->line] : "";
    bool memory = result->op == RUNG_CODE_LOAD || result->op == RUNG_CODE_STORE ||
                  result->op == RUNG_CODE_ATOMIC;
    uint32_t n_addresses = take_operands(&draft, instruction);
    if (memory) {
        result->space = space_of(instruction);
        result->n_addresses = n_addresses;
    }
    refine(result, &draft, instruction, function);
    result->n_defs = draft.n_defs;
    result->n_sources = draft.n_sources;
    result->defs = rung_arena_array(arena, draft.n_defs + 1, sizeof *result->defs);
    result->sources = rung_arena_array(arena, draft.n_sources + 1, sizeof *result->sources);
    if (!result->mnemonic || !result->defs || !result->sources)
        return false;
    memcpy(result->defs, draft.defs, draft.n_defs * sizeof *result->defs);
    memcpy(result->sources, draft.sources, draft.n_sources * sizeof *result->sources);
    return true;
}

bool rung_lower_ptx(struct rung_code *out, const struct rung_ptx_function *function,
                    const struct rung_lines *lines, struct rung_arena *arena)
{
    *out = (struct rung_code){.n_registers = function->n_registers,
                              .n_instructions = function->n_instructions};
    out->name = rung_arena_copy(arena, function->name, strlen(function->name));
    out->instructions =
        rung_arena_array(arena, (size_t)function->n_instructions + 1, sizeof *out->instructions);
    if (!out->name || !out->instructions)
        return false;
    for (uint32_t i = 0; i < function->n_instructions; i++)
        if (!lower_one(&out->instructions[i], &function->instructions[i], function, lines, arena))
            return false;
    return true;
}

/* Without indent, with one blank for a run of them. */
static const char *tidy(char *line)
{
    char *to = line;
    for (const char *from = line; *from; from++) {
        bool blank = *from == ' ' || *from == '\t' || *from == '\r';
        if (!blank)
            *to++ = *from;
        else if (to > line && to[-1] != ' ')
            *to++ = ' ';
    }
    if (to > line && to[-1] == ' ')
        to--;
    *to = '\0';
    return line;
}

bool rung_lines_split(struct rung_lines *out, const char *text, size_t length,
                      struct rung_arena *arena)
{
    *out = (struct rung_lines){0};
    uint32_t n = 1;
    for (size_t i = 0; i < length; i++)
        n += text[i] == '\n';
    char *copy = rung_arena_copy(arena, text, length);
    out->lines = rung_arena_array(arena, (size_t)n + 2, sizeof *out->lines);
    if (!copy || !out->lines)
        return false;
    out->lines[0] = "";
    char *at = copy, *end = copy + length;
    while (out->n < n) {
        char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        *stop = '\0';
        out->lines[++out->n] = tidy(at);
        at = stop < end ? stop + 1 : end;
    }
    return true;
}
