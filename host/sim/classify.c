/* Which additions are of data, and which of those are of the tree: found in the data flow, before
 * anything runs.
 *
 * A value is data when a definition that reaches it loads from global or shared memory, or computes
 * from data. It comes from the tree when such a definition is a load from shared memory or a
 * shuffle of data, moves and choices between looked through. An addition of two data values counts;
 * one of whose operands comes from the tree is a tree addition. Indices are never data: they come
 * from special registers and parameters. A product is no addition, a multiply-add is. */
#include "sim/decode.h"

#include <string.h>

enum fact { DATA = 1, TREE = 2 };

#define SOURCES                                                                                    \
    5 /* operands of an instruction that may carry data, the destination's place unused */

struct classifier {
    struct rung_sim_kernel *kernel;
    const struct rung_ptx_flow *flow;
    struct rung_arena *arena, *scratch;
    uint8_t *facts;                /* of what each instruction defines */
    struct rung_ptx_list *sources; /* [instruction * SOURCES + operand]: definitions behind it */
    uint32_t *todo, *seen, round;  /* of a search over instructions */
    uint32_t found[32], n_found;
};

static bool is_load_of(const struct rung_ptx_instruction *at, enum rung_ptx_space space)
{
    return at->opcode == RUNG_PTX_OP_LD && at->space == space;
}

/* Looked through between a load and its use: the value stays what it is. */
static bool passes_on(const struct rung_ptx_instruction *at)
{
    return at->opcode == RUNG_PTX_OP_MOV || at->opcode == RUNG_PTX_OP_SELP ||
           at->opcode == RUNG_PTX_OP_CVT;
}

static bool computes(const struct rung_ptx_instruction *at)
{
    const struct rung_ptx_opcode_row *row = rung_ptx_opcode_row(at->opcode);
    return passes_on(at) || at->opcode == RUNG_PTX_OP_SHFL || at->opcode == RUNG_PTX_OP_REDUX ||
           row->class == RUNG_PTX_CLASS_ARITHMETIC || row->class == RUNG_PTX_CLASS_LOGIC;
}

static bool stores_shared(const struct rung_ptx_instruction *at)
{
    return at->opcode == RUNG_PTX_OP_ST && at->space == RUNG_PTX_SPACE_SHARED;
}

/* The definitions behind one operand; those behind all elements of a vector. */
static bool find_sources(struct classifier *work, uint32_t index, uint32_t k)
{
    const struct rung_ptx_operand *operand = &work->flow->function->instructions[index].operands[k];
    bool vector = operand->kind == RUNG_PTX_VECTOR;
    uint32_t n = vector ? operand->n_items : 1, count = 0;
    struct rung_ptx_list lists[8] = {0};
    for (uint32_t i = 0; i < n && i < 8; i++) {
        const struct rung_ptx_operand *item = vector ? &operand->items[i] : operand;
        if (item->kind != RUNG_PTX_REGISTER)
            continue;
        if (rung_ptx_reaching(&lists[i], work->scratch, work->flow, index, item->index, NULL))
            return false;
        count += lists[i].count;
    }
    uint32_t *items = rung_arena_array(work->scratch, count, sizeof *items);
    if (!items)
        return false;
    work->sources[index * SOURCES + k] = (struct rung_ptx_list){items, count};
    for (uint32_t i = 0; i < 8; i++) {
        if (lists[i].count)
            memcpy(items, lists[i].items, lists[i].count * sizeof *items);
        items += lists[i].count;
    }
    return true;
}

static bool find_all_sources(struct classifier *work)
{
    const struct rung_ptx_function *function = work->flow->function;
    for (uint32_t i = 0; i < function->n_instructions; i++) {
        const struct rung_ptx_instruction *at = &function->instructions[i];
        if (!computes(at) && !stores_shared(at))
            continue;
        for (uint32_t k = 1; k < at->n_operands && k < SOURCES; k++)
            if (!find_sources(work, i, k))
                return false;
    }
    return true;
}

static uint8_t operand_facts(const struct classifier *work, uint32_t index, uint32_t k)
{
    const struct rung_ptx_list *definitions = &work->sources[index * SOURCES + k];
    uint8_t facts = 0;
    for (uint32_t i = 0; i < definitions->count; i++)
        facts |= work->facts[definitions->items[i]];
    return facts;
}

static uint8_t facts_of(const struct classifier *work, uint32_t index)
{
    const struct rung_ptx_instruction *at = &work->flow->function->instructions[index];
    uint8_t sources = 0;
    if (is_load_of(at, RUNG_PTX_SPACE_GLOBAL))
        return DATA;
    if (is_load_of(at, RUNG_PTX_SPACE_SHARED))
        return DATA | TREE;
    if (!computes(at) || at->types[0] == RUNG_PTX_PRED)
        return 0;
    for (uint32_t k = 1; k < at->n_operands && k < SOURCES; k++)
        sources |= operand_facts(work, index, k);
    if (at->opcode == RUNG_PTX_OP_SHFL && sources & DATA)
        return DATA | TREE;
    return passes_on(at) ? sources : sources & DATA;
}

/* Facts only grow, so a fixed point is reached. */
static void find_facts(struct classifier *work)
{
    uint32_t n = work->flow->function->n_instructions;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < n; i++) {
            uint8_t facts = work->facts[i] | facts_of(work, i);
            changed |= facts != work->facts[i];
            work->facts[i] = facts;
        }
    }
}

static bool is_addition(const struct classifier *work, uint32_t i)
{
    enum rung_ptx_opcode opcode = work->flow->function->instructions[i].opcode;
    if (opcode == RUNG_PTX_OP_ADD)
        return operand_facts(work, i, 1) & operand_facts(work, i, 2) & DATA;
    if (opcode == RUNG_PTX_OP_FMA || opcode == RUNG_PTX_OP_MAD)
        return operand_facts(work, i, 3) & (operand_facts(work, i, 1) | operand_facts(work, i, 2)) &
               DATA;
    return false;
}

static bool is_tree(const struct classifier *work, uint32_t index)
{
    uint8_t facts = 0;
    for (uint32_t k = 1; k < work->flow->function->instructions[index].n_operands; k++)
        facts |= operand_facts(work, index, k);
    return facts & TREE;
}

static void push_sources(struct classifier *work, uint32_t index, uint32_t *n_todo)
{
    for (uint32_t k = 1; k < SOURCES; k++) {
        const struct rung_ptx_list *definitions = &work->sources[index * SOURCES + k];
        for (uint32_t i = 0; i < definitions->count; i++) {
            uint32_t definition = definitions->items[i];
            if (work->seen[definition] == work->round)
                continue;
            work->seen[definition] = work->round;
            work->todo[(*n_todo)++] = definition;
        }
    }
}

/* The instructions that satisfy `wanted` behind the operands of one, moves looked through. The
 * first 32 serve: more loads behind one operand occur in no reduction. */
static void find_origins(struct classifier *work, uint32_t index,
                         bool (*wanted)(const struct classifier *, uint32_t))
{
    uint32_t n_todo = 0;
    work->round++;
    work->n_found = 0;
    push_sources(work, index, &n_todo);
    while (n_todo) {
        uint32_t definition = work->todo[--n_todo];
        if (wanted(work, definition) && work->n_found < 32)
            work->found[work->n_found++] = definition;
        if (passes_on(&work->flow->function->instructions[definition]))
            push_sources(work, definition, &n_todo);
    }
}

static bool is_shared_load(const struct classifier *work, uint32_t index)
{
    return is_load_of(&work->flow->function->instructions[index], RUNG_PTX_SPACE_SHARED);
}

static bool is_tree_addition(const struct classifier *work, uint32_t index)
{
    const struct sim_addition *addition = work->kernel->ops[index].addition;
    return addition && addition->tree;
}

/* A body run weighs its heaviest operand; a store of its result may add to that. A load weighs
 * once: where a loop keeps the value in a register, the next addition has not loaded it. */
static void weigh(struct sim_warp *warp, const struct sim_op *op)
{
    const struct sim_addition *addition = op->addition;
    uint32_t degree = 1;
    for (uint32_t i = 0; i < addition->n_loads; i++) {
        uint32_t *loaded = &warp->degrees[addition->loads[i]];
        degree = *loaded > degree ? *loaded : degree;
        *loaded = 0;
    }
    warp->degrees[addition->slot] = degree;
    warp->block->worker->counters.serialised += degree;
}

static void run_tree_addition(struct sim_warp *warp, const struct sim_op *op)
{
    op->within(warp, op);
    weigh(warp, op);
}

static void run_guarded_addition(struct sim_warp *warp, const struct sim_op *op)
{
    struct rung_sim_counters *counters = &warp->block->worker->counters;
    op->within(warp, op);
    counters->additions += warp->n_active;
    if (!op->addition->tree)
        return;
    counters->body_runs++;
    weigh(warp, op);
}

static bool mark_addition(struct classifier *work, uint32_t index)
{
    struct rung_sim_kernel *kernel = work->kernel;
    struct sim_op *op = &kernel->ops[index];
    struct sim_addition *addition = rung_arena_alloc(work->arena, sizeof *addition);
    if (!addition)
        return false;
    addition->tree = is_tree(work, index);
    op->addition = addition;
    if (op->guard) {
        op->within = op->behind;
        op->behind = run_guarded_addition;
    } else if (addition->tree) {
        op->within = op->run;
        op->run = run_tree_addition;
    }
    if (!addition->tree)
        return true;
    addition->slot = kernel->n_slots++;
    find_origins(work, index, is_shared_load);
    uint32_t *loads = rung_arena_array(work->arena, work->n_found, sizeof *loads);
    if (!loads)
        return false;
    for (uint32_t i = 0; i < work->n_found; i++) {
        struct sim_op *load = &kernel->ops[work->found[i]];
        if (!load->slot)
            load->slot = kernel->n_slots++;
        loads[i] = load->slot;
    }
    addition->loads = loads;
    addition->n_loads = work->n_found;
    return true;
}

/* The store of a result belongs to the addition that stands last before it. */
static void mark_store(struct classifier *work, uint32_t index)
{
    uint32_t best = UINT32_MAX;
    find_origins(work, index, is_tree_addition);
    for (uint32_t i = 0; i < work->n_found; i++) {
        uint32_t at = work->found[i];
        if (best == UINT32_MAX || (at < index && (best > index || at > best)))
            best = at;
    }
    if (best != UINT32_MAX)
        work->kernel->ops[index].addition = work->kernel->ops[best].addition;
}

static bool mark_all(struct classifier *work)
{
    const struct rung_ptx_function *function = work->flow->function;
    for (uint32_t i = 0; i < function->n_instructions; i++)
        if (is_addition(work, i) && !mark_addition(work, i))
            return false;
    for (uint32_t i = 0; i < function->n_instructions; i++)
        if (stores_shared(&function->instructions[i]))
            mark_store(work, i);
    return true;
}

static void count_in_segments(struct rung_sim_kernel *kernel)
{
    for (uint32_t s = 0; s < kernel->n_segments; s++) {
        struct sim_segment *segment = &kernel->segments[s];
        for (uint32_t i = 0; i < segment->n_ops; i++) {
            const struct sim_op *op = &segment->ops[i];
            if (!op->addition || op->guard || op->kind == SIM_OP_SHARED_STORE)
                continue;
            segment->additions++;
            segment->body_runs += op->addition->tree;
        }
    }
}

bool rung_sim_kernel_classify(struct rung_sim_kernel *kernel, const struct rung_ptx_flow *flow,
                              struct rung_arena *arena)
{
    struct rung_arena scratch = {0};
    uint32_t n = flow->function->n_instructions;
    struct classifier work = {.kernel = kernel, .flow = flow, .arena = arena, .scratch = &scratch};
    work.facts = rung_arena_array(&scratch, n, sizeof *work.facts);
    work.todo = rung_arena_array(&scratch, n, sizeof *work.todo);
    work.seen = rung_arena_array(&scratch, n, sizeof *work.seen);
    work.sources = rung_arena_array(&scratch, (size_t)n * SOURCES, sizeof *work.sources);
    kernel->n_slots = 1; /* slot 0 takes the degrees that nobody asks for */
    bool good = work.facts && work.todo && work.seen && work.sources && find_all_sources(&work);
    if (good) {
        find_facts(&work);
        good = mark_all(&work);
        count_in_segments(kernel);
    }
    rung_arena_release(&scratch);
    return good;
}
