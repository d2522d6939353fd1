/* The machine as a whole: counters against the H200's, schedules, host threads, observers, limits,
 * and the memory of the simulated card. */
#include "support/sim_run.h"

#include "base/file.h"

#define FOLDER RUNG_SOURCE_DIR "/generated/ptx/sm_75/"

static char *read_ptx(const char *symbol)
{
    char path[1024], *text;
    size_t length;
    struct rung_error err = {0};
    snprintf(path, sizeof path, FOLDER "%s.ptx", symbol);
    if (rung_file_read(&text, &length, path, &err))
        fail_msg("%s", err.text);
    return text;
}

/* One launch of a generated kernel over n ones; the sum of the partials. */
static double run_ones(struct sim_run *run, const char *symbol, uint32_t grid, uint32_t block,
                       uint64_t n, const struct rung_sim_options *options)
{
    uint64_t in = sim_alloc(run, n * 4), out = sim_alloc(run, grid * 4);
    uint64_t params[] = {in, out, n};
    float *data = sim_host(run, in, n * 4);
    double sum = 0;
    for (uint64_t i = 0; i < n; i++)
        data[i] = 1;
    assert_int_equal(sim_launch(run, symbol, grid, block, 0, params, options), 0);
    for (uint32_t i = 0; i < grid; i++)
        sum += (double)((float *)sim_host(run, out, grid * 4))[i];
    return sum;
}

/* Hardware counters of an H200, one block, loop bound known, Nsight Compute. The card's code for
 * version 2 merges the two neighbouring loads of its first step into one of 64 bits, which saves two
 * wavefronts in each of four warps: PTX has 95 where the card counts 87. */
static void test_counters_of_a_card(void **state)
{
    (void)state;
    static const struct {
        const char *symbol;
        uint32_t block;
        uint64_t load_wavefronts, load_conflicts, store_wavefronts, store_conflicts, additions;
    } cards[] = {
        {"reduce_v1_b64_const", 64, 23, 0, 13, 0, 63},
        {"reduce_v3_b64_const", 64, 13, 0, 8, 0, 63},
        {"reduce_v1_b256_const", 256, 95, 0, 55, 0, 255},
        {"reduce_v2_b256_const", 256, 87 + 8, 62 + 8, 55, 35, 255},
        {"reduce_v3_b256_const", 256, 25, 0, 20, 0, 255},
    };
    for (size_t i = 0; i < sizeof cards / sizeof *cards; i++) {
        struct sim_run run;
        char *text = read_ptx(cards[i].symbol);
        sim_load(&run, text);
        double sum = run_ones(&run, cards[i].symbol, 1, cards[i].block, cards[i].block, NULL);
        assert_true(sum == cards[i].block);
        assert_int_equal(run.counters.shared_load_wavefronts, cards[i].load_wavefronts);
        assert_int_equal(run.counters.shared_load_conflicts, cards[i].load_conflicts);
        assert_int_equal(run.counters.shared_store_wavefronts, cards[i].store_wavefronts);
        assert_int_equal(run.counters.shared_store_conflicts, cards[i].store_conflicts);
        assert_int_equal(run.counters.additions, cards[i].additions);
        sim_unload(&run);
        free(text);
    }
}

static void test_classes_add_up(void **state)
{
    (void)state;
    struct sim_run run;
    const struct rung_sim_counters *c = &run.counters;
    char *text = read_ptx("reduce_v2_b256_runtime");
    sim_load(&run, text);
    run_ones(&run, "reduce_v2_b256_runtime", 3, 256, 700, NULL);
    uint64_t classes = c->arithmetic + c->logic + c->compare + c->move + c->convert + c->branch +
                       c->barrier + c->shared_load + c->shared_store + c->global_load +
                       c->global_store + c->other_memory + c->shuffle + c->vote + c->atomic +
                       c->control;
    assert_int_equal(classes, c->warp_instructions);
    assert_int_equal(c->blocks, 3);
    assert_int_equal(c->warps, 24);
    assert_int_equal(c->launches, 1);
    sim_unload(&run);
    free(text);
}

/* What is counted does not depend on how many host threads share the blocks, nor on the schedule. */
static void test_threads_and_seeds_count_the_same(void **state)
{
    (void)state;
    static const struct rung_sim_options options[] = {
        {.threads = 1}, {.threads = 2}, {.threads = 7}, {.threads = 2, .seed = 42}};
    struct rung_sim_counters first = {0};
    char *text = read_ptx("reduce_v1_b256_const");
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        struct sim_run run;
        sim_load(&run, text);
        double sum = run_ones(&run, "reduce_v1_b256_const", 600, 256, 600 * 256 - 11, &options[i]);
        assert_true(sum == 600 * 256 - 11);
        if (i == 0)
            first = run.counters;
        assert_memory_equal(&run.counters, &first, sizeof first);
        sim_unload(&run);
    }
    free(text);
}

/* Takes the barriers out of a kernel. */
static void drop_barriers(char *text)
{
    for (char *at = text; (at = strstr(at, "bar.sync"));)
        memset(at, ' ', strcspn(at, ";") + 1);
}

/* Without its barriers a tree sums wrongly under some schedule, and is reported under every one. */
static void test_missing_barriers_show(void **state)
{
    (void)state;
    unsigned wrong = 0;
    char *text = read_ptx("reduce_v3_b256_const");
    drop_barriers(text);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct rung_sim_options options = {.check = true, .seed = seed};
        struct sim_run run;
        sim_load(&run, text);
        double sum = run_ones(&run, "reduce_v3_b256_const", 1, 256, 256, &options);
        wrong += sum != 256;
        assert_true(run.findings.total > 0);
        for (size_t i = 0; i < run.findings.n_items; i++) {
            enum rung_sim_finding_kind kind = run.findings.items[i].kind;
            assert_true(kind == RUNG_SIM_RACE || kind == RUNG_SIM_UNINITIALISED);
            assert_true(run.findings.items[i].line > 0 && run.findings.items[i].lanes != 0);
        }
        sim_unload(&run);
    }
    assert_true(wrong > 0);
    free(text);
}

/* The same seed, the same schedule, the same findings. */
static void test_a_seed_repeats(void **state)
{
    (void)state;
    struct rung_sim_options options = {.check = true, .seed = 9};
    struct sim_run runs[2];
    char *text = read_ptx("reduce_v3_b256_const");
    drop_barriers(text);
    double sums[2];
    for (int i = 0; i < 2; i++) {
        sim_load(&runs[i], text);
        sums[i] = run_ones(&runs[i], "reduce_v3_b256_const", 2, 256, 512, &options);
    }
    assert_memory_equal(&sums[0], &sums[1], sizeof sums[0]);
    assert_int_equal(runs[0].findings.total, runs[1].findings.total);
    assert_memory_equal(runs[0].findings.items, runs[1].findings.items,
                        runs[0].findings.n_items * sizeof *runs[0].findings.items);
    for (int i = 0; i < 2; i++)
        sim_unload(&runs[i]);
    free(text);
}

struct events {
    uint64_t step, additions, tree, loads, stores, arrivals, opens, serialised_ways;
    bool in_order;
    double last_sum;
};

static void observe(void *context, const struct rung_sim_event *event)
{
    struct events *seen = context;
    seen->in_order = seen->in_order && event->step == seen->step && event->block == 1;
    seen->step++;
    seen->loads += event->kind == RUNG_SIM_EVENT_SHARED_LOAD;
    seen->stores += event->kind == RUNG_SIM_EVENT_SHARED_STORE;
    seen->arrivals += event->kind == RUNG_SIM_EVENT_BARRIER;
    seen->opens += event->kind == RUNG_SIM_EVENT_BARRIER_OPEN;
    if (event->kind == RUNG_SIM_EVENT_SHARED_LOAD)
        seen->serialised_ways += event->ways;
    if (event->kind != RUNG_SIM_EVENT_ADDITION)
        return;
    seen->additions += (uint64_t)__builtin_popcount(event->active);
    seen->tree += event->tree;
    for (int lane = 0; lane < 32; lane++)
        if (event->active >> lane & 1) {
            float left, right, sum;
            memcpy(&left, &event->left[lane], 4);
            memcpy(&right, &event->right[lane], 4);
            memcpy(&sum, &event->values[lane], 4);
            assert_true(left + right == sum);
            seen->last_sum = (double)sum;
        }
}

static void test_observer(void **state)
{
    (void)state;
    struct events seen = {.in_order = true};
    struct rung_sim_options options = {
        .observer = observe, .observer_context = &seen, .observed_block = 1};
    struct sim_run run;
    char *text = read_ptx("reduce_v2_b256_const");
    sim_load(&run, text);
    run_ones(&run, "reduce_v2_b256_const", 3, 256, 3 * 256, &options);
    assert_true(seen.in_order);
    assert_int_equal(seen.additions, 255);
    assert_int_equal(seen.tree, 12);
    assert_int_equal(seen.loads, 2 * 12 + 1);
    assert_int_equal(seen.serialised_ways, 95);
    assert_int_equal(seen.stores, 8 + 12);
    assert_int_equal(seen.arrivals, 9 * 8);
    assert_int_equal(seen.opens, 9);
    assert_true(seen.last_sum == 256);
    sim_unload(&run);
    free(text);
}

static void test_shapes_that_cannot_be_launched(void **state)
{
    (void)state;
    struct sim_run run;
    char *text = read_ptx("reduce_v1_b64_const");
    uint64_t params[3] = {0};
    sim_load(&run, text);
    static const struct {
        uint32_t grid, block;
        uint64_t dynamic;
    } bad[] = {{0, 64, 0}, {1, 0, 0}, {1, 1025, 0}, {1, 64, 300000}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(sim_launch(&run, "reduce_v1_b64_const", bad[i].grid, bad[i].block,
                                    bad[i].dynamic, params, NULL),
                         1);
        assert_true(run.why[0] != 0);
    }
    assert_int_equal(run.counters.launches, 0);
    sim_unload(&run);
    free(text);
}

/* Findings are counted beyond those that are kept. */
static void test_findings_are_bounded(void **state)
{
    (void)state;
    struct sim_run run;
    struct rung_sim_options options = {.check = true};
    char *text = read_ptx("reduce_v3_b256_const");
    drop_barriers(text);
    sim_load(&run, text);
    run_ones(&run, "reduce_v3_b256_const", 200, 256, 200 * 256, &options);
    assert_int_equal(run.findings.n_items, RUNG_SIM_FINDINGS_MAX);
    assert_true(run.findings.total > RUNG_SIM_FINDINGS_MAX);
    for (size_t i = 1; i < run.findings.n_items; i++)
        assert_true(run.findings.items[i].block >= run.findings.items[i - 1].block);
    sim_unload(&run);
    free(text);
}

static void test_memory(void **state)
{
    (void)state;
    struct rung_sim_memory memory = {0};
    uint64_t a = rung_sim_memory_alloc(&memory, 100, NULL);
    uint64_t b = rung_sim_memory_alloc(&memory, 1000, NULL);
    char mapped[16] = "mapped";
    uint64_t c = rung_sim_memory_alloc(&memory, sizeof mapped, mapped);
    assert_true(a >= RUNG_SIM_MEMORY_BASE && b > a + 100 && c > b + 1000);
    assert_int_equal(a % 512, 0);
    assert_int_equal(rung_sim_memory_alloc(&memory, 0, NULL), 0);
    assert_int_equal(rung_sim_memory_alloc(&memory, UINT64_MAX - 8, NULL), 0);
    assert_int_equal(memory.in_use, 1100 + sizeof mapped);
    assert_ptr_equal(rung_sim_memory_at(&memory, c, sizeof mapped), mapped);
    assert_int_equal(*rung_sim_memory_at(&memory, b + 999, 1), 0xcd);
    assert_null(rung_sim_memory_at(&memory, b + 999, 2));
    assert_null(rung_sim_memory_at(&memory, b + 8, UINT64_MAX));
    assert_null(rung_sim_memory_at(&memory, a + 100, 1));
    assert_null(rung_sim_memory_at(&memory, 0, 1));
    assert_false(rung_sim_memory_free(&memory, b + 1));
    assert_true(rung_sim_memory_free(&memory, b));
    assert_false(rung_sim_memory_free(&memory, b));
    assert_null(rung_sim_memory_find(&memory, b));
    assert_true(rung_sim_memory_alloc(&memory, 1000, NULL) > c); /* never the freed addresses */
    rung_sim_memory_release(&memory);
    assert_string_equal(mapped, "mapped");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counters_of_a_card),
        cmocka_unit_test(test_classes_add_up),
        cmocka_unit_test(test_threads_and_seeds_count_the_same),
        cmocka_unit_test(test_missing_barriers_show),
        cmocka_unit_test(test_a_seed_repeats),
        cmocka_unit_test(test_observer),
        cmocka_unit_test(test_shapes_that_cannot_be_launched),
        cmocka_unit_test(test_findings_are_bounded),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
