/* The counting model against figures known from elsewhere, and against the same kernels written out
 * here by hand. Alone: build/tests/test_gen_model */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gen/control.h"
#include "gen/model.h"

struct fixture {
    struct rung_arena arena;
    struct rung_ladder ladder;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    struct rung_error err = {0};
    if (!fixture || rung_ladder_load(&fixture->ladder, &fixture->arena, &err) != RUNG_OK) {
        print_error("%s\n", err.text);
        free(fixture);
        return -1;
    }
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    rung_arena_release(&fixture->arena);
    free(fixture);
    return 0;
}

static struct rung_model count(const struct fixture *fixture, const struct rung_config *config)
{
    struct rung_model model = {0};
    struct rung_error err = {0};
    const struct rung_template *tpl =
        rung_ladder_find(&fixture->ladder, config->version, config->variant);
    assert_non_null(tpl);
    if (rung_model_block(&model, tpl, config, &err) != RUNG_OK)
        fail_msg("%s", err.text);
    return model;
}

static struct rung_model count_version(const struct fixture *fixture, unsigned version,
                                       unsigned block)
{
    return count(fixture, &(struct rung_config){.version = version, .block = block});
}

static void test_the_figures_of_the_page(void **state)
{
    static const struct {
        unsigned version, block, body_runs, serialised, additions;
    } known[] = {
        {1, 256,  47,  47,  255 },
        {2, 256,  12,  47,  255 },
        {3, 256,  12,  12,  255 },
        {4, 256,  12,  12,  511 },
        {1, 32,   5,   5,   31  },
        {2, 32,   5,   5,   31  },
        {3, 32,   5,   5,   31  },
        {1, 64,   11,  11,  63  },
        {2, 64,   6,   11,  63  },
        {3, 64,   6,   6,   63  },
        {1, 128,  23,  23,  127 },
        {2, 128,  8,   23,  127 },
        {1, 512,  95,  95,  511 },
        {2, 512,  20,  95,  511 },
        {3, 512,  20,  20,  511 },
        {1, 1024, 191, 191, 1023},
        {2, 1024, 36,  191, 1023},
        {3, 1024, 36,  36,  1023},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct rung_model model = count_version(*state, known[i].version, known[i].block);
        assert_int_equal(model.body_runs, known[i].body_runs);
        assert_int_equal(model.serialised, known[i].serialised);
        assert_int_equal(model.additions, known[i].additions);
    }
}

static void test_steps_at_256(void **state)
{
    static const unsigned active[] = {128, 64, 32, 16, 8, 4, 2, 1};
    static const unsigned spread[] = {8, 8, 8, 8, 8, 4, 2, 1}, packed[] = {4, 2, 1, 1, 1, 1, 1, 1};
    struct rung_model v1 = count_version(*state, 1, 256), v2 = count_version(*state, 2, 256),
                      v3 = count_version(*state, 3, 256);
    assert_int_equal(v1.n_steps, 8);
    for (unsigned i = 0; i < 8; i++) {
        assert_int_equal(v1.steps[i].active, active[i]);
        assert_int_equal(v2.steps[i].active, active[i]);
        assert_int_equal(v3.steps[i].active, active[i]);
        assert_int_equal(v1.steps[i].body_runs, spread[i]);
        assert_int_equal(v2.steps[i].body_runs, packed[i]);
        assert_int_equal(v2.steps[i].serialised, spread[i]);
        assert_int_equal(v3.steps[i].serialised, packed[i]);
        assert_int_equal(v1.steps[i].stride, 1u << i);
        assert_int_equal(v3.steps[i].stride, 128u >> i);
    }
}

/* ---- the same kernels by hand ---- */

struct tally {
    uint64_t additions, runs, serialised;
};

/* One step given as the words that the active threads touch: two operands each. */
struct access {
    bool active;
    unsigned to, from;
};

static unsigned turns(const struct access *lanes, unsigned n, bool from)
{
    unsigned most = 1;
    for (unsigned bank = 0; bank < 32; bank++) {
        unsigned words = 0;
        for (unsigned a = 0; a < n; a++) {
            unsigned word = from ? lanes[a].from : lanes[a].to;
            bool again = !lanes[a].active || word % 32 != bank;
            for (unsigned b = 0; b < a && !again; b++)
                again = lanes[b].active && (from ? lanes[b].from : lanes[b].to) == word;
            words += !again;
        }
        most = words > most ? words : most;
    }
    return most;
}

static void add_step(struct tally *tally, const struct access *threads, unsigned block)
{
    for (unsigned first = 0; first < block; first += 32) {
        unsigned n = block - first < 32 ? block - first : 32, lanes = 0;
        for (unsigned i = 0; i < n; i++)
            lanes += threads[first + i].active;
        if (!lanes)
            continue;
        unsigned to = turns(threads + first, n, false), from = turns(threads + first, n, true);
        tally->additions += lanes;
        tally->runs++;
        tally->serialised += to > from ? to : from;
    }
}

/* Threads 0 … limit-1, or the multiples of `every`, add word `distance` away. */
static void add_plain(struct tally *tally, unsigned block, unsigned every, unsigned limit,
                      unsigned scale, unsigned distance)
{
    struct access threads[1024] = {{0}};
    for (unsigned t = 0; t < block; t++)
        threads[t] = (struct access){t % every == 0 && t < limit, scale * t, scale * t + distance};
    add_step(tally, threads, block);
}

static struct tally by_hand(unsigned version, unsigned block)
{
    struct tally tally = {0};
    unsigned warp = block < 64 ? block / 2 : 32, lanes = block < 32 ? block : 32;
    if (version == 1)
        for (unsigned s = 1; s < block; s *= 2)
            add_plain(&tally, block, 2 * s, block, 1, s);
    else if (version == 2)
        for (unsigned s = 1; s < block; s *= 2)
            add_plain(&tally, block, 1, block / (2 * s), 2 * s, s);
    else
        for (unsigned s = block / 2; s > (version < 5 ? 0 : 32); s /= 2)
            add_plain(&tally, block, 1, s, 1, s);
    for (unsigned s = warp; s > 0 && version >= 5 && version <= 7; s /= 2)
        add_plain(&tally, block, 1, warp, 1, s);
    if (version == 8 && block >= 64)
        add_plain(&tally, block, 1, 32, 1, 32);
    for (unsigned s = lanes / 2; s > 0 && version == 8; s /= 2) /* no shared memory: one word */
        add_plain(&tally, block, 1, lanes, 0, 0);
    return tally;
}

static void test_every_version_and_block_as_by_hand(void **state)
{
    for (unsigned version = 1; version <= 8; version++)
        for (unsigned block = 2; block <= 1024; block *= 2) {
            struct tally hand = by_hand(version, block);
            struct rung_model model = count_version(*state, version, block);
            if (model.tree_additions != hand.additions || model.body_runs != hand.runs ||
                model.serialised != hand.serialised)
                fail_msg("v%u b%u: model %llu/%llu/%llu, by hand %llu/%llu/%llu", version, block,
                         (unsigned long long)model.tree_additions,
                         (unsigned long long)model.body_runs, (unsigned long long)model.serialised,
                         (unsigned long long)hand.additions, (unsigned long long)hand.runs,
                         (unsigned long long)hand.serialised);
            assert_int_equal(model.additions - model.tree_additions, version < 4 ? 0 : block);
        }
}

static void test_closed_forms(void **state)
{
    for (unsigned block = 64; block <= 1024; block *= 2) {
        struct rung_model v1 = count_version(*state, 1, block),
                          v2 = count_version(*state, 2, block),
                          v3 = count_version(*state, 3, block);
        assert_int_equal(v1.body_runs, 6 * block / 32 - 1);
        assert_int_equal(v3.body_runs, block / 32 + 4);
        assert_int_equal(v2.body_runs, v3.body_runs);
        assert_int_equal(v1.serialised, v2.serialised);
        assert_int_equal(v3.serialised, v3.body_runs);
    }
}

static void test_two_levels_of_shuffles(void **state)
{
    for (unsigned block = 2; block <= 1024; block *= 2) {
        struct rung_model model = count(
            *state,
            &(struct rung_config){.version = 8, .block = block, .variant = RUNG_VARIANT_TWOLEVEL});
        unsigned lanes = block < 32 ? block : 32, warps = (block + 31) / 32;
        unsigned first = 0, second = 0;
        while (1u << first < lanes)
            first++;
        while (1u << second < warps)
            second++;
        assert_int_equal(model.body_runs, warps * first + second);
        assert_int_equal(model.serialised, model.body_runs);
        assert_int_equal(model.tree_additions, block * first + lanes * second);
    }
}

static void test_forms_count_alike(void **state)
{
    struct rung_model plain = count_version(*state, 1, 256);
    for (unsigned predicate = 0; predicate < 4; predicate++)
        for (unsigned bound = 0; bound < 2; bound++) {
            const struct rung_config config = {.version = 1,
                                               .block = 256,
                                               .bound = (enum rung_bound)bound,
                                               .unroll = (enum rung_unroll)bound,
                                               .predicate = (enum rung_predicate)predicate};
            struct rung_model model = count(*state, &config);
            assert_memory_equal(&model, &plain, sizeof model);
        }
}

static void test_wide_elements_go_by_half_warps(void **state)
{
    const struct rung_config v2 = {.version = 2, .block = 256, .type = RUNG_TYPE_F64};
    const struct rung_config v3 = {.version = 3, .block = 256, .type = RUNG_TYPE_F64};
    static const unsigned serialised[] = {8, 8, 8, 16, 8, 4, 2, 1};
    struct rung_model model = count(*state, &v2);
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(model.steps[i].serialised, serialised[i]);
    model = count(*state, &v3);
    assert_int_equal(model.serialised, 12);
}

/* ---- launches ---- */

static uint64_t load_additions_by_hand(unsigned version, unsigned block, uint64_t n, uint64_t grid)
{
    uint64_t additions = 0;
    for (uint64_t b = 0; b < grid; b++)
        for (uint64_t t = 0; t < block; t++) {
            if (version >= 4 && version <= 6)
                additions += b * 2 * block + t + block < n;
            for (uint64_t i = b * block + t + grid * block; version >= 7 && i < n;
                 i += grid * block)
                additions++;
        }
    return additions;
}

static void test_launches_are_exact_with_ragged_ends(void **state)
{
    const struct fixture *fixture = *state;
    static const uint64_t grids[] = {1, 2, 3, 7, 40};
    static const unsigned blocks[] = {2, 32, 256};
    for (unsigned version = 1; version <= 8; version++)
        for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++)
            for (size_t g = 0; g < sizeof grids / sizeof *grids; g++)
                for (uint64_t n = 0; n < 12 * blocks[k] * grids[g];
                     n += 1 + n / 3 + blocks[k] / 5) {
                    const struct rung_config config = {.version = version, .block = blocks[k]};
                    const struct rung_template *tpl =
                        rung_ladder_find(&fixture->ladder, version, RUNG_VARIANT_BASE);
                    struct tally tree = by_hand(version, blocks[k]);
                    struct rung_model model = {.additions = 10};
                    assert_int_equal(rung_model_launch(&model, tpl, &config, n, grids[g], NULL),
                                     RUNG_OK);
                    assert_int_equal(model.body_runs, tree.runs * grids[g]);
                    uint64_t loads = load_additions_by_hand(version, blocks[k], n, grids[g]);
                    if (model.additions != 10 + tree.additions * grids[g] + loads)
                        fail_msg("v%u b%u n %llu grid %llu: %llu additions", version, blocks[k],
                                 (unsigned long long)n, (unsigned long long)grids[g],
                                 (unsigned long long)model.additions);
                }
}

static void test_a_launch_of_2_to_the_40_is_counted_at_once(void **state)
{
    const struct fixture *fixture = *state;
    const struct rung_config config = {.version = 7, .block = 1024};
    const struct rung_template *tpl = rung_ladder_find(&fixture->ladder, 7, RUNG_VARIANT_BASE);
    struct rung_model model = {0};
    uint64_t grid = 264;
    assert_int_equal(rung_model_launch(&model, tpl, &config, RUNG_N_MAX, grid, NULL), RUNG_OK);
    struct tally tree = by_hand(7, 1024);
    /* Every thread has a first element, so all others are added. */
    assert_int_equal(model.additions, RUNG_N_MAX - grid * 1024 + grid * tree.additions);
}

static void test_controls_load_and_count(void **state)
{
    (void)state;
    struct rung_arena arena = {0};
    struct rung_controls controls;
    struct rung_error err = {0};
    if (rung_controls_load(&controls, &arena, &err) != RUNG_OK)
        fail_msg("%s", err.text);
    assert_true(controls.n_controls >= 10);
    for (size_t i = 0; i < controls.n_controls; i++) {
        const struct rung_control *control = &controls.controls[i];
        struct rung_text text = {0};
        struct rung_model model;
        const struct rung_config config = {.version = rung_template_version(control->tpl),
                                           .variant = rung_template_variant(control->tpl),
                                           .block = control->block ? control->block : 256};
        if (rung_model_block(&model, control->tpl, &config, &err) != RUNG_OK ||
            rung_template_emit(&text, control->tpl, &config, &err) != RUNG_OK)
            fail_msg("%s: %s", control->name, err.text);
        assert_null(strstr(rung_text_string(&text), "static_assert"));
        rung_text_release(&text);
    }
    rung_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_figures_of_the_page),
        cmocka_unit_test(test_steps_at_256),
        cmocka_unit_test(test_every_version_and_block_as_by_hand),
        cmocka_unit_test(test_closed_forms),
        cmocka_unit_test(test_two_levels_of_shuffles),
        cmocka_unit_test(test_forms_count_alike),
        cmocka_unit_test(test_wide_elements_go_by_half_warps),
        cmocka_unit_test(test_launches_are_exact_with_ragged_ends),
        cmocka_unit_test(test_a_launch_of_2_to_the_40_is_counted_at_once),
        cmocka_unit_test(test_controls_load_and_count),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
