/* Basic blocks, immediate post-dominators, definitions and uses. */
#include "ptx/flow.h"

#include <stdlib.h>
#include <string.h>

/* Where an instruction may leave the straight line. */
static bool is_exit(const struct rung_ptx_instruction *at)
{
    return at->opcode == RUNG_PTX_OP_RET || at->opcode == RUNG_PTX_OP_EXIT ||
           at->opcode == RUNG_PTX_OP_TRAP;
}

static bool is_indirect_branch(const struct rung_ptx_instruction *at)
{
    return at->opcode == RUNG_PTX_OP_UNKNOWN && !strcmp(at->mnemonic, "brx");
}

static bool is_branch(const struct rung_ptx_instruction *at)
{
    return at->opcode == RUNG_PTX_OP_BRA;
}

static bool ends_block(const struct rung_ptx_instruction *at)
{
    return is_branch(at) || is_exit(at) || is_indirect_branch(at);
}

static uint32_t target_of(const struct rung_ptx_function *function,
                          const struct rung_ptx_instruction *at)
{
    return function->labels[at->operands[0].index].target;
}

/* Marks the first instruction of every block. */
static void mark_leaders(bool *leader, const struct rung_ptx_function *function)
{
    leader[0] = true;
    for (uint32_t i = 0; i < function->n_labels; i++)
        leader[function->labels[i].target] = true;
    for (uint32_t i = 0; i < function->n_instructions; i++)
        if (ends_block(&function->instructions[i]))
            leader[i + 1] = true;
}

static void add_successor(struct rung_ptx_flow *flow, struct rung_ptx_block *block,
                          uint32_t instruction)
{
    if (instruction < flow->function->n_instructions)
        block->successors[block->n_successors++] = flow->block_of[instruction];
}

static void link_blocks(struct rung_ptx_flow *flow)
{
    const struct rung_ptx_function *function = flow->function;
    for (uint32_t b = 0; b < flow->n_blocks; b++) {
        struct rung_ptx_block *block = &flow->blocks[b];
        const struct rung_ptx_instruction *last = &function->instructions[block->end - 1];
        if (!ends_block(last) || last->guarded)
            add_successor(flow, block, block->end);
        if (is_branch(last))
            add_successor(flow, block, target_of(function, last));
    }
}

static bool make_blocks(struct rung_ptx_flow *flow)
{
    uint32_t n = flow->function->n_instructions;
    bool *leader = calloc((size_t)n + 1, sizeof *leader);
    if (!leader)
        return false;
    mark_leaders(leader, flow->function);
    for (uint32_t i = 0; i < n; i++)
        flow->n_blocks += leader[i];
    flow->blocks = rung_arena_array(&flow->arena, flow->n_blocks, sizeof *flow->blocks);
    flow->block_of = rung_arena_array(&flow->arena, (size_t)n + 1, sizeof *flow->block_of);
    bool good = flow->blocks && flow->block_of;
    uint32_t block = UINT32_MAX;
    for (uint32_t i = 0; good && i < n; i++) {
        if (leader[i])
            flow->blocks[++block].first = i;
        flow->blocks[block].end = i + 1;
        flow->block_of[i] = block;
    }
    free(leader);
    return good;
}

/* Working memory of the graph searches: node n_blocks is the virtual exit. */
struct search {
    uint32_t n;                              /* nodes */
    uint32_t *stack, *next, *order, *number; /* number: place in `order`, UINT32_MAX unseen */
    uint32_t *first, *predecessors;          /* of each node, by `first` */
    uint32_t *immediate;                     /* post-dominator, UINT32_MAX unknown */
};

static void mark_reachable(struct rung_ptx_flow *flow, struct search *work)
{
    uint32_t depth = 0;
    if (flow->n_blocks) {
        flow->blocks[0].reachable = true;
        work->stack[depth++] = 0;
    }
    while (depth) {
        const struct rung_ptx_block *block = &flow->blocks[work->stack[--depth]];
        for (uint32_t i = 0; i < block->n_successors; i++) {
            struct rung_ptx_block *to = &flow->blocks[block->successors[i]];
            if (!to->reachable) {
                to->reachable = true;
                work->stack[depth++] = block->successors[i];
            }
        }
    }
}

/* Successors of a node with the virtual exit made visible. */
static uint32_t successors(const struct rung_ptx_flow *flow, uint32_t node, uint32_t out[3])
{
    const struct rung_ptx_block *block = &flow->blocks[node];
    uint32_t n = block->n_successors;
    memcpy(out, block->successors, sizeof block->successors);
    const struct rung_ptx_instruction *last = &flow->function->instructions[block->end - 1];
    bool falls_off = block->end == flow->function->n_instructions && !is_branch(last);
    if (!n || is_exit(last) || is_indirect_branch(last) || falls_off)
        out[n++] = flow->n_blocks;
    return n;
}

static void list_predecessors(const struct rung_ptx_flow *flow, struct search *work)
{
    uint32_t out[3];
    for (uint32_t b = 0; b < flow->n_blocks; b++)
        for (uint32_t k = successors(flow, b, out); k-- > 0;)
            work->first[out[k] + 1]++;
    for (uint32_t i = 0; i < work->n; i++)
        work->first[i + 1] += work->first[i];
    memcpy(work->next, work->first, work->n * sizeof *work->next);
    for (uint32_t b = 0; b < flow->n_blocks; b++)
        for (uint32_t k = successors(flow, b, out); k-- > 0;)
            work->predecessors[work->next[out[k]]++] = b;
}

/* Post-order of the reversed graph from the virtual exit. */
static uint32_t order_nodes(struct search *work)
{
    uint32_t depth = 1, placed = 0, exit = work->n - 1;
    for (uint32_t i = 0; i < work->n; i++)
        work->number[i] = UINT32_MAX;
    memcpy(work->next, work->first, work->n * sizeof *work->next);
    work->stack[0] = exit;
    work->number[exit] = 0;
    while (depth) {
        uint32_t node = work->stack[depth - 1];
        if (work->next[node] == work->first[node + 1]) {
            work->number[node] = placed;
            work->order[placed++] = node;
            depth--;
            continue;
        }
        uint32_t from = work->predecessors[work->next[node]++];
        if (work->number[from] == UINT32_MAX) {
            work->number[from] = 0; /* seen */
            work->stack[depth++] = from;
        }
    }
    return placed;
}

static uint32_t intersect(const struct search *work, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (work->number[a] < work->number[b])
            a = work->immediate[a];
        while (work->number[b] < work->number[a])
            b = work->immediate[b];
    }
    return a;
}

/* Cooper, Harvey and Kennedy, "A simple, fast dominance algorithm", on the reversed graph. */
static void find_post_dominators(struct rung_ptx_flow *flow, struct search *work)
{
    uint32_t exit = work->n - 1, placed = order_nodes(work), out[3];
    for (uint32_t i = 0; i < work->n; i++)
        work->immediate[i] = UINT32_MAX;
    work->immediate[exit] = exit;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = placed - 1; i-- > 0;) { /* reverse post-order behind the exit */
            uint32_t node = work->order[i], best = UINT32_MAX;
            for (uint32_t k = successors(flow, node, out); k-- > 0;)
                if (work->immediate[out[k]] != UINT32_MAX)
                    best = best == UINT32_MAX ? out[k] : intersect(work, out[k], best);
            changed |= work->immediate[node] != best;
            work->immediate[node] = best;
        }
    }
    for (uint32_t b = 0; b < flow->n_blocks; b++) /* blocks that never end have none */
        flow->blocks[b].post_dominator =
            work->immediate[b] >= exit ? RUNG_PTX_NO_BLOCK : work->immediate[b];
}

/* Those of the graph itself, without the virtual exit. */
static bool keep_predecessors(struct rung_ptx_flow *flow, const struct search *work)
{
    uint32_t total = work->first[flow->n_blocks];
    uint32_t *kept = rung_arena_array(&flow->arena, total, sizeof *kept);
    if (!kept)
        return false;
    memcpy(kept, work->predecessors, total * sizeof *kept);
    for (uint32_t b = 0; b < flow->n_blocks; b++) {
        flow->blocks[b].predecessors = kept + work->first[b];
        flow->blocks[b].n_predecessors = work->first[b + 1] - work->first[b];
    }
    return true;
}

static bool analyse_graph(struct rung_ptx_flow *flow)
{
    uint32_t n = flow->n_blocks + 1;
    struct rung_arena scratch = {0};
    struct search work = {.n = n};
    uint32_t **const arrays[] = {&work.stack,  &work.next,  &work.order,
                                 &work.number, &work.first, &work.immediate};
    bool good = true;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = rung_arena_array(&scratch, (size_t)n + 1, sizeof(uint32_t));
        good = good && *arrays[i];
    }
    work.predecessors = rung_arena_array(&scratch, (size_t)n * 3, sizeof(uint32_t));
    if (good && work.predecessors) {
        mark_reachable(flow, &work);
        list_predecessors(flow, &work);
        good = keep_predecessors(flow, &work);
        find_post_dominators(flow, &work);
    }
    rung_arena_release(&scratch);
    return good && work.predecessors;
}

/* Counting first, filling second, both by the same visit. */
struct collection {
    struct rung_ptx_flow *flow;
    uint32_t *counts[2]; /* uses, definitions */
    uint32_t **slots[2];
    uint32_t instruction;
};

static void count_register(void *context, uint32_t reg, bool defines)
{
    struct collection *to = context;
    to->counts[defines][reg]++;
}

static void note_register(void *context, uint32_t reg, bool defines)
{
    struct collection *to = context;
    uint32_t *n = &to->counts[defines][reg];
    if (!*n || to->slots[defines][reg][*n - 1] != to->instruction)
        to->slots[defines][reg][(*n)++] = to->instruction;
}

static void visit_all(struct collection *to, rung_ptx_register_visitor *visit)
{
    const struct rung_ptx_function *function = to->flow->function;
    for (to->instruction = 0; to->instruction < function->n_instructions; to->instruction++)
        rung_ptx_registers_visit(&function->instructions[to->instruction], visit, to);
}

static bool collect_registers(struct rung_ptx_flow *flow)
{
    uint32_t n = flow->function->n_registers;
    struct rung_arena *arena = &flow->arena;
    struct collection to = {.flow = flow};
    struct rung_ptx_list *lists[2];
    for (int kind = 0; kind < 2; kind++) {
        to.counts[kind] = rung_arena_array(arena, n, sizeof(uint32_t));
        to.slots[kind] = rung_arena_array(arena, n, sizeof(uint32_t *));
        lists[kind] = rung_arena_array(arena, n, sizeof(struct rung_ptx_list));
        if (!to.counts[kind] || !to.slots[kind] || !lists[kind])
            return false;
    }
    visit_all(&to, count_register);
    for (int kind = 0; kind < 2; kind++)
        for (uint32_t r = 0; r < n; r++) {
            to.slots[kind][r] = rung_arena_array(arena, to.counts[kind][r], sizeof(uint32_t));
            to.counts[kind][r] = 0;
            if (!to.slots[kind][r])
                return false;
        }
    visit_all(&to, note_register);
    for (int kind = 0; kind < 2; kind++)
        for (uint32_t r = 0; r < n; r++)
            lists[kind][r] = (struct rung_ptx_list){to.slots[kind][r], to.counts[kind][r]};
    flow->uses = lists[0];
    flow->definitions = lists[1];
    return true;
}

enum rung_status rung_ptx_flow_make(struct rung_ptx_flow *out,
                                    const struct rung_ptx_function *function,
                                    struct rung_error *err)
{
    memset(out, 0, sizeof *out);
    out->function = function;
    if (!make_blocks(out))
        return rung_fail(err, RUNG_MEMORY, "out of memory in the flow analysis");
    link_blocks(out);
    if (!analyse_graph(out) || !collect_registers(out))
        return rung_fail(err, RUNG_MEMORY, "out of memory in the flow analysis");
    return RUNG_OK;
}

void rung_ptx_flow_release(struct rung_ptx_flow *flow)
{
    rung_arena_release(&flow->arena);
    memset(flow, 0, sizeof *flow);
}
