/* vote, match, redux and activemask: what the lanes of a mask have in common. */
#include <string.h>

#include "sim/exec_rows.h"

/* The member mask is the one of the lowest active lane; lanes that differ would be undefined. */
static uint32_t members_of(struct sim_warp *warp, const struct sim_op *op)
{
    const uint32_t *members = sim_row(warp, op->rows[0]);
    return members[sim_lowest(warp->active)] & warp->active;
}

static void fill(struct sim_warp *warp, const struct sim_op *op, uint32_t value)
{
    uint32_t *d = sim_row(warp, op->d);
    SIM_EACH_LANE(i)
    d[i] = warp->lanes[i] ? value : d[i];
}

enum vote { VOTE_ALL, VOTE_ANY, VOTE_UNIFORM, VOTE_BALLOT };

static void vote(struct sim_warp *warp, const struct sim_op *op)
{
    uint32_t members = members_of(warp, op);
    uint32_t yes = (*sim_mask(warp, op->a) ^ (op->negated ? SIM_ALL : 0)) & members;
    switch (op->mode) {
    case VOTE_ALL:
        sim_mask_set(warp, op->d, yes == members ? SIM_ALL : 0);
        break;
    case VOTE_ANY:
        sim_mask_set(warp, op->d, yes ? SIM_ALL : 0);
        break;
    case VOTE_UNIFORM:
        sim_mask_set(warp, op->d, yes == members || !yes ? SIM_ALL : 0);
        break;
    default:
        fill(warp, op, yes);
    }
}

static void active_mask(struct sim_warp *warp, const struct sim_op *op)
{
    fill(warp, op, warp->active);
}

static uint64_t value_at(struct sim_warp *warp, const struct sim_op *op, uint32_t lane)
{
    return op->width == 8 ? ((uint64_t *)sim_row(warp, op->a))[lane]
                          : ((uint32_t *)sim_row(warp, op->a))[lane];
}

/* .any: the lanes with the same value. .all: all of them if they agree, else none. */
static void match(struct sim_warp *warp, const struct sim_op *op)
{
    uint32_t members = members_of(warp, op), results[SIM_LANES] = {0};
    bool agree = true;
    SIM_EACH_ACTIVE(lane, members)
    {
        SIM_EACH_ACTIVE(other, members)
        if (value_at(warp, op, lane) == value_at(warp, op, other))
            results[lane] |= 1u << other;
        agree = agree && results[lane] == members;
    }
    uint32_t *d = sim_row(warp, op->d);
    SIM_EACH_ACTIVE(lane, warp->active)
    d[lane] = op->mode ? (agree ? members : 0) : results[lane];
    if (op->rows[1])
        sim_mask_set(warp, op->rows[1], agree ? SIM_ALL : 0);
}

enum reduction { SUM, LEAST, GREATEST, BITS_AND, BITS_OR, BITS_XOR, REDUCTIONS };

static uint32_t reduce(uint32_t a, uint32_t b, enum reduction how, bool is_signed)
{
    bool less = is_signed ? (int32_t)a < (int32_t)b : a < b;
    switch (how) {
    case SUM:
        return a + b;
    case LEAST:
        return less ? a : b;
    case GREATEST:
        return less ? b : a;
    case BITS_AND:
        return a & b;
    case BITS_OR:
        return a | b;
    default:
        return a ^ b;
    }
}

static void redux(struct sim_warp *warp, const struct sim_op *op)
{
    const uint32_t *a = sim_row(warp, op->a);
    uint32_t members = members_of(warp, op);
    if (!members)
        return;
    uint32_t result = a[sim_lowest(members)];
    SIM_EACH_ACTIVE(lane, members & (members - 1))
    result = reduce(result, a[lane], op->mode, op->is_signed);
    fill(warp, op, result);
}

static bool decode_members(struct sim_decoder *decoder, const struct rung_ptx_operand *operand)
{
    return rung_sim_decode_source(decoder, &decoder->op->rows[0], operand, RUNG_PTX_U32);
}

/* The one word of `words` that stands at the instruction; -1 unless there is exactly one. */
static int find_word(const struct sim_decoder *decoder, const enum rung_ptx_modifier *words, int n)
{
    int found = -1;
    for (int i = 0; i < n; i++)
        if (sim_has(decoder, words[i])) {
            if (found >= 0)
                return -1;
            found = i;
        }
    return found;
}

static bool decode_vote(struct sim_decoder *decoder)
{
    static const enum rung_ptx_modifier words[] = {RUNG_PTX_M_ALL, RUNG_PTX_M_ANY, RUNG_PTX_M_UNI,
                                                   RUNG_PTX_M_BALLOT};
    const struct rung_ptx_operand *operands = decoder->at->operands;
    struct sim_op *op = decoder->op;
    int mode = find_word(decoder, words, 4);
    bool ballot = mode == VOTE_BALLOT;
    if (mode < 0 || (decoder->at->types[0] == RUNG_PTX_B32) != ballot)
        return rung_sim_refuse(decoder, "needs one vote, .b32 for a ballot and .pred for others");
    op->run = vote;
    op->mode = (uint8_t)mode;
    return rung_sim_decode_destination(decoder, &op->d, &operands[0], ballot ? 32 : 1) &&
           rung_sim_decode_predicate(decoder, &op->a, &op->negated, &operands[1]) &&
           decode_members(decoder, &operands[2]);
}

static bool decode_match(struct sim_decoder *decoder)
{
    const struct rung_ptx_operand *operands = decoder->at->operands, *to = operands;
    struct sim_op *op = decoder->op;
    bool all = sim_has(decoder, RUNG_PTX_M_ALL);
    if (all == sim_has(decoder, RUNG_PTX_M_ANY))
        return rung_sim_refuse(decoder, "needs .any or .all");
    op->run = match;
    op->mode = all;
    op->width = (uint8_t)(rung_ptx_type_bits(decoder->at->types[0]) / 8);
    if (to->kind == RUNG_PTX_PAIR) {
        if (!all || !rung_sim_decode_destination(decoder, &op->rows[1], &to->items[1], 1))
            return all ? false : rung_sim_refuse(decoder, "match.any has one result");
        to = to->items;
    }
    return rung_sim_decode_destination(decoder, &op->d, to, 32) &&
           rung_sim_decode_source(decoder, &op->a, &operands[1], decoder->at->types[0]) &&
           decode_members(decoder, &operands[2]);
}

static bool decode_redux(struct sim_decoder *decoder)
{
    static const enum rung_ptx_modifier words[REDUCTIONS] = {RUNG_PTX_M_ADD, RUNG_PTX_M_MIN,
                                                             RUNG_PTX_M_MAX, RUNG_PTX_M_AND,
                                                             RUNG_PTX_M_OR,  RUNG_PTX_M_XOR};
    const struct rung_ptx_operand *operands = decoder->at->operands;
    struct sim_op *op = decoder->op;
    int mode = find_word(decoder, words, REDUCTIONS);
    if (mode < 0 || (decoder->at->types[0] == RUNG_PTX_B32) != (mode >= BITS_AND))
        return rung_sim_refuse(decoder, "needs one operation, on .b32 for and, or, xor");
    op->run = redux;
    op->mode = (uint8_t)mode;
    op->is_signed = decoder->at->types[0] == RUNG_PTX_S32;
    return rung_sim_decode_destination(decoder, &op->d, &operands[0], 32) &&
           rung_sim_decode_source(decoder, &op->a, &operands[1], decoder->at->types[0]) &&
           decode_members(decoder, &operands[2]);
}

bool rung_sim_decode_vote(struct sim_decoder *decoder)
{
    enum rung_ptx_opcode opcode = decoder->at->opcode;
    if (decoder->at->n_types != 1)
        return rung_sim_refuse(decoder, "needs one type");
    if (opcode == RUNG_PTX_OP_ACTIVEMASK) {
        decoder->op->run = active_mask;
        return rung_sim_decode_destination(decoder, &decoder->op->d, &decoder->at->operands[0], 32);
    }
    if (!sim_has(decoder, RUNG_PTX_M_SYNC))
        return rung_sim_refuse(decoder, "only with .sync");
    return opcode == RUNG_PTX_OP_VOTE    ? decode_vote(decoder)
           : opcode == RUNG_PTX_OP_MATCH ? decode_match(decoder)
                                         : decode_redux(decoder);
}
