/* Operands and words of SASS. */
#include "inspect/sass_operand.h"

#include <stdlib.h>
#include <string.h>

bool rung_sass_continues(const char *opcode, const char *word)
{
    size_t length = strlen(word);
    return strncmp(opcode, word, length) == 0 && (opcode[length] == '\0' || opcode[length] == '.');
}

bool rung_sass_has_word(const char *opcode, const char *word)
{
    for (const char *at = opcode; (at = strstr(at, word)) != NULL; at++) {
        char after = at[strlen(word)];
        if (at > opcode && at[-1] == '.' && (after == '\0' || after == '.'))
            return true;
    }
    return false;
}

/* Reads "R12", "UR4", "P0", "UPT", "RZ" at the start of `text`. */
bool rung_sass_read_register(struct rung_sass_operand *out, const char *text)
{
    static const struct {
        const char *prefix;
        uint32_t base, count;
        bool predicate;
    } files[] = {
        {"UR", RUNG_SASS_UR, 255, false},
        {"UP", RUNG_SASS_UP, 7,   true },
        {"R",  RUNG_SASS_R,  255, false},
        {"P",  RUNG_SASS_P,  7,   true }
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        size_t length = strlen(files[i].prefix);
        if (strncmp(text, files[i].prefix, length) != 0)
            continue;
        const char *rest = text + length;
        out->predicate_file = files[i].predicate;
        if (*rest == (files[i].predicate ? 'T' : 'Z'))
            return out->is_zero = true;
        if (*rest < '0' || *rest > '9')
            return false;
        unsigned long number = strtoul(rest, NULL, 10);
        if (number >= files[i].count)
            return false;
        out->reg = files[i].base + (uint32_t)number;
        return out->is_register = true;
    }
    return false;
}

void rung_sass_read_operand(struct rung_sass_operand *out, const char *text, size_t length)
{
    *out = (struct rung_sass_operand){.text = text, .length = length};
    for (; length > 0 && strchr("-~!|+", *text); text++, length--) {
        out->negated = out->negated || *text == '-';
        out->inverted = out->inverted || *text == '~' || *text == '!';
    }
    if (length > 2 && text[0] == '0' && text[1] == 'x') {
        uint64_t bits = strtoull(text, NULL, 16);
        out->is_constant = true;
        out->constant = (int64_t)(out->negated ? 0 - bits : bits);
        return;
    }
    if (rung_sass_read_register(out, text))
        return;
    out->is_memory = memchr(text, '[', length) && strncmp(text, "c[", 2) != 0;
}
