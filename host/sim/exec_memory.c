/* ld and st: parameters, shared memory, global memory and constants, one to four elements. */
#include <string.h>

#include "sim/exec_rows.h"

/* A loaded element at the width of the register that takes it. */
static inline void put(unsigned char *row, uint32_t lane, const unsigned char *from,
                       const struct sim_op *op)
{
    unsigned width = op->width, have = op->value_bits / 8u;
    if (width == have) {
        memcpy(row + lane * width, from, width);
        return;
    }
    uint64_t value = 0;
    memcpy(&value, from, width);
    if (op->is_signed && value >> (width * 8 - 1) & 1)
        value |= UINT64_MAX << width * 8;
    memcpy(row + lane * have, &value, have);
}

/* Four bytes a lane, one element, a row of 32-bit registers: nearly every access of a reduction. */
static inline bool is_plain(const struct sim_op *op)
{
    return op->width == 4 && op->vector == 1 && op->value_bits == 32;
}

static void load_lanes(struct sim_warp *warp, const struct sim_op *op, const unsigned char *at,
                       uint32_t lane)
{
    for (unsigned k = 0; k < op->vector; k++)
        if (op->rows[k])
            put(sim_row(warp, op->rows[k]), lane, at + k * op->width, op);
}

static void store_lanes(struct sim_warp *warp, const struct sim_op *op, unsigned char *at,
                        uint32_t lane)
{
    unsigned have = op->value_bits / 8u;
    for (unsigned k = 0; k < op->vector; k++)
        memcpy(at + k * op->width, (unsigned char *)sim_row(warp, op->rows[k]) + lane * have,
               op->width);
}

/* All lanes, side by side: one copy. */
static inline bool is_block(const struct sim_warp *warp, const struct sim_op *op,
                            const struct sim_span *span)
{
    return is_plain(op) && warp->active == SIM_ALL && span->even && span->stride == 4;
}

static inline void load_even(struct sim_warp *warp, const struct sim_op *op,
                             const struct sim_span *span, const unsigned char *first)
{
    uint32_t *row = sim_row(warp, op->rows[0]);
    if (is_block(warp, op, span))
        memcpy(row, first, SIM_LANES * 4);
    else if (is_plain(op))
        SIM_EACH_ACTIVE(lane, warp->active)
    memcpy(&row[lane], first + (lane - (uint32_t)span->low) * span->stride, 4);
    else SIM_EACH_ACTIVE(lane, warp->active)
        load_lanes(warp, op, first + (lane - (uint32_t)span->low) * span->stride, lane);
}

static inline void store_even(struct sim_warp *warp, const struct sim_op *op,
                              const struct sim_span *span, unsigned char *first)
{
    const uint32_t *row = sim_row(warp, op->rows[0]);
    if (is_block(warp, op, span))
        memcpy(first, row, SIM_LANES * 4);
    else if (is_plain(op))
        SIM_EACH_ACTIVE(lane, warp->active)
    memcpy(first + (lane - (uint32_t)span->low) * span->stride, &row[lane], 4);
    else SIM_EACH_ACTIVE(lane, warp->active)
        store_lanes(warp, op, first + (lane - (uint32_t)span->low) * span->stride, lane);
}

typedef unsigned char *place(struct sim_warp *, const struct sim_op *, uint64_t, uint32_t,
                             uint32_t);

/* Even addresses are tried as one piece; a misfit goes lane by lane, to name the lane. */
static inline unsigned char *whole_piece(struct sim_warp *warp, const struct sim_span *span,
                                         uint32_t bytes, bool shared)
{
    struct sim_worker *worker = warp->block->worker;
    uint64_t extent = (uint64_t)span->stride * (uint32_t)(span->high - span->low) + bytes;
    if (!span->even || (span->first | span->stride) & (bytes - 1))
        return NULL;
    if (shared)
        return span->first <= warp->block->shared_bytes &&
                       extent <= warp->block->shared_bytes - span->first
                   ? warp->block->shared + span->first
                   : NULL;
    const struct rung_sim_range *range = worker->range;
    if (!range || span->first < range->base || span->first - range->base >= range->bytes) {
        range = rung_sim_memory_find(worker->launch->memory, span->first);
        worker->range = range;
    }
    return range && extent <= range->bytes - (span->first - range->base)
               ? range->host + (span->first - range->base)
               : NULL;
}

static bool load(struct sim_warp *warp, const struct sim_op *op, struct sim_span *span, bool shared)
{
    struct sim_worker *worker = warp->block->worker;
    uint32_t bytes = (uint32_t)op->width * op->vector;
    rung_sim_access_addresses(span, warp, op);
    const unsigned char *first = whole_piece(warp, span, bytes, shared);
    if (first) {
        load_even(warp, op, span, first);
        return true;
    }
    SIM_EACH_ACTIVE(lane, warp->active)
    {
        place *find = shared ? rung_sim_access_shared : rung_sim_access_global;
        const unsigned char *at = find(warp, op, worker->access.address[lane], bytes, lane);
        if (!at)
            return false;
        load_lanes(warp, op, at, lane);
    }
    return true;
}

static bool store(struct sim_warp *warp, const struct sim_op *op, struct sim_span *span,
                  bool shared)
{
    struct sim_worker *worker = warp->block->worker;
    uint32_t bytes = (uint32_t)op->width * op->vector;
    rung_sim_access_addresses(span, warp, op);
    unsigned char *first = whole_piece(warp, span, bytes, shared);
    if (first && span->stride) { /* one address for all: lanes in order, the last one stays */
        store_even(warp, op, span, first);
        return true;
    }
    SIM_EACH_ACTIVE(lane, warp->active)
    {
        place *find = shared ? rung_sim_access_shared : rung_sim_access_global;
        unsigned char *at = find(warp, op, worker->access.address[lane], bytes, lane);
        if (!at)
            return false;
        store_lanes(warp, op, at, lane);
    }
    return true;
}

static struct sim_banks count_banks(struct sim_warp *warp, const struct sim_op *op,
                                    const struct sim_span *span)
{
    struct sim_worker *worker = warp->block->worker;
    struct sim_banks banks = rung_sim_banks_of(worker->access.address, warp->active, span,
                                               (uint32_t)op->width * op->vector);
    worker->access.degree = banks.degree;
    return banks;
}

static void load_shared(struct sim_warp *warp, const struct sim_op *op)
{
    struct sim_worker *worker = warp->block->worker;
    struct sim_span span;
    if (!load(warp, op, &span, true))
        return;
    struct sim_banks banks = count_banks(warp, op, &span);
    worker->counters.shared_load_wavefronts += banks.wavefronts;
    worker->counters.shared_load_conflicts += banks.wavefronts - banks.phases;
    warp->degrees[op->slot] = banks.degree;
    if (worker->check)
        rung_sim_check_access(warp, op, (uint32_t)op->width * op->vector, false);
}

static void store_shared(struct sim_warp *warp, const struct sim_op *op)
{
    struct sim_worker *worker = warp->block->worker;
    struct sim_span span;
    if (!store(warp, op, &span, true))
        return;
    struct sim_banks banks = count_banks(warp, op, &span);
    worker->counters.shared_store_wavefronts += banks.wavefronts;
    worker->counters.shared_store_conflicts += banks.wavefronts - banks.phases;
    if (op->addition) { /* the body run weighs what its heaviest access weighs */
        uint32_t *degree = &warp->degrees[op->addition->slot];
        if (banks.degree > *degree) {
            worker->counters.serialised += banks.degree - *degree;
            *degree = banks.degree;
        }
    }
    if (worker->check)
        rung_sim_check_access(warp, op, (uint32_t)op->width * op->vector, true);
}

static void load_global(struct sim_warp *warp, const struct sim_op *op)
{
    struct sim_worker *worker = warp->block->worker;
    struct sim_span span;
    uint32_t bytes = (uint32_t)op->width * op->vector;
    if (!load(warp, op, &span, false))
        return;
    worker->counters.global_load_sectors +=
        rung_sim_sectors_of(worker->access.address, warp->active, &span, bytes);
    if (worker->check)
        rung_sim_check_access(warp, op, bytes, false);
}

static void store_global(struct sim_warp *warp, const struct sim_op *op)
{
    struct sim_worker *worker = warp->block->worker;
    struct sim_span span;
    uint32_t bytes = (uint32_t)op->width * op->vector;
    if (!store(warp, op, &span, false))
        return;
    worker->counters.global_store_sectors +=
        rung_sim_sectors_of(worker->access.address, warp->active, &span, bytes);
    if (worker->check)
        rung_sim_check_access(warp, op, bytes, true);
}

static void load_const(struct sim_warp *warp, const struct sim_op *op)
{
    struct sim_span span;
    load(warp, op, &span, false);
}

SIM_ROWS static void fill_64(uint64_t *row, const uint32_t *lanes, uint64_t value)
{
    SIM_EACH_LANE(i)
    row[i] = lanes[i] ? value : row[i];
}

/* The same bytes for every lane. */
static void load_param(struct sim_warp *warp, const struct sim_op *op)
{
    const unsigned char *at =
        (const unsigned char *)warp->block->worker->launch->params + op->offset;
    if (op->vector == 1 && op->width == 8 && op->value_bits == 64) {
        uint64_t value;
        memcpy(&value, at, sizeof value);
        fill_64(sim_row(warp, op->rows[0]), warp->lanes, value);
        return;
    }
    SIM_EACH_ACTIVE(lane, warp->active)
    load_lanes(warp, op, at, lane);
}

static bool decode_elements(struct sim_decoder *decoder, const struct rung_ptx_operand *operand)
{
    const struct rung_ptx_instruction *at = decoder->at;
    struct sim_op *op = decoder->op;
    bool stores = at->opcode == RUNG_PTX_OP_ST;
    const struct rung_ptx_operand *items = at->vector > 1 ? operand->items : operand;
    if (at->vector > 1 && (operand->kind != RUNG_PTX_VECTOR || operand->n_items != at->vector))
        return rung_sim_refuse(decoder, "a vector of another length");
    uint8_t common = 0;
    for (uint32_t k = 0; k < at->vector; k++) {
        if (!stores && at->vector > 1 && items[k].kind == RUNG_PTX_SINK)
            continue;
        if (!stores && items[k].kind != RUNG_PTX_REGISTER)
            return rung_sim_refuse(decoder, "loads into registers only");
        if (!rung_sim_decode_wide(decoder, &op->rows[k], &op->value_bits, &items[k], at->types[0]))
            return false;
        if (common && common != op->value_bits)
            return rung_sim_refuse(decoder, "elements in registers of different sizes");
        common = op->value_bits;
    }
    return common || rung_sim_refuse(decoder, "nothing is loaded");
}

static bool decode_param(struct sim_decoder *decoder, const struct rung_ptx_operand *address)
{
    const struct rung_ptx_operand *base = address->items;
    struct sim_op *op = decoder->op;
    if (address->kind != RUNG_PTX_ADDRESS || base->kind != RUNG_PTX_SYMBOL ||
        base->symbol->space != RUNG_PTX_SPACE_PARAM)
        return rung_sim_refuse(decoder, "parameters are read by name");
    op->run = load_param;
    op->kind = SIM_OP_OTHER_MEMORY;
    uint64_t bytes = (uint64_t)op->width * op->vector;
    if (address->offset < 0 || (uint64_t)address->offset > base->symbol->bytes ||
        bytes > base->symbol->bytes - (uint64_t)address->offset)
        return rung_sim_refuse(decoder, "outside the parameter");
    op->offset = (int64_t)base->symbol->offset + address->offset;
    return base->symbol->offset + base->symbol->bytes <= decoder->kernel->function->param_bytes ||
           rung_sim_refuse(decoder, "a parameter of a call");
}

static bool decode_space(struct sim_decoder *decoder, const struct rung_ptx_operand *address)
{
    static const struct {
        enum rung_ptx_space space;
        enum rung_ptx_opcode opcode;
        sim_run *run;
        enum sim_op_kind kind;
        enum sim_counter class;
    } ways[] = {
        {RUNG_PTX_SPACE_SHARED, RUNG_PTX_OP_LD, load_shared,  SIM_OP_SHARED_LOAD,  SIM_SHARED_LOAD },
        {RUNG_PTX_SPACE_SHARED, RUNG_PTX_OP_ST, store_shared, SIM_OP_SHARED_STORE,
         SIM_SHARED_STORE                                                                          },
        {RUNG_PTX_SPACE_GLOBAL, RUNG_PTX_OP_LD, load_global,  SIM_OP_GLOBAL_LOAD,  SIM_GLOBAL_LOAD },
        {RUNG_PTX_SPACE_GLOBAL, RUNG_PTX_OP_ST, store_global, SIM_OP_GLOBAL_STORE,
         SIM_GLOBAL_STORE                                                                          },
        {RUNG_PTX_SPACE_CONST,  RUNG_PTX_OP_LD, load_const,   SIM_OP_OTHER_MEMORY, SIM_OTHER_MEMORY},
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (ways[i].space == decoder->at->space && ways[i].opcode == decoder->at->opcode) {
            decoder->op->run = ways[i].run;
            decoder->op->kind = ways[i].kind;
            decoder->op->class = ways[i].class;
            return rung_sim_decode_address(decoder, address);
        }
    return rung_sim_refuse(decoder, "generic addresses");
}

bool rung_sim_decode_memory(struct sim_decoder *decoder)
{
    const struct rung_ptx_instruction *at = decoder->at;
    struct sim_op *op = decoder->op;
    bool stores = at->opcode == RUNG_PTX_OP_ST;
    if (at->n_types != 1)
        return rung_sim_refuse(decoder, "needs one type");
    op->width = (uint8_t)(rung_ptx_type_bits(at->types[0]) / 8);
    op->vector = at->vector;
    op->is_signed = rung_ptx_type_kind(at->types[0]) == RUNG_PTX_KIND_SIGNED;
    op->strong = sim_has(decoder, RUNG_PTX_M_VOLATILE) || sim_has(decoder, RUNG_PTX_M_RELAXED) ||
                 sim_has(decoder, RUNG_PTX_M_ACQUIRE) || sim_has(decoder, RUNG_PTX_M_RELEASE);
    if (op->width * op->vector > 16)
        return rung_sim_refuse(decoder, "more than 16 bytes a lane");
    if (sim_has(decoder, RUNG_PTX_M_NC) && at->space != RUNG_PTX_SPACE_GLOBAL)
        return rung_sim_refuse(decoder, ".nc is for global memory");
    const struct rung_ptx_operand *address = &at->operands[stores ? 0 : 1];
    if (!decode_elements(decoder, &at->operands[stores ? 1 : 0]))
        return false;
    return at->space == RUNG_PTX_SPACE_PARAM ? decode_param(decoder, address)
                                             : decode_space(decoder, address);
}
