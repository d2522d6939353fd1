/* Additions on load: the indices of a template are sums of multiples of block and tid, so how many
 * of them lie below n is a sum of floors and needs no loop over the grid. */
#include "gen/loads.h"

/* Euclid on the slope: what is whole in step / m and first / m is summed directly, the rest is the
 * same sum with the axes exchanged. Terms stay below n, so nothing overflows for n to 2^40. */
uint64_t rung_floor_sum(uint64_t count, uint64_t m, uint64_t step, uint64_t first)
{
    uint64_t total = 0;
    while (count > 0) {
        /* count * (count - 1) / 2, even factor first */
        uint64_t pairs = count % 2 ? (count - 1) / 2 * count : count / 2 * (count - 1);
        total += step / m * pairs + first / m * count;
        step %= m;
        first %= m;
        uint64_t last = step * count + first; /* m times the height of the line at its end */
        if (last < m)
            break;
        count = last / m;
        first = last % m;
        uint64_t slope = step;
        step = m;
        m = slope;
    }
    return total;
}

/* The blocks b of the grid whose index start + per_block * b is below n. */
static uint64_t blocks_below(uint64_t n, uint64_t grid, uint64_t start, uint64_t per_block)
{
    if (start >= n)
        return 0;
    if (per_block == 0)
        return grid;
    uint64_t blocks = (n - start - 1) / per_block + 1;
    return blocks < grid ? blocks : grid;
}

/* Over those blocks, how often the sweep goes on: floor((n - 1 - index) / distance) each. */
static uint64_t sweeps(uint64_t n, uint64_t grid, uint64_t start, uint64_t per_block,
                       uint64_t distance)
{
    uint64_t blocks = blocks_below(n, grid, start, per_block);
    if (blocks == 0)
        return 0;
    uint64_t least = n - 1 - start - per_block * (blocks - 1); /* of the last such block */
    return rung_floor_sum(blocks, distance, per_block, least);
}

static enum rung_status linear(struct rung_affine *out, const struct rung_kernel *k,
                               const struct rung_expr *expr, int x, int y, unsigned line,
                               struct rung_error *err)
{
    if (rung_expr_affine(out, expr, x, y, k->values))
        return RUNG_OK;
    return rung_template_fail(k->tpl, line, err,
                              "an element's index must be a sum of multiples of block and tid");
}

enum rung_status rung_loads_count(uint64_t *out, struct rung_kernel *kernel, uint64_t n,
                                  uint64_t grid, struct rung_error *err)
{
    struct rung_affine element, distance = {0};
    kernel->values[RUNG_SLOT_GRID] = grid;
    kernel->values[RUNG_SLOT_N] = n;
    *out = 0;
    enum rung_status status =
        linear(&element, kernel, kernel->element, RUNG_SLOT_BLOCK, RUNG_SLOT_TID, 1, err);
    if (status == RUNG_OK && kernel->sweep)
        status = linear(&distance, kernel, kernel->sweep, RUNG_SLOT_BLOCK, RUNG_SLOT_TID, 1, err);
    if (status == RUNG_OK && kernel->sweep &&
        (distance.constant == 0 || distance.per_x || distance.per_y))
        status = rung_template_fail(kernel->tpl, 1, err,
                                    "a sweep must go the same distance, above 0, in every thread");
    for (unsigned i = 1; i < kernel->n_loads && status == RUNG_OK; i++) {
        struct rung_affine index; /* over i */
        const struct rung_statement *load = &kernel->loads[i];
        status =
            linear(&index, kernel, load->from.index, RUNG_SLOT_I, RUNG_SLOT_TID, load->line, err);
        if (status != RUNG_OK)
            break;
        uint64_t start = index.constant + index.per_x * element.constant;
        uint64_t per_block = index.per_x * element.per_x;
        uint64_t per_thread = index.per_x * element.per_y + index.per_y;
        for (unsigned tid = 0; tid < kernel->config.block; tid++)
            *out += kernel->sweep && i >= kernel->first_swept
                        ? sweeps(n, grid, start + per_thread * tid, per_block, distance.constant)
                        : blocks_below(n, grid, start + per_thread * tid, per_block);
    }
    return status;
}
