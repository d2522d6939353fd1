/* The simulated card's memory: a sorted array of ranges, addresses handed out upwards only. */
#include "sim/memory.h"

#include <stdlib.h>
#include <string.h>

#define ALIGNMENT UINT64_C(512) /* as cuMemAlloc gives on a card */
#define GAP UINT64_C(4096)
#define FILL 0xcd

static bool grow(struct rung_sim_memory *memory)
{
    if (memory->n_ranges < memory->room)
        return true;
    size_t room = memory->room ? memory->room * 2 : 16;
    struct rung_sim_range *ranges = realloc(memory->ranges, room * sizeof *ranges);
    if (!ranges)
        return false;
    memory->ranges = ranges;
    memory->room = room;
    return true;
}

uint64_t rung_sim_memory_alloc(struct rung_sim_memory *memory, uint64_t bytes, void *host)
{
    uint64_t base = memory->next ? memory->next : RUNG_SIM_MEMORY_BASE;
    if (!bytes || bytes > RUNG_SIM_SHARED_WINDOW - base - GAP - ALIGNMENT || !grow(memory))
        return 0;
    unsigned char *data = host;
    if (!host) {
        data = malloc(bytes);
        if (!data)
            return 0;
        memset(data, FILL, bytes);
    }
    memory->ranges[memory->n_ranges++] =
        (struct rung_sim_range){.base = base, .bytes = bytes, .host = data, .borrowed = host};
    memory->next = base + (bytes + GAP + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    memory->in_use += bytes;
    return base;
}

const struct rung_sim_range *rung_sim_memory_find(const struct rung_sim_memory *memory,
                                                  uint64_t address)
{
    size_t low = 0, high = memory->n_ranges;
    while (low < high) { /* the first range that begins above the address */
        size_t middle = low + (high - low) / 2;
        if (memory->ranges[middle].base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low)
        return NULL;
    const struct rung_sim_range *range = &memory->ranges[low - 1];
    return address - range->base < range->bytes ? range : NULL;
}

bool rung_sim_memory_free(struct rung_sim_memory *memory, uint64_t address)
{
    const struct rung_sim_range *range = rung_sim_memory_find(memory, address);
    if (!range || range->base != address)
        return false;
    size_t index = (size_t)(range - memory->ranges);
    memory->in_use -= range->bytes;
    if (!range->borrowed)
        free(range->host);
    memory->n_ranges--;
    memmove(&memory->ranges[index], &memory->ranges[index + 1],
            (memory->n_ranges - index) * sizeof *range);
    return true;
}

unsigned char *rung_sim_memory_at(const struct rung_sim_memory *memory, uint64_t address,
                                  uint64_t bytes)
{
    const struct rung_sim_range *range = rung_sim_memory_find(memory, address);
    if (!range || bytes > range->bytes - (address - range->base))
        return NULL;
    return range->host + (address - range->base);
}

void rung_sim_memory_release(struct rung_sim_memory *memory)
{
    for (size_t i = 0; i < memory->n_ranges; i++)
        if (!memory->ranges[i].borrowed)
            free(memory->ranges[i].host);
    free(memory->ranges);
    memset(memory, 0, sizeof *memory);
}
