/* Constants by which a compiler divides without dividing: recognised by what they are, never by
 * the company they keep. Pure arithmetic. */
#ifndef RUNG_INSPECT_MAGIC_H
#define RUNG_INSPECT_MAGIC_H

#include <stdbool.h>
#include <stdint.h>

/* Whether `factor` / 2^`shift` is the reciprocal of a whole number that is no power of two, near
 * enough to divide every number of `bits` bits exactly: ceil(2^shift / d). */
bool rung_magic_is_reciprocal(uint64_t factor, unsigned shift, unsigned bits);

/* The same for a 32-bit factor of a product of which the high word is used, by whatever shift; some
 * divisors need 33 bits, whose highest is then added apart. Also the high half of one of 64 bits,
 * which is rounded down. */
bool rung_magic_is_wide_reciprocal(uint64_t factor);

/* Whether multiplying by `factor` and comparing with `limit` asks for divisibility: factor is the
 * inverse of an odd d modulo 2^w, limit about 2^w / (d * 2^k), for w of 16, 32 or 64. */
bool rung_magic_is_inverse(uint64_t factor, uint64_t limit);

/* Whether an and with `constant` takes the remainder by 2^k: 2^k - 1 with 1 <= k < 22 but for a
 * conversion to 16 bits, or that and the sign bit. 2^22 - 1 is the least that the range test of a
 * block of up to 1024 threads folds to: 2^32 / 1024 - 1. */
bool rung_magic_is_low_mask(int64_t constant);

/* Whether it clears the k lowest bits, 1 <= k < 22: what is subtracted to take the remainder of a
 * number that may be negative. */
bool rung_magic_is_high_mask(int64_t constant);

#endif
