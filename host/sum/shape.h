/* How one sum is launched: which kernel, how many threads in how many blocks, and which part of the
 * input is whose. Pure arithmetic. */
#ifndef RUNG_SUM_SHAPE_H
#define RUNG_SUM_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

#define RUNG_SUM_GROUP_BYTES 16 /* what a thread loads at once */

/* The kernels of ptx_src/library/sum.cu: form, word, threads of a block (the most of them), and how
 * many groups a thread has in flight in a sum, and of each vector in a dot product. */
#define RUNG_SUM_FORMS(FORM)                                                                       \
    FORM(BLOCK, block, 512, 4, 4)                                                                  \
    FORM(NARROW, narrow, 256, 4, 4)                                                                \
    FORM(WIDE, wide, 512, 8, 4)                                                                    \
    FORM(STREAM, stream, 512, 8, 4)

enum rung_sum_form {
#define FORM(name, word, threads, sum_loads, dot_loads) RUNG_SUM_##name,
    RUNG_SUM_FORMS(FORM)
#undef FORM
        RUNG_SUM_FORM_COUNT
};

/* What the shape depends on beside the input. */
struct rung_sum_card {
    uint32_t sm_count;
    uint64_t l2_bytes;
};

/* The kernel's argument, laid out as its `call`. */
struct rung_sum_call {
    uint64_t x, y;   /* y of a dot product only */
    uint64_t groups; /* whole aligned ones of x, from element `head` on */
    uint32_t head;   /* elements before the first group */
    uint32_t ends;   /* elements outside of groups */
    uint64_t rounds; /* tiles that every block goes through: its threads times its loads, each */
    uint64_t out, slots;
    uint32_t y_aligned;
};

struct rung_sum_shape {
    enum rung_sum_form form;
    uint32_t threads, blocks;
    uint32_t loads; /* groups that a thread has in flight */
};

/* The words of partial sums that any launch on this card may need. */
uint32_t rung_sum_slots(const struct rung_sum_card *card, uint32_t element_bytes);

/* The shape for n elements at x, and y of a dot product (0: none), multiples of the element's
 * size. Sets every field of the call but `out` and `slots`. */
struct rung_sum_shape rung_sum_shape(struct rung_sum_call *call, const struct rung_sum_card *card,
                                     uint32_t element_bytes, uint64_t x, uint64_t y, uint64_t n);

/* The longest chain of additions that one element goes through, a product included: the result is
 * within so many roundings of the exact sum of absolute values. */
uint64_t rung_sum_depth(const struct rung_sum_shape *shape, const struct rung_sum_call *call);

#endif
