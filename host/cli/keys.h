/* Keys of rows in print: what all of them share is said once, and each row is named by its id and
 * by what differs. */
#ifndef RUNG_CLI_KEYS_H
#define RUNG_CLI_KEYS_H

#include <stdio.h>

#include "sweep/cell.h"

#define RUNG_KEY_WORDS 6 /* id, n, target, image, state, timer; fewer in keys of comparisons */

struct rung_keys {
    size_t n;
    bool varies[RUNG_KEY_WORDS];
    char common[RUNG_KEY_WORDS][RUNG_ID_SIZE];
};

/* Looks at one more key. Zero-initialise before the first. */
void rung_keys_look(struct rung_keys *keys, const char *key);

/* The id and the words that vary. */
void rung_keys_name(char name[RUNG_CELL_KEY_SIZE], const struct rung_keys *keys, const char *key);

/* "All rows: n=16776605 sm_90 clean isolated", on one line; at most `words` words of it. Nothing
 * where the rows have nothing in common. */
void rung_keys_print_common(const struct rung_keys *keys, size_t words, FILE *to);

#endif
