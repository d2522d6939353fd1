/* Addresses of a warp's access: are they evenly spaced, where do they lie in host memory, which
 * banks and sectors do they touch. */
#include "sim/exec.h"

#include <string.h>

/* Addresses of all lanes from their base register, the idle lanes' too. */
SIM_ROWS static void find_addresses(uint64_t *to, struct sim_warp *warp, const struct sim_op *op)
{
    uint64_t offset = (uint64_t)op->offset;
    if (op->address_bits == 64) {
        const uint64_t *base = sim_row(warp, op->a);
        SIM_EACH_LANE(i)
        to[i] = base[i] + offset;
    } else {
        const uint32_t *base = sim_row(warp, op->a);
        SIM_EACH_LANE(i)
        to[i] = (uint32_t)(base[i] + (uint32_t)offset);
    }
}

/* Whether every active lane's address is `first` plus `stride` for each lane after `low`. */
SIM_ROWS static bool is_even(const uint64_t *address, const uint32_t *lanes, uint64_t first,
                             uint32_t stride, int low)
{
    uint64_t far = 0;
    uint32_t off = 0;
    SIM_EACH_LANE(i)
    {
        uint64_t distance = address[i] - first;
        uint32_t active = lanes[i];
        far |= distance >> 31 & (active ? UINT64_MAX : 0);
        off |= ((uint32_t)distance - stride * (uint32_t)(i - low)) & active;
    }
    return !(far | off);
}

void rung_sim_access_addresses(struct sim_span *span, struct sim_warp *warp,
                               const struct sim_op *op)
{
    uint64_t *address = warp->block->worker->access.address;
    find_addresses(address, warp, op);
    span->low = sim_lowest(warp->active);
    span->high = 31 - __builtin_clz(warp->active);
    span->first = address[span->low];
    span->stride = 0;
    span->even = true;
    if (span->low == span->high)
        return;
    uint32_t rest = warp->active & (warp->active - 1);
    int second = sim_lowest(rest), apart = second - span->low;
    uint64_t distance = address[second] - span->first;
    span->even = distance < UINT64_C(1) << 24;
    span->stride = (uint32_t)distance;
    if (apart > 1) {
        span->even = span->even && span->stride % (unsigned)apart == 0;
        span->stride /= (unsigned)apart;
    }
    if (!span->even)
        return;
    span->even = is_even(address, warp->lanes, span->first, span->stride, span->low);
}

unsigned char *rung_sim_access_global(struct sim_warp *warp, const struct sim_op *op,
                                      uint64_t address, uint32_t bytes, uint32_t lane)
{
    struct sim_worker *worker = warp->block->worker;
    if (address & (bytes - 1)) {
        rung_sim_fault(warp, 716, RUNG_SIM_MISALIGNED, op, 1u << lane,
                       "global address 0x%llx is no multiple of %u", (unsigned long long)address,
                       bytes);
        return NULL;
    }
    unsigned char *at = rung_sim_memory_at(worker->launch->memory, address, bytes);
    if (!at)
        rung_sim_fault(warp, 700, RUNG_SIM_BOUNDS, op, 1u << lane,
                       "global address 0x%llx (%u bytes) is in no allocation",
                       (unsigned long long)address, bytes);
    return at;
}

unsigned char *rung_sim_access_shared(struct sim_warp *warp, const struct sim_op *op,
                                      uint64_t address, uint32_t bytes, uint32_t lane)
{
    struct sim_block *block = warp->block;
    if (address & (bytes - 1)) {
        rung_sim_fault(warp, 716, RUNG_SIM_MISALIGNED, op, 1u << lane,
                       "shared address 0x%llx is no multiple of %u", (unsigned long long)address,
                       bytes);
        return NULL;
    }
    if (address > block->shared_bytes || bytes > block->shared_bytes - address) {
        rung_sim_fault(warp, 700, RUNG_SIM_BOUNDS, op, 1u << lane,
                       "shared address 0x%llx (%u bytes) is outside the block's %llu bytes",
                       (unsigned long long)address, bytes, (unsigned long long)block->shared_bytes);
        return NULL;
    }
    return block->shared + address;
}

/* The degree of 4-byte words `stride` words apart from lane to lane: lanes P apart share a bank,
 * P = 32 over the powers of two in the stride, and all of them want different words. */
static uint32_t even_degree(uint32_t active, uint32_t stride)
{
    static const uint32_t every[] = {0xffffffff, 0x55555555, 0x11111111, 0x01010101, 0x00010001, 1};
    if (!stride)
        return 1;
    uint32_t twos = (uint32_t)__builtin_ctz(stride | 32), period = 32u >> twos, most = 1;
    if (!twos)
        return 1;
    uint32_t pattern = every[__builtin_ctz(period)];
    for (uint32_t first = 0; first < period; first++) {
        uint32_t here = (uint32_t)__builtin_popcount(active & pattern << first);
        most = here > most ? here : most;
    }
    return most;
}

/* The degree of one phase: the most distinct words that one bank serves. */
static uint32_t phase_degree(const uint64_t *address, uint32_t active, uint32_t bytes)
{
    uint32_t words[32][32]; /* by bank */
    uint32_t counts[32] = {0}, most = 0;
    SIM_EACH_ACTIVE(lane, active)
    {
        for (uint32_t part = 0; part < bytes; part += 4) {
            uint32_t word = (uint32_t)((address[lane] + part) / 4), bank = word % 32, k = 0;
            while (k < counts[bank] && words[bank][k] != word)
                k++;
            if (k == counts[bank])
                words[bank][counts[bank]++] = word;
            most = counts[bank] > most ? counts[bank] : most;
        }
    }
    return most;
}

struct sim_banks rung_sim_banks_of(const uint64_t address[SIM_LANES], uint32_t active,
                                   const struct sim_span *span, uint32_t bytes)
{
    struct sim_banks banks = {0};
    if (bytes == 4 && span->even && span->stride % 4 == 0) {
        uint32_t degree = even_degree(active, span->stride / 4);
        return (struct sim_banks){.wavefronts = degree, .phases = 1, .degree = degree};
    }
    uint32_t lanes = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8; /* served together */
    for (uint32_t first = 0; first < 32; first += lanes) {
        uint32_t mask = active & (lanes == 32 ? SIM_ALL : ((1u << lanes) - 1) << first);
        if (!mask)
            continue;
        uint32_t degree = phase_degree(address, mask, bytes);
        banks.wavefronts += degree;
        banks.phases++;
        banks.degree = degree > banks.degree ? degree : banks.degree;
    }
    return banks;
}

uint32_t rung_sim_sectors_of(const uint64_t address[SIM_LANES], uint32_t active,
                             const struct sim_span *span, uint32_t bytes)
{
    uint64_t seen[SIM_LANES];
    uint32_t count = 0, lanes = active >> span->low;
    if (span->even && span->stride <= 32 && !(lanes & (lanes + 1))) { /* no gap between sectors */
        uint64_t last = span->first + (uint64_t)span->stride * (uint32_t)(span->high - span->low);
        return (uint32_t)((last + bytes - 1) / 32 - span->first / 32 + 1);
    }
    SIM_EACH_ACTIVE(lane, active) /* aligned and at most 16 bytes: one sector a lane */
    {
        uint64_t sector = address[lane] / 32;
        uint32_t k = count;
        while (k && seen[k - 1] != sector)
            k--;
        if (!k)
            seen[count++] = sector;
    }
    return count;
}
