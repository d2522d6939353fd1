/* SASS into the common form. Destinations stand first: predicates or a register, then further
 * predicates (carries, the second result of a comparison); what follows are sources. */
#include "inspect/lower.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/lookup.h"
#include "inspect/sass_operand.h"

#define INSTRUCTION_BYTES 16
#define OPERANDS_MAX 16
#define DEFS_MAX 16
#define SOURCES_MAX 32

enum form {
    FORM_PLAIN,
    FORM_PAIR,      /* writes two registers, and its third source is two */
    FORM_FIRST_TWO, /* of the sources */
    FORM_FIRST_AND_THIRD,
    FORM_THIRD,
    FORM_THIRD_THEN_SECOND,
    FORM_ROTATE,      /* of both halves the same register */
    FORM_ZERO_EXTEND, /* the second source is a number of bits */
    FORM_LOOKUP,      /* LOP3: a truth table tells what it does */
    FORM_PERMUTE,
    FORM_FLOAT,
    FORM_FLOAT_PAIR,
    FORM_SPECIAL, /* the source is a special register */
    FORM_SHARED,
    FORM_GLOBAL,
    FORM_ELSEWHERE,
    FORM_TARGET,
    FORM_INDIRECT
};

struct row {
    const char *word;
    enum rung_code_op op;
    enum form form;
};

static const struct row rows[] = {
#define SASS(word, op, form) {word, RUNG_CODE_##op, FORM_##form},
#include "inspect/sass.def"
#undef SASS
};

static const struct row anything = {"", RUNG_CODE_OTHER, FORM_PLAIN};

/* One instruction in the making. */
struct draft {
    struct rung_sass_operand operands[OPERANDS_MAX];
    size_t n_operands, n_destinations;
    uint32_t defs[DEFS_MAX];
    struct rung_code_source sources[SOURCES_MAX];
    uint32_t n_defs, n_sources;
    struct rung_code_instruction *result;
};

static const struct row *find_row(const char *opcode)
{
    const struct row *best = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rung_sass_continues(opcode, rows[i].word) &&
            (!best || strlen(rows[i].word) > strlen(best->word)))
            best = &rows[i];
    if (best)
        return best;
    return opcode[0] == 'U' ? find_row(opcode + 1) : &anything;
}

static void read_operands(struct draft *draft, const char *text)
{
    while (text && *text && draft->n_operands < OPERANDS_MAX) {
        size_t length = strcspn(text, ",");
        rung_sass_read_operand(&draft->operands[draft->n_operands++], text, length);
        text += length + (text[length] == ',');
    }
}

static void add_def(struct draft *draft, uint32_t reg, uint32_t count)
{
    uint32_t limit = reg < RUNG_SASS_UR ? RUNG_SASS_UR : reg < RUNG_SASS_P ? RUNG_SASS_P : reg + 1;
    for (uint32_t i = 0; i < count && reg + i < limit && draft->n_defs < DEFS_MAX; i++)
        draft->defs[draft->n_defs++] = reg + i;
}

static void add_register(struct draft *draft, uint32_t reg, const struct rung_sass_operand *operand)
{
    if (draft->n_sources < SOURCES_MAX)
        draft->sources[draft->n_sources++] =
            (struct rung_code_source){.kind = RUNG_SOURCE_REGISTER,
                                      .inverted = operand->inverted,
                                      .negated = operand->negated,
                                      .reg = reg};
}

/* The registers inside "desc[UR6][R2.64+0x10]", both halves of a 64-bit one. */
static void add_address(struct draft *draft, const struct rung_sass_operand *operand)
{
    const char *end = operand->text + operand->length;
    for (const char *at = operand->text; at < end; at++) {
        struct rung_sass_operand inner = {0};
        bool begins = at == operand->text || strchr("[+-", at[-1]);
        if (!begins || !rung_sass_read_register(&inner, at) || !inner.is_register)
            continue;
        add_register(draft, inner.reg, &inner);
        const char *suffix = at + strspn(at, "URP0123456789");
        if (strncmp(suffix, ".64", 3) == 0 && inner.reg + 1 < RUNG_SASS_UR)
            add_register(draft, inner.reg + 1, &inner);
    }
}

static void add_source(struct draft *draft, const struct rung_sass_operand *operand, uint32_t width)
{
    if (operand->is_memory) {
        add_address(draft, operand);
    } else if (operand->is_register) {
        for (uint32_t i = 0; i < width; i++)
            add_register(draft, operand->reg + i, operand);
    } else if (draft->n_sources < SOURCES_MAX && !(operand->is_zero && operand->predicate_file)) {
        bool known = operand->is_constant || operand->is_zero;
        draft->sources[draft->n_sources++] =
            (struct rung_code_source){.kind = known ? RUNG_SOURCE_CONSTANT : RUNG_SOURCE_UNKNOWN,
                                      .inverted = operand->inverted,
                                      .constant = operand->constant};
    }
}

/* How many of the operands are written. */
static size_t count_destinations(const struct draft *draft, enum rung_code_op op,
                                 const char *opcode)
{
    const struct rung_sass_operand *operands = draft->operands;
    size_t n = 0, n_predicates = 0, most = rung_sass_continues(opcode, "VOTE") ? 1 : 2;
    if (op == RUNG_CODE_STORE || op >= RUNG_CODE_BARRIER || rung_sass_continues(opcode, "RED"))
        return 0;
    while (n < draft->n_operands && n_predicates < most && operands[n].predicate_file &&
           !operands[n].inverted)
        n++, n_predicates++;
    if (n < draft->n_operands && !operands[n].predicate_file &&
        (operands[n].is_register || operands[n].is_zero) && !rung_sass_continues(opcode, "ISETP") &&
        !rung_sass_continues(opcode, "UISETP") && !rung_sass_continues(opcode, "FSETP") &&
        !rung_sass_continues(opcode, "DSETP"))
        n++;
    else
        return n;
    while (n < draft->n_operands && n_predicates < most && operands[n].predicate_file &&
           !operands[n].inverted && n + 1 < draft->n_operands)
        n++, n_predicates++;
    return n;
}

static uint32_t memory_width(const char *opcode)
{
    return rung_sass_has_word(opcode, "128") ? 4 : rung_sass_has_word(opcode, "64") ? 2 : 1;
}

static uint32_t result_width(const char *opcode, const struct row *row)
{
    if (row->form == FORM_PAIR || row->form == FORM_FLOAT_PAIR)
        return 2;
    return memory_width(opcode);
}

static void take_destinations(struct draft *draft, const struct row *row, const char *opcode)
{
    draft->n_destinations = count_destinations(draft, row->op, opcode);
    for (size_t i = 0; i < draft->n_destinations; i++) {
        const struct rung_sass_operand *operand = &draft->operands[i];
        if (operand->is_register)
            add_def(draft, operand->reg, operand->predicate_file ? 1 : result_width(opcode, row));
    }
    if (rung_sass_continues(opcode, "R2P")) /* writes the predicates that its mask names */
        for (uint32_t p = RUNG_SASS_P; p < RUNG_SASS_UP - 1; p++)
            add_def(draft, p, 1);
}

static void take_sources(struct draft *draft, const char *opcode, const struct row *row)
{
    for (size_t i = draft->n_destinations; i < draft->n_operands; i++) {
        size_t position = i - draft->n_destinations;
        bool pair = row->form == FORM_FLOAT_PAIR || (row->form == FORM_PAIR && position == 2) ||
                    rung_sass_has_word(opcode, "64") || rung_sass_has_word(opcode, "U64") ||
                    rung_sass_has_word(opcode, "S64");
        bool is_data = row->op == RUNG_CODE_STORE && !draft->operands[i].is_memory;
        uint32_t width = is_data ? memory_width(opcode) : pair ? 2 : 1;
        if (draft->operands[i].predicate_file)
            width = 1;
        add_source(draft, &draft->operands[i], width);
    }
}

/* Keeps the sources `first` and `second` in that order, those that there are. */
static void keep_two(struct draft *draft, uint32_t first, uint32_t second)
{
    struct rung_code_source kept[2];
    uint32_t n = 0;
    if (first < draft->n_sources)
        kept[n++] = draft->sources[first];
    if (second < draft->n_sources)
        kept[n++] = draft->sources[second];
    memcpy(draft->sources, kept, n * sizeof kept[0]);
    draft->n_sources = n;
}

static void keep_one(struct draft *draft, uint32_t which)
{
    keep_two(draft, which, which);
    if (draft->n_sources > 1)
        draft->n_sources = 1;
}

static const struct rung_sass_operand *source_operand(const struct draft *draft, size_t position)
{
    size_t i = draft->n_destinations + position;
    return i < draft->n_operands ? &draft->operands[i] : NULL;
}

/* LOP3 a, b, c, table: its first destination may be a predicate, set where any bit is. */
static void read_lookup(struct draft *draft)
{
    const struct rung_sass_operand *table = source_operand(draft, 3);
    if (!table || !table->is_constant)
        return;
    rung_lookup_read(draft->result, draft->sources, &draft->n_sources, (uint8_t)table->constant);
    draft->result->sets_predicate =
        draft->result->op == RUNG_CODE_AND && draft->operands[0].predicate_file;
}

/* PRMT a, selector, c: a conversion where it keeps the low bytes of a, a shift by 16 where it moves
 * the high ones down. */
static void read_permute(struct draft *draft)
{
    const struct rung_sass_operand *selector = source_operand(draft, 1);
    int64_t bytes = selector && selector->is_constant ? selector->constant : -1;
    keep_two(draft, 0, 2);
    if (bytes == 0x7632 || bytes == 0x3232 || bytes == 0x4432) {
        draft->n_sources = 1;
        draft->sources[draft->n_sources++] =
            (struct rung_code_source){.kind = RUNG_SOURCE_CONSTANT, .constant = 16};
        draft->result->op = RUNG_CODE_SHIFT_RIGHT;
    } else if ((bytes & 0xff) == 0x10) {
        draft->n_sources = draft->n_sources ? 1 : 0;
    } else {
        draft->result->op = RUNG_CODE_OTHER;
    }
}

static void read_target(struct draft *draft, const char *opcode,
                        const struct rung_sass_input *input)
{
    uint64_t base = (uint64_t)input->first * INSTRUCTION_BYTES;
    for (size_t i = 0; i < draft->n_operands; i++)
        if (draft->operands[i].is_constant) {
            uint64_t offset = (uint64_t)draft->operands[i].constant - base;
            if (offset % INSTRUCTION_BYTES == 0 && offset / INSTRUCTION_BYTES < input->count)
                draft->result->target = (uint32_t)(offset / INSTRUCTION_BYTES);
        }
    uint32_t n = 0; /* a branch depends on predicates only, and nothing on where it goes */
    for (uint32_t s = 0; s < draft->n_sources; s++)
        if (draft->sources[s].kind == RUNG_SOURCE_REGISTER && draft->sources[s].reg >= RUNG_SASS_P)
            draft->sources[n++] = draft->sources[s];
    if (rung_sass_has_word(opcode, "DIV") ||
        rung_sass_has_word(opcode, "CONV")) /* where the warp is not together */
        draft->sources[n++] = (struct rung_code_source){.kind = RUNG_SOURCE_UNKNOWN};
    draft->n_sources = n;
}

static void read_form(struct draft *draft, const struct row *row,
                      const struct rung_sass_input *input, const char *opcode, const char *operands)
{
    struct rung_code_instruction *result = draft->result;
    switch (row->form) {
    case FORM_FIRST_TWO:
        keep_two(draft, 0, 1);
        break;
    case FORM_FIRST_AND_THIRD:
        keep_two(draft, 0, 2);
        break;
    case FORM_THIRD:
        if (source_operand(draft, 2) && source_operand(draft, 2)->is_register &&
            source_operand(draft, 2)->negated)
            result->op = RUNG_CODE_ADD; /* zero less it */
        keep_one(draft, 2);
        break;
    case FORM_THIRD_THEN_SECOND:
        keep_two(draft, 2, 1);
        break;
    case FORM_ROTATE:
        if (draft->n_sources >= 3 && draft->sources[0].kind == RUNG_SOURCE_REGISTER &&
            draft->sources[2].kind == RUNG_SOURCE_REGISTER &&
            draft->sources[0].reg == draft->sources[2].reg)
            result->op = RUNG_CODE_ROTATE;
        break;
    case FORM_ZERO_EXTEND:
        if (draft->n_sources == 2 && draft->sources[1].kind == RUNG_SOURCE_CONSTANT)
            draft->sources[1].constant = ((int64_t)1 << (draft->sources[1].constant & 31)) - 1;
        break;
    case FORM_LOOKUP:
        read_lookup(draft);
        break;
    case FORM_PERMUTE:
        read_permute(draft);
        break;
    case FORM_SPECIAL:
        if (strstr(operands, "SR_TID"))
            result->op = RUNG_CODE_TID;
        break;
    case FORM_FLOAT:
    case FORM_FLOAT_PAIR:
        result->is_float = true;
        break;
    case FORM_SHARED:
        result->space = RUNG_SPACE_SHARED;
        break;
    case FORM_GLOBAL:
        result->space = RUNG_SPACE_GLOBAL;
        break;
    case FORM_ELSEWHERE:
        result->space = RUNG_SPACE_OTHER;
        break;
    case FORM_TARGET:
        read_target(draft, opcode, input);
        break;
    case FORM_INDIRECT:
        result->indirect = true;
        draft->n_sources = 0;
        break;
    case FORM_PLAIN:
    case FORM_PAIR:
        break;
    }
}

/* Registers that make up an address come first among the sources of a memory instruction. */
static void order_address(struct draft *draft)
{
    struct draft address = {0};
    for (size_t i = draft->n_destinations; i < draft->n_operands; i++)
        if (draft->operands[i].is_memory)
            add_address(&address, &draft->operands[i]);
    draft->result->n_addresses = address.n_sources;
    for (size_t i = draft->n_destinations; i < draft->n_operands; i++)
        if (!draft->operands[i].is_memory)
            add_source(&address, &draft->operands[i], 1);
    memcpy(draft->sources, address.sources, sizeof draft->sources);
    draft->n_sources = address.n_sources;
}

static bool keep(struct draft *draft, struct rung_arena *arena)
{
    struct rung_code_instruction *result = draft->result;
    result->n_defs = draft->n_defs;
    result->n_sources = draft->n_sources;
    result->defs = rung_arena_array(arena, draft->n_defs + 1, sizeof *result->defs);
    result->sources = rung_arena_array(arena, draft->n_sources + 1, sizeof *result->sources);
    if (!result->defs || !result->sources)
        return false;
    memcpy(result->defs, draft->defs, draft->n_defs * sizeof *result->defs);
    memcpy(result->sources, draft->sources, draft->n_sources * sizeof *result->sources);
    return true;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* "@!P0 BRA 0x1f0". Kernels are disassembled one behind the other: where control goes is written as
 * an offset from `base`, where this kernel begins. */
static const char *write_line(struct rung_arena *arena, const char *predicate, const char *opcode,
                              const char *operands, uint64_t base)
{
    const char *last = strrchr(operands, ',');
    last = last ? last + 1 : operands;
    size_t kept = strlen(operands);
    char target[24] = "";
    if (base > 0 && strncmp(last, "0x", 2) == 0) {
        kept = (size_t)(last - operands);
        snprintf(target, sizeof target, "0x%llx", strtoull(last, NULL, 16) - base);
    }
    size_t room = strlen(predicate) + strlen(opcode) + kept + sizeof target + 3;
    char *line = rung_arena_alloc(arena, room);
    if (line)
        snprintf(line, room, "%s%s%s%s%.*s%s", predicate, predicate[0] ? " " : "", opcode,
                 operands[0] ? " " : "", (int)kept, operands, target);
    return line;
}

static bool lower_one(struct rung_code_instruction *result, const json_t *object,
                      const struct rung_sass_input *input, struct rung_arena *arena)
{
    const char *opcode = text_of(object, "opcode"), *operands = text_of(object, "operands");
    const char *predicate = text_of(object, "predicate");
    const struct row *row = find_row(opcode);
    struct draft draft = {.result = result};
    result->op = row->op;
    result->guard = RUNG_CODE_NO_REGISTER;
    result->target = RUNG_CODE_NOWHERE;
    if (predicate[0] == '@') {
        struct rung_sass_operand guard;
        rung_sass_read_operand(&guard, predicate + 1, strlen(predicate + 1));
        if (guard.is_register)
            result->guard = guard.reg;
    }
    read_operands(&draft, operands);
    take_destinations(&draft, row, opcode);
    take_sources(&draft, opcode, row);
    read_form(&draft, row, input, opcode, operands);
    if (result->op == RUNG_CODE_LOAD || result->op == RUNG_CODE_STORE ||
        result->op == RUNG_CODE_ATOMIC)
        order_address(&draft);
    result->mnemonic = rung_arena_copy(arena, opcode, strlen(opcode));
    bool jumps = json_is_object(json_object_get(object, "other-attributes")) &&
                 json_object_get(json_object_get(object, "other-attributes"), "control-flow");
    result->text = write_line(arena, predicate, opcode, operands,
                              jumps ? (uint64_t)input->first * INSTRUCTION_BYTES : 0);
    if (!result->mnemonic || !result->text)
        return false;
    return keep(&draft, arena);
}

/* "$__internal_0_$__cuda_sm20_rem_u64": the compiler's own quotient or remainder. */
static bool is_division(const char *name)
{
    const char *cuda = strstr(name, "__cuda_sm");
    return cuda && (strstr(cuda, "_rem_u") || strstr(cuda, "_rem_s") || strstr(cuda, "_div_u") ||
                    strstr(cuda, "_div_s"));
}

/* Marks the division routines, each up to the next routine, and the calls of them. */
static void mark_routines(struct rung_code *code, const struct rung_sass_input *input)
{
    for (size_t r = 0; r < input->n_routines; r++) {
        uint64_t start = input->routines[r].offset / INSTRUCTION_BYTES, end = code->n_instructions;
        if (!is_division(input->routines[r].name) || start >= end)
            continue;
        for (size_t other = 0; other < input->n_routines; other++) {
            uint64_t next = input->routines[other].offset / INSTRUCTION_BYTES;
            if (next > start && next < end)
                end = next;
        }
        for (uint64_t i = start; i < end; i++)
            code->instructions[i].in_library = true;
        for (uint32_t i = 0; i < code->n_instructions; i++)
            if (code->instructions[i].op == RUNG_CODE_CALL && code->instructions[i].target == start)
                code->instructions[i].divides_by_name = true;
    }
}

bool rung_lower_sass(struct rung_code *out, const struct rung_sass_input *input,
                     struct rung_arena *arena)
{
    *out = (struct rung_code){.name = rung_arena_copy(arena, input->name, strlen(input->name)),
                              .is_sass = true,
                              .n_registers = RUNG_SASS_REGISTERS};
    out->instructions = rung_arena_array(arena, input->count + 1, sizeof *out->instructions);
    if (!out->name || !out->instructions)
        return false;
    for (size_t i = 0; i < input->count; i++) {
        struct rung_code_instruction *instruction = &out->instructions[i];
        instruction->line = (uint32_t)(i * INSTRUCTION_BYTES);
        if (!lower_one(instruction, json_array_get(input->array, input->first + i), input, arena))
            return false;
    }
    out->n_instructions = (uint32_t)input->count;
    mark_routines(out, input);
    return true;
}
