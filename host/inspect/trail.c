/* Definitions of all sources, and the traits that flow along them to a fixed point. */
#include "inspect/trail.h"

#include <string.h>

#define MOVES_MAX 4   /* a constant is looked for through this many moves, */
#define WAYS_MAX 4    /* where no more than this many definitions meet */
#define ROUNDS_MAX 64 /* of the traits; nested loops of real code need a handful */

/* What the expansion of an integer division adds to the bits of the reciprocal: 2^28 - 2 for 32
 * bits, 2^29 - 2 for 64. */
static bool is_nudge(int64_t constant)
{
    return constant == 0x0ffffffe || constant == 0x1ffffffe;
}

static bool resolve(struct rung_definitions *out, struct rung_trail *trail, uint32_t i,
                    uint32_t reg)
{
    struct rung_defs found;
    rung_flow_definitions(&found, &trail->flow, i, reg);
    if (found.n == 0)
        return true;
    uint32_t *at = rung_arena_array(trail->flow.arena, found.n, sizeof *at);
    if (!at)
        return false;
    memcpy(at, found.instructions, found.n * sizeof *at);
    *out = (struct rung_definitions){at, found.n};
    return true;
}

static bool resolve_instruction(struct rung_trail *trail, uint32_t i)
{
    const struct rung_code_instruction *instruction = &trail->flow.code->instructions[i];
    if (instruction->guard != RUNG_CODE_NO_REGISTER &&
        !resolve(&trail->guards[i], trail, i, instruction->guard))
        return false;
    if (instruction->n_sources == 0)
        return true;
    trail->sources[i] =
        rung_arena_array(trail->flow.arena, instruction->n_sources, sizeof *trail->sources[i]);
    if (!trail->sources[i])
        return false;
    for (uint32_t s = 0; s < instruction->n_sources; s++)
        if (instruction->sources[s].kind == RUNG_SOURCE_REGISTER &&
            !resolve(&trail->sources[i][s], trail, i, instruction->sources[s].reg))
            return false;
    return true;
}

unsigned rung_trail_of_source(const struct rung_trail *trail, uint32_t i, uint32_t s)
{
    const struct rung_definitions *defs = &trail->sources[i][s];
    unsigned traits = 0;
    for (uint32_t d = 0; d < defs->n; d++)
        traits |= trail->traits[defs->at[d]];
    return traits;
}

static bool adds_nudge(const struct rung_code_instruction *instruction)
{
    for (uint32_t s = 0; s < instruction->n_sources; s++)
        if (instruction->sources[s].kind == RUNG_SOURCE_CONSTANT &&
            is_nudge(instruction->sources[s].constant))
            return true;
    return false;
}

static bool hides_sources(enum rung_code_op op)
{
    return op == RUNG_CODE_LOAD || op == RUNG_CODE_ATOMIC || op == RUNG_CODE_OPAQUE;
}

static unsigned traits_of(const struct rung_trail *trail, uint32_t i)
{
    const struct rung_code_instruction *instruction = &trail->flow.code->instructions[i];
    if (instruction->op == RUNG_CODE_TID)
        return RUNG_TRAIT_TID;
    if (hides_sources(instruction->op))
        return 0;
    unsigned traits = 0;
    for (uint32_t s = 0; s < instruction->n_sources; s++)
        traits |= rung_trail_of_source(trail, i, s);
    if (instruction->op == RUNG_CODE_RECIPROCAL)
        traits |= RUNG_TRAIT_RATIO;
    if (instruction->op == RUNG_CODE_ADD && (traits & RUNG_TRAIT_RATIO) && adds_nudge(instruction))
        traits |= RUNG_TRAIT_NUDGED;
    if (instruction->op == RUNG_CODE_TO_INTEGER && (traits & RUNG_TRAIT_NUDGED))
        traits |= RUNG_TRAIT_QUOTIENT;
    return traits;
}

bool rung_trail_build(struct rung_trail *out, const struct rung_code *code,
                      struct rung_arena *arena)
{
    memset(out, 0, sizeof *out);
    if (!rung_flow_build(&out->flow, code, arena))
        return false;
    uint32_t n = code->n_instructions;
    out->sources = rung_arena_array(arena, (size_t)n + 1, sizeof *out->sources);
    out->guards = rung_arena_array(arena, (size_t)n + 1, sizeof *out->guards);
    out->traits = rung_arena_array(arena, (size_t)n + 1, sizeof *out->traits);
    if (!out->sources || !out->guards || !out->traits)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!resolve_instruction(out, i))
            return false;
    bool changed = true;
    for (int round = 0; changed && round < ROUNDS_MAX; round++) {
        changed = false;
        for (uint32_t i = 0; i < n; i++) {
            unsigned traits = traits_of(out, i);
            changed = changed || traits != out->traits[i];
            out->traits[i] = (uint8_t)traits;
        }
    }
    out->flow.exhausted = out->flow.exhausted || changed;
    return true;
}

static bool constant_behind(int64_t *out, const struct rung_trail *trail, uint32_t i, uint32_t s,
                            int moves)
{
    const struct rung_code_source *source = &trail->flow.code->instructions[i].sources[s];
    if (source->kind == RUNG_SOURCE_CONSTANT) {
        *out = source->constant;
        return true;
    }
    const struct rung_definitions *defs = &trail->sources[i][s];
    if (source->kind != RUNG_SOURCE_REGISTER || moves == 0 || defs->n > WAYS_MAX)
        return false;
    int64_t found = 0;
    for (uint32_t d = 0; d < defs->n; d++) {
        uint32_t at = defs->at[d];
        int64_t value;
        if (trail->flow.code->instructions[at].op != RUNG_CODE_MOVE ||
            trail->flow.code->instructions[at].n_sources != 1 ||
            !constant_behind(&value, trail, at, 0, moves - 1) || (d > 0 && value != found))
            return false;
        found = value;
    }
    *out = found;
    return defs->n > 0;
}

bool rung_trail_constant(int64_t *out, const struct rung_trail *trail, uint32_t i, uint32_t s)
{
    return constant_behind(out, trail, i, s, MOVES_MAX);
}

static bool depends_on_source(const struct rung_trail *trail, uint32_t i, const bool *depends)
{
    const struct rung_code_instruction *instruction = &trail->flow.code->instructions[i];
    for (uint32_t s = 0; !hides_sources(instruction->op) && s < instruction->n_sources; s++)
        for (uint32_t d = 0; d < trail->sources[i][s].n; d++)
            if (depends[trail->sources[i][s].at[d]])
                return true;
    return false;
}

void rung_trail_spread(bool *depends, const struct rung_trail *trail, const uint8_t *marks,
                       uint8_t bits)
{
    bool changed = true;
    for (int round = 0; changed && round < ROUNDS_MAX; round++) {
        changed = false;
        for (uint32_t i = 0; i < trail->flow.code->n_instructions; i++) {
            if (depends[i] || (!(marks[i] & bits) && !depends_on_source(trail, i, depends)))
                continue;
            depends[i] = changed = true;
        }
    }
}
