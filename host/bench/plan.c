/* Owns the arithmetic of passes: how many blocks, launches and bytes it takes to one value. */
#include "bench/plan.h"

static uint64_t divide_up(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* At least one block: of nothing, too, someone must write the identity. */
static uint64_t blocks_for(const struct rung_shape *shape, uint64_t n, uint64_t per_block,
                           uint64_t fixed_blocks)
{
    uint64_t blocks = divide_up(n, per_block);
    if (shape->grid_rule == RUNG_GRID_FIXED)
        blocks = smaller(blocks, fixed_blocks);
    return blocks ? blocks : 1;
}

enum rung_status rung_plan_make(struct rung_plan *out, const struct rung_config *config,
                                const struct rung_shape *shape, uint64_t n, uint64_t max_grid,
                                uint64_t fixed_blocks, struct rung_error *err)
{
    if (n > RUNG_N_MAX)
        return rung_fail(err, RUNG_USAGE, "n = %llu: allowed are 0 to 2^40", (unsigned long long)n);
    uint64_t per_block = (uint64_t)config->block * shape->elements_per_thread;
    bool fixed = shape->grid_rule == RUNG_GRID_FIXED;
    if (per_block < 2 || max_grid == 0 || (fixed && fixed_blocks == 0))
        return rung_fail(err, RUNG_UNABLE,
                         "no plan for %llu elements a block, a grid of at most %llu blocks%s",
                         (unsigned long long)per_block, (unsigned long long)max_grid,
                         fixed && fixed_blocks == 0 ? " and none of them resident" : "");
    size_t size = rung_type_size(config->type);
    struct rung_plan plan = {0};
    uint64_t vectors = config->op == RUNG_OP_DOT ? 2 : 1;
    do {
        struct rung_pass *pass = &plan.passes[plan.n_passes++];
        pass->n_in = n;
        pass->blocks = blocks_for(shape, n, per_block, smaller(fixed_blocks, max_grid));
        pass->launches = divide_up(pass->blocks, max_grid);
        plan.launches += pass->launches;
        plan.bytes_read += vectors * n * size;
        plan.bytes_written += pass->blocks * size;
        vectors = 1; /* later passes read one value a block, of dot too */
        n = pass->blocks;
    } while (n > 1);
    plan.partials_room = plan.passes[0].blocks;
    *out = plan;
    return RUNG_OK;
}
