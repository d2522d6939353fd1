/* Who reads what: for every shape that n, addresses and cards may give, each element of the input
 * belongs to exactly one thread of the launch, worked out here from the argument as the kernels do.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sum/shape.h"

#define BASE UINT64_C(0x7f0000000000)

static const struct rung_sum_card h200 = {132, 62914560};
static const struct rung_sum_card t4 = {40, 4194304};
static const struct rung_sum_card tiny = {1, 65536};

/* Counts how often each element is read. */
static void count_reads(unsigned char *reads, const struct rung_sum_call *call,
                        const struct rung_sum_shape *shape, uint32_t per_group)
{
    uint64_t stride = (uint64_t)shape->blocks * shape->threads;
    uint64_t tile = (uint64_t)shape->threads * shape->loads;
    uint64_t done = call->rounds * stride * shape->loads;
    for (uint64_t block = 0; block < shape->blocks; block++)
        for (uint64_t round = 0; round < call->rounds; round++)
            for (uint64_t g = 0; g < tile; g++)
                for (uint32_t e = 0; e < per_group; e++)
                    reads[call->head + ((block * call->rounds + round) * tile + g) * per_group +
                          e]++;
    for (uint64_t thread = 0; thread < stride; thread++) {
        for (unsigned k = 0; k < shape->loads; k++)
            if (thread + k * stride < call->groups - done)
                for (uint32_t e = 0; e < per_group; e++)
                    reads[call->head + (done + thread + k * stride) * per_group + e]++;
        if (thread < call->ends)
            reads[thread < call->head ? thread : thread + call->groups * per_group]++;
    }
}

static void check(const struct rung_sum_card *card, uint32_t element, uint64_t offset, uint64_t n)
{
    struct rung_sum_call call;
    uint64_t x = BASE + offset * element;
    struct rung_sum_shape shape = rung_sum_shape(&call, card, element, x, 0, n);
    assert_true(shape.threads % 32 == 0 && shape.threads >= 32 && shape.threads <= 512);
    assert_true(shape.blocks >= 1);
    assert_true(shape.blocks - 1 < rung_sum_slots(card, element));
    assert_true(call.ends < 2 * RUNG_SUM_GROUP_BYTES / element);
    assert_int_equal((x + call.head * element) % RUNG_SUM_GROUP_BYTES && call.groups, 0);
    unsigned char *reads = calloc(n + 1, 1);
    assert_non_null(reads);
    count_reads(reads, &call, &shape, RUNG_SUM_GROUP_BYTES / element);
    for (uint64_t i = 0; i < n; i++)
        if (reads[i] != 1)
            fail_msg("element %llu of %llu at offset %llu is read %u times", (unsigned long long)i,
                     (unsigned long long)n, (unsigned long long)offset, reads[i]);
    assert_int_equal(reads[n], 0);
    free(reads);
}

static void every_element_is_read_once(void **state)
{
    (void)state;
    const struct rung_sum_card *cards[] = {&h200, &t4, &tiny};
    const uint64_t around[] = {8192,    16384,   65536,   81920,   270336,
                               1081344, 1048576, 2162688, 4194304, 6000000};
    for (size_t c = 0; c < 3; c++)
        for (uint32_t element = 4; element <= 8; element += 4)
            for (uint64_t offset = 0; offset < RUNG_SUM_GROUP_BYTES / element; offset++) {
                for (uint64_t n = 0; n < 300; n++)
                    check(cards[c], element, offset, n);
                for (size_t i = 0; i < sizeof around / sizeof *around; i++)
                    for (uint64_t n = around[i] - 2; n <= around[i] + 5; n += 7)
                        check(cards[c], element, offset, n);
            }
}

static struct rung_sum_shape shape_of(const struct rung_sum_card *card, uint64_t n, bool dot)
{
    struct rung_sum_call call;
    return rung_sum_shape(&call, card, 4, BASE, dot ? 2 * BASE : 0, n);
}

/* The borders that were measured. */
static void forms_of_an_h200(void **state)
{
    (void)state;
    static const struct {
        uint64_t n;
        enum rung_sum_form form;
        uint32_t threads, blocks;
    } rows[] = {
        {0,        RUNG_SUM_BLOCK,  32,  1   },
        {512,      RUNG_SUM_BLOCK,  32,  1   },
        {4096,     RUNG_SUM_BLOCK,  256, 1   },
        {8195,     RUNG_SUM_BLOCK,  512, 1   },
        {8196,     RUNG_SUM_NARROW, 256, 66  },
        {262144,   RUNG_SUM_NARROW, 256, 66  },
        {1 << 20,  RUNG_SUM_NARROW, 256, 132 },
        {1 << 21,  RUNG_SUM_WIDE,   512, 132 },
        {1 << 23,  RUNG_SUM_WIDE,   512, 132 },
        {16776605, RUNG_SUM_STREAM, 512, 1056},
        {1 << 26,  RUNG_SUM_STREAM, 512, 2112},
        {1 << 28,  RUNG_SUM_WIDE,   512, 2112},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rung_sum_shape shape = shape_of(&h200, rows[i].n, false);
        assert_int_equal(shape.form, rows[i].form);
        assert_int_equal(shape.threads, rows[i].threads);
        assert_int_equal(shape.blocks, rows[i].blocks);
    }
    assert_int_equal(shape_of(&h200, 1 << 23, true).form, RUNG_SUM_STREAM); /* two vectors */
}

static void alignment_of_y(void **state)
{
    (void)state;
    struct rung_sum_call call;
    rung_sum_shape(&call, &h200, 4, BASE + 4, 2 * BASE + 20, 100);
    assert_int_equal(call.y_aligned, 1);
    rung_sum_shape(&call, &h200, 4, BASE + 4, 2 * BASE + 8, 100);
    assert_int_equal(call.y_aligned, 0);
}

/* 2^40 elements are counted in 64 bits. */
static void large_counts(void **state)
{
    (void)state;
    struct rung_sum_call call;
    struct rung_sum_shape shape = rung_sum_shape(&call, &h200, 4, BASE, 0, UINT64_C(1) << 40);
    assert_int_equal(shape.form, RUNG_SUM_WIDE);
    assert_true(call.groups == UINT64_C(1) << 38);
    uint64_t done = call.rounds * 2112 * 512 * 8;
    assert_true(done <= call.groups && call.groups - done < 2112 * 512 * 8);
}

/* The bound that rung.h promises, where it is nearest: about the borders of the forms, and for
 * inputs that a card's memory just holds. */
static void bound_of_the_header(void **state)
{
    (void)state;
    const struct rung_sum_card most_l2 = {20, 41943040}; /* 2 MiB an SM */
    const struct rung_sum_card *cards[] = {&h200, &t4, &tiny, &most_l2};
    for (size_t c = 0; c < 4; c++)
        for (unsigned power = 0; power < 8 * 38; power++) /* of the eighth root of two */
            for (unsigned k = 0; k < 4; k++) {
                const uint32_t element = k & 1 ? 8 : 4;
                const uint64_t y = k & 2 ? 2 * BASE : 0;
                const uint64_t n = (UINT64_C(1) << power / 8) * (8 + power % 8) / 8;
                struct rung_sum_call call;
                struct rung_sum_shape shape = rung_sum_shape(&call, cards[c], element, BASE, y, n);
                double bytes = (double)n * element * (y ? 2 : 1);
                double promised = bytes / cards[c]->sm_count / 1048576 + 64;
                if ((double)rung_sum_depth(&shape, &call) > promised)
                    fail_msg("%u SMs, n = %llu of %u bytes, %s: %llu additions, not %.1f",
                             cards[c]->sm_count, (unsigned long long)n, element, y ? "dot" : "sum",
                             (unsigned long long)rung_sum_depth(&shape, &call), promised);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_element_is_read_once),
        cmocka_unit_test(forms_of_an_h200),
        cmocka_unit_test(alignment_of_y),
        cmocka_unit_test(large_counts),
        cmocka_unit_test(bound_of_the_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
