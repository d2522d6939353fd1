/* The words of PTX: types and modifiers by name and back. */
#include "ptx/parser.h"

#include <string.h>

/* clang-format off */
static const struct {
    const char *word;
    uint8_t bits;
    uint8_t kind;
} types[RUNG_PTX_TYPE_COUNT] = {
    [RUNG_PTX_TYPE_NONE] = {"", 0, RUNG_PTX_KIND_BITS},
#define PTX_TYPE(name, word, bits, kind) [RUNG_PTX_##name] = {word, bits, RUNG_PTX_KIND_##kind},
#include "ptx/types.def"
#undef PTX_TYPE
};

static const char *const modifiers[RUNG_PTX_M_COUNT] = {
#define PTX_MODIFIER(name, word) [RUNG_PTX_M_##name] = word,
#include "ptx/modifiers.def"
#undef PTX_MODIFIER
};
/* clang-format on */

unsigned rung_ptx_type_bits(enum rung_ptx_type type)
{
    return types[type].bits;
}

enum rung_ptx_kind rung_ptx_type_kind(enum rung_ptx_type type)
{
    return types[type].kind;
}

const char *rung_ptx_type_word(enum rung_ptx_type type)
{
    return types[type].word;
}

const char *rung_ptx_modifier_word(enum rung_ptx_modifier modifier)
{
    return modifiers[modifier];
}

static bool same(const char *word, const char *text, size_t length)
{
    return strlen(word) == length && !memcmp(word, text, length);
}

enum rung_ptx_type rung_ptx_type_of(const char *word, size_t length)
{
    for (int i = RUNG_PTX_TYPE_NONE + 1; i < RUNG_PTX_TYPE_COUNT; i++)
        if (same(types[i].word, word, length))
            return (enum rung_ptx_type)i;
    return RUNG_PTX_TYPE_NONE;
}

int rung_ptx_modifier_find(const char *word, size_t length)
{
    if (same("shared::cta", word, length)) /* the long spelling of the same space */
        return RUNG_PTX_M_SHARED;
    for (int i = 0; i < RUNG_PTX_M_COUNT; i++)
        if (same(modifiers[i], word, length))
            return i;
    return -1;
}
