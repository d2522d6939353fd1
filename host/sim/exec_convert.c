/* cvt: the common conversions as rows, the others lane by lane. */
#include <math.h>
#include <string.h>

#include "sim/exec_rows.h"

#define CONVERT(name, D, S) SIM_ROW_FUNCTION4(name, D, S, uint32_t, uint32_t, uint32_t, (D)x)
CONVERT(u64_u32, uint64_t, uint32_t)
CONVERT(s64_s32, int64_t, int32_t)
CONVERT(u32_u64, uint32_t, uint64_t)
CONVERT(u32_u16, uint32_t, uint16_t)
CONVERT(s32_s16, int32_t, int16_t)
CONVERT(u16_u32, uint16_t, uint32_t)
CONVERT(f32_u32, float, uint32_t)
CONVERT(f32_s32, float, int32_t)
CONVERT(f64_u32, double, uint32_t)
CONVERT(f64_s32, double, int32_t)

enum rounding { NEAREST, TO_ZERO, DOWN, UP, NO_ROUNDING };

/* What a conversion does to one lane; kept in the op's rows. */
struct conversion {
    enum rung_ptx_type from, to;
    enum rounding rounding;
    bool saturate, flush;
};

static float half_to_float(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half >> 10 & 31;
    uint32_t fraction = half & 0x3ff, bits;
    float value;
    if (exponent == 31)
        bits = fraction ? 0x7fffffff : sign | 0x7f800000;
    else if (exponent)
        bits = sign | (exponent + 112) << 23 | fraction << 13;
    else
        return (sign ? -1.0f : 1.0f) * (float)fraction * 0x1p-24f;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* To nearest even; what is too large becomes infinite. */
static uint16_t float_to_half(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    float size = fabsf(value);
    if (value != value)
        return 0x7fff;
    if (size >= 65520.0f)
        return sign | 0x7c00;
    if (size < 0x1p-14f) /* subnormal: a multiple of 2^-24, rounded by rintf */
        return (uint16_t)(sign | (uint16_t)rintf(size * 0x1p24f));
    uint32_t magnitude = bits & 0x7fffffff;
    magnitude += 0xfff + (magnitude >> 13 & 1);
    return (uint16_t)(sign | ((magnitude >> 13) - (112u << 10)));
}

static double read_real(const unsigned char *at, enum rung_ptx_type type, bool flush)
{
    float single;
    double value;
    uint16_t half;
    if (type == RUNG_PTX_F64) {
        memcpy(&value, at, sizeof value);
        return value;
    }
    if (type == RUNG_PTX_F16) {
        memcpy(&half, at, sizeof half);
        return (double)half_to_float(half);
    }
    memcpy(&single, at, sizeof single);
    if (flush && fabsf(single) < 0x1p-126f)
        single = copysignf(0.0f, single);
    return (double)single;
}

static uint64_t read_integer(const unsigned char *at, enum rung_ptx_type type)
{
    uint64_t value = 0;
    unsigned bits = rung_ptx_type_bits(type);
    memcpy(&value, at, bits / 8);
    if (rung_ptx_type_kind(type) == RUNG_PTX_KIND_SIGNED && bits < 64 && (value >> (bits - 1) & 1))
        value |= UINT64_MAX << bits;
    return value;
}

static double round_to_integer(double value, enum rounding rounding)
{
    switch (rounding) {
    case NEAREST:
        return rint(value);
    case TO_ZERO:
        return trunc(value);
    case DOWN:
        return floor(value);
    case UP:
        return ceil(value);
    default:
        return value;
    }
}

/* Out of range clamps; no number gives 0, or the top bit where 64 bits take part. */
static uint64_t real_to_integer(double value, const struct conversion *how)
{
    unsigned bits = rung_ptx_type_bits(how->to);
    bool is_signed = rung_ptx_type_kind(how->to) == RUNG_PTX_KIND_SIGNED;
    if (value != value)
        return how->from == RUNG_PTX_F64 || bits == 64 ? UINT64_C(1) << (bits - 1) : 0;
    value = round_to_integer(value, how->rounding);
    double end = ldexp(1.0, (int)(is_signed ? bits - 1 : bits));
    uint64_t highest = is_signed    ? (UINT64_C(1) << (bits - 1)) - 1
                       : bits == 64 ? UINT64_MAX
                                    : (UINT64_C(1) << bits) - 1;
    if (value >= end)
        return highest;
    if (value <= (is_signed ? -end : 0.0))
        return is_signed ? ~highest : 0;
    return is_signed ? (uint64_t)(int64_t)value : (uint64_t)value;
}

static uint64_t saturate_integer(uint64_t value, const struct conversion *how)
{
    bool from_signed = rung_ptx_type_kind(how->from) == RUNG_PTX_KIND_SIGNED;
    bool to_signed = rung_ptx_type_kind(how->to) == RUNG_PTX_KIND_SIGNED;
    unsigned bits = rung_ptx_type_bits(how->to);
    uint64_t highest = to_signed    ? (UINT64_C(1) << (bits - 1)) - 1
                       : bits == 64 ? UINT64_MAX
                                    : (UINT64_C(1) << bits) - 1;
    if (from_signed && (int64_t)value < 0) {
        int64_t lowest = to_signed ? -(int64_t)highest - 1 : 0;
        return (int64_t)value < lowest ? (uint64_t)lowest : value;
    }
    return value > highest ? highest : value;
}

/* A real as the bits of the destination. */
static uint64_t write_real(double value, const struct conversion *how)
{
    uint64_t bits = 0;
    if (how->saturate)
        value = value > 1 ? 1 : value > 0 ? value : 0;
    if (how->to == RUNG_PTX_F64) {
        memcpy(&bits, &value, sizeof value);
    } else if (how->to == RUNG_PTX_F16) {
        bits = float_to_half((float)value);
    } else {
        float single = (float)value;
        if (how->flush && fabsf(single) < 0x1p-126f)
            single = copysignf(0.0f, single);
        memcpy(&bits, &single, sizeof single);
        if (single != single)
            bits = 0x7fffffff;
    }
    return bits;
}

static uint64_t convert_lane(const unsigned char *at, const struct conversion *how)
{
    bool from_real = rung_ptx_type_kind(how->from) == RUNG_PTX_KIND_FLOAT;
    bool to_real = rung_ptx_type_kind(how->to) == RUNG_PTX_KIND_FLOAT;
    if (from_real) {
        double value = read_real(at, how->from, how->flush);
        return to_real ? write_real(round_to_integer(value, how->rounding), how)
                       : real_to_integer(value, how);
    }
    uint64_t value = read_integer(at, how->from);
    if (!to_real)
        return how->saturate ? saturate_integer(value, how) : value;
    uint64_t bits = 0;
    bool is_signed = rung_ptx_type_kind(how->from) == RUNG_PTX_KIND_SIGNED;
    if (how->to == RUNG_PTX_F64) {
        double real = is_signed ? (double)(int64_t)value : (double)value;
        memcpy(&bits, &real, sizeof real);
    } else { /* straight to single, not through double: one rounding */
        float real = is_signed ? (float)(int64_t)value : (float)value;
        memcpy(&bits, &real, sizeof real);
    }
    return bits;
}

/* The value at the width of the destination's type, extended to the width of its register. */
static uint64_t extend(uint64_t value, enum rung_ptx_type type)
{
    unsigned bits = rung_ptx_type_bits(type);
    if (bits == 64)
        return value;
    value &= (UINT64_C(1) << bits) - 1;
    bool negative = rung_ptx_type_kind(type) == RUNG_PTX_KIND_SIGNED && (value >> (bits - 1) & 1);
    return negative ? value | UINT64_MAX << bits : value;
}

static void convert(struct sim_warp *warp, const struct sim_op *op)
{
    const struct conversion how = {
        .from = (enum rung_ptx_type)op->rows[0],
        .to = (enum rung_ptx_type)op->rows[1],
        .rounding = (enum rounding)op->rows[2],
        .saturate = op->rows[3] & 1,
        .flush = op->rows[3] & 2,
    };
    const unsigned char *from = sim_row(warp, op->a);
    unsigned char *to = sim_row(warp, op->d);
    unsigned from_width = op->width, to_width = op->value_bits / 8u;
    SIM_EACH_ACTIVE(lane, warp->active)
    {
        uint64_t value = extend(convert_lane(from + lane * from_width, &how), how.to);
        memcpy(to + lane * to_width, &value, to_width);
    }
}

static const struct {
    enum rung_ptx_type to, from;
    sim_run *run;
} fast[] = {
    {RUNG_PTX_U64, RUNG_PTX_U32, u64_u32},
    {RUNG_PTX_S64, RUNG_PTX_U32, u64_u32},
    {RUNG_PTX_S64, RUNG_PTX_S32, s64_s32},
    {RUNG_PTX_U64, RUNG_PTX_S32, s64_s32},
    {RUNG_PTX_U32, RUNG_PTX_U64, u32_u64},
    {RUNG_PTX_S32, RUNG_PTX_S64, u32_u64},
    {RUNG_PTX_U32, RUNG_PTX_U16, u32_u16},
    {RUNG_PTX_S32, RUNG_PTX_S16, s32_s16},
    {RUNG_PTX_U16, RUNG_PTX_U32, u16_u32},
    {RUNG_PTX_F32, RUNG_PTX_U32, f32_u32},
    {RUNG_PTX_F32, RUNG_PTX_S32, f32_s32},
    {RUNG_PTX_F64, RUNG_PTX_U32, f64_u32},
    {RUNG_PTX_F64, RUNG_PTX_S32, f64_s32},
};

/* One of four rounding modifiers, or none; false for two. */
static bool find_rounding(const struct sim_decoder *decoder, enum rung_ptx_modifier first,
                          enum rounding *rounding)
{
    *rounding = NO_ROUNDING;
    for (int k = 0; k < 4; k++)
        if (sim_has(decoder, (enum rung_ptx_modifier)(first + k))) {
            if (*rounding != NO_ROUNDING)
                return false;
            *rounding = (enum rounding)k;
        }
    return true;
}

/* Which rounding the two types ask for; only what is computed exactly is let through. */
static bool rounding_fits(const struct conversion *how, enum rounding real, enum rounding whole)
{
    bool from_real = rung_ptx_type_kind(how->from) == RUNG_PTX_KIND_FLOAT;
    bool to_real = rung_ptx_type_kind(how->to) == RUNG_PTX_KIND_FLOAT;
    bool half = how->from == RUNG_PTX_F16 || how->to == RUNG_PTX_F16;
    if (half && (how->from == RUNG_PTX_F16 ? how->to != RUNG_PTX_F32 : how->from != RUNG_PTX_F32))
        return false;
    if (from_real && !to_real)
        return real == NO_ROUNDING && whole != NO_ROUNDING;
    if (!from_real && to_real)
        return real == NEAREST && whole == NO_ROUNDING;
    if (!from_real)
        return real == NO_ROUNDING && whole == NO_ROUNDING;
    bool narrows = rung_ptx_type_bits(how->to) < rung_ptx_type_bits(how->from);
    if (narrows)
        return real == NEAREST && whole == NO_ROUNDING;
    return real == NO_ROUNDING && (how->from == how->to || whole == NO_ROUNDING);
}

bool rung_sim_decode_convert(struct sim_decoder *decoder)
{
    const struct rung_ptx_instruction *at = decoder->at;
    struct sim_op *op = decoder->op;
    enum rounding real, whole;
    uint8_t from_bits;
    if (at->n_types != 2)
        return rung_sim_refuse(decoder, "needs two types");
    struct conversion how = {.to = at->types[0],
                             .from = at->types[1],
                             .saturate = sim_has(decoder, RUNG_PTX_M_SAT),
                             .flush = sim_has(decoder, RUNG_PTX_M_FTZ)};
    if (!find_rounding(decoder, RUNG_PTX_M_RN, &real) ||
        !find_rounding(decoder, RUNG_PTX_M_RNI, &whole) || !rounding_fits(&how, real, whole))
        return rung_sim_refuse(decoder, "not with this rounding");
    if (how.flush && how.to != RUNG_PTX_F32 && how.from != RUNG_PTX_F32)
        return rung_sim_refuse(decoder, ".ftz without .f32");
    if (!rung_sim_decode_wide(decoder, &op->d, &op->value_bits, &at->operands[0], how.to) ||
        !rung_sim_decode_wide(decoder, &op->a, &from_bits, &at->operands[1], how.from))
        return false;
    op->run = convert;
    op->width = from_bits / 8;
    op->rows[0] = how.from;
    op->rows[1] = how.to;
    op->rows[2] = whole;
    op->rows[3] = (uint32_t)how.saturate | (uint32_t)how.flush << 1;
    bool exact_width =
        op->value_bits == rung_ptx_type_bits(how.to) && from_bits == rung_ptx_type_bits(how.from);
    for (size_t i = 0; i < sizeof fast / sizeof *fast; i++)
        if (fast[i].to == how.to && fast[i].from == how.from && exact_width && !how.saturate &&
            !how.flush) {
            op->run = fast[i].run;
            op->rows[0] = 0;
        }
    return true;
}
