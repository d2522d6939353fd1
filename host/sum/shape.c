/* Which kernel for how much. The borders are where the curves of an H200 cross (tools/bench sum has
 * them), told in groups an SM and in shares of L2, so that other cards have theirs. */
#include "sum/shape.h"

#define WARP 32

/* Up to this many groups one block is sooner done than two that wait for each other. */
#define BLOCK_GROUPS 2048
/* Up to so many groups an SM a narrow block on half the SMs, and on each. */
#define HALF_GROUPS 512
#define NARROW_GROUPS 2048

/* Blocks an SM of a wide grid. More than it holds at once even out what the SMs differ by. */
#define BLOCKS_IN_L2 1
#define BLOCKS_BEYOND 8
#define BLOCKS_FAR_BEYOND 16

static const struct {
    uint32_t threads, sum_loads, dot_loads;
} forms[] = {
#define FORM(name, word, threads, sum_loads, dot_loads) {threads, sum_loads, dot_loads},
    RUNG_SUM_FORMS(FORM)
#undef FORM
};

static struct rung_sum_shape on_block(uint64_t groups)
{
    uint64_t threads =
        (groups + forms[RUNG_SUM_BLOCK].sum_loads - 1) / forms[RUNG_SUM_BLOCK].sum_loads;
    threads = (threads + WARP - 1) / WARP * WARP;
    return (struct rung_sum_shape){RUNG_SUM_BLOCK, (uint32_t)(threads ? threads : WARP), 1, 0};
}

static struct rung_sum_shape on_grid(enum rung_sum_form form, uint64_t blocks)
{
    return (struct rung_sum_shape){form, forms[form].threads, (uint32_t)blocks, 0};
}

static struct rung_sum_shape choose(const struct rung_sum_card *card, uint64_t groups,
                                    uint64_t bytes)
{
    const uint64_t sms = card->sm_count ? card->sm_count : 1, l2 = card->l2_bytes;
    if (groups <= BLOCK_GROUPS)
        return on_block(groups);
    if (groups <= HALF_GROUPS * sms)
        return on_grid(RUNG_SUM_NARROW, (sms + 1) / 2);
    if (groups <= NARROW_GROUPS * sms)
        return on_grid(RUNG_SUM_NARROW, sms);
    if (bytes < l2 - l2 / 8) /* it may be in L2, and may stay there */
        return on_grid(RUNG_SUM_WIDE, BLOCKS_IN_L2 * sms);
    /* Read as a stream it does not wait for what is dirty in L2; of much more that is no help. */
    if (bytes < 2 * l2)
        return on_grid(RUNG_SUM_STREAM, BLOCKS_BEYOND * sms);
    return on_grid(bytes < 6 * l2 ? RUNG_SUM_STREAM : RUNG_SUM_WIDE, BLOCKS_FAR_BEYOND * sms);
}

uint32_t rung_sum_slots(const struct rung_sum_card *card, uint32_t element_bytes)
{
    uint32_t sms = card->sm_count ? card->sm_count : 1;
    return BLOCKS_FAR_BEYOND * sms * (element_bytes == 8 ? 2 : 1);
}

struct rung_sum_shape rung_sum_shape(struct rung_sum_call *call, const struct rung_sum_card *card,
                                     uint32_t element_bytes, uint64_t x, uint64_t y, uint64_t n)
{
    const uint32_t per_group = RUNG_SUM_GROUP_BYTES / element_bytes;
    uint64_t head = (0 - x) % RUNG_SUM_GROUP_BYTES / element_bytes;
    if (head > n)
        head = n;
    const uint64_t groups = (n - head) / per_group;
    const uint64_t bytes = n * element_bytes * (y ? 2 : 1);
    struct rung_sum_shape shape = choose(card, groups, bytes);
    shape.loads = y ? forms[shape.form].dot_loads : forms[shape.form].sum_loads;
    const uint64_t tiles = (uint64_t)shape.blocks * shape.threads * shape.loads;
    *call = (struct rung_sum_call){
        .x = x,
        .y = y,
        .groups = groups,
        .head = (uint32_t)head,
        .ends = (uint32_t)(n - groups * per_group),
        .rounds = shape.form == RUNG_SUM_BLOCK ? 0 : groups / tiles,
        .y_aligned = (x - y) % RUNG_SUM_GROUP_BYTES == 0,
    };
    return shape;
}

uint64_t rung_sum_depth(const struct rung_sum_shape *shape, const struct rung_sum_call *call)
{
    const uint64_t in_group = 3, in_round = 3; /* a product and two pairs; the loads in pairs */
    const uint64_t slots = (shape->blocks + shape->threads - 1) / shape->threads;
    const uint64_t in_warp = 5, in_block = shape->threads / WARP / 2 + 1;
    return in_group + in_round + call->rounds + 2 + slots + in_warp + in_block +
           (shape->blocks > 1 ? in_warp + in_block : 0);
}
