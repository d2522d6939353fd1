/* mov and cvta: copies, packing and unpacking, clocks. */
#include <string.h>

#include "sim/exec_rows.h"

SIM_ROW_FUNCTION(move_16, uint16_t, uint16_t, x)
SIM_ROW_FUNCTION(move_32, uint32_t, uint32_t, x)
SIM_ROW_FUNCTION(move_64, uint64_t, uint64_t, x)

static void move_pred(struct sim_warp *warp, const struct sim_op *op)
{
    sim_mask_set(warp, op->d, *sim_mask(warp, op->a));
}

/* Elements of op->width bytes in rows[0..vector) to or from one row of vector * width bytes. */
static void pack(struct sim_warp *warp, const struct sim_op *op)
{
    unsigned char *whole = sim_row(warp, op->d);
    SIM_EACH_ACTIVE(lane, warp->active)
    for (unsigned k = 0; k < op->vector; k++)
        memcpy(whole + (lane * op->vector + k) * op->width,
               (unsigned char *)sim_row(warp, op->rows[k]) + lane * op->width, op->width);
}

static void unpack(struct sim_warp *warp, const struct sim_op *op)
{
    const unsigned char *whole = sim_row(warp, op->a);
    SIM_EACH_ACTIVE(lane, warp->active)
    for (unsigned k = 0; k < op->vector; k++)
        if (op->rows[k])
            memcpy((unsigned char *)sim_row(warp, op->rows[k]) + lane * op->width,
                   whole + (lane * op->vector + k) * op->width, op->width);
}

/* Clocks count what the block has executed, so they never stand still and never differ from run to
 * run. */
static void read_clock(struct sim_warp *warp, const struct sim_op *op)
{
    uint64_t now = warp->block->steps;
    SIM_EACH_ACTIVE(lane, warp->active)
    {
        if (op->width == 4)
            ((uint32_t *)sim_row(warp, op->d))[lane] = (uint32_t)now;
        else
            ((uint64_t *)sim_row(warp, op->d))[lane] = now;
    }
}

static bool decode_elements(struct sim_decoder *decoder, const struct rung_ptx_operand *vector,
                            bool writes)
{
    struct sim_op *op = decoder->op;
    unsigned bits =
        rung_ptx_type_bits(decoder->at->types[0]) / (vector->n_items ? vector->n_items : 1);
    enum rung_ptx_type type = bits == 32 ? RUNG_PTX_B32 : RUNG_PTX_B16;
    if ((vector->n_items != 2 && vector->n_items != 4) || bits < 16)
        return rung_sim_refuse(decoder, "elements of 16 or 32 bits");
    op->width = (uint8_t)(bits / 8);
    op->vector = (uint8_t)vector->n_items;
    for (uint32_t k = 0; k < vector->n_items; k++) {
        const struct rung_ptx_operand *item = &vector->items[k];
        if (writes && item->kind == RUNG_PTX_SINK)
            continue;
        if (!(writes ? rung_sim_decode_destination(decoder, &op->rows[k], item, bits)
                     : rung_sim_decode_source(decoder, &op->rows[k], item, type)))
            return false;
    }
    return true;
}

static bool is_clock(const struct rung_ptx_operand *operand)
{
    return operand->kind == RUNG_PTX_SPECIAL &&
           (operand->special == RUNG_PTX_SR_CLOCK || operand->special == RUNG_PTX_SR_CLOCK64 ||
            operand->special == RUNG_PTX_SR_GLOBALTIMER);
}

static bool decode_mov(struct sim_decoder *decoder)
{
    const struct rung_ptx_operand *to = &decoder->at->operands[0], *from = to + 1;
    struct sim_op *op = decoder->op;
    enum rung_ptx_type type = decoder->at->types[0];
    unsigned bits = rung_ptx_type_bits(type);
    if (type == RUNG_PTX_PRED) {
        bool negated = false;
        op->run = move_pred;
        return rung_sim_decode_destination(decoder, &op->d, to, 1) &&
               rung_sim_decode_predicate(decoder, &op->a, &negated, from) &&
               (!negated || rung_sim_refuse(decoder, "a negated source"));
    }
    if (to->kind == RUNG_PTX_VECTOR) {
        op->run = unpack;
        return decode_elements(decoder, to, true) &&
               rung_sim_decode_source(decoder, &op->a, from, type);
    }
    if (!rung_sim_decode_destination(decoder, &op->d, to, bits))
        return false;
    if (from->kind == RUNG_PTX_VECTOR) {
        op->run = pack;
        return decode_elements(decoder, from, false);
    }
    if (is_clock(from)) {
        op->run = read_clock;
        op->width = (uint8_t)(bits / 8);
        return (bits == 32) == (from->special == RUNG_PTX_SR_CLOCK) ||
               rung_sim_refuse(decoder, "a clock of another width");
    }
    op->run = bits == 16 ? move_16 : bits == 32 ? move_32 : move_64;
    return rung_sim_decode_source(decoder, &op->a, from, type);
}

bool rung_sim_decode_move(struct sim_decoder *decoder)
{
    if (decoder->at->n_types != 1)
        return rung_sim_refuse(decoder, "needs one type");
    if (decoder->at->opcode == RUNG_PTX_OP_CVTA) {
        /* A generic address of global memory is its global address. */
        if (!sim_has(decoder, RUNG_PTX_M_GLOBAL) || decoder->at->types[0] != RUNG_PTX_U64)
            return rung_sim_refuse(decoder, "generic addresses of global memory only");
        decoder->op->run = move_64;
        return rung_sim_decode_destination(decoder, &decoder->op->d, &decoder->at->operands[0],
                                           64) &&
               rung_sim_decode_source(decoder, &decoder->op->a, &decoder->at->operands[1],
                                      RUNG_PTX_U64);
    }
    return decode_mov(decoder);
}
