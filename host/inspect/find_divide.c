/* Divisions: instructions of PTX, calls of the compiler's routines, and the expansion that SASS has
 * in their place. */
#include "inspect/judge.h"

static bool multiplies(enum rung_code_op op)
{
    return op == RUNG_CODE_MULTIPLY || op == RUNG_CODE_MULTIPLY_HIGH ||
           op == RUNG_CODE_MULTIPLY_WIDE;
}

/* Whether the thread index takes part in the work of the routine at `start`. */
static bool routine_sees_tid(const struct rung_judge *judge, uint32_t start)
{
    for (uint32_t i = start; i < judge->code->n_instructions; i++) {
        if (!rung_judge_at(judge, i)->in_library)
            return false;
        if (multiplies(rung_judge_at(judge, i)->op) &&
            rung_judge_any_source_has(judge, i, RUNG_TRAIT_TID))
            return true;
    }
    return false;
}

/* The reciprocal and the nudge before an estimate show what it is. */
static void show_expansion(struct rung_judge *judge, uint32_t estimate)
{
    uint32_t here = estimate;
    while (rung_judge_at(judge, here)->op != RUNG_CODE_RECIPROCAL) {
        uint32_t next = here;
        for (uint32_t s = 0; s < rung_judge_at(judge, here)->n_sources && next == here; s++)
            if (rung_judge_source_has(judge, here, s, RUNG_TRAIT_RATIO))
                next = judge->trail.sources[here][s].at[0];
        if (next == here || (judge->marks[next] & RUNG_MARK_EVIDENCE))
            return;
        judge->marks[next] |= RUNG_MARK_EVIDENCE;
        here = next;
    }
}

/* Decides the conversions to integer from which product `i` takes its estimate of a quotient.
 * `pending` has room for every instruction. */
static uint32_t decide_estimates(struct rung_judge *judge, uint32_t i, uint32_t *pending)
{
    uint32_t found = 0, n = 0;
    pending[n++] = i;
    while (n > 0) {
        uint32_t here = pending[--n];
        for (uint32_t s = 0; s < rung_judge_at(judge, here)->n_sources; s++) {
            const struct rung_definitions *defs = &judge->trail.sources[here][s];
            for (uint32_t d = 0; d < defs->n; d++) {
                uint32_t from = defs->at[d];
                if (!(judge->trail.traits[from] & RUNG_TRAIT_QUOTIENT) ||
                    (judge->marks[from] & RUNG_MARK_SEEN))
                    continue;
                judge->marks[from] |= RUNG_MARK_SEEN;
                if (rung_judge_at(judge, from)->op != RUNG_CODE_TO_INTEGER) {
                    pending[n++] = from;
                } else if (rung_judge_decide(judge, from)) {
                    found++;
                    show_expansion(judge, from);
                }
            }
        }
    }
    return found;
}

/* The product of an estimated quotient and the thread index: the division's own step. */
static bool is_step(const struct rung_judge *judge, uint32_t i)
{
    const struct rung_code_instruction *instruction = rung_judge_at(judge, i);
    if (instruction->in_library || instruction->is_float || instruction->n_sources < 2 ||
        (instruction->op != RUNG_CODE_MULTIPLY_HIGH && instruction->op != RUNG_CODE_MULTIPLY_WIDE))
        return false;
    unsigned traits =
        rung_trail_of_source(&judge->trail, i, 0) | rung_trail_of_source(&judge->trail, i, 1);
    return (traits & RUNG_TRAIT_QUOTIENT) && (traits & RUNG_TRAIT_TID);
}

static bool is_whole_division(const struct rung_judge *judge, uint32_t i)
{
    const struct rung_code_instruction *instruction = rung_judge_at(judge, i);
    if (instruction->op == RUNG_CODE_DIVIDE)
        return !instruction->is_float && rung_judge_any_source_has(judge, i, RUNG_TRAIT_TID);
    return instruction->op == RUNG_CODE_CALL && instruction->divides_by_name &&
           routine_sees_tid(judge, instruction->target);
}

bool rung_judge_find_divisions(uint32_t *found, struct rung_judge *judge)
{
    uint32_t n = judge->code->n_instructions;
    uint32_t *pending = rung_arena_array(judge->arena, (size_t)n + 1, sizeof *pending);
    if (!pending)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (is_whole_division(judge, i))
            *found += rung_judge_decide(judge, i);
        else if (is_step(judge, i))
            *found += decide_estimates(judge, i, pending);
    return true;
}
