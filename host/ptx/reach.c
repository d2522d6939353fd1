/* Which definitions of a register reach an instruction: a search backwards through the blocks. */
#include <stdlib.h>
#include <string.h>

#include "ptx/flow.h"

struct reach {
    const struct rung_ptx_flow *flow;
    const struct rung_ptx_list *definitions;
    uint32_t *found, n_found;
    uint32_t *todo, n_todo; /* blocks that are entered from below */
    bool *seen;             /* blocks */
};

/* Goes up from `end` (not included) to the top of its block; true when a definition stops the way.
 * A guarded one may not take effect, so the way goes on above it. */
static bool climb(struct reach *reach, uint32_t block, uint32_t end)
{
    const struct rung_ptx_list *definitions = reach->definitions;
    uint32_t first = reach->flow->blocks[block].first;
    for (uint32_t i = definitions->count; i-- > 0;) {
        uint32_t at = definitions->items[i];
        if (at >= end)
            continue;
        if (at < first)
            break;
        reach->found[reach->n_found++] = at;
        if (!reach->flow->function->instructions[at].guarded)
            return true;
    }
    return false;
}

static void enter_predecessors(struct reach *reach, uint32_t block)
{
    const struct rung_ptx_block *at = &reach->flow->blocks[block];
    for (uint32_t i = 0; i < at->n_predecessors; i++) {
        uint32_t from = at->predecessors[i];
        if (reach->seen[from])
            continue;
        reach->seen[from] = true;
        reach->todo[reach->n_todo++] = from;
    }
}

/* The block of the instruction may be entered again from below, round a loop: then a definition
 * above the instruction is found a second time. */
static void drop_doubles(struct reach *reach)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < reach->n_found; i++) {
        uint32_t k = 0;
        while (k < kept && reach->found[k] != reach->found[i])
            k++;
        if (k == kept)
            reach->found[kept++] = reach->found[i];
    }
    reach->n_found = kept;
}

enum rung_status rung_ptx_reaching(struct rung_ptx_list *out, struct rung_arena *arena,
                                   const struct rung_ptx_flow *flow, uint32_t instruction,
                                   uint32_t reg, struct rung_error *err)
{
    struct reach reach = {.flow = flow, .definitions = &flow->definitions[reg]};
    out->items = reach.definitions->items;
    out->count = reach.definitions->count;
    if (reach.definitions->count <= 1) /* it reaches, or nothing does */
        return RUNG_OK;
    uint32_t block = flow->block_of[instruction];
    reach.found =
        rung_arena_array(arena, (size_t)reach.definitions->count * 2, sizeof *reach.found);
    reach.todo = calloc(flow->n_blocks, sizeof *reach.todo);
    reach.seen = calloc(flow->n_blocks, sizeof *reach.seen);
    bool good = reach.found && reach.todo && reach.seen;
    if (good && !climb(&reach, block, instruction))
        enter_predecessors(&reach, block);
    while (good && reach.n_todo) {
        uint32_t at = reach.todo[--reach.n_todo];
        if (!climb(&reach, at, flow->blocks[at].end))
            enter_predecessors(&reach, at);
    }
    free(reach.todo);
    free(reach.seen);
    if (!good)
        return rung_fail(err, RUNG_MEMORY, "out of memory in the flow analysis");
    drop_doubles(&reach);
    out->items = reach.found;
    out->count = reach.n_found;
    return RUNG_OK;
}
