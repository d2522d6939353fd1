/* Reaching definitions: each is carried forward to where a certain one replaces it, for one
 * register at a time and only for those that are asked for. */
#include <string.h>

#include "inspect/flow_internal.h"

bool rung_flow_index(struct rung_flow *flow)
{
    const struct rung_code *code = flow->code;
    size_t total = 0;
    flow->def_first =
        rung_arena_array(flow->arena, (size_t)code->n_registers + 2, sizeof *flow->def_first);
    if (!flow->def_first)
        return false;
    uint32_t *count = flow->def_first + 1;
    for (uint32_t i = 0; i < code->n_instructions; i++)
        for (uint32_t d = 0; d < code->instructions[i].n_defs; d++, total++)
            count[code->instructions[i].defs[d]]++;
    for (uint32_t r = 0; r < code->n_registers; r++)
        flow->def_first[r + 1] += flow->def_first[r];
    flow->def_list = rung_arena_array(flow->arena, total + 1, sizeof *flow->def_list);
    uint32_t *fill = rung_arena_array(flow->arena, (size_t)code->n_registers + 1, sizeof *fill);
    if (!flow->def_list || !fill)
        return false;
    for (uint32_t i = 0; i < code->n_instructions; i++)
        for (uint32_t d = 0; d < code->instructions[i].n_defs; d++) {
            uint32_t reg = code->instructions[i].defs[d];
            flow->def_list[flow->def_first[reg] + fill[reg]++] = i;
        }
    return true;
}

static bool is_certain(const struct rung_flow *flow, uint32_t definition)
{
    return flow->code->instructions[definition].guard == RUNG_CODE_NO_REGISTER;
}

static void add_definition(struct rung_defs *out, uint32_t definition)
{
    for (uint32_t i = 0; i < out->n; i++)
        if (out->instructions[i] == definition)
            return;
    if (out->n < RUNG_FLOW_DEFS_MAX)
        out->instructions[out->n++] = definition;
}

/* Adds the definitions of `reg` in [start, before) that reach the end of that range. True if one
 * of them is certain to happen. */
static bool definitions_in_range(struct rung_defs *out, struct rung_flow *flow, uint32_t reg,
                                 uint32_t start, uint32_t before)
{
    uint32_t low = flow->def_first[reg], high = flow->def_first[reg + 1];
    uint32_t first = low;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (flow->def_list[middle] < before)
            low = middle + 1;
        else
            high = middle;
    }
    while (low > first && flow->def_list[low - 1] >= start) {
        add_definition(out, flow->def_list[--low]);
        if (is_certain(flow, flow->def_list[low]))
            return true;
    }
    return false;
}

/* A definition that reaches the start of a block, in a list of them. */
struct rung_arrival {
    uint32_t definition;
    uint32_t next; /* index + 1, 0 ends the list */
};

/* Adds to the list that begins at `*head`, unless it is as long as anyone reads. */
static bool arrive(struct rung_flow *flow, uint32_t *head, uint32_t definition)
{
    uint32_t length = 0;
    for (uint32_t i = *head; i; i = flow->arrivals[i - 1].next)
        length++;
    if (length >= RUNG_FLOW_DEFS_MAX)
        return false;
    if (flow->n_arrivals == flow->arrivals_room) {
        size_t room = flow->arrivals_room ? 2 * flow->arrivals_room : 1024;
        struct rung_arrival *more = rung_arena_array(flow->arena, room, sizeof *more);
        if (!more) {
            flow->exhausted = true;
            return false;
        }
        if (flow->n_arrivals > 0)
            memcpy(more, flow->arrivals, flow->n_arrivals * sizeof *more);
        flow->arrivals = more;
        flow->arrivals_room = room;
    }
    flow->arrivals[flow->n_arrivals++] = (struct rung_arrival){definition, *head};
    *head = (uint32_t)flow->n_arrivals;
    return true;
}

/* Carries one definition from the end of its block to the start of every block it reaches. */
static void carry(struct rung_flow *flow, uint32_t *heads, uint32_t reg, uint32_t definition)
{
    uint32_t pending = 0;
    flow->stamp++;
    flow->queue[pending++] = flow->block_of[definition];
    while (pending > 0) {
        const struct rung_block *block = &flow->blocks[flow->queue[--pending]];
        for (uint32_t i = 0; i < block->n_successors; i++) {
            uint32_t next = block->successors[i];
            struct rung_defs here = {0};
            if (flow->visited[next] == flow->stamp)
                continue;
            flow->visited[next] = flow->stamp;
            if (!rung_flow_spend(flow, 1) || !arrive(flow, &heads[next], definition))
                continue;
            if (!definitions_in_range(&here, flow, reg, flow->blocks[next].start,
                                      flow->blocks[next].end))
                flow->queue[pending++] = next;
        }
    }
}

/* What reaches the start of each block, of one register: made when it is first asked for. */
static const uint32_t *arrivals_of(struct rung_flow *flow, uint32_t reg)
{
    if (flow->heads[reg])
        return flow->heads[reg];
    if (!rung_flow_spend(flow, flow->n_blocks))
        return NULL;
    uint32_t *heads = rung_arena_array(flow->arena, flow->n_blocks + 1, sizeof *heads);
    flow->heads[reg] = heads;
    for (uint32_t d = flow->def_first[reg]; heads && d < flow->def_first[reg + 1]; d++) {
        uint32_t definition = flow->def_list[d];
        struct rung_defs later = {0};
        uint32_t end = flow->blocks[flow->block_of[definition]].end;
        if (!definitions_in_range(&later, flow, reg, definition + 1, end))
            carry(flow, heads, reg, definition);
    }
    return heads;
}

void rung_flow_definitions(struct rung_defs *out, struct rung_flow *flow, uint32_t at, uint32_t reg)
{
    out->n = 0;
    if (reg >= flow->code->n_registers || flow->def_first[reg] == flow->def_first[reg + 1])
        return;
    uint32_t only = flow->def_list[flow->def_first[reg]];
    if (flow->def_first[reg] + 1 == flow->def_first[reg + 1] && is_certain(flow, only)) {
        add_definition(out, only); /* most registers of PTX: no other value can be meant */
        return;
    }
    uint32_t home = flow->block_of[at];
    if (definitions_in_range(out, flow, reg, flow->blocks[home].start, at))
        return;
    const uint32_t *heads = arrivals_of(flow, reg);
    for (uint32_t i = heads ? heads[home] : 0; i; i = flow->arrivals[i - 1].next)
        add_definition(out, flow->arrivals[i - 1].definition);
}
