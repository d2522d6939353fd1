/* The simulated card's memory. A device address is a number that no host pointer can equal (the
 * canonical ranges of today's processors end below it): a host that follows one crashes, as it
 * would with a card. Each allocation is a range of its own with a gap behind it, and the addresses
 * of a freed one are not handed out again, so that a stale pointer is found. */
#ifndef RUNG_SIM_MEMORY_H
#define RUNG_SIM_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RUNG_SIM_MEMORY_BASE UINT64_C(0x00d0000000000000)
/* Where cvta puts the block's shared memory among the generic addresses. */
#define RUNG_SIM_SHARED_WINDOW UINT64_C(0x00e0000000000000)

struct rung_sim_range {
    uint64_t base; /* device address, a multiple of 512 */
    uint64_t bytes;
    unsigned char *host; /* the bytes; owned unless `borrowed` */
    bool borrowed;       /* host memory mapped for the device */
};

/* Zero-initialised is empty. Not to be changed while a launch runs. */
struct rung_sim_memory {
    struct rung_sim_range *ranges; /* ascending by base */
    size_t n_ranges, room;
    uint64_t next;   /* where the next allocation goes, 0 before the first */
    uint64_t in_use; /* bytes */
};

/* 0 when there is none (or for 0 bytes). The bytes are filled with 0xcd: nothing may count on
 * zeros. `host`: NULL, or memory to be mapped instead of new memory. */
uint64_t rung_sim_memory_alloc(struct rung_sim_memory *memory, uint64_t bytes, void *host);

/* False when `address` is not the start of an allocation. */
bool rung_sim_memory_free(struct rung_sim_memory *memory, uint64_t address);

/* The range that holds `address`, NULL if none does. */
const struct rung_sim_range *rung_sim_memory_find(const struct rung_sim_memory *memory,
                                                  uint64_t address);

/* The host bytes behind `bytes` device bytes from `address`; NULL unless all lie in one
 * allocation. */
unsigned char *rung_sim_memory_at(const struct rung_sim_memory *memory, uint64_t address,
                                  uint64_t bytes);

void rung_sim_memory_release(struct rung_sim_memory *memory);

#endif
