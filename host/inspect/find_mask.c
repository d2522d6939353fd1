/* Masks: from the predicate of a guarded update back to an and of the thread index. */
#include "inspect/judge.h"
#include "inspect/magic.h"

#define WALK_MAX 64 /* moves and logic between a mask and what it guards; real code has a few */

/* One walk from a predicate. */
struct walk {
    struct rung_judge *judge;
    unsigned steps_left;
    uint32_t found;
};

/* Whether source `m` of the and `i` is the mask of a remainder; `subtracted`: the result of the and
 * is subtracted before it is compared, so that the mask must be the high bits. */
static bool is_mask_source(const struct rung_judge *judge, uint32_t i, uint32_t m, bool subtracted)
{
    int64_t constant;
    if (!rung_trail_constant(&constant, &judge->trail, i, m))
        return !subtracted && rung_judge_is_low_mask(judge, i, m);
    if (rung_judge_at(judge, i)->sources[m].inverted)
        constant = ~constant;
    return subtracted ? rung_magic_is_high_mask(constant) : rung_magic_is_low_mask(constant);
}

static bool is_mask(const struct rung_judge *judge, uint32_t i, bool subtracted)
{
    const struct rung_code_instruction *and = rung_judge_at(judge, i);
    if (and->op != RUNG_CODE_AND)
        return false;
    for (uint32_t s = 0; s < and->n_sources; s++)
        for (uint32_t m = 0; m < and->n_sources; m++)
            if (m != s && !and->sources[s].inverted &&
                rung_judge_source_has(judge, i, s, RUNG_TRAIT_TID) &&
                is_mask_source(judge, i, m, subtracted))
                return true;
    return false;
}

/* From source `s` of `i`, which is compared for equality, back to ands. */
static void walk_value(struct walk *walk, uint32_t i, uint32_t s, bool subtracted)
{
    const struct rung_definitions *defs = &walk->judge->trail.sources[i][s];
    for (uint32_t d = 0; d < defs->n && walk->steps_left > 0; d++) {
        uint32_t from = defs->at[d];
        const struct rung_code_instruction *instruction = rung_judge_at(walk->judge, from);
        bool adds = instruction->op == RUNG_CODE_ADD;
        walk->steps_left--;
        if (is_mask(walk->judge, from, subtracted))
            walk->found += rung_judge_decide(walk->judge, from);
        else if (instruction->op == RUNG_CODE_MOVE || (adds && !subtracted))
            for (uint32_t k = 0; k < instruction->n_sources; k++)
                walk_value(walk, from, k, subtracted || adds);
    }
}

static bool is_predicate(const struct rung_code_instruction *instruction)
{
    return instruction->op == RUNG_CODE_LOGIC || instruction->op == RUNG_CODE_EQUAL ||
           instruction->op == RUNG_CODE_ORDER || instruction->sets_predicate;
}

/* From predicate `i` back through logic to comparisons for equality. */
static void walk_predicate(struct walk *walk, uint32_t i)
{
    const struct rung_code_instruction *instruction = rung_judge_at(walk->judge, i);
    if (walk->steps_left == 0 || !is_predicate(instruction))
        return;
    walk->steps_left--;
    if (is_mask(walk->judge, i, false)) {
        walk->found += rung_judge_decide(walk->judge, i);
        return;
    }
    for (uint32_t s = 0; s < instruction->n_sources; s++) {
        const struct rung_definitions *defs = &walk->judge->trail.sources[i][s];
        if (instruction->op == RUNG_CODE_EQUAL)
            walk_value(walk, i, s, false);
        for (uint32_t d = 0; d < defs->n; d++)
            walk_predicate(walk, defs->at[d]);
    }
}

uint32_t rung_judge_find_masks(struct rung_judge *judge)
{
    uint32_t found = 0;
    for (uint32_t g = 0; g < judge->n_guards; g++) {
        const struct rung_guard *guard = &judge->guards[g];
        if (!guard->updates)
            continue;
        struct walk walk = {.judge = judge, .steps_left = WALK_MAX};
        walk_predicate(&walk, guard->predicate);
        found += walk.found;
    }
    return found;
}
