/* Arithmetic: integers wrap at their width, floats round to nearest and are never contracted. */
#include <math.h>

#include "sim/exec_rows.h"

/* Subnormal operands and results become zeros of their sign where .ftz is written. */
static inline float flush(float x)
{
    return fabsf(x) < 0x1p-126f ? copysignf(0.0f, x) : x;
}

#define NARROW(T, U, W)                                                                            \
    SIM_ROW_FUNCTION(add_##T, U, U, x + y)                                                         \
    SIM_ROW_FUNCTION(sub_##T, U, U, x - y)                                                         \
    SIM_ROW_FUNCTION(mul_##T, U, U, (W)x *(W)y)                                                    \
    SIM_ROW_FUNCTION(mad_##T, U, U, (W)x *(W)y + (W)z)                                             \
    SIM_ROW_FUNCTION(neg_##T, U, U, -(W)x)
NARROW(i16, uint16_t, uint32_t)
NARROW(i32, uint32_t, uint32_t)
NARROW(i64, uint64_t, uint64_t)

/* The upper half, and the whole product at twice the width. */
#define PRODUCTS(T, S, W, U, bits)                                                                 \
    SIM_ROW_FUNCTION(mul_hi_##T, U, S, (U)((W)x * (W)y >> bits))                                   \
    SIM_ROW_FUNCTION(mad_hi_##T, U, S, (U)((U)((W)x * (W)y >> bits) + (U)z))
PRODUCTS(u16, uint16_t, uint32_t, uint16_t, 16)
PRODUCTS(s16, int16_t, int32_t, uint16_t, 16)
PRODUCTS(u32, uint32_t, uint64_t, uint32_t, 32)
PRODUCTS(s32, int32_t, int64_t, uint32_t, 32)
/* 128-bit integers are an extension of the compilers that this project is built with. */
__extension__ typedef unsigned __int128 wide_unsigned;
__extension__ typedef __int128 wide_signed;
PRODUCTS(u64, uint64_t, wide_unsigned, uint64_t, 64)
PRODUCTS(s64, int64_t, wide_signed, uint64_t, 64)

/* mul.wide and mad.wide: the addend has the width of the result. */
#define WIDE(T, S, W, U)                                                                           \
    SIM_ROW_FUNCTION(mul_wide_##T, U, S, (U)((W)x * (W)y))                                         \
    SIM_ROW_FUNCTION4(mad_wide_##T, U, S, S, U, U, (U)((U)((W)x * (W)y) + z))
WIDE(u16, uint16_t, uint32_t, uint32_t)
WIDE(s16, int16_t, int32_t, uint32_t)
WIDE(u32, uint32_t, uint64_t, uint64_t)
WIDE(s32, int32_t, int64_t, uint64_t)

/* By zero all bits are ones, as the machine code for a card leaves them; the most negative by -1
 * wraps. The quotient of two 32-bit numbers is exact in double after truncation: it is at least
 * 2^-32 of itself away from the next integer. */
#define QUOTIENT(x, y) (uint32_t)(int64_t)((double)(x) / (double)(y))
SIM_ROW_FUNCTION(div_u32, uint32_t, uint32_t, y ? QUOTIENT(x, y ? y : 1) : UINT32_MAX)
SIM_ROW_FUNCTION(rem_u32, uint32_t, uint32_t, y ? x - QUOTIENT(x, y ? y : 1) * y : UINT32_MAX)
SIM_ROW_FUNCTION(div_s32, uint32_t, int32_t, y ? QUOTIENT(x, y ? y : 1) : UINT32_MAX)
SIM_ROW_FUNCTION(rem_s32, uint32_t, int32_t,
                 y ? (uint32_t)x - QUOTIENT(x, y ? y : 1) * (uint32_t)y : UINT32_MAX)
SIM_ROW_FUNCTION(div_u16, uint16_t, uint16_t, y ? x / (y ? y : 1) : UINT16_MAX)
SIM_ROW_FUNCTION(rem_u16, uint16_t, uint16_t, y ? x % (y ? y : 1) : UINT16_MAX)
SIM_ROW_FUNCTION(div_s16, uint16_t, int16_t, y ? x / (y ? y : 1) : UINT16_MAX)
SIM_ROW_FUNCTION(rem_s16, uint16_t, int16_t, y ? x % (y ? y : 1) : UINT16_MAX)
SIM_ROW_FUNCTION(div_u64, uint64_t, uint64_t, y ? x / (y ? y : 1) : UINT64_MAX)
SIM_ROW_FUNCTION(rem_u64, uint64_t, uint64_t, y ? x % (y ? y : 1) : UINT64_MAX)
/* -1 apart: the quotient of the most negative number does not exist in C. */
SIM_ROW_FUNCTION(div_s64, uint64_t, int64_t,
                 y == -1 ? -(uint64_t)x
                 : y     ? (uint64_t)(x / (y ? y : 1))
                         : UINT64_MAX)
SIM_ROW_FUNCTION(rem_s64, uint64_t, int64_t,
                 y == -1 ? 0
                 : y     ? (uint64_t)(x % (y ? y : 1))
                         : UINT64_MAX)

#define ORDERED(T, S)                                                                              \
    SIM_ROW_FUNCTION(min_##T, S, S, x < y ? x : y)                                                 \
    SIM_ROW_FUNCTION(max_##T, S, S, x > y ? x : y)
ORDERED(u16, uint16_t)
ORDERED(s16, int16_t)
ORDERED(u32, uint32_t)
ORDERED(s32, int32_t)
ORDERED(u64, uint64_t)
ORDERED(s64, int64_t)
SIM_ROW_FUNCTION(abs_i16, uint16_t, int16_t, x < 0 ? -(uint32_t)x : (uint32_t)x)
SIM_ROW_FUNCTION(abs_i32, uint32_t, int32_t, x < 0 ? -(uint32_t)x : (uint32_t)x)
SIM_ROW_FUNCTION(abs_i64, uint64_t, int64_t, x < 0 ? -(uint64_t)x : (uint64_t)x)

/* A result that is not a number is the canonical one on a card, whatever came in. */
static inline float quiet_f32(float x)
{
    const union {
        uint32_t bits;
        float value;
    } canonical = {0x7fffffff};
    return x == x ? x : canonical.value;
}

/* In double precision a card keeps what the operands carry, as the host does. */
static inline double quiet_f64(double x)
{
    return x;
}

/* -0 is below +0; of a number and none, the number. */
#define FLOAT_MIN(x, y) ((x) < (y) || (y) != (y) || ((x) == (y) && signbit(x)) ? (x) : (y))
#define FLOAT_MAX(x, y) ((x) > (y) || (y) != (y) || ((x) == (y) && !signbit(x)) ? (x) : (y))

#define FLOATS(T, F, quiet, root, multiply_add, in, out)                                           \
    SIM_ROW_FUNCTION(add_##T, F, F, out(quiet(in(x) + in(y))))                                     \
    SIM_ROW_FUNCTION(sub_##T, F, F, out(quiet(in(x)-in(y))))                                       \
    SIM_ROW_FUNCTION(mul_##T, F, F, out(quiet(in(x)*in(y))))                                       \
    SIM_ROW_FUNCTION(div_##T, F, F, out(quiet(in(x) / in(y))))                                     \
    SIM_ROW_FUNCTION(fma_##T, F, F, out(quiet(multiply_add(in(x), in(y), in(z)))))                 \
    SIM_ROW_FUNCTION(sqrt_##T, F, F, out(quiet(root(in(x)))))                                      \
    SIM_ROW_FUNCTION(rcp_##T, F, F, out(quiet(1 / in(x))))                                         \
    SIM_ROW_FUNCTION(min_##T, F, F, quiet(FLOAT_MIN(in(x), in(y))))                                \
    SIM_ROW_FUNCTION(max_##T, F, F, quiet(FLOAT_MAX(in(x), in(y))))
FLOATS(f32, float, quiet_f32, sqrtf, fmaf, , )
FLOATS(f64, double, quiet_f64, sqrt, fma, , )
FLOATS(f32_ftz, float, quiet_f32, sqrtf, fmaf, flush, flush)
/* Only the sign bit changes, of what is no number too. */
SIM_ROW_FUNCTION(abs_f32, uint32_t, uint32_t, x & 0x7fffffff)
SIM_ROW_FUNCTION(neg_f32, uint32_t, uint32_t, x ^ 0x80000000)
SIM_ROW_FUNCTION(abs_f64, uint64_t, uint64_t, x & ~(UINT64_C(1) << 63))
SIM_ROW_FUNCTION(neg_f64, uint64_t, uint64_t, x ^ UINT64_C(1) << 63)
SIM_ROW_FUNCTION(abs_f32_ftz, float, float, fabsf(flush(x)))
SIM_ROW_FUNCTION(neg_f32_ftz, float, float, -flush(x))

enum mode { PLAIN, HIGH, FLUSH };

#define BOTH(OP, name, suffix, unsigned_type, signed_type, mode)                                   \
    {RUNG_PTX_OP_##OP, unsigned_type, mode, name##suffix},                                         \
    {                                                                                              \
        RUNG_PTX_OP_##OP, signed_type, mode, name##suffix                                          \
    }
/* The same bits for both signs. */
#define WRAPPING(OP, name)                                                                         \
    BOTH(OP, name, _i16, RUNG_PTX_U16, RUNG_PTX_S16, PLAIN),                                       \
        BOTH(OP, name, _i32, RUNG_PTX_U32, RUNG_PTX_S32, PLAIN),                                   \
        BOTH(OP, name, _i64, RUNG_PTX_U64, RUNG_PTX_S64, PLAIN)
#define ONE(OP, TYPE, run)                                                                         \
    {                                                                                              \
        RUNG_PTX_OP_##OP, RUNG_PTX_##TYPE, PLAIN, run                                              \
    }
#define SIGNED(OP, name)                                                                           \
    ONE(OP, U16, name##_u16), ONE(OP, S16, name##_s16), ONE(OP, U32, name##_u32),                  \
        ONE(OP, S32, name##_s32), ONE(OP, U64, name##_u64), ONE(OP, S64, name##_s64)
#define HIGHER(OP, name)                                                                           \
    {RUNG_PTX_OP_##OP, RUNG_PTX_U16, HIGH, name##_u16},                                            \
        {RUNG_PTX_OP_##OP, RUNG_PTX_S16, HIGH, name##_s16},                                        \
        {RUNG_PTX_OP_##OP, RUNG_PTX_U32, HIGH, name##_u32},                                        \
        {RUNG_PTX_OP_##OP, RUNG_PTX_S32, HIGH, name##_s32},                                        \
        {RUNG_PTX_OP_##OP, RUNG_PTX_U64, HIGH, name##_u64},                                        \
    {                                                                                              \
        RUNG_PTX_OP_##OP, RUNG_PTX_S64, HIGH, name##_s64                                           \
    }
#define REAL(OP, name)                                                                             \
    ONE(OP, F32, name##_f32), ONE(OP, F64, name##_f64),                                            \
    {                                                                                              \
        RUNG_PTX_OP_##OP, RUNG_PTX_F32, FLUSH, name##_f32_ftz                                      \
    }
#define SPREAD(OP, name)                                                                           \
    ONE(OP, U16, name##_u16), ONE(OP, S16, name##_s16), ONE(OP, U32, name##_u32),                  \
        ONE(OP, S32, name##_s32)

static const struct sim_choice choices[] = {
    WRAPPING(ADD, add),     WRAPPING(SUB, sub),     WRAPPING(MUL, mul),     WRAPPING(MAD, mad),
    HIGHER(MUL, mul_hi),    HIGHER(MAD, mad_hi),    SIGNED(DIV, div),       SIGNED(REM, rem),
    SIGNED(MIN, min),       SIGNED(MAX, max),       REAL(ADD, add),         REAL(SUB, sub),
    REAL(MUL, mul),         REAL(DIV, div),         REAL(FMA, fma),         REAL(SQRT, sqrt),
    REAL(RCP, rcp),         REAL(MIN, min),         REAL(MAX, max),         REAL(ABS, abs),
    REAL(NEG, neg),         ONE(ABS, S16, abs_i16), ONE(ABS, S32, abs_i32), ONE(ABS, S64, abs_i64),
    ONE(NEG, S16, neg_i16), ONE(NEG, S32, neg_i32), ONE(NEG, S64, neg_i64),
};
static const struct sim_choice wide_choices[] = {SPREAD(MUL, mul_wide), SPREAD(MAD, mad_wide)};

/* Which modifiers go with which opcode and type. */
static bool modifiers_fit(const struct sim_decoder *decoder)
{
    enum rung_ptx_opcode opcode = decoder->at->opcode;
    bool real = rung_ptx_type_kind(decoder->at->types[0]) == RUNG_PTX_KIND_FLOAT;
    bool rounds = sim_has(decoder, RUNG_PTX_M_RN), flushes = sim_has(decoder, RUNG_PTX_M_FTZ);
    int part = sim_has(decoder, RUNG_PTX_M_LO) + sim_has(decoder, RUNG_PTX_M_HI) +
               sim_has(decoder, RUNG_PTX_M_WIDE);
    bool product = opcode == RUNG_PTX_OP_MUL || opcode == RUNG_PTX_OP_MAD;
    bool must_round = opcode == RUNG_PTX_OP_FMA || opcode == RUNG_PTX_OP_SQRT ||
                      opcode == RUNG_PTX_OP_RCP || opcode == RUNG_PTX_OP_DIV;
    if (real)
        return !part && (!must_round || rounds) &&
               (!flushes || decoder->at->types[0] == RUNG_PTX_F32);
    return !rounds && !flushes && part == product;
}

bool rung_sim_decode_arith(struct sim_decoder *decoder)
{
    const struct rung_ptx_instruction *at = decoder->at;
    struct sim_op *op = decoder->op;
    enum rung_ptx_type type = at->types[0], last;
    bool wide = sim_has(decoder, RUNG_PTX_M_WIDE);
    if (at->n_types != 1 || !modifiers_fit(decoder))
        return rung_sim_refuse(decoder, "these types or modifiers do not go together");
    if (wide)
        op->run = rung_sim_choose(wide_choices, sizeof wide_choices / sizeof *wide_choices,
                                  at->opcode, type, PLAIN);
    else
        op->run = rung_sim_choose(choices, sizeof choices / sizeof *choices, at->opcode, type,
                                  sim_has(decoder, RUNG_PTX_M_HI)    ? HIGH
                                  : sim_has(decoder, RUNG_PTX_M_FTZ) ? FLUSH
                                                                     : PLAIN);
    if (!op->run)
        return rung_sim_refuse(decoder, "not with this type");
    unsigned bits = rung_ptx_type_bits(type);
    last = !wide ? type : bits == 16 ? RUNG_PTX_U32 : RUNG_PTX_U64;
    uint32_t n = at->n_operands;
    return rung_sim_decode_destination(decoder, &op->d, &at->operands[0], wide ? bits * 2 : bits) &&
           rung_sim_decode_source(decoder, &op->a, &at->operands[1], type) &&
           (n < 3 || rung_sim_decode_source(decoder, &op->b, &at->operands[2], type)) &&
           (n < 4 || rung_sim_decode_source(decoder, &op->c, &at->operands[3], last));
}
