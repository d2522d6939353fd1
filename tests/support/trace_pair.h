/* The same block twice: watched on the simulator, and compiled to write down what it does on the
 * simulator or a card. The two traces must be one, but for lines of the PTX. */
#ifndef RUNG_TESTS_TRACE_PAIR_H
#define RUNG_TESTS_TRACE_PAIR_H

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/device.h"
#include "gen/template.h"
#include "nvrtc/cache.h"
#include "trace/capture.h"
#include "trace/input.h"

struct trace_pair {
    struct rung_arena arena;
    struct rung_ladder ladder;
    struct rung_device watched, traced;
    struct rung_image_source images;
    struct rung_cache *cache;
    unsigned compared, differ;
};

static inline void trace_pair_close(struct trace_pair *pair)
{
    rung_device_close(&pair->traced);
    rung_device_close(&pair->watched);
    rung_nvrtc_close(pair->images.nvrtc);
    rung_cache_close(pair->cache);
    rung_arena_release(&pair->arena);
}

/* `where` is what writes down, as of --device. The images' NVRTC is NULL where there is none. */
static inline enum rung_status trace_pair_open(struct trace_pair *pair, const char *where,
                                               struct rung_error *err)
{
    struct rung_error no_nvrtc = {0};
    char why[512];
    memset(pair, 0, sizeof *pair);
    enum rung_status status = rung_ladder_load(&pair->ladder, &pair->arena, err);
    if (status == RUNG_OK)
        status = rung_device_open(&pair->watched, "sim", NULL, why, err);
    if (status == RUNG_OK)
        status = rung_device_open(&pair->traced, where, NULL, why, err);
    rung_cache_open(&pair->cache, NULL, why);
    pair->images.ladder = &pair->ladder;
    pair->images.cache = pair->cache;
    if (rung_nvrtc_open(&pair->images.nvrtc, NULL, &no_nvrtc) != RUNG_OK)
        pair->images.nvrtc_why = "there is none here";
    return status;
}

/* --- two traces ------------------------------------------------------------------------------ */

/* Numbers with fractions: sums of them round, so another order of additions, or a product that is
 * rounded by itself, makes another result. Whole numbers for integers. */
static inline const double *trace_pair_input(struct rung_arena *arena, uint64_t n, bool whole,
                                             unsigned seed)
{
    double *values = rung_arena_array(arena, n + 1, sizeof *values);
    for (uint64_t i = 0; values && i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        values[i] = whole ? (double)(int)(seed >> 20) - 2048 : (double)(float)((seed >> 8) * 1e-5);
    }
    return values;
}

static inline bool trace_pair_capture(struct rung_trace *out, struct rung_arena *arena,
                                      const struct trace_pair *pair,
                                      const struct rung_template *tpl,
                                      const struct rung_config *config, uint64_t n, bool traced)
{
    struct rung_error err = {0};
    char id[RUNG_ID_SIZE];
    bool whole = config->type == RUNG_TYPE_I32;
    rung_config_id(config, id);
    struct rung_trace_request request = {
        .tpl = tpl,
        .config = *config,
        .id = rung_arena_copy(arena, id, strlen(id)),
        .title = rung_template_title(tpl),
        .n = n,
        .input_names = {"list", "list"},
        .traced = traced
    };
    request.inputs[0] = trace_pair_input(arena, n, whole, 1);
    if (config->op == RUNG_OP_DOT)
        request.inputs[1] = trace_pair_input(arena, n, whole, 2);
    if (rung_trace_capture(out, arena, traced ? &pair->traced : &pair->watched, &pair->images,
                           &request, &err) == RUNG_OK)
        return true;
    fprintf(stderr, "%s, n = %llu, %s: %s\n", id, (unsigned long long)n,
            traced ? "traced" : "watched", err.text);
    return false;
}

static inline int trace_pair_by_read(const void *a, const void *b)
{
    const struct rung_trace_read *left = a, *right = b;
    if (left->thread != right->thread)
        return left->thread < right->thread ? -1 : 1;
    if (left->element != right->element)
        return left->element < right->element ? -1 : 1;
    return left->vector < right->vector ? -1 : left->vector > right->vector;
}

static inline int trace_pair_by_access(const void *a, const void *b)
{
    const struct rung_trace_access *left = a, *right = b;
    if (left->warp != right->warp)
        return left->warp < right->warp ? -1 : 1;
    if (left->store != right->store)
        return left->store < right->store ? -1 : 1;
    return memcmp(left->slots, right->slots, sizeof left->slots);
}

/* The compiler chooses which of the two operands of a statement is read first. */
static inline void trace_pair_sort(struct rung_trace *trace)
{
    for (size_t i = 0; i < trace->n_steps; i++) {
        struct rung_trace_step *step = &trace->steps[i];
        qsort(step->reads, step->n_reads, sizeof *step->reads, trace_pair_by_read);
        qsort(step->accesses, step->n_accesses, sizeof *step->accesses, trace_pair_by_access);
    }
}

/* Where one slot is all that a guarded read can be of, the compiler lets lanes read it that have no
 * use for it: `tid < 1 ? tile[tid] : 0` is one read of tile[0] by all. The statement has fewer. */
static inline void trace_pair_drop_idle_lanes(struct rung_trace *watched,
                                              const struct rung_trace *traced)
{
    for (size_t i = 0; i < watched->n_steps && i < traced->n_steps; i++)
        for (size_t k = 0; k < watched->steps[i].n_accesses && k < traced->steps[i].n_accesses;
             k++) {
            struct rung_trace_access *access = &watched->steps[i].accesses[k];
            const struct rung_trace_access *stated = &traced->steps[i].accesses[k];
            bool one_slot = true;
            for (unsigned lane = 0; lane < RUNG_TRACE_LANES; lane++)
                one_slot &= access->slots[lane] == 0;
            if (one_slot && !access->store && (stated->lanes & ~access->lanes) == 0)
                access->lanes = stated->lanes;
        }
}

/* Lines of the PTX, which a kernel cannot write down, and which device it was. */
static inline bool trace_pair_may_differ(const char *key)
{
    static const char *const keys[] = {"line", "ptx", "barrier_line", "executed_by"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

static inline bool trace_pair_differ(const json_t *watched, const json_t *traced)
{
    char *left = json_dumps(watched, JSON_ENCODE_ANY), *right = json_dumps(traced, JSON_ENCODE_ANY);
    fprintf(stderr, "%.200s watched, %.200s traced", left ? left : "nothing",
            right ? right : "nothing");
    free(left);
    free(right);
    return false;
}

/* Prints the first difference, then the way to it from the inside out. */
static inline bool trace_pair_same(const json_t *watched, const json_t *traced)
{
    const char *key;
    json_t *value;
    size_t index;
    if (json_is_object(watched) && json_is_object(traced) &&
        json_object_size(watched) == json_object_size(traced)) {
        json_object_foreach((json_t *)watched, key, value)
        {
            if (trace_pair_may_differ(key) || trace_pair_same(value, json_object_get(traced, key)))
                continue;
            fprintf(stderr, ", in %s", key);
            return false;
        }
        return true;
    }
    if (json_is_array(watched) && json_is_array(traced) &&
        json_array_size(watched) == json_array_size(traced)) {
        json_array_foreach(watched, index, value)
        {
            if (trace_pair_same(value, json_array_get(traced, index)))
                continue;
            fprintf(stderr, " %zu", index);
            return false;
        }
        return true;
    }
    return json_equal(watched, traced) || trace_pair_differ(watched, traced);
}

static inline bool trace_pair_equal(struct rung_trace *watched, struct rung_trace *traced)
{
    bool equal = watched->wrote && traced->wrote &&
                 memcmp(&watched->result, &traced->result, sizeof watched->result) == 0 &&
                 watched->additions == traced->additions &&
                 watched->body_runs == traced->body_runs &&
                 watched->serialised == traced->serialised;
    if (!equal)
        fprintf(stderr,
                "%s: result or counts differ: %.17g %.17g, %llu %llu, %llu %llu, %llu %llu\n",
                watched->id, watched->result, traced->result,
                (unsigned long long)watched->additions, (unsigned long long)traced->additions,
                (unsigned long long)watched->body_runs, (unsigned long long)traced->body_runs,
                (unsigned long long)watched->serialised, (unsigned long long)traced->serialised);
    trace_pair_sort(watched);
    trace_pair_sort(traced);
    if (watched->config.variant == RUNG_VARIANT_TWOLEVEL &&
        watched->config.block <= RUNG_TRACE_LANES)
        trace_pair_drop_idle_lanes(watched, traced);
    json_t *left = rung_trace_to_json(watched, false), *right = rung_trace_to_json(traced, false);
    if (equal && !trace_pair_same(left, right)) {
        fprintf(stderr, " of %s\n", watched->id);
        equal = false;
    }
    json_decref(left);
    json_decref(right);
    return equal;
}

/* One block of `config` with n elements, both ways. */
static inline void trace_pair_check(struct trace_pair *pair, const struct rung_template *tpl,
                                    const struct rung_config *config, uint64_t n)
{
    struct rung_arena arena = {0};
    struct rung_trace watched, traced;
    pair->compared++;
    if (!trace_pair_capture(&watched, &arena, pair, tpl, config, n, false) ||
        !trace_pair_capture(&traced, &arena, pair, tpl, config, n, true) ||
        !trace_pair_equal(&watched, &traced))
        pair->differ++;
    rung_arena_release(&arena);
}

static inline void trace_pair_check_full(struct trace_pair *pair, const struct rung_template *tpl,
                                         const struct rung_config *config)
{
    uint64_t usual, most;
    rung_trace_capacity(&usual, &most, tpl, config);
    if (rung_template_supports(tpl, config, NULL) == RUNG_OK)
        trace_pair_check(pair, tpl, config, usual);
}

/* --- which blocks ---------------------------------------------------------------------------- */

static inline void trace_pair_every_version_and_block(struct trace_pair *pair)
{
    for (size_t i = 0; i < pair->ladder.n_versions; i++)
        for (unsigned threads = RUNG_BLOCK_MIN; threads <= RUNG_BLOCK_MAX; threads *= 2)
            for (int op = RUNG_OP_SUM; op <= RUNG_OP_DOT; op++) {
                const struct rung_template *tpl = pair->ladder.versions[i];
                struct rung_config config = {.version = rung_template_version(tpl),
                                             .block = threads,
                                             .op = (enum rung_op)op,
                                             .variant = rung_template_variant(tpl)};
                trace_pair_check_full(pair, tpl, &config);
            }
}

/* Run-time bounds, kept loops, predicates, the other types; lengths that end within a warp. */
static inline void trace_pair_forms(struct trace_pair *pair, const struct rung_template *tpl)
{
    struct rung_config base = {
        .version = rung_template_version(tpl), .block = 128, .variant = rung_template_variant(tpl)};
    for (int type = RUNG_TYPE_F64; type <= RUNG_TYPE_I32; type++)
        for (int op = RUNG_OP_SUM; op <= RUNG_OP_DOT; op++) {
            struct rung_config config = base;
            config.type = (enum rung_type)type;
            config.op = (enum rung_op)op;
            trace_pair_check_full(pair, tpl, &config);
        }
    for (int predicate = 0; predicate <= RUNG_PREDICATE_OPAQUE; predicate++) {
        struct rung_config config = base;
        config.predicate = (enum rung_predicate)predicate;
        config.unroll = RUNG_UNROLL_NONE;
        trace_pair_check_full(pair, tpl, &config);
        config.bound = RUNG_BOUND_RUNTIME;
        trace_pair_check_full(pair, tpl, &config);
    }
    const uint64_t ns[] = {0, 1, 33, 127};
    for (size_t k = 0; k < sizeof ns / sizeof *ns; k++)
        trace_pair_check(pair, tpl, &base, ns[k]);
}

/* A grid-stride loop that every thread runs another number of times. */
static inline void trace_pair_uneven_sweeps(struct trace_pair *pair)
{
    for (int op = RUNG_OP_SUM; op <= RUNG_OP_DOT; op++) {
        struct rung_config config = {.version = 7, .block = 64, .op = (enum rung_op)op};
        const struct rung_template *tpl = rung_ladder_find(&pair->ladder, 7, config.variant);
        trace_pair_check(pair, tpl, &config, 64 * RUNG_TRACE_ELEMENTS_PER_THREAD);
        trace_pair_check(pair, tpl, &config, 64 * 5 + 41);
    }
}

#endif
