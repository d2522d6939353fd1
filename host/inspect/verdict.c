/* The judgement: guards, the three searches, and the word for what they found. */
#include "inspect/verdict.h"

#include <stdio.h>

#include "inspect/judge.h"

const char *rung_verdict_text(enum rung_verdict_word word)
{
    static const char *const texts[] = {"none", "mask", "multiply", "divide", "mixed"};
    return texts[word];
}

const struct rung_code_instruction *rung_judge_at(const struct rung_judge *judge, uint32_t i)
{
    return &judge->code->instructions[i];
}

bool rung_judge_source_has(const struct rung_judge *judge, uint32_t i, uint32_t s, unsigned trait)
{
    return (rung_trail_of_source(&judge->trail, i, s) & trait) != 0;
}

bool rung_judge_any_source_has(const struct rung_judge *judge, uint32_t i, unsigned trait)
{
    for (uint32_t s = 0; s < rung_judge_at(judge, i)->n_sources; s++)
        if (rung_judge_source_has(judge, i, s, trait))
            return true;
    return false;
}

bool rung_judge_decide(struct rung_judge *judge, uint32_t i)
{
    if (judge->marks[i] & RUNG_MARK_DECIDES)
        return false;
    judge->marks[i] |= RUNG_MARK_EVIDENCE | RUNG_MARK_DECIDES;
    return true;
}

static enum rung_verdict_word word_of(const struct rung_modulo *verdict)
{
    int kinds = (verdict->divide > 0) + (verdict->mask > 0) + (verdict->multiply > 0);
    if (kinds > 1)
        return RUNG_VERDICT_MIXED;
    return verdict->divide     ? RUNG_VERDICT_DIVIDE
           : verdict->multiply ? RUNG_VERDICT_MULTIPLY
           : verdict->mask     ? RUNG_VERDICT_MASK
                               : RUNG_VERDICT_NONE;
}

/* Marks the conditions that depend on what decided; where nothing did, all those that guard an
 * update, for they are the plain comparisons. */
static bool show_guards(const struct rung_modulo *verdict, struct rung_judge *judge)
{
    uint32_t n = judge->code->n_instructions;
    bool *depends = rung_arena_array(judge->arena, (size_t)n + 1, sizeof *depends);
    if (!depends)
        return false;
    rung_trail_spread(depends, &judge->trail, judge->marks, RUNG_MARK_DECIDES);
    for (uint32_t g = 0; g < judge->n_guards; g++) {
        const struct rung_guard *guard = &judge->guards[g];
        if (verdict->word == RUNG_VERDICT_NONE ? !guard->updates : !depends[guard->predicate])
            continue;
        judge->marks[guard->predicate] |= RUNG_MARK_EVIDENCE;
        judge->marks[guard->guarded] |= RUNG_MARK_EVIDENCE;
    }
    return true;
}

static bool list_evidence(struct rung_modulo *out, const struct rung_judge *judge)
{
    uint32_t n = judge->code->n_instructions;
    size_t count = 0;
    for (uint32_t i = 0; i < n; i++)
        count += (judge->marks[i] & RUNG_MARK_EVIDENCE) != 0;
    out->evidence = rung_arena_array(judge->arena, count + 1, sizeof *out->evidence);
    if (!out->evidence)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (judge->marks[i] & RUNG_MARK_EVIDENCE)
            out->evidence[out->n_evidence++] =
                (struct rung_evidence){i, (judge->marks[i] & RUNG_MARK_DECIDES) != 0};
    return true;
}

bool rung_verdict_reach(struct rung_modulo *out, const struct rung_code *code,
                        struct rung_arena *arena)
{
    *out = (struct rung_modulo){0};
    struct rung_judge judge = {.code = code, .arena = arena};
    judge.marks = rung_arena_array(arena, (size_t)code->n_instructions + 1, sizeof *judge.marks);
    if (!judge.marks || !rung_trail_build(&judge.trail, code, arena) ||
        !rung_judge_find_guards(&judge))
        return false;
    for (uint32_t i = 0; i < code->n_instructions; i++)
        out->barriers += code->instructions[i].op == RUNG_CODE_BARRIER;
    out->mask = rung_judge_find_masks(&judge);
    out->multiply = rung_judge_find_multiplications(&judge);
    if (!rung_judge_find_divisions(&out->divide, &judge))
        return false;
    out->word = word_of(out);
    if (!show_guards(out, &judge) || !list_evidence(out, &judge))
        return false;
    out->incomplete = judge.trail.flow.exhausted;
    return true;
}

void rung_verdict_short(const struct rung_modulo *verdict, char text[24])
{
    uint32_t count = verdict->word == RUNG_VERDICT_DIVIDE     ? verdict->divide
                     : verdict->word == RUNG_VERDICT_MASK     ? verdict->mask
                     : verdict->word == RUNG_VERDICT_MULTIPLY ? verdict->multiply
                                                              : 0;
    if (count > 1)
        snprintf(text, 24, "%s x%u", rung_verdict_text(verdict->word), count);
    else
        snprintf(text, 24, "%s", rung_verdict_text(verdict->word));
}
