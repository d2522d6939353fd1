/* Memory that is released all at once: parsers and the generator take everything from one arena.
 * Zero-initialise before use. */
#ifndef RUNG_BASE_ARENA_H
#define RUNG_BASE_ARENA_H

#include <stddef.h>

struct rung_arena_chunk;

struct rung_arena {
    struct rung_arena_chunk *chunks;
};

/* Zeroed memory aligned for any type, valid until rung_arena_release; NULL when there is none.
 * A size of 0 is served as 1. */
void *rung_arena_alloc(struct rung_arena *arena, size_t size);

/* An array of `count` zeroed elements; NULL also when count * size does not fit a size_t. */
void *rung_arena_array(struct rung_arena *arena, size_t count, size_t size);

/* Copies `length` bytes and adds a final NUL. */
char *rung_arena_copy(struct rung_arena *arena, const char *bytes, size_t length);

void rung_arena_release(struct rung_arena *arena);

#endif
