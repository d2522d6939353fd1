/* Which additions are of data, and which of those are of the tree: found in the data flow, before
 * anything runs.
 *
 * A register holds data when some definition of it loads from global or shared memory, or computes
 * from data. It comes from the tree when some definition is a load from shared memory or a shuffle
 * of data, moves and choices between looked through. An addition of two data values counts; one of
 * whose operands comes from the tree is a tree addition. Indices are never data: they come from
 * special registers and parameters. A product is no addition, a multiply-add is. */
#include "sim/decode.h"

#include <string.h>

enum fact { DATA = 1, TREE = 2 };

struct classifier {
    struct rung_sim_kernel *kernel;
    const struct rung_ptx_flow *flow;
    struct rung_arena *arena;
    uint8_t *facts;        /* of each register */
    uint32_t *origin;      /* search stack of registers */
    uint32_t *seen, round; /* registers seen in the search of this round */
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

struct gathering {
    const uint8_t *facts;
    uint8_t sources;
};

static void gather_facts(void *context, uint32_t reg, bool defines)
{
    struct gathering *to = context;
    if (!defines)
        to->sources |= to->facts[reg];
}

static uint8_t facts_of(const struct classifier *work, const struct rung_ptx_instruction *at)
{
    struct gathering sources = {.facts = work->facts};
    if (is_load_of(at, RUNG_PTX_SPACE_GLOBAL))
        return DATA;
    if (is_load_of(at, RUNG_PTX_SPACE_SHARED))
        return DATA | TREE;
    if (!computes(at))
        return 0;
    rung_ptx_registers_visit(at, gather_facts, &sources);
    if (at->opcode == RUNG_PTX_OP_SHFL && sources.sources & DATA)
        return DATA | TREE;
    return passes_on(at) ? sources.sources : sources.sources & DATA;
}

/* Facts only grow, so a fixed point is reached. */
static void find_facts(struct classifier *work)
{
    const struct rung_ptx_function *function = work->flow->function;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t r = 0; r < function->n_registers; r++) {
            uint8_t facts = work->facts[r];
            if (function->registers[r].type == RUNG_PTX_PRED)
                continue;
            for (uint32_t k = 0; k < work->flow->definitions[r].count; k++)
                facts |=
                    facts_of(work, &function->instructions[work->flow->definitions[r].items[k]]);
            changed |= facts != work->facts[r];
            work->facts[r] = facts;
        }
    }
}

static bool is_data(const struct classifier *work, const struct rung_ptx_operand *operand,
                    uint8_t fact)
{
    return operand->kind == RUNG_PTX_REGISTER && work->facts[operand->index] & fact;
}

static bool is_addition(const struct classifier *work, const struct rung_ptx_instruction *at)
{
    const struct rung_ptx_operand *operands = at->operands;
    if (at->opcode == RUNG_PTX_OP_ADD)
        return is_data(work, &operands[1], DATA) && is_data(work, &operands[2], DATA);
    if (at->opcode == RUNG_PTX_OP_FMA || at->opcode == RUNG_PTX_OP_MAD)
        return is_data(work, &operands[3], DATA) &&
               (is_data(work, &operands[1], DATA) || is_data(work, &operands[2], DATA));
    return false;
}

static bool is_tree(const struct classifier *work, const struct rung_ptx_instruction *at)
{
    for (uint32_t i = 1; i < at->n_operands; i++)
        if (is_data(work, &at->operands[i], TREE))
            return true;
    return false;
}

struct search {
    struct classifier *work;
    uint32_t n_todo;
};

static void push(void *context, uint32_t reg, bool defines)
{
    struct search *search = context;
    if (defines || search->work->seen[reg] == search->work->round)
        return;
    search->work->seen[reg] = search->work->round;
    search->work->origin[search->n_todo++] = reg;
}

/* The instructions that satisfy `wanted` behind the operands of `at`, moves looked through. The
 * first 32 serve: more loads behind one operand occur in no reduction. */
static void find_origins(struct classifier *work, const struct rung_ptx_instruction *at,
                         bool (*wanted)(const struct classifier *, uint32_t))
{
    const struct rung_ptx_function *function = work->flow->function;
    struct search search = {.work = work};
    work->round++;
    work->n_found = 0;
    for (uint32_t i = 1; i < at->n_operands; i++) {
        const struct rung_ptx_operand *operand = &at->operands[i];
        if (operand->kind == RUNG_PTX_REGISTER)
            push(&search, operand->index, false);
        for (uint32_t k = 0; operand->kind == RUNG_PTX_VECTOR && k < operand->n_items; k++)
            if (operand->items[k].kind == RUNG_PTX_REGISTER)
                push(&search, operand->items[k].index, false);
    }
    while (search.n_todo) {
        const struct rung_ptx_list *definitions =
            &work->flow->definitions[work->origin[--search.n_todo]];
        for (uint32_t k = 0; k < definitions->count; k++) {
            uint32_t index = definitions->items[k];
            if (wanted(work, index) && work->n_found < 32)
                work->found[work->n_found++] = index;
            if (passes_on(&function->instructions[index]))
                rung_ptx_registers_visit(&function->instructions[index], push, &search);
        }
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
    counters->additions += (uint64_t)__builtin_popcount(warp->active);
    if (!op->addition->tree)
        return;
    counters->body_runs++;
    weigh(warp, op);
}

static bool mark_addition(struct classifier *work, uint32_t index)
{
    struct rung_sim_kernel *kernel = work->kernel;
    const struct rung_ptx_instruction *at = &work->flow->function->instructions[index];
    struct sim_op *op = &kernel->ops[index];
    struct sim_addition *addition = rung_arena_alloc(work->arena, sizeof *addition);
    if (!addition)
        return false;
    addition->tree = is_tree(work, at);
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
    find_origins(work, at, is_shared_load);
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
    find_origins(work, &work->flow->function->instructions[index], is_tree_addition);
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
        if (is_addition(work, &function->instructions[i]) && !mark_addition(work, i))
            return false;
    for (uint32_t i = 0; i < function->n_instructions; i++) {
        const struct rung_ptx_instruction *at = &function->instructions[i];
        if (at->opcode == RUNG_PTX_OP_ST && at->space == RUNG_PTX_SPACE_SHARED)
            mark_store(work, i);
    }
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

bool sim_kernel_classify(struct rung_sim_kernel *kernel, const struct rung_ptx_flow *flow,
                         struct rung_arena *arena)
{
    struct rung_arena scratch = {0};
    uint32_t n = flow->function->n_registers;
    struct classifier work = {.kernel = kernel, .flow = flow, .arena = arena};
    work.facts = rung_arena_array(&scratch, n, sizeof *work.facts);
    work.origin = rung_arena_array(&scratch, n, sizeof *work.origin);
    work.seen = rung_arena_array(&scratch, n, sizeof *work.seen);
    kernel->n_slots = 1; /* slot 0 takes the degrees that nobody asks for */
    bool good = work.facts && work.origin && work.seen;
    if (good) {
        find_facts(&work);
        good = mark_all(&work);
        count_in_segments(kernel);
    }
    rung_arena_release(&scratch);
    return good;
}
