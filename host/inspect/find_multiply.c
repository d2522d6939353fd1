/* Multiplications that stand for a division by a constant. */
#include "inspect/judge.h"
#include "inspect/magic.h"

#define MOVES_MAX 4   /* between a product and its shift or comparison */
#define LEAST_BITS 10 /* a thread index has as many, so that a reciprocal is exact for those */

/* The constant factor of a product of which the other factor comes from the thread index. */
static bool constant_factor(uint64_t *factor, const struct rung_judge *judge, uint32_t i)
{
    for (uint32_t s = 0; s < 2 && rung_judge_at(judge, i)->n_sources >= 2; s++) {
        int64_t constant;
        if (rung_trail_constant(&constant, &judge->trail, i, s) &&
            rung_judge_source_has(judge, i, 1 - s, RUNG_TRAIT_TID)) {
            *factor = (uint64_t)constant;
            return true;
        }
    }
    return false;
}

/* The product of which source `s` of `i` is the low half, through moves, rotations, added
 * constants and conversions to fewer bits; RUNG_CODE_NOWHERE if there is none. */
static uint32_t product_behind(const struct rung_judge *judge, uint32_t i, uint32_t s, int moves)
{
    const struct rung_definitions *defs = &judge->trail.sources[i][s];
    if (defs->n != 1 || moves == 0)
        return RUNG_CODE_NOWHERE;
    uint32_t from = defs->at[0];
    const struct rung_code_instruction *instruction = rung_judge_at(judge, from);
    int64_t constant;
    if (instruction->op == RUNG_CODE_MULTIPLY)
        return from;
    bool narrows = instruction->op == RUNG_CODE_AND && instruction->n_sources == 2 &&
                   rung_trail_constant(&constant, &judge->trail, from, 1) && constant == UINT16_MAX;
    bool shifted = instruction->op == RUNG_CODE_ADD && instruction->n_sources == 2 &&
                   rung_trail_constant(&constant, &judge->trail, from, 1);
    if (narrows || shifted || instruction->op == RUNG_CODE_ROTATE ||
        (instruction->op == RUNG_CODE_MOVE && instruction->n_sources == 1))
        return product_behind(judge, from, 0, moves - 1);
    return RUNG_CODE_NOWHERE;
}

/* Whether the high half, or both halves, of this product make a quotient. */
static bool is_high_quotient(const struct rung_judge *judge, uint32_t i)
{
    uint64_t factor;
    if (!constant_factor(&factor, judge, i))
        return false;
    if (rung_judge_at(judge, i)->op == RUNG_CODE_MULTIPLY_WIDE)
        return rung_magic_is_wide_reciprocal(factor);
    return factor > 2 && (factor & (factor - 1)) != 0;
}

/* The product that the shift or comparison `i` turns into a quotient, or a test of one. */
static uint32_t dividing_product(const struct rung_judge *judge, uint32_t i)
{
    const struct rung_code_instruction *instruction = rung_judge_at(judge, i);
    bool shifts = instruction->op == RUNG_CODE_SHIFT_RIGHT;
    if ((!shifts && instruction->op != RUNG_CODE_ORDER) || instruction->n_sources < 2)
        return RUNG_CODE_NOWHERE;
    for (uint32_t s = 0; s < (shifts ? 1u : 2u); s++) {
        uint32_t product = product_behind(judge, i, s, MOVES_MAX);
        uint64_t factor;
        int64_t other;
        if (product == RUNG_CODE_NOWHERE || !constant_factor(&factor, judge, product) ||
            !rung_trail_constant(&other, &judge->trail, i, 1 - s))
            continue;
        if (shifts ? other >= 0 && other < 64 &&
                         rung_magic_is_reciprocal(factor, (unsigned)other, LEAST_BITS)
                   : rung_magic_is_inverse(factor, (uint64_t)other))
            return product;
    }
    return RUNG_CODE_NOWHERE;
}

uint32_t rung_judge_find_multiplications(struct rung_judge *judge)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < judge->code->n_instructions; i++) {
        const struct rung_code_instruction *instruction = rung_judge_at(judge, i);
        if (instruction->in_library || instruction->is_float)
            continue;
        bool high = instruction->op == RUNG_CODE_MULTIPLY_HIGH ||
                    instruction->op == RUNG_CODE_MULTIPLY_WIDE;
        uint32_t product = high && is_high_quotient(judge, i) ? i : dividing_product(judge, i);
        if (product != RUNG_CODE_NOWHERE)
            found += rung_judge_decide(judge, product);
    }
    return found;
}
