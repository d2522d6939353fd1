/* The arena: a list of chunks, each at least 64 KiB, filled from the front. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES ((size_t)64 * 1024)

struct rung_arena_chunk {
    struct rung_arena_chunk *next;
    size_t used;
    size_t size;
    max_align_t memory[];
};

static struct rung_arena_chunk *chunk_new(size_t size)
{
    size_t room = size > CHUNK_BYTES ? size : CHUNK_BYTES;
    if (room > SIZE_MAX - sizeof(struct rung_arena_chunk))
        return NULL;
    struct rung_arena_chunk *chunk = calloc(1, sizeof *chunk + room);
    if (chunk)
        chunk->size = room;
    return chunk;
}

void *rung_arena_alloc(struct rung_arena *arena, size_t size)
{
    const size_t align = alignof(max_align_t);
    if (size > SIZE_MAX - align)
        return NULL;
    size = size ? (size + align - 1) / align * align : align;
    if (!arena->chunks || arena->chunks->size - arena->chunks->used < size) {
        struct rung_arena_chunk *chunk = chunk_new(size);
        if (!chunk)
            return NULL;
        chunk->next = arena->chunks;
        arena->chunks = chunk;
    }
    void *memory = (char *)arena->chunks->memory + arena->chunks->used;
    arena->chunks->used += size;
    return memory;
}

void *rung_arena_array(struct rung_arena *arena, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size)
        return NULL;
    return rung_arena_alloc(arena, count * size);
}

char *rung_arena_copy(struct rung_arena *arena, const char *bytes, size_t length)
{
    if (length == SIZE_MAX)
        return NULL;
    char *copy = rung_arena_alloc(arena, length + 1);
    if (copy && length)
        memcpy(copy, bytes, length);
    return copy;
}

void rung_arena_release(struct rung_arena *arena)
{
    while (arena->chunks) {
        struct rung_arena_chunk *next = arena->chunks->next;
        free(arena->chunks);
        arena->chunks = next;
    }
}
