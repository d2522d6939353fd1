/* The counting model: runs the phases of a specialised kernel for one block, thread by thread, on
 * weights instead of elements. It counts what the hardware must do, and sees whether every element
 * reaches the result exactly once. */
#include "gen/model.h"

#include <string.h>

#include "gen/kernel.h"
#include "gen/loads.h"
#include "gen/strides.h"

#define WARP 32
#define WARPS_MAX (RUNG_BLOCK_MAX / WARP)
/* What 32 banks of 4 bytes move at once: 32 elements, or 16 of 64 bits. */
#define BANKS_BYTES 128

/* A block: weights in the shared array and in each thread's register. */
struct block {
    struct rung_kernel *kernel;
    struct rung_model *model;
    struct rung_error *err;
    unsigned threads;
    uint64_t tile[RUNG_BLOCK_MAX], sum[RUNG_BLOCK_MAX];
    uint64_t values[RUNG_BLOCK_MAX]; /* what each thread carries from reading to writing */
    /* Degree of the shared load that the register still holds, per warp; 0: something else. */
    unsigned loaded[WARPS_MAX];
};

/* What the active threads of one warp do in one statement. */
struct warp {
    unsigned first; /* thread */
    uint32_t active;
};

/* Distinct for every element and without linear relations, so that no wrong tree sums to the right
 * total: the finaliser of splitmix64. */
static uint64_t weight(unsigned element)
{
    uint64_t x = (element + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static enum rung_status slot_of(uint64_t *slot, struct block *block,
                                const struct rung_operand *operand, unsigned line)
{
    enum rung_status status =
        rung_kernel_eval(slot, block->kernel, operand->index, line, block->err);
    if (status == RUNG_OK && *slot >= block->threads && !block->kernel->tpl->control)
        return rung_template_fail(
            block->kernel->tpl, line, block->err, "thread %u touches tile[%llu] of %u (s %llu)",
            (unsigned)block->kernel->values[RUNG_SLOT_TID], (unsigned long long)*slot,
            block->threads, (unsigned long long)block->kernel->values[RUNG_SLOT_S]);
    return status;
}

/* The bank-conflict degree of one access of a warp: lanes are served in groups that move 128 bytes,
 * and a group needs as many turns as its busiest bank has distinct slots; the worst group counts.
 */
static enum rung_status degree(unsigned *out, struct block *block, const struct rung_phase *phase,
                               const struct rung_operand *operand, struct warp warp)
{
    const unsigned group = BANKS_BYTES / (unsigned)rung_type_size(block->kernel->config.type);
    uint64_t slots[WARP];
    *out = 0;
    for (unsigned start = 0; start < WARP; start += group) {
        unsigned ways[WARP] = {0}, n = 0;
        for (unsigned lane = start; lane < start + group; lane++) {
            if (!(warp.active >> lane & 1))
                continue;
            enum rung_status status =
                rung_lets_eval(block->kernel, phase, warp.first + lane, block->err);
            if (status == RUNG_OK)
                status = slot_of(&slots[n], block, operand, phase->add.line);
            if (status != RUNG_OK)
                return status;
            unsigned same = 0;
            while (slots[same] != slots[n])
                same++;
            if (same < n)
                continue; /* the same word: a broadcast */
            unsigned bank = (unsigned)(slots[n++] % group);
            ways[bank]++;
            *out = ways[bank] > *out ? ways[bank] : *out;
        }
    }
    return RUNG_OK;
}

static enum rung_status active_lanes(struct warp *warp, struct block *block,
                                     const struct rung_phase *phase)
{
    warp->active = 0;
    for (unsigned lane = 0; lane < WARP && warp->first + lane < block->threads; lane++) {
        uint64_t active = 1;
        enum rung_status status =
            rung_lets_eval(block->kernel, phase, warp->first + lane, block->err);
        if (status == RUNG_OK && phase->active)
            status =
                rung_kernel_eval(&active, block->kernel, phase->active, phase->line, block->err);
        if (status != RUNG_OK)
            return status;
        warp->active |= (uint32_t)(active != 0) << lane;
    }
    return RUNG_OK;
}

/* Leaves the lanes for which the statement's condition holds. */
static enum rung_status keep_holding(struct warp *warp, struct block *block,
                                     const struct rung_statement *statement)
{
    for (unsigned lane = 0; lane < WARP && statement->only_if; lane++) {
        uint64_t holds = 0;
        block->kernel->values[RUNG_SLOT_TID] = warp->first + lane;
        enum rung_status status = rung_kernel_eval(&holds, block->kernel, statement->only_if,
                                                   statement->line, block->err);
        if (status != RUNG_OK)
            return status;
        warp->active &= ~((uint32_t)(holds == 0) << lane);
    }
    return RUNG_OK;
}

/* The value of an operand for the thread whose tid and lets are set. Slots outside the array occur
 * in negative controls only, and read as nothing. */
static enum rung_status read_operand(uint64_t *out, struct block *block,
                                     const struct rung_operand *operand, unsigned line)
{
    struct rung_kernel *k = block->kernel;
    unsigned tid = (unsigned)k->values[RUNG_SLOT_TID];
    uint64_t slot = 0, lanes = 0;
    enum rung_status status = RUNG_OK;
    *out = 0;
    if (operand->kind == RUNG_OPERAND_SUM) {
        *out = block->sum[tid];
    } else if (operand->kind == RUNG_OPERAND_TILE) {
        status = slot_of(&slot, block, operand, line);
        *out = status == RUNG_OK && slot < block->threads ? block->tile[slot] : 0;
    } else {
        status = rung_kernel_eval(&slot, k, operand->index, line, block->err);
        if (status == RUNG_OK)
            status = rung_kernel_eval(&lanes, k, operand->lanes, line, block->err);
        if (status == RUNG_OK && (lanes == 0 || lanes > WARP || (lanes & (lanes - 1)) != 0))
            return rung_template_fail(k->tpl, line, block->err,
                                      "a shuffle over %llu lanes: 1, 2, 4, 8, 16 or 32 can be",
                                      (unsigned long long)lanes);
        if (status == RUNG_OK) /* beyond its lanes a thread gets its own value */
            *out = block->sum[tid % lanes + slot < lanes ? tid + slot : tid];
    }
    return status;
}

/* One statement by the active threads of the whole block: all read, then all write. */
static enum rung_status execute(struct block *block, const struct rung_phase *phase,
                                const struct rung_statement *statement, const uint32_t *active)
{
    struct rung_kernel *k = block->kernel;
    uint64_t *values = block->values;
    memset(values, 0, sizeof block->values);
    for (int writing = 0; writing < 2; writing++)
        for (unsigned tid = 0; tid < block->threads; tid++) {
            if (!(active[tid / WARP] >> tid % WARP & 1))
                continue;
            uint64_t holds = 1, old = 0, slot = 0;
            enum rung_status status = rung_lets_eval(k, phase, tid, block->err);
            if (status == RUNG_OK && statement->only_if)
                status =
                    rung_kernel_eval(&holds, k, statement->only_if, statement->line, block->err);
            bool into_sum = statement->to.kind == RUNG_OPERAND_SUM;
            if (status == RUNG_OK && !writing && holds) {
                status = read_operand(&values[tid], block, &statement->from, statement->line);
                if (status == RUNG_OK && statement->adds)
                    status = read_operand(&old, block, &statement->to, statement->line);
                values[tid] += old;
            } else if (status == RUNG_OK && writing && into_sum) {
                block->sum[tid] = holds ? values[tid] : 0; /* else the identity */
            } else if (status == RUNG_OK && writing && holds) {
                status = slot_of(&slot, block, &statement->to, statement->line);
                if (status == RUNG_OK && slot < block->threads)
                    block->tile[slot] = values[tid];
            }
            if (status != RUNG_OK)
                return status;
        }
    return RUNG_OK;
}

/* The weight of one body run: the worst of its operands and of the store of its result. */
static enum rung_status weigh(unsigned *out, struct block *block, const struct rung_phase *phase,
                              struct warp warp)
{
    const struct rung_operand *const operands[] = {&phase->add.to, &phase->add.from,
                                                   phase->put.line ? &phase->put.to : NULL};
    unsigned *loaded = &block->loaded[warp.first / WARP];
    unsigned worst = 1;
    if (phase->add.to.kind == RUNG_OPERAND_SUM && *loaded > worst)
        worst = *loaded;
    *loaded = 0;
    for (size_t i = 0; i < sizeof operands / sizeof *operands; i++) {
        if (!operands[i] || operands[i]->kind != RUNG_OPERAND_TILE)
            continue;
        unsigned ways = 0;
        enum rung_status status = degree(&ways, block, phase, operands[i], warp);
        if (status != RUNG_OK)
            return status;
        worst = ways > worst ? ways : worst;
    }
    *out = worst;
    return RUNG_OK;
}

static unsigned bits(uint32_t mask)
{
    unsigned count = 0;
    for (; mask; mask &= mask - 1)
        count++;
    return count;
}

static enum rung_status run_step(struct block *block, const struct rung_phase *phase)
{
    struct rung_model *model = block->model;
    if (model->n_steps == RUNG_MODEL_STEPS_MAX)
        return rung_template_fail(block->kernel->tpl, phase->line, block->err, "more than %d steps",
                                  RUNG_MODEL_STEPS_MAX);
    struct rung_model_step step = {0};
    uint32_t active[WARPS_MAX] = {0};
    for (unsigned first = 0; first < block->threads; first += WARP) {
        struct warp warp = {.first = first};
        unsigned ways = 0;
        enum rung_status status = active_lanes(&warp, block, phase);
        if (status == RUNG_OK && warp.active)
            status = weigh(&ways, block, phase, warp);
        if (status != RUNG_OK)
            return status;
        active[first / WARP] = warp.active;
        step.active += bits(warp.active);
        step.body_runs += warp.active != 0;
        step.serialised += ways;
    }
    step.stride = (unsigned)block->kernel->values[RUNG_SLOT_S];
    model->steps[model->n_steps++] = step;
    model->tree_additions += step.active;
    model->body_runs += step.body_runs;
    model->serialised += step.serialised;
    enum rung_status status = execute(block, phase, &phase->add, active);
    if (status == RUNG_OK && phase->put.line)
        status = execute(block, phase, &phase->put, active);
    return status;
}

/* A copy: by the threads that are active at the first step, or, as a move, by all. The register
 * then holds what a shared load left, and so does its degree. */
static enum rung_status run_copy(struct block *block, const struct rung_phase *phase)
{
    uint32_t active[WARPS_MAX] = {0};
    for (unsigned first = 0; first < block->threads; first += WARP) {
        struct warp warp = {.first = first};
        enum rung_status status = active_lanes(&warp, block, phase);
        active[first / WARP] = warp.active;
        if (status == RUNG_OK && phase->take.to.kind == RUNG_OPERAND_SUM) {
            status = keep_holding(&warp, block, &phase->take);
            if (status == RUNG_OK)
                status =
                    degree(&block->loaded[first / WARP], block, phase, &phase->take.from, warp);
        }
        if (status != RUNG_OK)
            return status;
    }
    return execute(block, phase, &phase->take, active);
}

static enum rung_status run_phase(struct block *block, const struct rung_phase *phase)
{
    if (!phase->stepping)
        return run_copy(block, phase);
    struct rung_strides strides;
    enum rung_status status = rung_strides_begin(&strides, block->kernel, phase, block->err);
    if (status == RUNG_OK && phase->take.line)
        status = run_copy(block, phase);
    while (status == RUNG_OK && strides.more) {
        status = run_step(block, phase);
        if (status == RUNG_OK)
            status = rung_strides_next(&strides, block->err);
    }
    return status;
}

/* Every thread's first load: its own element's weight, where the template puts it. */
static enum rung_status fill(struct block *block)
{
    struct rung_kernel *k = block->kernel;
    const struct rung_statement *load = &k->loads[0];
    for (unsigned tid = 0; tid < block->threads; tid++) {
        uint64_t slot;
        k->values[RUNG_SLOT_TID] = tid;
        if (load->to.kind == RUNG_OPERAND_SUM) {
            block->sum[tid] = weight(tid);
            continue;
        }
        enum rung_status status = slot_of(&slot, block, &load->to, load->line);
        if (status != RUNG_OK)
            return status;
        if (slot < block->threads)
            block->tile[slot] = weight(tid);
    }
    return RUNG_OK;
}

static enum rung_status check_result(struct block *block)
{
    struct rung_kernel *k = block->kernel;
    uint64_t total = 0, got = 0;
    for (unsigned tid = 0; tid < block->threads; tid++)
        total += weight(tid);
    k->values[RUNG_SLOT_TID] = 0;
    enum rung_status status = read_operand(&got, block, &k->result, 1);
    if (status == RUNG_OK && got != total && !k->tpl->control)
        return rung_template_fail(k->tpl, 1, block->err,
                                  "with %u threads not every value reaches the result exactly once",
                                  block->threads);
    return status;
}

/* Counts the tree of one block; leaves the loads. */
static enum rung_status count_tree(struct rung_model *out, struct rung_kernel *kernel,
                                   struct rung_arena *arena, struct rung_error *err)
{
    struct block *block = rung_arena_alloc(arena, sizeof *block);
    if (!block)
        return rung_fail(err, RUNG_MEMORY, "no memory for the model of a block");
    block->kernel = kernel;
    block->model = out;
    block->err = err;
    block->threads = kernel->config.block;
    enum rung_status status = fill(block);
    for (unsigned i = 0; i < kernel->n_phases && status == RUNG_OK; i++)
        status = run_phase(block, &kernel->phases[i]);
    if (status == RUNG_OK)
        status = check_result(block);
    return status;
}

enum rung_status rung_model_block(struct rung_model *out, const struct rung_template *tpl,
                                  const struct rung_config *config, struct rung_error *err)
{
    struct rung_arena arena = {0};
    struct rung_kernel kernel;
    struct rung_model model = {0};
    enum rung_status status = rung_kernel_make(&kernel, &arena, tpl, config, err);
    if (status == RUNG_OK)
        status = count_tree(&model, &kernel, &arena, err);
    uint64_t loads = 0;
    if (status == RUNG_OK)
        status = rung_loads_count(&loads, &kernel, (uint64_t)config->block * tpl->n_loads, 1, err);
    model.additions = model.tree_additions + loads;
    if (status == RUNG_OK)
        *out = model;
    rung_arena_release(&arena);
    return status;
}

enum rung_status rung_model_launch(struct rung_model *out, const struct rung_template *tpl,
                                   const struct rung_config *config, uint64_t n,
                                   uint64_t grid_blocks, struct rung_error *err)
{
    struct rung_arena arena = {0};
    struct rung_kernel kernel;
    struct rung_model model = {0};
    uint64_t loads = 0;
    enum rung_status status = rung_kernel_make(&kernel, &arena, tpl, config, err);
    if (status == RUNG_OK)
        status = count_tree(&model, &kernel, &arena, err);
    if (status == RUNG_OK)
        status = rung_loads_count(&loads, &kernel, n, grid_blocks, err);
    if (status == RUNG_OK) {
        out->additions += model.tree_additions * grid_blocks + loads;
        out->body_runs += model.body_runs * grid_blocks;
        out->serialised += model.serialised * grid_blocks;
    }
    rung_arena_release(&arena);
    return status;
}
