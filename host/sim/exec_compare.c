/* setp and selp: comparisons into masks, and choices by one. */
#include <math.h>

#include "sim/exec_rows.h"

enum combination { ALONE, WITH_AND, WITH_OR, WITH_XOR };

static uint32_t combine(uint32_t bits, uint32_t other, uint8_t how)
{
    switch (how) {
    case WITH_AND:
        return bits & other;
    case WITH_OR:
        return bits | other;
    case WITH_XOR:
        return bits ^ other;
    default:
        return bits;
    }
}

/* Both results: the comparison and its opposite, each combined with the predicate operand. */
static void set_masks(struct sim_warp *warp, const struct sim_op *op, uint32_t bits)
{
    uint32_t other = 0;
    if (op->mode != ALONE)
        other = *sim_mask(warp, op->c) ^ (op->negated ? SIM_ALL : 0);
    if (op->d)
        sim_mask_set(warp, op->d, combine(bits, other, op->mode));
    if (op->rows[1])
        sim_mask_set(warp, op->rows[1], combine(~bits, other, op->mode));
}

#define COMPARE(name, S, expression)                                                               \
    SIM_ROWS static void name(struct sim_warp *warp, const struct sim_op *op)                      \
    {                                                                                              \
        const S *a = sim_row(warp, op->a), *b = sim_row(warp, op->b);                              \
        uint32_t bits = 0;                                                                         \
        SIM_EACH_LANE(i)                                                                           \
        {                                                                                          \
            S x = a[i], y = b[i];                                                                  \
            bits |= (uint32_t)(expression) << i;                                                   \
        }                                                                                          \
        set_masks(warp, op, bits);                                                                 \
    }

#define EQUALITY(T, U) COMPARE(eq_##T, U, x == y) COMPARE(ne_##T, U, x != y)
#define ORDER(T, S)                                                                                \
    COMPARE(lt_##T, S, x < y)                                                                      \
    COMPARE(le_##T, S, x <= y) COMPARE(gt_##T, S, x > y) COMPARE(ge_##T, S, x >= y)
EQUALITY(16, uint16_t)
EQUALITY(32, uint32_t)
EQUALITY(64, uint64_t)
ORDER(u16, uint16_t)
ORDER(s16, int16_t)
ORDER(u32, uint32_t)
ORDER(s32, int32_t)
ORDER(u64, uint64_t)
ORDER(s64, int64_t)

static inline float flush(float x)
{
    return fabsf(x) < 0x1p-126f ? copysignf(0.0f, x) : x;
}

/* Without u a comparison with what is no number is false, with u it is true. */
#define REAL(T, F, in)                                                                             \
    COMPARE(eq_##T, F, in(x) == in(y))                                                             \
    COMPARE(ne_##T, F, in(x) < in(y) || in(x) > in(y))                                             \
    COMPARE(lt_##T, F, in(x) < in(y))                                                              \
    COMPARE(le_##T, F, in(x) <= in(y))                                                             \
    COMPARE(gt_##T, F, in(x) > in(y))                                                              \
    COMPARE(ge_##T, F, in(x) >= in(y))                                                             \
    COMPARE(equ_##T, F, !(in(x) < in(y) || in(x) > in(y)))                                         \
    COMPARE(neu_##T, F, in(x) != in(y))                                                            \
    COMPARE(ltu_##T, F, !(in(x) >= in(y)))                                                         \
    COMPARE(leu_##T, F, !(in(x) > in(y)))                                                          \
    COMPARE(gtu_##T, F, !(in(x) <= in(y)))                                                         \
    COMPARE(geu_##T, F, !(in(x) < in(y)))                                                          \
    COMPARE(num_##T, F, x == x && y == y)                                                          \
    COMPARE(nan_##T, F, x != x || y != y)
REAL(f32, float, )
REAL(f64, double, )
REAL(f32_ftz, float, flush)

#define ROW(TYPE, OPERATOR, run)                                                                   \
    {                                                                                              \
        RUNG_PTX_OP_SETP, RUNG_PTX_##TYPE, RUNG_PTX_M_##OPERATOR, run                              \
    }
#define SAME(TYPE, bits) ROW(TYPE, EQ, eq_##bits), ROW(TYPE, NE, ne_##bits)
#define ORDERED(TYPE, T)                                                                           \
    ROW(TYPE, LT, lt_##T), ROW(TYPE, LE, le_##T), ROW(TYPE, GT, gt_##T), ROW(TYPE, GE, ge_##T)
#define UNSIGNED(TYPE, T)                                                                          \
    ROW(TYPE, LO, lt_##T), ROW(TYPE, LS, le_##T), ROW(TYPE, HI, gt_##T), ROW(TYPE, HS, ge_##T)
#define REALS(TYPE, T)                                                                             \
    SAME(TYPE, T), ORDERED(TYPE, T), ROW(TYPE, EQU, equ_##T), ROW(TYPE, NEU, neu_##T),             \
        ROW(TYPE, LTU, ltu_##T), ROW(TYPE, LEU, leu_##T), ROW(TYPE, GTU, gtu_##T),                 \
        ROW(TYPE, GEU, geu_##T), ROW(TYPE, NUM, num_##T), ROW(TYPE, ISNAN, nan_##T)

static const struct sim_choice comparisons[] = {
    SAME(B16, 16),      SAME(U16, 16),      SAME(S16, 16),     SAME(B32, 32),
    SAME(U32, 32),      SAME(S32, 32),      SAME(B64, 64),     SAME(U64, 64),
    SAME(S64, 64),      ORDERED(U16, u16),  ORDERED(S16, s16), ORDERED(U32, u32),
    ORDERED(S32, s32),  ORDERED(U64, u64),  ORDERED(S64, s64), UNSIGNED(U16, u16),
    UNSIGNED(U32, u32), UNSIGNED(U64, u64), REALS(F32, f32),   REALS(F64, f64),
};
static const struct sim_choice flushed[] = {REALS(F32, f32_ftz)};

#define SELECT(bits, U)                                                                            \
    SIM_ROWS static void select_##bits(struct sim_warp *warp, const struct sim_op *op)             \
    {                                                                                              \
        U *d = sim_row(warp, op->d);                                                               \
        const U *a = sim_row(warp, op->a), *b = sim_row(warp, op->b);                              \
        const uint32_t *lanes = warp->lanes;                                                       \
        uint32_t mask = *sim_mask(warp, op->c) ^ (op->negated ? SIM_ALL : 0);                      \
        SIM_EACH_LANE(i)                                                                           \
        {                                                                                          \
            U value = mask >> i & 1 ? a[i] : b[i];                                                 \
            d[i] = lanes[i] ? value : d[i];                                                        \
        }                                                                                          \
    }
SELECT(16, uint16_t)
SELECT(32, uint32_t)
SELECT(64, uint64_t)

/* The comparison among the modifiers; -1 unless there is exactly one. */
static int find_operator(const struct sim_decoder *decoder)
{
    int found = -1;
    for (int m = 0; m < RUNG_PTX_M_COUNT; m++) {
        bool is_operator = (m >= RUNG_PTX_M_EQ && m <= RUNG_PTX_M_ISNAN) || m == RUNG_PTX_M_LO ||
                           m == RUNG_PTX_M_HI;
        if (!is_operator || !sim_has(decoder, (enum rung_ptx_modifier)m))
            continue;
        if (found >= 0)
            return -1;
        found = m;
    }
    return found;
}

static bool decode_results(struct sim_decoder *decoder)
{
    const struct rung_ptx_operand *first = &decoder->at->operands[0];
    struct sim_op *op = decoder->op;
    if (first->kind != RUNG_PTX_PAIR)
        return rung_sim_decode_destination(decoder, &op->d, first, 1);
    return (first->items[0].kind == RUNG_PTX_SINK ||
            rung_sim_decode_destination(decoder, &op->d, &first->items[0], 1)) &&
           (first->items[1].kind == RUNG_PTX_SINK ||
            rung_sim_decode_destination(decoder, &op->rows[1], &first->items[1], 1));
}

static bool decode_setp(struct sim_decoder *decoder)
{
    const struct rung_ptx_instruction *at = decoder->at;
    struct sim_op *op = decoder->op;
    int comparison = find_operator(decoder);
    int combinations = sim_has(decoder, RUNG_PTX_M_AND) + sim_has(decoder, RUNG_PTX_M_OR) +
                       sim_has(decoder, RUNG_PTX_M_XOR);
    bool flush_inputs = sim_has(decoder, RUNG_PTX_M_FTZ);
    if (comparison < 0 || combinations > 1 || (at->n_operands == 4) != (combinations == 1))
        return rung_sim_refuse(decoder, "needs one comparison, and a predicate for and, or, xor");
    op->mode = sim_has(decoder, RUNG_PTX_M_AND)   ? WITH_AND
               : sim_has(decoder, RUNG_PTX_M_OR)  ? WITH_OR
               : sim_has(decoder, RUNG_PTX_M_XOR) ? WITH_XOR
                                                  : ALONE;
    op->run = rung_sim_choose(flush_inputs ? flushed : comparisons,
                              flush_inputs ? sizeof flushed / sizeof *flushed
                                           : sizeof comparisons / sizeof *comparisons,
                              RUNG_PTX_OP_SETP, at->types[0], (uint8_t)comparison);
    if (!op->run)
        return rung_sim_refuse(decoder, "not with this type");
    return decode_results(decoder) &&
           rung_sim_decode_source(decoder, &op->a, &at->operands[1], at->types[0]) &&
           rung_sim_decode_source(decoder, &op->b, &at->operands[2], at->types[0]) &&
           (op->mode == ALONE ||
            rung_sim_decode_predicate(decoder, &op->c, &op->negated, &at->operands[3]));
}

static bool decode_selp(struct sim_decoder *decoder)
{
    const struct rung_ptx_instruction *at = decoder->at;
    struct sim_op *op = decoder->op;
    unsigned bits = rung_ptx_type_bits(at->types[0]);
    op->run = bits == 16 ? select_16 : bits == 32 ? select_32 : select_64;
    return rung_sim_decode_destination(decoder, &op->d, &at->operands[0], bits) &&
           rung_sim_decode_source(decoder, &op->a, &at->operands[1], at->types[0]) &&
           rung_sim_decode_source(decoder, &op->b, &at->operands[2], at->types[0]) &&
           rung_sim_decode_predicate(decoder, &op->c, &op->negated, &at->operands[3]);
}

bool rung_sim_decode_compare(struct sim_decoder *decoder)
{
    if (decoder->at->n_types != 1)
        return rung_sim_refuse(decoder, "needs one type");
    return decoder->at->opcode == RUNG_PTX_OP_SETP ? decode_setp(decoder) : decode_selp(decoder);
}
