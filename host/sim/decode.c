/* Operands to rows, instructions to ops. */
#include "sim/decode.h"

#include <string.h>

#include "sim/program.h"

#define FILE_BYTES_MAX (UINT32_C(8) << 20) /* of one warp: 32768 registers of 64 bits */
#define ZERO_ROW_BYTES 256                 /* at offset 0: what an absent operand reads */

bool rung_sim_refuse(struct sim_decoder *decoder, const char *reason)
{
    rung_fail_native(decoder->err, RUNG_COMPILE, RUNG_PTX_INVALID,
                     "unsupported instruction `%s` at line %u: %s", decoder->at->text,
                     decoder->at->line, reason);
    return false;
}

sim_run *rung_sim_choose(const struct sim_choice *choices, size_t n, enum rung_ptx_opcode opcode,
                         enum rung_ptx_type type, uint8_t mode)
{
    for (size_t i = 0; i < n; i++)
        if (choices[i].opcode == opcode && choices[i].type == type && choices[i].mode == mode)
            return choices[i].run;
    return NULL;
}

static bool out_of_memory(struct sim_decoder *decoder)
{
    rung_fail_native(decoder->err, RUNG_MEMORY, 2, "out of memory while decoding PTX");
    return false;
}

bool rung_sim_decode_room(struct sim_decoder *decoder, uint32_t *offset, uint32_t bytes)
{
    uint32_t *end = &decoder->kernel->file_bytes;
    uint32_t align = bytes < 64 ? 4 : 64; /* masks stand side by side */
    *end = (*end + align - 1) / align * align;
    *offset = *end;
    *end += bytes;
    if (*end <= FILE_BYTES_MAX)
        return true;
    rung_fail_native(decoder->err, RUNG_COMPILE, RUNG_PTX_INVALID,
                     "`%s` uses more registers than the simulator holds",
                     decoder->kernel->function->name);
    return false;
}

static uint32_t row_bytes(unsigned width)
{
    return width == 1 ? (uint32_t)sizeof(uint32_t) : width / 8 * SIM_LANES;
}

bool rung_sim_decode_constant(struct sim_decoder *decoder, uint32_t *offset, uint64_t bits,
                              unsigned width)
{
    struct rung_sim_kernel *kernel = decoder->kernel;
    for (uint32_t i = 0; i < kernel->n_constants; i++)
        if (kernel->constants[i].bits == bits && kernel->constants[i].width == width) {
            *offset = kernel->constants[i].offset;
            return true;
        }
    if (kernel->n_constants == decoder->constants_room) {
        uint32_t room = decoder->constants_room ? decoder->constants_room * 2 : 32;
        struct sim_constant *more = rung_arena_array(decoder->arena, room, sizeof *more);
        if (!more)
            return out_of_memory(decoder);
        if (kernel->n_constants)
            memcpy(more, kernel->constants, kernel->n_constants * sizeof *more);
        kernel->constants = more;
        decoder->constants_room = room;
    }
    if (!rung_sim_decode_room(decoder, offset, row_bytes(width)))
        return false;
    kernel->constants[kernel->n_constants++] =
        (struct sim_constant){.bits = bits, .offset = *offset, .width = (uint8_t)width};
    return true;
}

/* Registers get their rows when they first occur. */
static bool register_row(struct sim_decoder *decoder, uint32_t *offset, uint32_t index)
{
    struct rung_sim_kernel *kernel = decoder->kernel;
    unsigned bits = rung_ptx_type_bits(kernel->function->registers[index].type);
    if (!kernel->rows[index] &&
        !rung_sim_decode_room(decoder, &kernel->rows[index], row_bytes(bits)))
        return false;
    *offset = kernel->rows[index];
    return true;
}

static unsigned register_bits(const struct sim_decoder *decoder,
                              const struct rung_ptx_operand *operand)
{
    return rung_ptx_type_bits(decoder->kernel->function->registers[operand->index].type);
}

static bool wrong_size(struct sim_decoder *decoder, const struct rung_ptx_operand *operand,
                       unsigned bits)
{
    rung_fail_native(decoder->err, RUNG_COMPILE, RUNG_PTX_INVALID,
                     "line %u: `%s` wants %u bits, `%s` has %u", decoder->at->line,
                     decoder->at->text, bits, operand->name, register_bits(decoder, operand));
    return false;
}

static bool unfit(struct sim_decoder *decoder)
{
    rung_fail_native(decoder->err, RUNG_COMPILE, RUNG_PTX_INVALID,
                     "line %u: an operand does not fit `%s`", decoder->at->line, decoder->at->text);
    return false;
}

/* The bits of a literal as a value of `type`; false where PTX has no such conversion. */
static bool literal_bits(uint64_t *bits, const struct rung_ptx_operand *operand,
                         enum rung_ptx_type type)
{
    unsigned width = rung_ptx_type_bits(type);
    bool real = rung_ptx_type_kind(type) == RUNG_PTX_KIND_FLOAT;
    *bits = operand->bits;
    if (operand->kind == RUNG_PTX_FLOAT && operand->float_bits != width) {
        float single;
        double twice;
        if (!real)
            return false;
        if (width == 64) {
            uint32_t word = (uint32_t)operand->bits;
            memcpy(&single, &word, sizeof single);
            twice = (double)single;
            memcpy(bits, &twice, sizeof twice);
        } else {
            memcpy(&twice, &operand->bits, sizeof twice);
            single = (float)twice;
            *bits = 0;
            memcpy(bits, &single, sizeof single);
        }
    }
    if (operand->kind == RUNG_PTX_INTEGER && real)
        return false;
    if (width < 64)
        *bits &= (UINT64_C(1) << width) - 1;
    return true;
}

static bool special_row(struct sim_decoder *decoder, uint32_t *offset,
                        const struct rung_ptx_operand *operand, enum rung_ptx_type type)
{
    enum rung_ptx_special special = operand->special;
    if (special == RUNG_PTX_SR_NONE) {
        rung_fail_native(decoder->err, RUNG_COMPILE, RUNG_PTX_INVALID,
                         "unsupported special register `%s` at line %u", operand->name,
                         decoder->at->line);
        return false;
    }
    if (special == RUNG_PTX_SR_CLOCK || special == RUNG_PTX_SR_CLOCK64 ||
        special == RUNG_PTX_SR_GLOBALTIMER)
        return rung_sim_refuse(decoder, "a clock is read by mov only");
    if (rung_ptx_type_bits(type) != (special == RUNG_PTX_SR_GRIDID ? 64u : 32u))
        return rung_sim_refuse(decoder, "a special register of another width");
    uint32_t *row = &decoder->kernel->specials[special];
    if (!*row && !rung_sim_decode_room(decoder, row, row_bytes(rung_ptx_type_bits(type))))
        return false;
    *offset = *row;
    return true;
}

/* Where a variable is: an offset in shared memory, or a device address. */
static bool symbol_address(struct sim_decoder *decoder, uint64_t *address,
                           const struct rung_ptx_operand *operand)
{
    const struct rung_sim_kernel *kernel = decoder->kernel;
    const struct rung_ptx_symbol *symbol = operand->symbol;
    for (uint32_t i = 0; i < kernel->n_shared; i++)
        if (kernel->shared[i].symbol == symbol) {
            *address = kernel->shared[i].offset + (uint64_t)operand->offset;
            return true;
        }
    uint64_t base = rung_sim_program_address(decoder->program, symbol);
    *address = base + (uint64_t)operand->offset;
    if (!base) {
        rung_fail_native(
            decoder->err, RUNG_COMPILE, RUNG_PTX_INVALID,
            "unsupported operand `%s` at line %u: it is in no memory that is simulated",
            symbol->name, decoder->at->line);
        return false;
    }
    return true;
}

bool rung_sim_decode_source(struct sim_decoder *decoder, uint32_t *offset,
                            const struct rung_ptx_operand *operand, enum rung_ptx_type type)
{
    unsigned width = rung_ptx_type_bits(type);
    uint64_t bits;
    if (operand->negated)
        return unfit(decoder);
    switch (operand->kind) {
    case RUNG_PTX_REGISTER:
        if (operand->offset)
            return unfit(decoder);
        if (register_bits(decoder, operand) != width)
            return wrong_size(decoder, operand, width);
        return register_row(decoder, offset, operand->index);
    case RUNG_PTX_INTEGER:
    case RUNG_PTX_FLOAT:
        return literal_bits(&bits, operand, type)
                   ? rung_sim_decode_constant(decoder, offset, bits, width)
                   : unfit(decoder);
    case RUNG_PTX_SPECIAL:
        return special_row(decoder, offset, operand, type);
    case RUNG_PTX_SYMBOL:
        if (width < 32 || !symbol_address(decoder, &bits, operand))
            return unfit(decoder);
        return rung_sim_decode_constant(decoder, offset, width == 32 ? (uint32_t)bits : bits,
                                        width);
    default:
        return unfit(decoder);
    }
}

bool rung_sim_decode_destination(struct sim_decoder *decoder, uint32_t *offset,
                                 const struct rung_ptx_operand *operand, unsigned bits)
{
    if (operand->kind != RUNG_PTX_REGISTER || operand->negated || operand->offset)
        return unfit(decoder);
    if (register_bits(decoder, operand) != bits)
        return wrong_size(decoder, operand, bits);
    return register_row(decoder, offset, operand->index);
}

bool rung_sim_decode_predicate(struct sim_decoder *decoder, uint32_t *offset, bool *negated,
                               const struct rung_ptx_operand *operand)
{
    if (operand->kind == RUNG_PTX_INTEGER)
        return rung_sim_decode_constant(decoder, offset, operand->bits ? SIM_ALL : 0, 1);
    if (operand->kind != RUNG_PTX_REGISTER || operand->offset)
        return unfit(decoder);
    if (register_bits(decoder, operand) != 1)
        return wrong_size(decoder, operand, 1);
    *negated = operand->negated;
    return register_row(decoder, offset, operand->index);
}

bool rung_sim_decode_wide(struct sim_decoder *decoder, uint32_t *offset, uint8_t *bits,
                          const struct rung_ptx_operand *operand, enum rung_ptx_type type)
{
    unsigned width = rung_ptx_type_bits(type), most = width < 16 ? 16 : width;
    if (operand->kind == RUNG_PTX_REGISTER && !operand->negated && !operand->offset) {
        unsigned have = register_bits(decoder, operand);
        *bits = (uint8_t)have;
        if (have < width || have < 16)
            return wrong_size(decoder, operand, width);
        return register_row(decoder, offset, operand->index);
    }
    *bits = (uint8_t)most;
    enum rung_ptx_type as = width < 16 ? RUNG_PTX_B16 : type;
    return rung_sim_decode_source(decoder, offset, operand, as);
}

bool rung_sim_decode_literal(struct sim_decoder *decoder, uint64_t *value,
                             const struct rung_ptx_operand *operand)
{
    *value = operand->bits;
    return operand->kind == RUNG_PTX_INTEGER || unfit(decoder);
}

bool rung_sim_decode_address(struct sim_decoder *decoder, const struct rung_ptx_operand *operand)
{
    struct sim_op *op = decoder->op;
    if (operand->kind != RUNG_PTX_ADDRESS || operand->n_items != 1)
        return unfit(decoder);
    const struct rung_ptx_operand *base = &operand->items[0];
    op->offset = operand->offset;
    op->address_bits = 64;
    if (base->kind != RUNG_PTX_REGISTER)
        return rung_sim_decode_source(decoder, &op->a, base, RUNG_PTX_U64);
    unsigned bits = register_bits(decoder, base);
    op->address_bits = (uint8_t)bits;
    if (bits < 32)
        return wrong_size(decoder, base, 64);
    return !base->negated ? register_row(decoder, &op->a, base->index) : unfit(decoder);
}

static const struct {
    sim_decode *decode;
    uint8_t class;
} families[RUNG_PTX_OP_COUNT] = {
#define SIM_MEMORY SIM_OTHER_MEMORY /* loads and stores choose for themselves */
#define OPCODE(name, mnemonic, arity, types, modifiers, class, family, title)                      \
    [RUNG_PTX_OP_##name] = {rung_sim_decode_##family, SIM_##class},
#include "ptx/opcodes.def"
#undef OPCODE
};

/* Only the lanes whose guard holds take part. */
static void run_guarded(struct sim_warp *warp, const struct sim_op *op)
{
    uint32_t active = warp->active;
    uint32_t guard = *sim_mask(warp, op->guard) ^ (op->guard_negated ? SIM_ALL : 0);
    struct rung_sim_counters *counters = &warp->block->worker->counters;
    if (!(active & guard))
        return;
    rung_sim_warp_set_active(warp, active & guard);
    warp->block->worker->guarded[op->class]++;
    counters->thread_instructions += warp->n_active;
    op->behind(warp, op);
    rung_sim_warp_set_active(warp, active);
}

static bool decode_op(struct sim_decoder *decoder)
{
    const struct rung_ptx_instruction *at = decoder->at;
    struct sim_op *op = decoder->op;
    op->source = at;
    op->class = families[at->opcode].class;
    op->vector = 1;
    if (rung_ptx_opcode_check(at, decoder->err) || !families[at->opcode].decode(decoder))
        return false;
    if (at->guarded) {
        if (!register_row(decoder, &op->guard, at->guard))
            return false;
        op->guard_negated = at->guard_negated;
        op->behind = op->run;
        op->run = run_guarded;
    }
    return true;
}

bool rung_sim_kernel_decode(struct rung_sim_kernel *out, const struct rung_sim_program *program,
                            const struct rung_ptx_function *function, struct rung_arena *arena,
                            struct rung_error *err)
{
    struct sim_decoder decoder = {.kernel = out, .program = program, .arena = arena, .err = err};
    out->ops = rung_arena_array(arena, (size_t)function->n_instructions + 1, sizeof *out->ops);
    out->rows = rung_arena_array(arena, function->n_registers, sizeof *out->rows);
    if (!out->ops || !out->rows)
        return out_of_memory(&decoder);
    out->n_ops = function->n_instructions;
    out->file_bytes = ZERO_ROW_BYTES;
    for (uint32_t i = 0; i < function->n_instructions; i++) {
        decoder.at = &function->instructions[i];
        decoder.op = &out->ops[i];
        if (!decode_op(&decoder))
            return false;
    }
    out->file_bytes = (out->file_bytes + 63) / 64 * 64;
    for (uint32_t r = 0; r < function->n_registers; r++)
        out->registers += (rung_ptx_type_bits(function->registers[r].type) + 31) / 32;
    if (out->registers > 255)
        out->registers = 255;
    return true;
}
