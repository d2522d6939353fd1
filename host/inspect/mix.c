/* Counting and normalising. */
#include "inspect/mix.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *key, *title;
} classes[] = {
#define MIX(name, key, title) {key, title},
#include "inspect/mix.def"
#undef MIX
};

const char *rung_mix_key(enum rung_mix_class class)
{
    return classes[class].key;
}

const char *rung_mix_title(enum rung_mix_class class)
{
    return classes[class].title;
}

static enum rung_mix_class memory_class(const struct rung_code_instruction *instruction)
{
    bool load = instruction->op == RUNG_CODE_LOAD, store = instruction->op == RUNG_CODE_STORE;
    if (instruction->space == RUNG_SPACE_SHARED && (load || store))
        return load ? RUNG_MIX_LOAD_SHARED : RUNG_MIX_STORE_SHARED;
    if (instruction->space == RUNG_SPACE_GLOBAL && (load || store))
        return load ? RUNG_MIX_LOAD_GLOBAL : RUNG_MIX_STORE_GLOBAL;
    return RUNG_MIX_MEMORY;
}

static bool starts(const struct rung_code_instruction *instruction, const char *word)
{
    return strncmp(instruction->mnemonic, word, strlen(word)) == 0;
}

/* Instructions that the common form knows only as computing something. */
static enum rung_mix_class other_class(const struct rung_code_instruction *instruction)
{
    static const struct {
        const char *word;
        enum rung_mix_class class;
    } rows[] = {
        {"LOP3",  RUNG_MIX_LOGIC  },
        {"ULOP3", RUNG_MIX_LOGIC  },
        {"SHF",   RUNG_MIX_LOGIC  },
        {"USHF",  RUNG_MIX_LOGIC  },
        {"PRMT",  RUNG_MIX_LOGIC  },
        {"or.",   RUNG_MIX_LOGIC  },
        {"xor.",  RUNG_MIX_LOGIC  },
        {"LEA",   RUNG_MIX_INTEGER},
        {"ULEA",  RUNG_MIX_INTEGER},
        {"IABS",  RUNG_MIX_INTEGER},
        {"IMNMX", RUNG_MIX_INTEGER}
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (starts(instruction, rows[i].word))
            return rows[i].class;
    return RUNG_MIX_OTHER;
}

static enum rung_mix_class class_of(const struct rung_code_instruction *instruction)
{
    if (instruction->is_float && instruction->op != RUNG_CODE_LOAD &&
        instruction->op != RUNG_CODE_STORE && instruction->op != RUNG_CODE_ATOMIC &&
        instruction->op != RUNG_CODE_MOVE && instruction->op != RUNG_CODE_TO_FLOAT)
        return RUNG_MIX_FLOAT;
    switch (instruction->op) {
    case RUNG_CODE_ADD:
    case RUNG_CODE_SCALE_ADD:
    case RUNG_CODE_MULTIPLY:
    case RUNG_CODE_MULTIPLY_HIGH:
    case RUNG_CODE_MULTIPLY_WIDE:
        return RUNG_MIX_INTEGER;
    case RUNG_CODE_AND:
    case RUNG_CODE_NOT:
    case RUNG_CODE_LOW_MASK:
    case RUNG_CODE_SHIFT_LEFT:
    case RUNG_CODE_SHIFT_RIGHT:
    case RUNG_CODE_ROTATE:
    case RUNG_CODE_LOGIC:
        return RUNG_MIX_LOGIC;
    case RUNG_CODE_EQUAL:
    case RUNG_CODE_ORDER:
        return RUNG_MIX_COMPARE;
    case RUNG_CODE_TO_FLOAT:
    case RUNG_CODE_RECIPROCAL:
    case RUNG_CODE_TO_INTEGER:
        return RUNG_MIX_CONVERT;
    case RUNG_CODE_DIVIDE:
        return RUNG_MIX_DIVIDE;
    case RUNG_CODE_MOVE:
    case RUNG_CODE_SELECT:
    case RUNG_CODE_TID:
        return RUNG_MIX_MOVE;
    case RUNG_CODE_OPAQUE:
        return starts(instruction, "S2") || starts(instruction, "CS2") || starts(instruction, "mov")
                   ? RUNG_MIX_MOVE
                   : RUNG_MIX_EXCHANGE;
    case RUNG_CODE_LOAD:
    case RUNG_CODE_STORE:
    case RUNG_CODE_ATOMIC:
        return memory_class(instruction);
    case RUNG_CODE_BARRIER:
        return RUNG_MIX_BARRIER;
    case RUNG_CODE_BRANCH:
    case RUNG_CODE_CALL:
    case RUNG_CODE_RETURN:
    case RUNG_CODE_EXIT:
        return RUNG_MIX_CONTROL;
    case RUNG_CODE_OTHER:
        break;
    }
    return other_class(instruction);
}

/* One past the last instruction that can run: behind it stand a branch to itself and NOPs. */
static uint32_t code_end(const struct rung_code *code)
{
    uint32_t end = code->n_instructions;
    while (end > 0) {
        const struct rung_code_instruction *last = &code->instructions[end - 1];
        bool itself = last->op == RUNG_CODE_BRANCH && last->target == end - 1 &&
                      last->guard == RUNG_CODE_NO_REGISTER;
        if (strcmp(last->mnemonic, "NOP") != 0 && !itself)
            break;
        end--;
    }
    return end;
}

void rung_mix_count(struct rung_mix *out, const struct rung_code *code)
{
    *out = (struct rung_mix){.total = code_end(code)};
    for (uint32_t i = 0; i < out->total; i++) {
        const struct rung_code_instruction *instruction = &code->instructions[i];
        out->counts[class_of(instruction)]++;
        out->guarded +=
            instruction->guard != RUNG_CODE_NO_REGISTER && instruction->op != RUNG_CODE_BRANCH;
    }
}

/* ---- normalising ---- */

struct writer {
    char *text;
    size_t length;
};

static void put(struct writer *writer, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n && writer->length + 1 < RUNG_MIX_TEXT; i++)
        writer->text[writer->length++] = bytes[i];
}

static size_t word_length(const char *at)
{
    size_t n = 0;
    while (isalnum((unsigned char)at[n]) || at[n] == '_' || at[n] == '$' || at[n] == '%')
        n++;
    return n;
}

/* "R12", "UP3": letters of a register file, then a number. */
static size_t register_file(const char *word, size_t length)
{
    size_t letters = word[0] == 'U' ? 2 : 1;
    if (length <= letters || (word[letters - 1] != 'R' && word[letters - 1] != 'P'))
        return 0;
    for (size_t i = letters; i < length; i++)
        if (!isdigit((unsigned char)word[i]))
            return 0;
    return letters;
}

static void put_word(struct writer *writer, const char *word, size_t length, bool jumps)
{
    size_t file = register_file(word, length);
    if (file > 0) {
        put(writer, word, file);
    } else if (word[0] == '%') { /* %rd12 */
        while (length > 1 && isdigit((unsigned char)word[length - 1]))
            length--;
        put(writer, word, length);
    } else if (word[0] == '$' || (jumps && word[0] == '0' && length > 2)) {
        put(writer, "label", 5);
    } else {
        put(writer, word, length);
    }
}

static bool jumps(const struct rung_code_instruction *instruction)
{
    return instruction->op == RUNG_CODE_BRANCH || instruction->op == RUNG_CODE_CALL ||
           instruction->op == RUNG_CODE_RETURN || starts(instruction, "BSSY") ||
           starts(instruction, "BSYNC");
}

void rung_mix_normalise(char text[RUNG_MIX_TEXT], const struct rung_code *code,
                        uint32_t instruction)
{
    const struct rung_code_instruction *one = &code->instructions[instruction];
    struct writer writer = {text, 0};
    for (const char *at = one->text; *at && *at != ';';) {
        size_t n = word_length(at);
        if (strncmp(at, ".reuse", 6) == 0) {
            at += 6;
        } else if (strncmp(at, "c[", 2) == 0) { /* where parameters lie */
            put(&writer, "c[]", 3);
            at += strcspn(at, ", ");
        } else if (n > 0) {
            put_word(&writer, at, n, jumps(one));
            at += n;
        } else {
            if (*at != ' ' || (writer.length > 0 && text[writer.length - 1] != ' '))
                put(&writer, at, 1);
            at++;
        }
    }
    text[writer.length] = '\0';
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char **sorted_texts(const struct rung_code *code, uint32_t *n,
                                 struct rung_arena *arena)
{
    *n = code_end(code);
    const char **texts = rung_arena_array(arena, (size_t)*n + 1, sizeof *texts);
    for (uint32_t i = 0; texts && i < *n; i++) {
        char text[RUNG_MIX_TEXT];
        rung_mix_normalise(text, code, i);
        texts[i] = rung_arena_copy(arena, text, strlen(text));
        if (!texts[i])
            return NULL;
    }
    if (texts)
        qsort(texts, *n, sizeof *texts, by_text);
    return texts;
}

bool rung_mix_compare(struct rung_mix_line **lines, size_t *n, const struct rung_code *a,
                      const struct rung_code *b, struct rung_arena *arena)
{
    uint32_t n_a, n_b, i = 0, j = 0;
    const char **in_a = sorted_texts(a, &n_a, arena), **in_b = sorted_texts(b, &n_b, arena);
    *n = 0;
    *lines = rung_arena_array(arena, (size_t)n_a + n_b + 1, sizeof **lines);
    if (!in_a || !in_b || !*lines)
        return false;
    while (i < n_a || j < n_b) {
        bool from_a = j == n_b || (i < n_a && strcmp(in_a[i], in_b[j]) <= 0);
        struct rung_mix_line line = {.text = from_a ? in_a[i] : in_b[j]};
        for (; i < n_a && strcmp(in_a[i], line.text) == 0; i++)
            line.a++;
        for (; j < n_b && strcmp(in_b[j], line.text) == 0; j++)
            line.b++;
        if (line.a != line.b)
            (*lines)[(*n)++] = line;
    }
    return true;
}
