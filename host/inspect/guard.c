/* Which conditions guard an update of memory: by the branch round it, or by the predicate on it. */
#include "inspect/judge.h"

enum { LOADS_SHARED = 1, STORES_SHARED = 2, LOADS_GLOBAL = 4, STORES_GLOBAL = 8 };

/* Guards in the making. */
struct guards {
    struct rung_judge *judge;
    uint32_t *index;   /* by predicate instruction: 1 + index into the judge's guards */
    unsigned *touches; /* by guard: memory accesses that depend on it */
};

static unsigned touches_of(const struct rung_judge *judge, uint32_t i)
{
    const struct rung_code_instruction *instruction = rung_judge_at(judge, i);
    bool shared = instruction->space == RUNG_SPACE_SHARED;
    if (!shared && instruction->space != RUNG_SPACE_GLOBAL)
        return 0;
    if (instruction->op == RUNG_CODE_LOAD)
        return shared ? LOADS_SHARED : LOADS_GLOBAL;
    if (instruction->op != RUNG_CODE_STORE)
        return 0;
    for (uint32_t s = 0; s < instruction->n_addresses; s++)
        if (rung_judge_source_has(judge, i, s, RUNG_TRAIT_TID))
            return shared ? STORES_SHARED : STORES_GLOBAL;
    return 0;
}

static bool is_update(unsigned touches)
{
    return (touches & (LOADS_SHARED | STORES_SHARED)) == (LOADS_SHARED | STORES_SHARED) ||
           (touches & (LOADS_GLOBAL | STORES_GLOBAL)) == (LOADS_GLOBAL | STORES_GLOBAL);
}

static void add(struct guards *guards, const struct rung_definitions *predicates, uint32_t guarded,
                unsigned touches)
{
    struct rung_judge *judge = guards->judge;
    for (uint32_t d = 0; d < predicates->n; d++) {
        uint32_t *index = &guards->index[predicates->at[d]];
        if (*index == 0) {
            judge->guards[judge->n_guards] = (struct rung_guard){predicates->at[d], guarded, false};
            *index = ++judge->n_guards;
        }
        guards->touches[*index - 1] |= touches;
        judge->guards[*index - 1].updates = is_update(guards->touches[*index - 1]);
    }
}

/* A conditional branch guards what runs or does not run by it. */
static void add_branch(struct guards *guards, uint32_t block, const unsigned *touches,
                       uint32_t *region)
{
    struct rung_judge *judge = guards->judge;
    uint32_t last = judge->trail.flow.blocks[block].end - 1;
    uint32_t n = rung_flow_region(region, &judge->trail.flow, block);
    unsigned all = 0;
    for (uint32_t i = 0; i < n; i++)
        all |= touches[region[i]];
    add(guards, &judge->trail.guards[last], last, all);
    if (rung_judge_at(judge, last)->op == RUNG_CODE_BRANCH)
        for (uint32_t s = 0; s < rung_judge_at(judge, last)->n_sources; s++)
            add(guards, &judge->trail.sources[last][s], last, all);
}

bool rung_judge_find_guards(struct rung_judge *judge)
{
    struct rung_flow *flow = &judge->trail.flow;
    uint32_t n = judge->code->n_instructions;
    struct guards guards = {
        .judge = judge,
        .index = rung_arena_array(judge->arena, (size_t)n + 1, sizeof *guards.index),
        .touches = rung_arena_array(judge->arena, (size_t)n + 1, sizeof *guards.touches)};
    unsigned *touches = rung_arena_array(judge->arena, flow->n_blocks + 1, sizeof *touches);
    uint32_t *region = rung_arena_array(judge->arena, flow->n_blocks + 1, sizeof *region);
    judge->guards = rung_arena_array(judge->arena, (size_t)n + 1, sizeof *judge->guards);
    if (!guards.index || !guards.touches || !touches || !region || !judge->guards)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        unsigned touch = touches_of(judge, i);
        touches[flow->block_of[i]] |= touch;
        if (touch)
            add(&guards, &judge->trail.guards[i], i, touch);
    }
    for (uint32_t block = 0; block < flow->n_blocks; block++)
        if (rung_flow_is_conditional(&judge->code->instructions[flow->blocks[block].end - 1]))
            add_branch(&guards, block, touches, region);
    return true;
}
