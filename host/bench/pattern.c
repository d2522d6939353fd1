/* Owns the values of the patterns and their exact or compensated sums. Values are drawn by index,
 * not in sequence, so that any part of an array can be made alone. */
#define _POSIX_C_SOURCE 200809L
#include "bench/pattern.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CHUNK 1024              /* elements at a time: the draws stay in the first-level cache */
#define STAGE_ELEMENTS 4194304u /* of one copy to the device */
#define PIECES 16               /* of one stage, for as many threads */
#define ALONE_ELEMENTS 262144   /* fewer are made sooner than a thread */

void rung_pattern_word(const struct rung_pattern *pattern, char word[48])
{
    static const char *const words[] = {"ones", "bit", "random01", "weights", "random"};
    if (pattern->kind == RUNG_PATTERN_BIT)
        snprintf(word, 48, "bit %u%s", pattern->bit,
                 pattern->vector ? " of the second vector" : "");
    else
        snprintf(word, 48, "%s", words[pattern->kind]);
}

/* Draws. */

/* An integer hash of full avalanche (the constants are those of Chris Wellons' lowbias32). */
static inline uint32_t mix(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    x ^= x >> 16;
    return x;
}

/* `count` hashes of the indices from `first`; `stream` tells uses of the same seed apart. */
static void draw(uint32_t *out, uint64_t seed, unsigned stream, uint64_t first, size_t count)
{
    uint32_t high = (uint32_t)(first >> 32);
    uint32_t salt = mix((uint32_t)seed + 0x9e3779b9u * (stream + 1)) ^ mix((uint32_t)(seed >> 32));
    uint32_t low = (uint32_t)first;
    for (size_t i = 0; i < count; i++) {
        uint32_t index = low + (uint32_t)i;
        uint32_t carry = index < low; /* a chunk may cross 2^32 */
        out[i] = mix(mix(index + salt) ^ (high + carry) * 0x85ebca6bu ^ salt);
    }
}

/* The largest whole number below which the type holds all of them; 0 where it wraps. */
static uint64_t exact_limit(enum rung_type type)
{
    return type == RUNG_TYPE_F32   ? (uint64_t)1 << 24
           : type == RUNG_TYPE_F64 ? (uint64_t)1 << 53
                                   : 0;
}

/* Weights run from 0 to this less one; their products, for dot, stay within the limit in sum. */
static uint64_t weight_range(enum rung_op op, enum rung_type type, uint64_t n)
{
    const uint64_t most = (uint64_t)1 << 32;
    uint64_t limit = exact_limit(type);
    if (limit == 0)
        return most;
    uint64_t range = n ? limit / n : limit;
    if (op == RUNG_OP_DOT)
        range = (uint64_t)sqrt((double)range);
    return range < 2 ? 2 : range > most ? most : range;
}

/* Elements that count, of 2^32; all of them unless n ones would pass the exact limit. */
static uint64_t density(enum rung_type type, uint64_t n)
{
    const uint64_t all = (uint64_t)1 << 32;
    uint64_t limit = exact_limit(type);
    return limit == 0 || n <= limit ? all : (uint64_t)ldexp((double)(limit / 2) / (double)n, 32);
}

static void fill_constant(uint32_t *out, uint32_t value, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = value;
}

static void thin(uint32_t *values, const struct rung_pattern *pattern,
                 const struct rung_pattern_part *part, uint64_t first, size_t count)
{
    uint64_t kept = density(part->type, part->n);
    if (kept >> 32 || part->vector == 1) /* of dot one vector is enough */
        return;
    uint32_t hashes[CHUNK];
    draw(hashes, pattern->seed, 7, first, count);
    for (size_t i = 0; i < count; i++)
        values[i] = hashes[i] < kept ? values[i] : 0;
}

/* The whole-number values of an exact pattern. */
static void draw_values(uint32_t *out, const struct rung_pattern *pattern,
                        const struct rung_pattern_part *part, uint64_t first, size_t count)
{
    switch (pattern->kind) {
    case RUNG_PATTERN_BIT:
        if (pattern->vector == part->vector) {
            for (size_t i = 0; i < count; i++)
                out[i] = (uint32_t)((first + i) >> pattern->bit) & 1;
            break;
        }
        fill_constant(out, 1, count);
        break;
    case RUNG_PATTERN_RANDOM01:
        draw(out, pattern->seed, part->vector, first, count);
        for (size_t i = 0; i < count; i++)
            out[i] >>= 31;
        break;
    case RUNG_PATTERN_WEIGHTS: {
        uint64_t range = weight_range(part->op, part->type, part->n);
        draw(out, pattern->seed, 2 + part->vector, first, count);
        for (size_t i = 0; i < count; i++)
            out[i] = (uint32_t)((out[i] * range) >> 32);
        break;
    }
    default:
        fill_constant(out, 1, count);
    }
    thin(out, pattern, part, first, count);
}

/* 24 or 53 random bits in [-1, 1): exact in the type, and in a double. */
static void fill_random(void *elements, const struct rung_pattern *pattern,
                        const struct rung_pattern_part *part, uint64_t first, size_t count)
{
    uint32_t high[CHUNK], low[CHUNK];
    draw(high, pattern->seed, 4 + part->vector, first, count);
    if (part->type == RUNG_TYPE_F32) {
        float *out = elements;
        for (size_t i = 0; i < count; i++)
            out[i] = (float)((int32_t)(high[i] >> 8) - (1 << 23)) * 0x1p-23f;
        return;
    }
    draw(low, pattern->seed, 8 + part->vector, first, count);
    double *out = elements;
    for (size_t i = 0; i < count; i++) {
        int64_t bits = (int64_t)(((uint64_t)high[i] << 32 | low[i]) >> 11);
        out[i] = (double)(bits - ((int64_t)1 << 52)) * 0x1p-52;
    }
}

static void store(void *elements, const uint32_t *values, enum rung_type type, size_t count)
{
    if (type == RUNG_TYPE_F32) {
        float *out = elements;
        for (size_t i = 0; i < count; i++)
            out[i] = (float)(int32_t)values[i]; /* below 2^24; signed converts faster */
    } else if (type == RUNG_TYPE_F64) {
        double *out = elements;
        for (size_t i = 0; i < count; i++)
            out[i] = (double)values[i];
    } else {
        uint32_t *out = elements; /* the bits of the int */
        for (size_t i = 0; i < count; i++)
            out[i] = values[i];
    }
}

static bool is_random(const struct rung_pattern *pattern, enum rung_type type)
{
    return pattern->kind == RUNG_PATTERN_RANDOM && type != RUNG_TYPE_I32;
}

/* Random ints are the weights: i32 has no other rounding to try. */
static struct rung_pattern effective(const struct rung_pattern *pattern, enum rung_type type)
{
    struct rung_pattern out = *pattern;
    if (pattern->kind == RUNG_PATTERN_RANDOM && type == RUNG_TYPE_I32)
        out.kind = RUNG_PATTERN_WEIGHTS;
    return out;
}

void rung_pattern_fill(void *elements, const struct rung_pattern *pattern,
                       const struct rung_pattern_part *part)
{
    struct rung_pattern used = effective(pattern, part->type);
    uint32_t values[CHUNK];
    char *at = elements;
    for (size_t done = 0; done < part->count; done += CHUNK) {
        size_t count = part->count - done < CHUNK ? part->count - done : CHUNK;
        if (is_random(&used, part->type)) {
            fill_random(at, &used, part, part->first + done, count);
        } else {
            draw_values(values, &used, part, part->first + done, count);
            store(at, values, part->type, count);
        }
        at += count * rung_type_size(part->type);
    }
}

/* Sums. */

/* Exact ones modulo 2^64, which is enough: i32 wraps modulo 2^32, floats stay below 2^53. Inexact
 * ones by Neumaier's compensated summation in double. */
struct total {
    uint64_t whole;
    double sum, correction, magnitude;
};

static void add_real(struct total *total, double x)
{
    double sum = total->sum + x;
    total->correction +=
        fabs(total->sum) >= fabs(x) ? (total->sum - sum) + x : (x - sum) + total->sum;
    total->sum = sum;
}

/* a * b = result + *error exactly (Veltkamp's split, Dekker's product). */
static double exact_product(double a, double b, double *error)
{
    const double splitter = 0x1p27 + 1;
    double a_high = splitter * a - (splitter * a - a), a_low = a - a_high;
    double b_high = splitter * b - (splitter * b - b), b_low = b - b_high;
    double product = a * b;
    *error = a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low);
    return product;
}

static double real_at(const void *elements, enum rung_type type, size_t i)
{
    return type == RUNG_TYPE_F32 ? (double)((const float *)elements)[i]
                                 : ((const double *)elements)[i];
}

static uint64_t whole_at(const void *elements, enum rung_type type, size_t i)
{
    return type == RUNG_TYPE_I32 ? ((const uint32_t *)elements)[i]
                                 : (uint64_t)real_at(elements, type, i);
}

static void add_reals(struct total *total, const void *a, const void *b, enum rung_type type,
                      size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double x = real_at(a, type, i), error = 0;
        if (b)
            x = exact_product(x, real_at(b, type, i), &error);
        add_real(total, x);
        total->correction += error;
        total->magnitude += fabs(x);
    }
}

static void add_wholes(struct total *total, const void *a, const void *b, enum rung_type type,
                       size_t count)
{
    uint64_t whole = 0;
    if (type == RUNG_TYPE_F32 && !b) { /* the common case, in a form that vectorises */
        const float *x = a;
        for (size_t i = 0; i < count; i++)
            whole += (uint32_t)(int32_t)x[i];
    } else {
        for (size_t i = 0; i < count; i++)
            whole += whole_at(a, type, i) * (b ? whole_at(b, type, i) : 1);
    }
    total->whole += whole;
}

static void finish(struct rung_expected *out, const struct total *total, bool exact,
                   enum rung_type type)
{
    *out = (struct rung_expected){.exact = exact};
    if (!exact)
        out->value = total->sum + total->correction;
    else if (type == RUNG_TYPE_I32)
        out->value = (double)(int32_t)(uint32_t)total->whole;
    else
        out->value = (double)total->whole;
    out->magnitude = exact ? (double)total->whole : total->magnitude;
}

/* One stage of input in host memory, made and summed in pieces by several threads. A piece is the
 * same elements whatever the number of threads, and totals join in its order, so that the expected
 * value has the same bits on every machine. */
struct stage {
    void *a, *b;
    const struct rung_pattern *pattern;
    struct rung_pattern_part part; /* `first` and `count` of the stage */
    struct total totals[PIECES];
    atomic_uint next;
};

static void fill_piece(struct stage *stage, unsigned piece)
{
    struct total *total = &stage->totals[piece];
    struct rung_pattern_part part = stage->part;
    uint64_t size = rung_type_size(part.type);
    size_t begin = stage->part.count / PIECES * piece;
    size_t end = piece + 1 < PIECES ? stage->part.count / PIECES * (piece + 1) : part.count;
    char *a = (char *)stage->a + begin * size;
    char *b = stage->b ? (char *)stage->b + begin * size : NULL;
    part.first += begin;
    part.count = end - begin;
    *total = (struct total){0};
    rung_pattern_fill(a, stage->pattern, &part);
    if (b) {
        part.vector = 1;
        rung_pattern_fill(b, stage->pattern, &part);
    }
    if (is_random(stage->pattern, part.type))
        add_reals(total, a, b, part.type, part.count);
    else
        add_wholes(total, a, b, part.type, part.count);
}

static void *fill_pieces(void *context)
{
    struct stage *stage = context;
    for (unsigned piece; (piece = atomic_fetch_add(&stage->next, 1)) < PIECES;)
        fill_piece(stage, piece);
    return NULL;
}

/* A thread that cannot be made is missed by nobody: this one does what is left. */
static void fill_stage(struct total *total, struct stage *stage)
{
    pthread_t threads[PIECES];
    unsigned started = 0;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned wanted = stage->part.count < ALONE_ELEMENTS || processors < 2 ? 0
                      : processors > PIECES                                ? PIECES - 1
                                            : (unsigned)processors - 1;
    atomic_store(&stage->next, 0);
    while (started < wanted && pthread_create(&threads[started], NULL, fill_pieces, stage) == 0)
        started++;
    fill_pieces(stage);
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    for (unsigned piece = 0; piece < PIECES; piece++) {
        const struct total *more = &stage->totals[piece];
        total->whole += more->whole;
        add_real(total, more->sum);
        total->correction += more->correction;
        total->magnitude += more->magnitude;
    }
}

static enum rung_status upload_stage(struct total *total, struct stage *stage,
                                     const struct rung_workspace *workspace, struct rung_error *err)
{
    const struct rung_driver *driver = &workspace->device->driver;
    enum rung_status status = RUNG_OK;
    uint64_t size = rung_type_size(workspace->type);
    uint64_t offset = stage->part.first * size, bytes = stage->part.count * size;
    fill_stage(total, stage);
    RUNG_CU(driver, done, cuMemcpyHtoD, workspace->a.data + offset, stage->a, bytes);
    if (stage->b)
        RUNG_CU(driver, done, cuMemcpyHtoD, workspace->b.data + offset, stage->b, bytes);
done:
    return status;
}

enum rung_status rung_pattern_upload(struct rung_expected *out,
                                     const struct rung_workspace *workspace,
                                     const struct rung_pattern *pattern, struct rung_error *err)
{
    size_t most = workspace->n < STAGE_ELEMENTS ? (size_t)workspace->n : STAGE_ELEMENTS;
    size_t bytes = (most ? most : 1) * rung_type_size(workspace->type);
    bool dot = workspace->op == RUNG_OP_DOT;
    struct stage stage = {.a = malloc(bytes), .b = dot ? malloc(bytes) : NULL, .pattern = pattern};
    struct total total = {0};
    enum rung_status status = RUNG_OK;
    if (!stage.a || (dot && !stage.b))
        status = rung_fail(err, RUNG_MEMORY, "out of memory for %zu bytes of input", bytes);
    for (uint64_t done = 0; status == RUNG_OK && done < workspace->n; done += most) {
        uint64_t left = workspace->n - done;
        stage.part = (struct rung_pattern_part){.op = workspace->op,
                                                .type = workspace->type,
                                                .n = workspace->n,
                                                .first = done,
                                                .count = left < most ? (size_t)left : most};
        status = upload_stage(&total, &stage, workspace, err);
    }
    free(stage.a);
    free(stage.b);
    bool exact = !is_random(pattern, workspace->type);
    if (status == RUNG_OK && exact && exact_limit(workspace->type) &&
        total.whole > exact_limit(workspace->type))
        status = rung_fail(err, RUNG_UNABLE, "a pattern of %llu is not exact in %s",
                           (unsigned long long)total.whole, rung_type_word(workspace->type));
    if (status == RUNG_OK)
        finish(out, &total, exact, workspace->type);
    return status;
}
