/* Which kernel for how much. The borders are where the curves of an H200 cross (tools/bench sum
 * prints them), told in groups an SM and in shares of L2, so that other cards have theirs. */
#include "sum/shape.h"

#define WARP 32

/* Up to this many groups one block is sooner done than two that wait for each other. */
#define BLOCK_GROUPS 2048
/* Up to so many groups an SM: half the SMs, each once, a wide block each. */
#define HALF_GROUPS 512
#define NARROW_GROUPS 2048
#define SINGLE_GROUPS 4096

static uint32_t at_least_one(uint64_t value)
{
    return value ? (uint32_t)value : 1;
}

static const uint32_t form_threads[] = {
#define FORM(name, word, threads) threads,
    RUNG_SUM_FORMS(FORM)
#undef FORM
};

static struct rung_sum_shape on_block(uint64_t groups)
{
    uint64_t threads = (groups + RUNG_SUM_LOADS - 1) / RUNG_SUM_LOADS;
    threads = (threads + WARP - 1) / WARP * WARP;
    return (struct rung_sum_shape){RUNG_SUM_BLOCK, (uint32_t)(threads ? threads : WARP), 1};
}

/* All blocks are on the card at once: the last one waits for the others. */
static struct rung_sum_shape on_grid(const struct rung_sum_card *card, enum rung_sum_form form,
                                     uint32_t blocks)
{
    uint64_t most = (uint64_t)at_least_one(card->resident[form]) * at_least_one(card->sm_count);
    return (struct rung_sum_shape){form, form_threads[form],
                                   blocks < most ? blocks : (uint32_t)most};
}

static struct rung_sum_shape choose(const struct rung_sum_card *card, uint64_t groups,
                                    uint64_t bytes)
{
    const uint64_t sms = at_least_one(card->sm_count), l2 = card->l2_bytes;
    if (groups <= BLOCK_GROUPS)
        return on_block(groups);
    if (groups <= HALF_GROUPS * sms)
        return on_grid(card, RUNG_SUM_NARROW, at_least_one(sms / 2));
    if (groups <= NARROW_GROUPS * sms)
        return on_grid(card, RUNG_SUM_NARROW, (uint32_t)sms);
    if (groups <= SINGLE_GROUPS * sms)
        return on_grid(card, RUNG_SUM_WIDE, (uint32_t)sms);
    if (bytes < l2 - l2 / 8) /* it may be in L2, and may stay there */
        return on_grid(card, RUNG_SUM_WIDE, (uint32_t)(2 * sms));
    /* Read as a stream it does not wait for what is dirty in L2; of much more that is no help. */
    return on_grid(card, bytes <= 4 * l2 ? RUNG_SUM_STREAM : RUNG_SUM_WIDE, (uint32_t)(4 * sms));
}

uint32_t rung_sum_slots(const struct rung_sum_card *card, uint32_t element_bytes)
{
    return 4 * at_least_one(card->sm_count) * (element_bytes == 8 ? 2 : 1);
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
    const uint64_t tiles = (uint64_t)shape.blocks * shape.threads * RUNG_SUM_LOADS;
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
    const uint64_t in_group = 3, in_round = 2; /* a product and two pairs; four loads in pairs */
    const uint64_t slots = (shape->blocks + shape->threads - 1) / shape->threads;
    const uint64_t in_warp = 5, in_block = shape->threads / WARP / 2 + 1;
    return in_group + in_round + call->rounds + 2 + slots + in_warp + in_block +
           (shape->blocks > 1 ? in_warp + in_block : 0);
}
