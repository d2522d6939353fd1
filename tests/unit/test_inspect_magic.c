/* The constants that compilers divide with, computed here as they compute them. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "inspect/magic.h"

static bool is_power_of_two(unsigned value)
{
    return (value & (value - 1)) == 0;
}

/* ceil(2^(32 + l) / d) with l = ceil(log2 d): 33 bits, of which 32 are multiplied by. */
static uint64_t magic_33(unsigned divisor)
{
    unsigned l = 0;
    while ((1u << l) < divisor)
        l++;
    uint64_t power = (uint64_t)1 << (32 + l);
    return power / divisor + 1;
}

static void reciprocals_of_every_divisor(void **state)
{
    (void)state;
    for (unsigned d = 3; d <= 10000; d++) {
        if (is_power_of_two(d))
            continue;
        uint64_t magic = magic_33(d);
        assert_true(rung_magic_is_wide_reciprocal(magic & UINT32_MAX));
        if (magic % 2 == 0) /* an even one is halved and fits 32 bits */
            assert_true(rung_magic_is_wide_reciprocal(magic / 2));
        uint64_t high = (UINT64_MAX / d) >> 32; /* of a 64-bit reciprocal */
        if (d < 1024)
            assert_true(rung_magic_is_wide_reciprocal(high));
    }
}

static void reciprocals_with_their_shift(void **state)
{
    (void)state;
    assert_true(rung_magic_is_reciprocal(43691, 17, 16));       /* 16 bits by 3 */
    assert_true(rung_magic_is_reciprocal(6554, 16, 10));        /* 10 bits by 10 */
    assert_true(rung_magic_is_reciprocal(0xaaaaaaab, 33, 32));  /* 32 bits by 3 */
    assert_false(rung_magic_is_reciprocal(0xaaaaaaab, 32, 32)); /* that by 1.5 */
    assert_false(rung_magic_is_reciprocal(256, 16, 10));        /* a shift by 8 */
    assert_false(rung_magic_is_reciprocal(12, 3, 10));
    assert_false(rung_magic_is_reciprocal(0, 33, 32));
    assert_false(rung_magic_is_reciprocal(5, 64, 10));
}

static void strides_are_no_reciprocals(void **state)
{
    (void)state;
    for (uint64_t stride = 0; stride <= 65536; stride++)
        assert_false(rung_magic_is_wide_reciprocal(stride));
    for (uint64_t thousands = 100; thousands < 4000; thousands += 100)
        assert_false(rung_magic_is_wide_reciprocal(thousands * 1000));
    for (unsigned k = 17; k < 32; k++)
        assert_false(rung_magic_is_wide_reciprocal((uint64_t)1 << k));
}

static uint64_t inverse_by_trial(unsigned odd)
{
    for (uint64_t x = 1; x < 65536; x += 2)
        if ((x * odd & 65535) == 1)
            return x;
    return 0;
}

static void inverses_ask_for_divisibility(void **state)
{
    (void)state;
    for (unsigned d = 3; d < 1000; d += 2) {
        uint64_t inverse = inverse_by_trial(d);
        assert_true(rung_magic_is_inverse(inverse, 65535 / d));
        assert_true(rung_magic_is_inverse(inverse - 65536, 65535 / d)); /* written as negative */
        assert_true(rung_magic_is_inverse(inverse, 65535 / (2 * d)));   /* and by 2 d */
        assert_false(rung_magic_is_inverse(inverse, 65535 / d + 100));
    }
    assert_true(rung_magic_is_inverse(0xaaaaaaab, 0x55555555));
    assert_true(rung_magic_is_inverse(0xcccccccccccccccd, 0x3333333333333333));
    assert_false(rung_magic_is_inverse(12, 5000));
    assert_false(rung_magic_is_inverse(3, 2));
    assert_false(rung_magic_is_inverse(33, 1024));
}

static void masks_of_remainders(void **state)
{
    (void)state;
    for (unsigned k = 1; k <= 21; k++) {
        int64_t mask = ((int64_t)1 << k) - 1;
        assert_int_equal(rung_magic_is_low_mask(mask), k != 16);
        assert_true(rung_magic_is_high_mask(-((int64_t)1 << k)));
        assert_true(rung_magic_is_high_mask((int64_t)(uint32_t) - (1 << k)));
    }
    assert_true(rung_magic_is_low_mask(-2147483633));   /* 15 and the sign */
    assert_true(rung_magic_is_low_mask(0x8000000fLL));  /* the same, unsigned */
    for (unsigned block = 2; block <= 1024; block *= 2) /* the range test of version 2 */
        assert_false(rung_magic_is_low_mask(UINT32_MAX / block));
    assert_false(rung_magic_is_low_mask(0));
    assert_false(rung_magic_is_low_mask(-1));
    assert_false(rung_magic_is_low_mask(UINT32_MAX));
    assert_false(rung_magic_is_low_mask(6));
    assert_false(rung_magic_is_low_mask(0x100000001LL));
    assert_false(rung_magic_is_high_mask(-1));
    assert_false(rung_magic_is_high_mask(-6));
    assert_false(rung_magic_is_high_mask(16));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reciprocals_of_every_divisor),
        cmocka_unit_test(reciprocals_with_their_shift),
        cmocka_unit_test(strides_are_no_reciprocals),
        cmocka_unit_test(inverses_ask_for_divisibility),
        cmocka_unit_test(masks_of_remainders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
