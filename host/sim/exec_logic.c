/* Bit operations: and, or, shifts, counts, fields, permutations. */
#include "sim/exec_rows.h"

#define WIDTHS(name, expression)                                                                   \
    SIM_ROW_FUNCTION(name##_16, uint16_t, uint16_t, expression)                                    \
    SIM_ROW_FUNCTION(name##_32, uint32_t, uint32_t, expression)                                    \
    SIM_ROW_FUNCTION(name##_64, uint64_t, uint64_t, expression)
WIDTHS(and, x &y)
WIDTHS(or, x | y)
WIDTHS(xor, x ^ y)
WIDTHS(not, ~x)
WIDTHS(cnot, x == 0)

/* Amounts are 32 bits wide whatever is shifted, and clamp at its width. */
#define SHIFTS(T, U, S, bits)                                                                      \
    SIM_ROW_FUNCTION4(shl_##T, U, U, uint32_t, U, uint32_t,                                        \
                      y < bits ? (U)((U)x << (y & (bits - 1))) : 0)                                \
    SIM_ROW_FUNCTION4(shr_u##T, U, U, uint32_t, U, uint32_t,                                       \
                      y < bits ? (U)((U)x >> (y & (bits - 1))) : 0)                                \
    SIM_ROW_FUNCTION4(shr_s##T, S, S, uint32_t, S, uint32_t, x >> (y < bits ? y : bits - 1))
SHIFTS(16, uint16_t, int16_t, 16)
SHIFTS(32, uint32_t, int32_t, 32)
SHIFTS(64, uint64_t, int64_t, 64)

/* The funnel: 64 bits of {y, x} shifted, the upper or lower word kept. */
#define PAIR ((uint64_t)y << 32 | x)
SIM_ROW_FUNCTION(shf_l_clamp, uint32_t, uint32_t, z < 32 ? PAIR << (z & 31) >> 32 : x)
SIM_ROW_FUNCTION(shf_l_wrap, uint32_t, uint32_t, PAIR << (z & 31) >> 32)
SIM_ROW_FUNCTION(shf_r_clamp, uint32_t, uint32_t, z < 32 ? PAIR >> (z & 31) : y)
SIM_ROW_FUNCTION(shf_r_wrap, uint32_t, uint32_t, PAIR >> (z & 31))

SIM_ROW_FUNCTION(popc_32, uint32_t, uint32_t, __builtin_popcount(x))
SIM_ROW_FUNCTION4(popc_64, uint32_t, uint64_t, uint32_t, uint32_t, uint32_t,
                  __builtin_popcountll(x))
SIM_ROW_FUNCTION(clz_32, uint32_t, uint32_t, x ? __builtin_clz(x | 1) : 32)
SIM_ROW_FUNCTION4(clz_64, uint32_t, uint64_t, uint32_t, uint32_t, uint32_t,
                  x ? __builtin_clzll(x | 1) : 64)

/* The highest bit that differs from the sign; all ones if there is none. With .shiftamt the
 * distance from the top. */
#define FIND32(v) ((v) ? 31 - (uint32_t)__builtin_clz((v) | 1) : UINT32_MAX)
#define FIND64(v) ((v) ? 63 - (uint32_t)__builtin_clzll((v) | 1) : UINT32_MAX)
#define AMOUNT(found, top) ((found) == UINT32_MAX ? UINT32_MAX : (top) - (found))
#define MAGNITUDE(v) ((v) < 0 ? ~(v) : (v))
#define FINDS(T, S, U, FIND, top, v)                                                               \
    SIM_ROW_FUNCTION4(bfind_##T, uint32_t, S, uint32_t, uint32_t, uint32_t, FIND((U)(v)))          \
    SIM_ROW_FUNCTION4(bfind_amount_##T, uint32_t, S, uint32_t, uint32_t, uint32_t,                 \
                      AMOUNT(FIND((U)(v)), top))
FINDS(u32, uint32_t, uint32_t, FIND32, 31, x)
FINDS(s32, int32_t, uint32_t, FIND32, 31, MAGNITUDE(x))
FINDS(u64, uint64_t, uint64_t, FIND64, 63, x)
FINDS(s64, int64_t, uint64_t, FIND64, 63, MAGNITUDE(x))

static inline uint32_t reverse_32(uint32_t x)
{
    x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
    x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(x);
}
SIM_ROW_FUNCTION(brev_32, uint32_t, uint32_t, reverse_32(x))
SIM_ROW_FUNCTION(brev_64, uint64_t, uint64_t,
                 (uint64_t)reverse_32((uint32_t)x) << 32 | reverse_32((uint32_t)(x >> 32)))

/* Position and length are taken modulo 256. */
static inline uint64_t low_ones(uint32_t n)
{
    return n >= 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
}

/* Bits [at, at + length) of a value of `bits` bits; signed fields repeat their top bit, or the
 * value's where the field reaches over its end. */
static inline uint64_t extract(uint64_t value, uint32_t at, uint32_t length, uint32_t bits,
                               bool is_signed)
{
    at &= 0xff;
    length &= 0xff;
    if (!length)
        return 0;
    uint64_t field = at < bits ? (value & low_ones(bits)) >> at & low_ones(length) : 0;
    uint32_t top = at + length - 1 < bits ? at + length - 1 : bits - 1;
    bool ones = is_signed && (value >> top & 1);
    uint32_t kept = at >= bits ? 0 : top - at + 1;
    return ones ? field | ~low_ones(kept) : field;
}
#define EXTRACTS(T, U, bits, is_signed)                                                            \
    SIM_ROW_FUNCTION4(bfe_##T, U, U, uint32_t, uint32_t, uint32_t,                                 \
                      extract(x, y, z, bits, is_signed))
EXTRACTS(u32, uint32_t, 32, false)
EXTRACTS(s32, uint32_t, 32, true)
EXTRACTS(u64, uint64_t, 64, false)
EXTRACTS(s64, uint64_t, 64, true)

static inline uint64_t insert(uint64_t field, uint64_t into, uint32_t at, uint32_t length,
                              uint32_t bits)
{
    at &= 0xff;
    length &= 0xff;
    if (!length || at >= bits)
        return into;
    uint64_t mask = low_ones(length) << at;
    return (into & ~mask) | (field << at & mask);
}
SIM_ROW_FUNCTION4(bfi_32, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, insert(x, y, z, w, 32))
SIM_ROW_FUNCTION4(bfi_64, uint64_t, uint64_t, uint64_t, uint32_t, uint32_t, insert(x, y, z, w, 64))

/* Any function of three bits: `op->mode` holds its eight results. */
static inline uint32_t combine(uint32_t x, uint32_t y, uint32_t z, uint32_t table)
{
    uint32_t result = 0;
    for (unsigned k = 0; k < 8; k++) {
        uint32_t term = (k & 4 ? x : ~x) & (k & 2 ? y : ~y) & (k & 1 ? z : ~z);
        result |= table >> k & 1 ? term : 0;
    }
    return result;
}
SIM_ROW_FUNCTION(lop3, uint32_t, uint32_t, combine(x, y, z, op->mode))

/* Four bytes picked from eight; a selector's top bit repeats the sign instead. */
static inline uint32_t permute(uint32_t x, uint32_t y, uint32_t selectors)
{
    uint64_t bytes = (uint64_t)y << 32 | x;
    uint32_t result = 0;
    for (unsigned k = 0; k < 4; k++) {
        uint32_t selector = selectors >> 4 * k & 15;
        uint32_t byte = bytes >> 8 * (selector & 7) & 0xff;
        if (selector & 8)
            byte = byte & 0x80 ? 0xff : 0;
        result |= byte << 8 * k;
    }
    return result;
}
SIM_ROW_FUNCTION(prmt, uint32_t, uint32_t, permute(x, y, z))

#define MASKS(name, expression)                                                                    \
    static void name##_pred(struct sim_warp *warp, const struct sim_op *op)                        \
    {                                                                                              \
        uint32_t x = *sim_mask(warp, op->a), y = op->b ? *sim_mask(warp, op->b) : 0;               \
        (void)y;                                                                                   \
        sim_mask_set(warp, op->d, expression);                                                     \
    }
MASKS(and, x &y)
MASKS(or, x | y)
MASKS(xor, x ^ y)
MASKS(not, ~x)

#define ROW(OP, TYPE, run)                                                                         \
    {                                                                                              \
        RUNG_PTX_OP_##OP, RUNG_PTX_##TYPE, 0, run                                                  \
    }
#define BY_WIDTH(OP, name) ROW(OP, B16, name##_16), ROW(OP, B32, name##_32), ROW(OP, B64, name##_64)
#define WITH_PRED(OP, name) BY_WIDTH(OP, name), ROW(OP, PRED, name##_pred)
#define FOUND(OP, mode, name)                                                                      \
    {RUNG_PTX_OP_##OP, RUNG_PTX_U32, mode, name##_u32},                                            \
        {RUNG_PTX_OP_##OP, RUNG_PTX_S32, mode, name##_s32},                                        \
        {RUNG_PTX_OP_##OP, RUNG_PTX_U64, mode, name##_u64},                                        \
    {                                                                                              \
        RUNG_PTX_OP_##OP, RUNG_PTX_S64, mode, name##_s64                                           \
    }

enum funnel { LEFT = 1, WRAP = 2 };

static const struct sim_choice choices[] = {
    WITH_PRED(AND, and),
    WITH_PRED(OR, or),
    WITH_PRED(XOR, xor),
    WITH_PRED(NOT, not ),
    BY_WIDTH(CNOT, cnot),
    BY_WIDTH(SHL, shl),
    ROW(SHR, B16, shr_u16),
    ROW(SHR, B32, shr_u32),
    ROW(SHR, B64, shr_u64),
    ROW(SHR, U16, shr_u16),
    ROW(SHR, U32, shr_u32),
    ROW(SHR, U64, shr_u64),
    ROW(SHR, S16, shr_s16),
    ROW(SHR, S32, shr_s32),
    ROW(SHR, S64, shr_s64),
    ROW(POPC, B32, popc_32),
    ROW(POPC, B64, popc_64),
    ROW(CLZ, B32, clz_32),
    ROW(CLZ, B64, clz_64),
    ROW(BREV, B32, brev_32),
    ROW(BREV, B64, brev_64),
    FOUND(BFIND, 0, bfind),
    FOUND(BFIND, 1, bfind_amount),
    FOUND(BFE, 0, bfe),
    ROW(BFI, B32, bfi_32),
    ROW(BFI, B64, bfi_64),
    ROW(LOP3, B32, lop3),
    ROW(PRMT, B32, prmt),
    {RUNG_PTX_OP_SHF, RUNG_PTX_B32, LEFT,        shf_l_clamp},
    {RUNG_PTX_OP_SHF, RUNG_PTX_B32, LEFT | WRAP, shf_l_wrap },
    {RUNG_PTX_OP_SHF, RUNG_PTX_B32, 0,           shf_r_clamp},
    {RUNG_PTX_OP_SHF, RUNG_PTX_B32, WRAP,        shf_r_wrap },
};

/* Whether a source is 32 bits wide whatever the type: amounts, positions, lengths. */
static bool is_count(enum rung_ptx_opcode opcode, uint32_t operand)
{
    switch (opcode) {
    case RUNG_PTX_OP_SHL:
    case RUNG_PTX_OP_SHR:
        return operand == 2;
    case RUNG_PTX_OP_BFE:
        return operand >= 2;
    case RUNG_PTX_OP_BFI:
        return operand >= 3;
    default:
        return false;
    }
}

static bool decode_sources(struct sim_decoder *decoder)
{
    const struct rung_ptx_instruction *at = decoder->at;
    uint32_t *const places[] = {&decoder->op->a, &decoder->op->b, &decoder->op->c,
                                &decoder->op->rows[0]};
    for (uint32_t i = 1; i < at->n_operands; i++) {
        enum rung_ptx_type type = is_count(at->opcode, i) ? RUNG_PTX_U32 : at->types[0];
        if (!rung_sim_decode_source(decoder, places[i - 1], &at->operands[i], type))
            return false;
    }
    return true;
}

static bool decode_predicates(struct sim_decoder *decoder)
{
    const struct rung_ptx_instruction *at = decoder->at;
    uint32_t *const places[] = {&decoder->op->d, &decoder->op->a, &decoder->op->b};
    bool negated = false;
    for (uint32_t i = 0; i < at->n_operands; i++)
        if (!(i ? rung_sim_decode_predicate(decoder, places[i], &negated, &at->operands[i])
                : rung_sim_decode_destination(decoder, places[i], &at->operands[i], 1)))
            return false;
    return !negated || rung_sim_refuse(decoder, "a negated source");
}

static bool decode_lop3(struct sim_decoder *decoder)
{
    const struct rung_ptx_instruction *at = decoder->at;
    struct sim_op *op = decoder->op;
    uint64_t table;
    if (!rung_sim_decode_destination(decoder, &op->d, &at->operands[0], 32) ||
        !rung_sim_decode_source(decoder, &op->a, &at->operands[1], RUNG_PTX_B32) ||
        !rung_sim_decode_source(decoder, &op->b, &at->operands[2], RUNG_PTX_B32) ||
        !rung_sim_decode_source(decoder, &op->c, &at->operands[3], RUNG_PTX_B32) ||
        !rung_sim_decode_literal(decoder, &table, &at->operands[4]))
        return false;
    op->mode = (uint8_t)table;
    return table < 256 || rung_sim_refuse(decoder, "the table of lop3 is 0 to 255");
}

bool rung_sim_decode_logic(struct sim_decoder *decoder)
{
    const struct rung_ptx_instruction *at = decoder->at;
    struct sim_op *op = decoder->op;
    enum rung_ptx_opcode opcode = at->opcode;
    uint8_t mode = 0;
    bool left = sim_has(decoder, RUNG_PTX_M_L), wrap = sim_has(decoder, RUNG_PTX_M_WRAP);
    if (opcode == RUNG_PTX_OP_BFIND)
        mode = sim_has(decoder, RUNG_PTX_M_SHIFTAMT);
    if (opcode == RUNG_PTX_OP_SHF) {
        if (left == sim_has(decoder, RUNG_PTX_M_R) || wrap == sim_has(decoder, RUNG_PTX_M_CLAMP))
            return rung_sim_refuse(decoder, "needs .l or .r and .clamp or .wrap");
        mode = (uint8_t)((left ? LEFT : 0) | (wrap ? WRAP : 0));
    }
    op->run = rung_sim_choose(choices, sizeof choices / sizeof *choices, opcode,
                              at->n_types == 1 ? at->types[0] : RUNG_PTX_TYPE_NONE, mode);
    if (!op->run)
        return rung_sim_refuse(decoder, "not with this type");
    if (at->types[0] == RUNG_PTX_PRED)
        return decode_predicates(decoder);
    if (opcode == RUNG_PTX_OP_LOP3)
        return decode_lop3(decoder);
    bool counts =
        opcode == RUNG_PTX_OP_POPC || opcode == RUNG_PTX_OP_CLZ || opcode == RUNG_PTX_OP_BFIND;
    unsigned bits = counts ? 32 : rung_ptx_type_bits(at->types[0]);
    return rung_sim_decode_destination(decoder, &op->d, &at->operands[0], bits) &&
           decode_sources(decoder);
}
