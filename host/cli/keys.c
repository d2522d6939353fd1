/* Splits keys into words and keeps which of them vary. */
#include "cli/keys.h"

#include <string.h>

/* Calls for every word of a key: its place and where it stands. */
static const char *next_word(const char *key, size_t *length)
{
    key += strspn(key, " ");
    *length = strcspn(key, " ");
    return key;
}

void rung_keys_look(struct rung_keys *keys, const char *key)
{
    size_t length;
    for (size_t i = 0; i < RUNG_KEY_WORDS; i++) {
        key = next_word(key, &length);
        char *common = keys->common[i];
        if (keys->n == 0)
            snprintf(common, RUNG_ID_SIZE, "%.*s", (int)length, key);
        else if (strlen(common) != length || strncmp(common, key, length) != 0)
            keys->varies[i] = true;
        key += length;
    }
    keys->n++;
}

void rung_keys_name(char name[RUNG_CELL_KEY_SIZE], const struct rung_keys *keys, const char *key)
{
    size_t used = 0, length;
    for (size_t i = 0; i < RUNG_KEY_WORDS; i++) {
        key = next_word(key, &length);
        if (length && (i == 0 || keys->varies[i]))
            used += (size_t)snprintf(name + used, RUNG_CELL_KEY_SIZE - used, "%s%.*s",
                                     used ? " " : "", (int)length, key);
        key += length;
    }
}

void rung_keys_print_common(const struct rung_keys *keys, size_t words, FILE *to)
{
    const char *before = "All rows: ";
    for (size_t i = 1; i < RUNG_KEY_WORDS && i <= words; i++)
        if (!keys->varies[i] && keys->common[i][0]) {
            fprintf(to, "%s%s", before, keys->common[i]);
            before = " ";
        }
    if (before[0] == ' ')
        fputs("\n", to);
}
