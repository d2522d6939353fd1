/* Reciprocals, inverses and masks. */
#include "inspect/magic.h"

#define DIVISOR_MAX 65535u
#define SMALL_MAX 1023u /* where larger divisors would make any factor fit one of them */
#define MASK_BITS_MAX 21

static bool is_power_of_two(uint64_t value)
{
    return value != 0 && (value & (value - 1)) == 0;
}

bool rung_magic_is_reciprocal(uint64_t factor, unsigned shift, unsigned bits)
{
    if (shift >= 64 || shift < bits || factor < 3 || factor >> 33)
        return false;
    uint64_t power = (uint64_t)1 << shift;
    uint64_t divisor = power / factor + (power % factor != 0);
    if (divisor < 3 || divisor > DIVISOR_MAX || is_power_of_two(divisor))
        return false;
    uint64_t excess = factor * divisor - power; /* below factor; and factor * divisor < 2^64 */
    return excess > 0 && excess <= (uint64_t)1 << (shift - bits);
}

/* Whether `factor` is 2^32 / d, rounded either way, for a small d. */
static bool is_high_half(uint64_t factor)
{
    const uint64_t power = (uint64_t)1 << 32;
    for (uint64_t divisor = factor ? power / factor : 0, i = 0; i < 2; i++, divisor++) {
        uint64_t product = factor * divisor;
        uint64_t apart = product > power ? product - power : power - product;
        if (divisor >= 3 && divisor <= SMALL_MAX && !is_power_of_two(divisor) && apart <= divisor)
            return true;
    }
    return false;
}

bool rung_magic_is_wide_reciprocal(uint64_t factor)
{
    const uint64_t low = factor & UINT32_MAX, with_33_bits = low | (uint64_t)1 << 32;
    for (unsigned shift = 32; shift < 63; shift++)
        if (rung_magic_is_reciprocal(low, shift, 31) ||
            rung_magic_is_reciprocal(with_33_bits, shift, 31))
            return true;
    return is_high_half(low);
}

/* The inverse of an odd number modulo 2^64, by Newton's iteration: each step doubles the bits. */
static uint64_t inverse(uint64_t odd)
{
    uint64_t x = odd; /* right in 3 bits */
    for (int i = 0; i < 5; i++)
        x *= 2 - odd * x;
    return x;
}

bool rung_magic_is_inverse(uint64_t factor, uint64_t limit)
{
    if (factor % 2 == 0)
        return false;
    for (unsigned width = 16; width <= 64; width *= 2) {
        uint64_t all = width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
        uint64_t divisor = inverse(factor) & all;
        uint64_t bound = limit & all;
        if (divisor < 3 || divisor > SMALL_MAX)
            continue;
        for (; divisor <= DIVISOR_MAX && divisor <= all / 2; divisor *= 2) {
            uint64_t least = all / divisor;
            if (bound + 2 >= least && bound <= least + 2)
                return true;
        }
    }
    return false;
}

bool rung_magic_is_low_mask(int64_t constant)
{
    uint64_t bits = (uint64_t)constant & UINT32_MAX;
    if (constant >> 32 != 0 && constant >> 32 != -1)
        return false;
    bits &= INT32_MAX;
    return bits != 0 && bits != UINT16_MAX && is_power_of_two(bits + 1) &&
           bits < (uint64_t)1 << MASK_BITS_MAX;
}

bool rung_magic_is_high_mask(int64_t constant)
{
    int64_t value = (int32_t)constant; /* written as a signed or an unsigned number */
    if (constant != value && constant != (int64_t)(uint32_t)value)
        return false;
    return value <= -2 && value >= -((int64_t)1 << MASK_BITS_MAX) &&
           is_power_of_two((uint64_t)-value);
}
