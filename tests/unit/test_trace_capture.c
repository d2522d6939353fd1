/* The values of a trace are those of executed code: every step of every version, at every block
 * size, sum and dot, against plain loops over the definition of the version. */
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

static struct rung_arena ladder_arena;
static struct rung_ladder ladder;
static struct rung_controls controls;
static struct rung_device device;
static struct rung_image_source images;
static struct rung_cache *cache;
static struct rung_error nvrtc_error;

static int open_all(void **state)
{
    (void)state;
    struct rung_error err = {0};
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
    if (rung_nvrtc_open(&images.nvrtc, NULL, &nvrtc_error) != RUNG_OK)
        images.nvrtc_why = nvrtc_error.text;
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

/* --- the definition of the versions ---------------------------------------------------------- */

struct expected_add {
    bool active;
    float left, right, result;
};

struct block {
    const struct rung_config *config;
    const double *inputs[2];
    uint64_t n;
    float tile[1024];
    bool written[1024];
    float sums[1024]; /* registers */
};

static float element(const struct block *block, uint64_t i)
{
    if (i >= block->n)
        return 0;
    float a = (float)block->inputs[0][i];
    return block->inputs[1] ? a * (float)block->inputs[1][i] : a;
}

static bool is_twolevel(const struct block *block)
{
    return block->config->variant == RUNG_VARIANT_TWOLEVEL;
}

static void load(struct block *block)
{
    unsigned threads = block->config->block, version = block->config->version;
    for (unsigned t = 0; t < threads; t++) {
        block->sums[t] = element(block, t);
        if (version >= 4 && version <= 6)
            block->sums[t] += element(block, t + threads);
        for (uint64_t i = t + threads; version >= 7 && i < block->n; i += threads)
            block->sums[t] += element(block, i);
        if (!is_twolevel(block)) {
            block->tile[t] = block->sums[t];
            block->written[t] = true;
        }
    }
}

static void shared_level(struct block *block, struct expected_add *adds, unsigned s)
{
    unsigned threads = block->config->block, version = block->config->version;
    for (unsigned t = 0; t < threads; t++) {
        unsigned slot = version == 2 ? 2 * s * t : t;
        bool active = version == 1 ? t % (2 * s) == 0 : version == 2 ? slot < threads : t < s;
        adds[t].active = active;
        if (!active)
            continue;
        adds[t].left = block->tile[slot];
        adds[t].right = block->tile[slot + s];
        adds[t].result = adds[t].left + adds[t].right;
    }
    for (unsigned t = 0; t < threads; t++)
        if (adds[t].active)
            block->tile[version == 2 ? 2 * s * t : t] = adds[t].result;
}

/* Versions 5 to 7: all lanes of the last warp read, then all write. */
static void warp_level(struct block *block, struct expected_add *adds, unsigned s, unsigned lanes)
{
    for (unsigned t = 0; t < lanes; t++)
        adds[t] = (struct expected_add){true, block->tile[t], block->tile[t + s],
                                        block->tile[t] + block->tile[t + s]};
    for (unsigned t = 0; t < lanes; t++)
        block->tile[t] = adds[t].result;
}

static void shuffle_level(struct block *block, struct expected_add *adds, unsigned s,
                          unsigned threads, unsigned width)
{
    for (unsigned t = 0; t < threads; t++) {
        unsigned from = t % width + s < width ? t + s : t;
        adds[t] = (struct expected_add){true, block->sums[t], block->sums[from],
                                        block->sums[t] + block->sums[from]};
    }
    for (unsigned t = 0; t < threads; t++)
        block->sums[t] = adds[t].result;
}

/* --- comparing ------------------------------------------------------------------------------- */

static const char *name_of(const struct rung_trace *trace)
{
    return trace->id;
}

static void check_step(const struct rung_trace *trace, size_t index, const struct block *block,
                       const struct expected_add *adds, unsigned stride)
{
    if (index >= trace->n_steps)
        fail_msg("%s: no step %zu", name_of(trace), index);
    const struct rung_trace_step *step = &trace->steps[index];
    size_t at = 0;
    for (unsigned t = 0; t < block->config->block; t++) {
        if (!adds[t].active)
            continue;
        if (at == step->n_adds)
            fail_msg("%s, step %zu: only %zu additions", name_of(trace), index, at);
        const struct rung_trace_addition *add = &step->adds[at++];
        if (add->thread != t || add->left.value != (double)adds[t].left ||
            add->right.value != (double)adds[t].right || add->result != (double)adds[t].result)
            fail_msg("%s, step %zu: T%u: %g + %g = %g, not T%u: %g + %g = %g", name_of(trace),
                     index, add->thread, add->left.value, add->right.value, add->result, t,
                     (double)adds[t].left, (double)adds[t].right, (double)adds[t].result);
    }
    if (at != step->n_adds)
        fail_msg("%s, step %zu: %zu additions, not %zu", name_of(trace), index, step->n_adds, at);
    if (step->stride != stride)
        fail_msg("%s, step %zu: stride %u, not %u", name_of(trace), index, step->stride, stride);
    for (unsigned i = 0; i < trace->n_slots; i++)
        if (step->written[i] != block->written[i] ||
            (step->written[i] && step->shared[i] != (double)block->tile[i]))
            fail_msg("%s, step %zu: slot %u holds %g, not %g", name_of(trace), index, i,
                     step->shared[i], (double)block->tile[i]);
}

static size_t check_tree(const struct rung_trace *trace, struct block *block)
{
    unsigned threads = block->config->block, version = block->config->version;
    struct expected_add *adds = calloc(1024, sizeof *adds);
    assert_non_null(adds);
    size_t index = 1;
    unsigned least = version <= 4 ? 1 : 64;
    for (unsigned i = 1; i < threads; i *= 2) {
        unsigned s = version <= 2 ? i : threads / 2 / i;
        if (s < least)
            break;
        shared_level(block, adds, s);
        check_step(trace, index++, block, adds, s);
        memset(adds, 0, 1024 * sizeof *adds);
    }
    unsigned lanes = threads < 64 ? threads / 2 : 32;
    for (unsigned s = lanes; version >= 5 && version <= 7 && s > 0; s /= 2) {
        warp_level(block, adds, s, lanes);
        check_step(trace, index++, block, adds, s);
    }
    if (version == 8 && threads > 32) {
        for (unsigned t = 0; t < 32; t++) {
            adds[t] = (struct expected_add){true, block->tile[t], block->tile[t + 32],
                                            block->tile[t] + block->tile[t + 32]};
            block->sums[t] = adds[t].result;
        }
        check_step(trace, index++, block, adds, 32);
    }
    unsigned width = threads < 32 ? threads : 32;
    for (unsigned s = width / 2; version == 8 && s > 0; s /= 2) {
        shuffle_level(block, adds, s, width, width);
        check_step(trace, index++, block, adds, s);
    }
    free(adds);
    return index;
}

static size_t check_twolevel(const struct rung_trace *trace, struct block *block)
{
    unsigned threads = block->config->block, width = threads < 32 ? threads : 32;
    unsigned warps = (threads + 31) / 32;
    struct expected_add *adds = calloc(1024, sizeof *adds);
    assert_non_null(adds);
    size_t index = 1;
    for (unsigned s = width / 2; s > 0; s /= 2) {
        shuffle_level(block, adds, s, threads, width);
        for (unsigned warp = 0; s == 1 && warp < warps; warp++) { /* kept with the last addition */
            block->tile[warp] = block->sums[warp * 32];
            block->written[warp] = true;
        }
        check_step(trace, index++, block, adds, s);
    }
    memset(adds, 0, 1024 * sizeof *adds);
    for (unsigned t = 0; t < width; t++)
        block->sums[t] = t < warps ? block->tile[t] : 0;
    for (unsigned s = warps / 2; s > 0; s /= 2) {
        shuffle_level(block, adds, s, width, width);
        check_step(trace, index++, block, adds, s);
    }
    free(adds);
    return index;
}

/* Distinct words that the busiest bank serves; 64-bit accesses go by half-warps, one after the
 * other. */
static unsigned ways_of(const struct rung_trace_access *access, unsigned words_per_slot)
{
    unsigned halves = words_per_slot, total = 0;
    for (unsigned half = 0; half < halves; half++) {
        unsigned ways = 0;
        for (unsigned bank = 0; bank < 32; bank++) {
            unsigned seen[64], count = 0;
            for (unsigned lane = half * 32 / halves; lane < (half + 1) * 32 / halves; lane++)
                for (unsigned w = 0; w < words_per_slot && (access->lanes >> lane & 1); w++) {
                    unsigned word = access->slots[lane] * words_per_slot + w;
                    bool fresh = word % 32 == bank;
                    for (unsigned i = 0; fresh && i < count; i++)
                        fresh = seen[i] != word;
                    if (fresh)
                        seen[count++] = word;
                }
            ways = count > ways ? count : ways;
        }
        total = ways > total ? ways : total;
    }
    return total ? total : 1;
}

static void check_accesses(const struct rung_trace *trace)
{
    unsigned words = (unsigned)rung_type_size(trace->config.type) / 4;
    for (size_t s = 0; s < trace->n_steps; s++)
        for (size_t i = 0; i < trace->steps[s].n_accesses; i++) {
            const struct rung_trace_access *access = &trace->steps[s].accesses[i];
            if (access->ways != ways_of(access, words))
                fail_msg("%s, step %zu, warp %u: %u ways, not %u", name_of(trace), s, access->warp,
                         access->ways, ways_of(access, words));
            unsigned banks[RUNG_TRACE_BANKS], most = 0;
            rung_trace_bank_words(banks, access, trace->config.type);
            for (unsigned bank = 0; bank < RUNG_TRACE_BANKS; bank++)
                most = banks[bank] > most ? banks[bank] : most;
            assert_int_equal(most, access->ways);
        }
}

static void capture(struct rung_trace *out, struct rung_arena *arena,
                    const struct rung_template *tpl, const struct rung_config *config, uint64_t n,
                    const char *word)
{
    struct rung_error err = {0};
    struct rung_trace_request request = {
        .tpl = tpl, .config = *config, .title = rung_template_title(tpl), .n = n};
    char id[RUNG_ID_SIZE];
    rung_config_id(config, id);
    request.id = rung_arena_copy(arena, id, strlen(id));
    struct rung_trace_input inputs[2];
    const char *const words[2] = {word, "alternating"};
    for (unsigned i = 0; i < (config->op == RUNG_OP_DOT ? 2u : 1u); i++) {
        assert_int_equal(rung_trace_input_read(&inputs[i], arena, "input", words[i], &err),
                         RUNG_OK);
        assert_int_equal(rung_trace_input_make(&request.inputs[i], arena, &inputs[i], "input", n,
                                               config->type, 1, &err),
                         RUNG_OK);
    }
    if (rung_trace_capture(out, arena, &device, &images, &request, &err) != RUNG_OK)
        fail_msg("%s: %s", id, err.text);
}

/* One configuration at one n: all of its steps, its counts and its result. */
static void check_config(const struct rung_template *tpl, const struct rung_config *config,
                         uint64_t n, const char *word, bool full)
{
    struct rung_arena arena = {0};
    struct rung_trace trace;
    capture(&trace, &arena, tpl, config, n, word);
    struct block *block = calloc(1, sizeof *block);
    assert_non_null(block);
    block->config = config;
    block->n = n;
    memcpy(block->inputs, trace.inputs, sizeof block->inputs);
    load(block);
    size_t steps = is_twolevel(block) ? check_twolevel(&trace, block) : check_tree(&trace, block);
    assert_int_equal(trace.n_steps, steps + 1);
    float last = is_twolevel(block) || config->version == 8 ? block->sums[0] : block->tile[0];
    assert_true(trace.wrote && trace.result == (double)last);
    assert_true(trace.correct && trace.exact);
    for (size_t i = 0; i < trace.n_findings; i++)
        fail_msg("%s: %s", name_of(&trace), trace.findings[i].text);
    check_accesses(&trace);
    if (full) {
        assert_true(trace.has_model);
        if (trace.additions != trace.model.additions || trace.body_runs != trace.model.body_runs ||
            trace.serialised != trace.model.serialised)
            fail_msg("%s: executed %llu, %llu, %llu; model %llu, %llu, %llu", name_of(&trace),
                     (unsigned long long)trace.additions, (unsigned long long)trace.body_runs,
                     (unsigned long long)trace.serialised,
                     (unsigned long long)trace.model.additions,
                     (unsigned long long)trace.model.body_runs,
                     (unsigned long long)trace.model.serialised);
    }
    free(block);
    rung_arena_release(&arena);
}

static void every_version_and_block(void **state)
{
    (void)state;
    for (size_t i = 0; i < ladder.n_versions; i++)
        for (unsigned threads = RUNG_BLOCK_MIN; threads <= RUNG_BLOCK_MAX; threads *= 2)
            for (int op = RUNG_OP_SUM; op <= RUNG_OP_DOT; op++) {
                const struct rung_template *tpl = ladder.versions[i];
                struct rung_config config = {.version = rung_template_version(tpl),
                                             .block = threads,
                                             .op = (enum rung_op)op,
                                             .variant = rung_template_variant(tpl)};
                uint64_t usual, most;
                rung_trace_capacity(&usual, &most, tpl, &config);
                check_config(tpl, &config, usual, "random", true);
            }
}

/* Ones tell nothing of which operand is which; short inputs leave identities. */
static void ones_and_short_inputs(void **state)
{
    (void)state;
    for (size_t i = 0; i < ladder.n_versions; i++) {
        const struct rung_template *tpl = ladder.versions[i];
        struct rung_config config = {.version = rung_template_version(tpl),
                                     .block = 64,
                                     .variant = rung_template_variant(tpl)};
        const uint64_t ns[] = {0, 1, 31, 33, 63};
        for (size_t k = 0; k < sizeof ns / sizeof *ns; k++)
            check_config(tpl, &config, ns[k], "ones", false);
    }
}

static bool supported(const struct rung_template *tpl, const struct rung_config *config)
{
    struct rung_error err = {0};
    return rung_template_supports(tpl, config, &err) == RUNG_OK;
}

/* The other forms of the same kernels: run-time bounds, kept loops, predicates. */
static void other_forms(void **state)
{
    (void)state;
    if (!images.nvrtc)
        skip();
    for (size_t i = 0; i < ladder.n_versions; i++)
        for (int bound = 0; bound <= RUNG_BOUND_RUNTIME; bound++)
            for (int predicate = 0; predicate <= RUNG_PREDICATE_OPAQUE; predicate++) {
                const struct rung_template *tpl = ladder.versions[i];
                struct rung_config config = {
                    .version = rung_template_version(tpl),
                    .block = 128,
                    .bound = (enum rung_bound)bound,
                    .unroll = bound == RUNG_BOUND_RUNTIME ? RUNG_UNROLL_NONE : RUNG_UNROLL_FULL,
                    .predicate = (enum rung_predicate)predicate,
                    .variant = rung_template_variant(tpl)};
                uint64_t usual, most;
                rung_trace_capacity(&usual, &most, tpl, &config);
                if (supported(tpl, &config))
                    check_config(tpl, &config, usual, "random", true);
                config.unroll = RUNG_UNROLL_NONE;
                if (bound == RUNG_BOUND_CONST && supported(tpl, &config))
                    check_config(tpl, &config, usual, "random", true);
            }
}

static void other_types(void **state)
{
    (void)state;
    if (!images.nvrtc)
        skip();
    for (size_t i = 0; i < ladder.n_versions; i++)
        for (int type = RUNG_TYPE_F64; type <= RUNG_TYPE_I32; type++) {
            const struct rung_template *tpl = ladder.versions[i];
            struct rung_config config = {.version = rung_template_version(tpl),
                                         .block = 256,
                                         .type = (enum rung_type)type,
                                         .variant = rung_template_variant(tpl)};
            uint64_t usual, most;
            rung_trace_capacity(&usual, &most, tpl, &config);
            check_config(tpl, &config, usual, "random", true);
        }
}

/* Line information changes no value, and every step has its line of the source. */
static void steps_know_their_line(void **state)
{
    (void)state;
    if (!images.nvrtc)
        skip();
    for (size_t i = 0; i < ladder.n_versions; i++) {
        const struct rung_template *tpl = ladder.versions[i];
        struct rung_config config = {.version = rung_template_version(tpl),
                                     .block = 256,
                                     .variant = rung_template_variant(tpl)};
        struct rung_arena arena = {0};
        struct rung_trace trace;
        uint64_t usual, most;
        rung_trace_capacity(&usual, &most, tpl, &config);
        capture(&trace, &arena, tpl, &config, usual, "iota");
        for (size_t s = 1; s + 1 < trace.n_steps; s++) {
            size_t length;
            const char *line = rung_trace_line(trace.source, trace.steps[s].source_line, &length);
            bool adds = length && (memchr(line, '+', length) != NULL);
            if (!adds)
                fail_msg("%s, step %zu: line %u is '%.*s'", trace.id, s, trace.steps[s].source_line,
                         (int)length, line);
        }
        rung_arena_release(&arena);
    }
}

/* --- negative controls ----------------------------------------------------------------------- */

static const struct rung_control *find_control(const char *name)
{
    for (size_t i = 0; i < controls.n_controls; i++)
        if (strcmp(controls.controls[i].name, name) == 0)
            return &controls.controls[i];
    fail_msg("no control %s", name);
    return NULL;
}

static void capture_control(struct rung_trace *out, struct rung_arena *arena, const char *name,
                            unsigned threads)
{
    const struct rung_control *control = find_control(name);
    struct rung_config config = {.version = rung_template_version(control->tpl),
                                 .block = threads,
                                 .variant = rung_template_variant(control->tpl)};
    uint64_t usual, most;
    rung_trace_capacity(&usual, &most, control->tpl, &config);
    capture(out, arena, control->tpl, &config, usual, "iota");
}

static size_t findings_in(const struct rung_trace *trace, const char *kind, size_t step)
{
    size_t count = 0;
    for (size_t i = 0; i < trace->n_findings; i++)
        count += trace->findings[i].step == step && strcmp(trace->findings[i].kind, kind) == 0;
    return count;
}

/* Elements read twice and never, in the step that loads. */
static void a_wrong_index_shows_in_the_load(void **state)
{
    (void)state;
    if (!images.nvrtc)
        skip();
    struct rung_arena arena = {0};
    struct rung_trace trace;
    capture_control(&trace, &arena, "v4-wrong-index", 64);
    assert_false(trace.correct);
    assert_int_equal(findings_in(&trace, "reread", 0), 1);
    assert_int_equal(findings_in(&trace, "unread", 0), 1);
    for (unsigned i = 0; i < 128; i++) /* T reads 2T and 2T + 64 */
        assert_int_equal(trace.read_counts[i], i % 2 ? 0 : i < 64 ? 1 : 2);
    rung_arena_release(&arena);
}

static void a_divergent_barrier_shows_at_every_step(void **state)
{
    (void)state;
    if (!images.nvrtc)
        skip();
    struct rung_arena arena = {0};
    struct rung_trace trace;
    capture_control(&trace, &arena, "v1-barrier-in-branch", 64);
    for (size_t s = 1; s + 1 < trace.n_steps; s++) {
        assert_true(trace.steps[s].order_broken);
        assert_true(findings_in(&trace, "barrier", s) > 0);
    }
    assert_false(trace.steps[0].order_broken);
    rung_arena_release(&arena);
}

/* A lane that writes what its neighbour still has to read: the threads are marked in the step. */
static void a_race_marks_its_threads(void **state)
{
    (void)state;
    if (!images.nvrtc)
        skip();
    struct rung_arena arena = {0};
    struct rung_trace trace;
    capture_control(&trace, &arena, "v5-one-syncwarp", 64);
    for (unsigned k = 0; k < 5;
         k++) { /* strides 16, 8, ... 1; of 32 nobody reads what is written */
        size_t s = 2 + k;
        assert_int_equal(trace.steps[s].stride, 16u >> k);
        assert_int_equal(findings_in(&trace, "race", s), 1);
        assert_false(rung_trace_is_marked(&trace, s, 0));
        assert_true(rung_trace_is_marked(&trace, s, 31));
    }
    assert_int_equal(findings_in(&trace, "race", 1), 0);
    rung_arena_release(&arena);
}

/* A launch that the machine stops still shows what was seen. */
static void a_stopped_launch_is_shown(void **state)
{
    (void)state;
    if (!images.nvrtc)
        skip();
    struct rung_arena arena = {0};
    struct rung_trace trace;
    capture_control(&trace, &arena, "v5-reads-past", 32);
    assert_false(trace.wrote);
    assert_false(trace.correct);
    assert_true(trace.steps[0].shared[0] == 1 + 33);
    assert_int_equal(trace.n_findings, 1);
    assert_string_equal(trace.findings[0].kind, "bounds");
    rung_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_version_and_block),
        cmocka_unit_test(ones_and_short_inputs),
        cmocka_unit_test(other_forms),
        cmocka_unit_test(other_types),
        cmocka_unit_test(steps_know_their_line),
        cmocka_unit_test(a_wrong_index_shows_in_the_load),
        cmocka_unit_test(a_divergent_barrier_shows_at_every_step),
        cmocka_unit_test(a_race_marks_its_threads),
        cmocka_unit_test(a_stopped_launch_is_shown), /* last: it ends the simulator's context */
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
