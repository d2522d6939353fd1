/* Basic blocks, post-dominators (the iterative algorithm of Cooper, Harvey and Kennedy, on the
 * reversed graph) and reaching definitions (each carried forward to where a certain one replaces
 * it). */
#include "inspect/flow.h"

#include <string.h>

#include "inspect/flow_internal.h"

#define STEPS_MAX 30000000u /* of all walks over one kernel together */
#define EDGES_MAX 4000000u  /* of indirect branches and returns, which may go anywhere */

static bool ends_block(const struct rung_code_instruction *instruction)
{
    return instruction->op == RUNG_CODE_BRANCH || instruction->op == RUNG_CODE_CALL ||
           instruction->op == RUNG_CODE_RETURN || instruction->op == RUNG_CODE_EXIT;
}

bool rung_flow_is_conditional(const struct rung_code_instruction *instruction)
{
    return ends_block(instruction) && (instruction->guard != RUNG_CODE_NO_REGISTER ||
                                       (instruction->op == RUNG_CODE_BRANCH &&
                                        !instruction->indirect && instruction->n_sources > 0));
}

static bool make_blocks(struct rung_flow *flow)
{
    const struct rung_code *code = flow->code;
    uint32_t n = code->n_instructions;
    bool *leader = rung_arena_array(flow->arena, n + 1, sizeof *leader);
    flow->block_of = rung_arena_array(flow->arena, n + 1, sizeof *flow->block_of);
    if (!leader || !flow->block_of)
        return false;
    leader[0] = true;
    for (uint32_t i = 0; i < n; i++) {
        const struct rung_code_instruction *instruction = &code->instructions[i];
        if (!ends_block(instruction))
            continue;
        leader[i + 1] = true;
        if (instruction->target < n)
            leader[instruction->target] = true;
    }
    for (uint32_t i = 0; i < n; i++)
        flow->n_blocks += leader[i];
    flow->blocks = rung_arena_array(flow->arena, flow->n_blocks + 1, sizeof *flow->blocks);
    if (!flow->blocks)
        return false;
    uint32_t block = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (i > 0 && leader[i])
            flow->blocks[block++].end = i;
        if (leader[i])
            flow->blocks[block].start = i;
        flow->block_of[i] = block;
    }
    if (n > 0)
        flow->blocks[block].end = n;
    return true;
}

/* Where control may go after block `b`: appended to `to`, which has room. Indirect branches go to
 * any block of `orphans`, returns to any block of `resumes`. */
struct landing {
    uint32_t *blocks;
    uint32_t n;
};

static uint32_t list_successors(uint32_t *to, const struct rung_flow *flow, uint32_t b,
                                const struct landing *orphans, const struct landing *resumes)
{
    const struct rung_code_instruction *last = &flow->code->instructions[flow->blocks[b].end - 1];
    bool leaves =
        last->op == RUNG_CODE_BRANCH || last->op == RUNG_CODE_RETURN || last->op == RUNG_CODE_EXIT;
    uint32_t n = 0;
    if (b + 1 < flow->n_blocks && (!leaves || rung_flow_is_conditional(last)))
        to[n++] = b + 1;
    if ((last->op == RUNG_CODE_BRANCH || last->op == RUNG_CODE_CALL) &&
        last->target < flow->code->n_instructions)
        to[n++] = flow->block_of[last->target];
    const struct landing *any = last->op == RUNG_CODE_RETURN                     ? resumes
                                : last->op == RUNG_CODE_BRANCH && last->indirect ? orphans
                                                                                 : NULL;
    for (uint32_t i = 0; any && i < any->n; i++)
        to[n++] = any->blocks[i];
    return n;
}

/* Blocks that no direct edge enters, and blocks after a call. */
static bool find_landings(struct landing *orphans, struct landing *resumes, struct rung_flow *flow)
{
    bool *entered = rung_arena_array(flow->arena, flow->n_blocks + 1, sizeof *entered);
    orphans->blocks = rung_arena_array(flow->arena, flow->n_blocks + 1, sizeof(uint32_t));
    resumes->blocks = rung_arena_array(flow->arena, flow->n_blocks + 1, sizeof(uint32_t));
    if (!entered || !orphans->blocks || !resumes->blocks)
        return false;
    static const struct landing none = {0};
    uint32_t n_indirect = 0, n_returns = 0;
    for (uint32_t b = 0; b < flow->n_blocks; b++) {
        uint32_t to[2];
        uint32_t n = list_successors(to, flow, b, &none, &none);
        for (uint32_t i = 0; i < n; i++)
            entered[to[i]] = true;
        const struct rung_code_instruction *last =
            &flow->code->instructions[flow->blocks[b].end - 1];
        n_indirect += last->op == RUNG_CODE_BRANCH && last->indirect;
        n_returns += last->op == RUNG_CODE_RETURN;
        if (last->op == RUNG_CODE_CALL && b + 1 < flow->n_blocks)
            resumes->blocks[resumes->n++] = b + 1;
    }
    for (uint32_t b = 1; b < flow->n_blocks; b++)
        if (!entered[b])
            orphans->blocks[orphans->n++] = b;
    if ((uint64_t)n_indirect * orphans->n > EDGES_MAX ||
        (uint64_t)n_returns * resumes->n > EDGES_MAX) {
        flow->exhausted = true;
        orphans->n = resumes->n = 0;
    }
    return true;
}

static bool connect(struct rung_flow *flow)
{
    struct landing orphans = {0}, resumes = {0};
    if (!find_landings(&orphans, &resumes, flow))
        return false;
    uint32_t most = 2 + orphans.n + resumes.n;
    uint32_t *to = rung_arena_array(flow->arena, most, sizeof *to);
    if (!to)
        return false;
    for (uint32_t b = 0; b < flow->n_blocks; b++) {
        struct rung_block *block = &flow->blocks[b];
        block->n_successors = list_successors(to, flow, b, &orphans, &resumes);
        block->successors = rung_arena_array(flow->arena, block->n_successors + 1, sizeof *to);
        if (!block->successors)
            return false;
        memcpy(block->successors, to, block->n_successors * sizeof *to);
        for (uint32_t i = 0; i < block->n_successors; i++)
            flow->blocks[to[i]].n_predecessors++;
    }
    for (uint32_t b = 0; b < flow->n_blocks; b++) {
        struct rung_block *block = &flow->blocks[b];
        block->predecessors = rung_arena_array(flow->arena, block->n_predecessors + 1, sizeof *to);
        if (!block->predecessors)
            return false;
        block->n_predecessors = 0;
    }
    for (uint32_t b = 0; b < flow->n_blocks; b++)
        for (uint32_t i = 0; i < flow->blocks[b].n_successors; i++) {
            struct rung_block *next = &flow->blocks[flow->blocks[b].successors[i]];
            next->predecessors[next->n_predecessors++] = b;
        }
    return true;
}

/* Numbers the blocks in postorder of the reversed graph, from the end of the thread. `order` lists
 * the blocks by that number; those that never end have none. */
static uint32_t number_backwards(uint32_t *number, uint32_t *order, uint32_t *stack, uint32_t *edge,
                                 const struct rung_flow *flow)
{
    uint32_t n = 0;
    for (uint32_t b = 0; b < flow->n_blocks; b++)
        number[b] = RUNG_CODE_NOWHERE;
    for (uint32_t root = 0; root < flow->n_blocks; root++) {
        const struct rung_block *block = &flow->blocks[root];
        bool ends = block->n_successors == 0 ||
                    flow->code->instructions[block->end - 1].op == RUNG_CODE_EXIT;
        if (!ends || number[root] != RUNG_CODE_NOWHERE)
            continue;
        uint32_t depth = 0;
        stack[depth++] = root;
        number[root] = RUNG_CODE_NOWHERE - 1; /* seen */
        edge[root] = 0;
        while (depth > 0) {
            uint32_t b = stack[depth - 1];
            if (edge[b] < flow->blocks[b].n_predecessors) {
                uint32_t from = flow->blocks[b].predecessors[edge[b]++];
                if (number[from] == RUNG_CODE_NOWHERE) {
                    number[from] = RUNG_CODE_NOWHERE - 1;
                    edge[from] = 0;
                    stack[depth++] = from;
                }
            } else {
                order[n] = b;
                number[b] = n++;
                depth--;
            }
        }
    }
    return n;
}

/* The nearest common post-dominator; RUNG_CODE_NOWHERE stands for the end of the thread. */
static uint32_t intersect(const struct rung_flow *flow, const uint32_t *number, uint32_t a,
                          uint32_t b)
{
    while (a != b) {
        if (a == RUNG_CODE_NOWHERE || b == RUNG_CODE_NOWHERE)
            return RUNG_CODE_NOWHERE;
        if (number[a] < number[b])
            a = flow->blocks[a].post_dominator;
        else
            b = flow->blocks[b].post_dominator;
    }
    return a;
}

static bool post_dominate(struct rung_flow *flow)
{
    uint32_t n = flow->n_blocks;
    uint32_t *number = rung_arena_array(flow->arena, n + 1, sizeof *number);
    uint32_t *order = rung_arena_array(flow->arena, n + 1, sizeof *order);
    uint32_t *edge = rung_arena_array(flow->arena, n + 1, sizeof *edge);
    bool *known = rung_arena_array(flow->arena, n + 1, sizeof *known);
    if (!number || !order || !edge || !known)
        return false;
    uint32_t n_numbered = number_backwards(number, order, flow->queue, edge, flow);
    for (uint32_t b = 0; b < n; b++)
        flow->blocks[b].post_dominator = RUNG_CODE_NOWHERE;
    bool changed = true;
    while (changed && flow->steps_left > n) {
        changed = false;
        flow->steps_left -= n;
        for (uint32_t i = n_numbered; i-- > 0;) {
            struct rung_block *block = &flow->blocks[order[i]];
            bool ends = block->n_successors == 0 ||
                        flow->code->instructions[block->end - 1].op == RUNG_CODE_EXIT;
            uint32_t found = RUNG_CODE_NOWHERE;
            bool any = ends;
            for (uint32_t j = 0; j < block->n_successors && !ends; j++) {
                uint32_t next = block->successors[j];
                if (number[next] == RUNG_CODE_NOWHERE || !known[next])
                    continue;
                found = any ? intersect(flow, number, found, next) : next;
                any = true;
            }
            if (!any)
                continue;
            if (!known[order[i]] || found != block->post_dominator) {
                known[order[i]] = true;
                block->post_dominator = found;
                changed = true;
            }
        }
    }
    flow->exhausted = flow->exhausted || changed;
    return true;
}

bool rung_flow_spend(struct rung_flow *flow, uint64_t steps)
{
    if (flow->steps_left < steps) {
        flow->exhausted = true;
        flow->steps_left = 0;
        return false;
    }
    flow->steps_left -= steps;
    return true;
}

bool rung_flow_build(struct rung_flow *out, const struct rung_code *code, struct rung_arena *arena)
{
    *out = (struct rung_flow){.code = code, .arena = arena, .steps_left = STEPS_MAX};
    if (!make_blocks(out))
        return false;
    out->visited = rung_arena_array(arena, out->n_blocks + 1, sizeof *out->visited);
    out->queue = rung_arena_array(arena, out->n_blocks + 1, sizeof *out->queue);
    out->heads = rung_arena_array(arena, (size_t)code->n_registers + 1, sizeof *out->heads);
    return out->visited && out->queue && out->heads && connect(out) && post_dominate(out) &&
           rung_flow_index(out);
}

uint32_t rung_flow_region(uint32_t *blocks, struct rung_flow *flow, uint32_t block)
{
    uint32_t stop = flow->blocks[block].post_dominator;
    uint32_t n = 0, done = 0, here = block;
    flow->stamp++;
    for (;;) {
        const struct rung_block *from = &flow->blocks[here];
        for (uint32_t i = 0; i < from->n_successors; i++) {
            uint32_t next = from->successors[i];
            if (next == stop || flow->visited[next] == flow->stamp)
                continue;
            if (!rung_flow_spend(flow, 1))
                return n;
            flow->visited[next] = flow->stamp;
            blocks[n++] = next;
        }
        if (done == n)
            return n;
        here = blocks[done++];
    }
}
