/* Masks that the code computes: 2 * s - 1 and its like. The value is read as a sum: a multiple of
 * one value that stays unknown, and a constant. */
#include "inspect/judge.h"

#define DEPTH_MAX 12
#define VISITS_MAX 128
#define THREADS_MAX 1024 /* of a block: the thread index has no higher bits for a mask to keep */

struct sum {
    const struct rung_trail *trail;
    bool has_base;
    uint32_t base, base_ways; /* what defines the unknown, and in how many places */
    int64_t multiple, constant;
    unsigned visits_left;
};

static bool add_value(struct sum *sum, uint32_t i, uint32_t s, int64_t scale, int depth);

static bool add_unknown(struct sum *sum, const struct rung_definitions *defs, int64_t scale)
{
    if (sum->has_base && (sum->base != defs->at[0] || sum->base_ways != defs->n))
        return false;
    sum->has_base = true;
    sum->base = defs->at[0];
    sum->base_ways = defs->n;
    sum->multiple += scale;
    return true;
}

/* Adds what instruction `at` computes where it is a sum; false where it is not known as one. */
static bool add_result(struct sum *sum, uint32_t at, int64_t scale, int depth)
{
    const struct rung_code_instruction *instruction = &sum->trail->flow.code->instructions[at];
    uint32_t n = instruction->n_sources;
    int64_t factor;
    switch (instruction->op) {
    case RUNG_CODE_MOVE:
        return n == 1 && add_value(sum, at, 0, scale, depth);
    case RUNG_CODE_NOT: /* -x - 1 */
        sum->constant -= scale;
        return n == 1 && add_value(sum, at, 0, -scale, depth);
    case RUNG_CODE_ADD:
        for (uint32_t s = 0; s < n; s++)
            if (!add_value(sum, at, s, scale, depth))
                return false;
        return n > 0;
    case RUNG_CODE_SHIFT_LEFT:
        return n >= 2 && rung_trail_constant(&factor, sum->trail, at, 1) && factor >= 0 &&
               factor < 32 && add_value(sum, at, 0, scale * ((int64_t)1 << factor), depth);
    case RUNG_CODE_SCALE_ADD:
        return n >= 3 && rung_trail_constant(&factor, sum->trail, at, 2) && factor >= 0 &&
               factor < 32 && add_value(sum, at, 0, scale * ((int64_t)1 << factor), depth) &&
               add_value(sum, at, 1, scale, depth);
    case RUNG_CODE_MULTIPLY:
        return n >= 2 && rung_trail_constant(&factor, sum->trail, at, 1) &&
               factor >= -THREADS_MAX && factor <= THREADS_MAX &&
               add_value(sum, at, 0, scale * factor, depth) &&
               (n < 3 || add_value(sum, at, 2, scale, depth));
    default:
        return false;
    }
}

static bool add_value(struct sum *sum, uint32_t i, uint32_t s, int64_t scale, int depth)
{
    const struct rung_code_source *source = &sum->trail->flow.code->instructions[i].sources[s];
    if (sum->visits_left == 0 || scale > INT32_MAX || scale < -(int64_t)INT32_MAX)
        return false;
    sum->visits_left--;
    if (source->inverted) {
        sum->constant -= scale;
        scale = -scale;
    }
    if (source->kind == RUNG_SOURCE_CONSTANT) {
        sum->constant += scale * (int32_t)source->constant;
        return true;
    }
    const struct rung_definitions *defs = &sum->trail->sources[i][s];
    if (source->kind != RUNG_SOURCE_REGISTER || defs->n == 0)
        return false;
    if (source->negated)
        scale = -scale;
    struct sum before = *sum;
    if (defs->n == 1 && depth > 0 && add_result(sum, defs->at[0], scale, depth - 1))
        return true;
    before.visits_left = sum->visits_left;
    *sum = before;
    return add_unknown(sum, defs, scale);
}

/* All ones shifted left, or a run of low bits made by one instruction. */
static bool is_run(const struct rung_judge *judge, uint32_t at, bool inverted)
{
    const struct rung_code_instruction *instruction = rung_judge_at(judge, at);
    int64_t constant;
    if (instruction->op == RUNG_CODE_LOW_MASK)
        return !inverted;
    return inverted && instruction->op == RUNG_CODE_SHIFT_LEFT &&
           rung_trail_constant(&constant, &judge->trail, at, 0) && (int32_t)constant == -1;
}

bool rung_judge_is_low_mask(const struct rung_judge *judge, uint32_t i, uint32_t s)
{
    struct sum sum = {.trail = &judge->trail, .visits_left = VISITS_MAX};
    if (!add_value(&sum, i, s, 1, DEPTH_MAX) || !sum.has_base)
        return false;
    int64_t multiple = sum.multiple;
    if (multiple > 0 && (multiple & (multiple - 1)) == 0 && (sum.constant + 1) % THREADS_MAX == 0)
        return true;
    if (sum.base_ways != 1)
        return false;
    /* inverted an odd number of times on the way: x appears as -x - 1 */
    return (multiple == 1 && sum.constant == 0 && is_run(judge, sum.base, false)) ||
           (multiple == -1 && sum.constant == -1 && is_run(judge, sum.base, true));
}
