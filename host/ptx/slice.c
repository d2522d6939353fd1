/* Who defines and who uses a register in one instruction, and backward slices over that. */
#include "ptx/flow.h"

#include <stdlib.h>
#include <string.h>

/* Opcodes without a result, those that cannot be executed included. */
static bool has_no_result(const struct rung_ptx_instruction *at)
{
    static const char *const words[] = {
        "st",        "red",    "bra",   "brx",       "ret",     "exit",
        "trap",      "membar", "fence", "nanosleep", "cp",      "prefetch",
        "prefetchu", "wgmma",  "bar",   "barrier",   "pmevent", "griddepcontrol",
        "brkpt",     "discard"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(at->mnemonic, words[i]))
            return true;
    return false;
}

uint32_t rung_ptx_destinations(const struct rung_ptx_instruction *instruction)
{
    if (!instruction->n_operands)
        return 0;
    if (rung_ptx_has(instruction->modifiers, RUNG_PTX_M_RED)) /* bar.red, barrier.red */
        return 1;
    if (has_no_result(instruction))
        return 0;
    enum rung_ptx_operand_kind first = instruction->operands[0].kind;
    return first == RUNG_PTX_REGISTER || first == RUNG_PTX_VECTOR || first == RUNG_PTX_PAIR ||
           first == RUNG_PTX_LIST || first == RUNG_PTX_SINK;
}

bool rung_ptx_is_load(const struct rung_ptx_instruction *instruction)
{
    static const char *const loads[] = {"ld", "ldu", "atom", "tex", "tld4", "suld", "ldmatrix"};
    if (instruction->space == RUNG_PTX_SPACE_PARAM)
        return false;
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++)
        if (!strcmp(instruction->mnemonic, loads[i]))
            return true;
    return false;
}

/* Registers in an address are read, also where the address stands first. */
static void visit_operand(const struct rung_ptx_operand *operand, bool defines,
                          rung_ptx_register_visitor *visit, void *context)
{
    if (operand->kind == RUNG_PTX_REGISTER)
        visit(context, operand->index, defines);
    for (uint32_t i = 0; i < operand->n_items; i++)
        visit_operand(&operand->items[i], defines && operand->kind != RUNG_PTX_ADDRESS, visit,
                      context);
}

void rung_ptx_registers_visit(const struct rung_ptx_instruction *instruction,
                              rung_ptx_register_visitor *visit, void *context)
{
    uint32_t destinations = rung_ptx_destinations(instruction);
    if (instruction->guarded)
        visit(context, instruction->guard, false);
    for (uint32_t i = 0; i < instruction->n_operands; i++)
        visit_operand(&instruction->operands[i], i < destinations, visit, context);
}

struct slice {
    const struct rung_ptx_flow *flow;
    uint32_t *todo, n_todo; /* registers */
    bool *seen;             /* registers */
    bool *in;               /* instructions */
};

static void add_register(void *context, uint32_t reg, bool defines)
{
    struct slice *slice = context;
    if (!defines && !slice->seen[reg]) {
        slice->seen[reg] = true;
        slice->todo[slice->n_todo++] = reg;
    }
}

static void grow_slice(struct slice *slice, rung_ptx_slice_filter *follow, void *context)
{
    while (slice->n_todo) {
        const struct rung_ptx_list *definitions =
            &slice->flow->definitions[slice->todo[--slice->n_todo]];
        for (uint32_t i = 0; i < definitions->count; i++) {
            uint32_t index = definitions->items[i];
            const struct rung_ptx_instruction *at = &slice->flow->function->instructions[index];
            if (slice->in[index])
                continue;
            slice->in[index] = true;
            if (!rung_ptx_is_load(at) && (!follow || follow(context, at)))
                rung_ptx_registers_visit(at, add_register, slice);
        }
    }
}

static enum rung_status list_slice(struct rung_ptx_list *out, struct rung_arena *arena,
                                   const struct slice *slice, struct rung_error *err)
{
    uint32_t n = slice->flow->function->n_instructions, count = 0;
    for (uint32_t i = 0; i < n; i++)
        count += slice->in[i];
    uint32_t *items = rung_arena_array(arena, count, sizeof *items);
    if (!items)
        return rung_fail(err, RUNG_MEMORY, "out of memory in a slice");
    out->items = items;
    out->count = count;
    for (uint32_t i = 0; i < n; i++)
        if (slice->in[i])
            *items++ = i;
    return RUNG_OK;
}

enum rung_status rung_ptx_slice(struct rung_ptx_list *out, struct rung_arena *arena,
                                const struct rung_ptx_flow *flow, uint32_t reg,
                                rung_ptx_slice_filter *follow, void *context,
                                struct rung_error *err)
{
    uint32_t n_registers = flow->function->n_registers;
    enum rung_status status = RUNG_MEMORY;
    struct slice slice = {.flow = flow};
    slice.todo = calloc((size_t)n_registers + 1, sizeof *slice.todo);
    slice.seen = calloc((size_t)n_registers + 1, sizeof *slice.seen);
    slice.in = calloc((size_t)flow->function->n_instructions + 1, sizeof *slice.in);
    if (slice.todo && slice.seen && slice.in) {
        add_register(&slice, reg, false);
        grow_slice(&slice, follow, context);
        status = list_slice(out, arena, &slice, err);
    } else {
        rung_fail(err, RUNG_MEMORY, "out of memory in a slice");
    }
    free(slice.todo);
    free(slice.seen);
    free(slice.in);
    return status;
}
