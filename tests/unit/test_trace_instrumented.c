/* A kernel that writes down what it does tells the same as one that is watched: whole traces, as
 * JSON, of every version at every block size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "gen/control.h"
#include "trace/capture.h"
#include "trace/input.h"
#include "trace/traced.h"

static struct rung_arena ladder_arena;
static struct rung_ladder ladder;
static struct rung_controls controls;
static struct rung_device device;
static struct rung_image_source images;
static struct rung_cache *cache;

static int open_all(void **state)
{
    (void)state;
    struct rung_error err = {0}, no_nvrtc = {0};
    char why[512];
    bool ready = rung_ladder_load(&ladder, &ladder_arena, &err) == RUNG_OK &&
                 rung_controls_load(&controls, &ladder_arena, &err) == RUNG_OK &&
                 rung_device_open(&device, "sim", NULL, why, &err) == RUNG_OK;
    if (!ready) {
        print_error("%s\n", err.text);
        return -1;
    }
    images.ladder = &ladder;
    rung_cache_open(&cache, NULL, why);
    images.cache = cache;
    if (rung_nvrtc_open(&images.nvrtc, NULL, &no_nvrtc) != RUNG_OK)
        images.nvrtc_why = "there is none here";
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    rung_device_close(&device);
    rung_nvrtc_close(images.nvrtc);
    rung_cache_close(cache);
    rung_arena_release(&ladder_arena);
    return 0;
}

/* --- two traces ------------------------------------------------------------------------------ */

/* A list of numbers with fractions: sums of them round, so a different order of additions, or a
 * product that is rounded by itself, makes another result. */
static const double *fractions(struct rung_arena *arena, uint64_t n, bool whole, unsigned seed)
{
    double *values = rung_arena_array(arena, n + 1, sizeof *values);
    assert_non_null(values);
    for (uint64_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        values[i] = whole ? (double)(int)(seed >> 20) - 2048 : (double)(float)((seed >> 8) * 1e-5);
    }
    return values;
}

static void capture(struct rung_trace *out, struct rung_arena *arena,
                    const struct rung_template *tpl, const struct rung_config *config, uint64_t n,
                    bool traced)
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
    request.inputs[0] = fractions(arena, n, whole, 1);
    if (config->op == RUNG_OP_DOT)
        request.inputs[1] = fractions(arena, n, whole, 2);
    if (rung_trace_capture(out, arena, &device, &images, &request, &err) != RUNG_OK)
        fail_msg("%s, %s: %s", id, traced ? "traced" : "watched", err.text);
}

static int compare_reads(const void *a, const void *b)
{
    const struct rung_trace_read *left = a, *right = b;
    if (left->thread != right->thread)
        return left->thread < right->thread ? -1 : 1;
    if (left->element != right->element)
        return left->element < right->element ? -1 : 1;
    return left->vector < right->vector ? -1 : left->vector > right->vector;
}

static int compare_accesses(const void *a, const void *b)
{
    const struct rung_trace_access *left = a, *right = b;
    if (left->warp != right->warp)
        return left->warp < right->warp ? -1 : 1;
    if (left->store != right->store)
        return left->store < right->store ? -1 : 1;
    return memcmp(left->slots, right->slots, sizeof left->slots);
}

/* The compiler chooses which of the two operands of a statement is read first. */
static void sort_operands(struct rung_trace *trace)
{
    for (size_t i = 0; i < trace->n_steps; i++) {
        struct rung_trace_step *step = &trace->steps[i];
        qsort(step->reads, step->n_reads, sizeof *step->reads, compare_reads);
        qsort(step->accesses, step->n_accesses, sizeof *step->accesses, compare_accesses);
    }
}

/* Where one slot is all that a guarded read can be of, the compiler lets lanes read it that have no
 * use for it: `tid < 1 ? tile[tid] : 0` is one read of tile[0] by all. The statement has fewer. */
static void drop_idle_lanes(struct rung_trace *watched, const struct rung_trace *traced)
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

/* Lines of the PTX, which a card does not tell. */
static bool is_ptx_line(const char *key)
{
    return strcmp(key, "line") == 0 || strcmp(key, "ptx") == 0 || strcmp(key, "barrier_line") == 0;
}

static void compare(const char *id, const char *path, const json_t *watched, const json_t *traced)
{
    char below[512];
    const char *key;
    json_t *value;
    size_t index;
    if (json_is_object(watched) && json_is_object(traced)) {
        assert_int_equal(json_object_size(watched), json_object_size(traced));
        json_object_foreach((json_t *)watched, key, value)
        {
            snprintf(below, sizeof below, "%s.%s", path, key);
            if (!is_ptx_line(key))
                compare(id, below, value, json_object_get(traced, key));
        }
    } else if (json_is_array(watched) && json_is_array(traced)) {
        if (json_array_size(watched) != json_array_size(traced))
            fail_msg("%s%s: %zu items watched, %zu traced", id, path, json_array_size(watched),
                     json_array_size(traced));
        json_array_foreach(watched, index, value)
        {
            snprintf(below, sizeof below, "%s[%zu]", path, index);
            compare(id, below, value, json_array_get(traced, index));
        }
    } else if (!json_equal(watched, traced)) {
        char *left = json_dumps(watched, JSON_ENCODE_ANY);
        char *right = json_dumps(traced, JSON_ENCODE_ANY);
        fail_msg("%s%s: %s watched, %s traced", id, path, left, right ? right : "nothing");
    }
}

static void check_config(const struct rung_template *tpl, const struct rung_config *config,
                         uint64_t n)
{
    struct rung_arena arena = {0};
    struct rung_trace watched, traced;
    capture(&watched, &arena, tpl, config, n, false);
    capture(&traced, &arena, tpl, config, n, true);
    assert_true(watched.wrote && traced.wrote);
    assert_memory_equal(&watched.result, &traced.result, sizeof watched.result);
    assert_string_equal(watched.source, traced.source);
    if (watched.additions != traced.additions || watched.body_runs != traced.body_runs ||
        watched.serialised != traced.serialised)
        fail_msg("%s: %llu, %llu, %llu watched; %llu, %llu, %llu traced", watched.id,
                 (unsigned long long)watched.additions, (unsigned long long)watched.body_runs,
                 (unsigned long long)watched.serialised, (unsigned long long)traced.additions,
                 (unsigned long long)traced.body_runs, (unsigned long long)traced.serialised);
    sort_operands(&watched);
    sort_operands(&traced);
    if (config->variant == RUNG_VARIANT_TWOLEVEL && config->block <= RUNG_TRACE_LANES)
        drop_idle_lanes(&watched, &traced);
    json_t *left = rung_trace_to_json(&watched, false), *right = rung_trace_to_json(&traced, false);
    assert_true(left && right);
    compare(watched.id, "", left, right);
    json_decref(left);
    json_decref(right);
    rung_arena_release(&arena);
}

static void check_full_block(const struct rung_template *tpl, const struct rung_config *config)
{
    uint64_t usual, most;
    rung_trace_capacity(&usual, &most, tpl, config);
    if (rung_template_supports(tpl, config, NULL) == RUNG_OK)
        check_config(tpl, config, usual);
}

static void every_version_and_block(void **state)
{
    (void)state;
    if (!images.nvrtc)
        skip();
    for (size_t i = 0; i < ladder.n_versions; i++)
        for (unsigned threads = RUNG_BLOCK_MIN; threads <= RUNG_BLOCK_MAX; threads *= 2)
            for (int op = RUNG_OP_SUM; op <= RUNG_OP_DOT; op++) {
                struct rung_config config = {.version = rung_template_version(ladder.versions[i]),
                                             .block = threads,
                                             .op = (enum rung_op)op,
                                             .variant = rung_template_variant(ladder.versions[i])};
                check_full_block(ladder.versions[i], &config);
            }
}

/* Run-time bounds, kept loops, predicates, the other types; lengths that end within a warp. */
static void forms_types_and_short_inputs(void **state)
{
    (void)state;
    if (!images.nvrtc)
        skip();
    for (size_t i = 0; i < ladder.n_versions; i++) {
        const struct rung_template *tpl = ladder.versions[i];
        struct rung_config base = {.version = rung_template_version(tpl),
                                   .block = 128,
                                   .variant = rung_template_variant(tpl)};
        for (int type = RUNG_TYPE_F64; type <= RUNG_TYPE_I32; type++)
            for (int op = RUNG_OP_SUM; op <= RUNG_OP_DOT; op++) {
                struct rung_config config = base;
                config.type = (enum rung_type)type;
                config.op = (enum rung_op)op;
                check_full_block(tpl, &config);
            }
        for (int predicate = 0; predicate <= RUNG_PREDICATE_OPAQUE; predicate++) {
            struct rung_config config = base;
            config.predicate = (enum rung_predicate)predicate;
            config.unroll = RUNG_UNROLL_NONE;
            check_full_block(tpl, &config);
            config.bound = RUNG_BOUND_RUNTIME;
            check_full_block(tpl, &config);
        }
        const uint64_t ns[] = {0, 1, 33, 127};
        for (size_t k = 0; k < sizeof ns / sizeof *ns; k++)
            check_config(tpl, &base, ns[k]);
    }
}

/* A grid-stride loop that every thread runs another number of times. */
static void uneven_sweeps(void **state)
{
    (void)state;
    if (!images.nvrtc)
        skip();
    for (int op = RUNG_OP_SUM; op <= RUNG_OP_DOT; op++) {
        struct rung_config config = {.version = 7, .block = 64, .op = (enum rung_op)op};
        const struct rung_template *tpl = rung_ladder_find(&ladder, 7, config.variant);
        check_config(tpl, &config, 64 * RUNG_TRACE_ELEMENTS_PER_THREAD);
        check_config(tpl, &config, 64 * 5 + 41);
    }
}

/* What is wrong on purpose needs the simulator's checks, and may hang a card. */
static void controls_are_refused(void **state)
{
    (void)state;
    struct rung_error err = {0};
    struct rung_arena arena = {0};
    struct rung_trace trace;
    const struct rung_control *control = &controls.controls[0];
    struct rung_trace_request request = {
        .tpl = control->tpl,
        .config = {.version = 1, .block = 64},
        .id = control->name,
        .control = true,
        .traced = true
    };
    assert_int_equal(rung_trace_capture(&trace, &arena, &device, &images, &request, &err),
                     RUNG_UNABLE);
    assert_non_null(strstr(err.text, control->name));
    assert_non_null(strstr(err.text, "--device sim"));
    rung_arena_release(&arena);
}

/* A log that is full is told, and never taken for the whole. */
static void a_full_log_is_refused(void **state)
{
    (void)state;
    struct rung_error err = {0};
    struct rung_trace_log log;
    struct rung_config config = {.version = 1, .block = 2};
    struct rung_traced_record *records = calloc(2 * RUNG_TRACED_ROOM, sizeof *records);
    assert_non_null(records);
    assert_int_equal(rung_trace_log_init(&log, "", &err), RUNG_OK);
    for (size_t i = 0; i < RUNG_TRACED_ROOM; i++)
        records[RUNG_TRACED_ROOM + i].kind = RUNG_TRACED_LOAD;
    assert_int_equal(rung_traced_read(&log, records, &config, &err), RUNG_UNABLE);
    assert_non_null(strstr(err.text, "thread 1"));
    assert_int_equal(log.n_records, 0);
    records[2 * RUNG_TRACED_ROOM - 1].kind = RUNG_TRACED_END;
    assert_int_equal(rung_traced_read(&log, records, &config, &err), RUNG_OK);
    assert_int_equal(log.n_records, RUNG_TRACED_ROOM - 1);
    rung_trace_log_release(&log);
    free(records);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_version_and_block), cmocka_unit_test(forms_types_and_short_inputs),
        cmocka_unit_test(uneven_sweeps),           cmocka_unit_test(controls_are_refused),
        cmocka_unit_test(a_full_log_is_refused),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
