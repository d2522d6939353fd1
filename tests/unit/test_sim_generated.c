/* Every generated kernel runs on the simulator: its partial sums are exact, it is free of races,
 * and what is counted in the executed PTX is what the model predicts, at ragged sizes too. */
#include "support/sim_run.h"

#include <dirent.h>

#include "base/file.h"
#include "gen/model.h"

#define FOLDER RUNG_SOURCE_DIR "/generated/ptx/sm_75"
#define BLOCKS_MAX 8

struct ladder {
    struct rung_arena arena;
    struct rung_ladder ladder;
};

static int open_ladder(void **state)
{
    static struct ladder ladder;
    struct rung_error err = {0};
    if (rung_ladder_load(&ladder.ladder, &ladder.arena, &err))
        return -1;
    *state = &ladder;
    return 0;
}

static int close_ladder(void **state)
{
    rung_arena_release(&((struct ladder *)*state)->arena);
    return 0;
}

/* Small integers, exact in every type. */
static int element(uint64_t i)
{
    return (int)((i * 2654435761u >> 7) % 17) - 8;
}

static void store_value(void *at, uint64_t i, enum rung_type type, int value)
{
    if (type == RUNG_TYPE_F32)
        ((float *)at)[i] = (float)value;
    else if (type == RUNG_TYPE_F64)
        ((double *)at)[i] = value;
    else
        ((int *)at)[i] = value;
}

static double load_value(const void *at, uint64_t i, enum rung_type type)
{
    return type == RUNG_TYPE_F32   ? (double)((const float *)at)[i]
           : type == RUNG_TYPE_F64 ? ((const double *)at)[i]
                                   : (double)((const int *)at)[i];
}

struct kernel_case {
    const struct rung_template *tpl;
    struct rung_config config;
    struct rung_shape shape;
    char symbol[RUNG_ID_SIZE];
    char *text;
};

/* One launch over n elements by `grid` blocks; the sum of the partials and all counts. */
static void run_size(struct kernel_case *c, uint64_t n, uint64_t grid,
                     const struct rung_sim_options *options)
{
    struct sim_run run;
    struct rung_error err = {0};
    struct rung_model model = {0};
    enum rung_type type = c->config.type;
    size_t size = rung_type_size(type);
    bool dot = c->config.op == RUNG_OP_DOT;
    unsigned char params[64] = {0};
    size_t at = 0;
    double expected = 0, got = 0;
    sim_load(&run, c->text);
    uint64_t a = sim_alloc(&run, n * size), b = sim_alloc(&run, n * size);
    uint64_t out = sim_alloc(&run, grid * size);
    for (uint64_t i = 0; i < n; i++) {
        store_value(sim_host(&run, a, n * size), i, type, element(i));
        store_value(sim_host(&run, b, n * size), i, type, element(i + 7));
        expected += (double)element(i) * (dot ? element(i + 7) : 1);
    }
    const uint64_t words[] = {a, b, out, n};
    for (int k = 0; k < 4; k++)
        if (k != 1 || dot) {
            memcpy(params + at, &words[k], 8);
            at += 8;
        }
    uint32_t step = 2;
    if (c->shape.takes_step)
        memcpy(params + at, &step, 4);
    int code = sim_launch(&run, c->symbol, (uint32_t)grid, c->config.block, 0, params, options);
    if (code || run.findings.total)
        fail_msg("%s, n %llu: code %d, %llu findings: %s %s", c->symbol, (unsigned long long)n,
                 code, (unsigned long long)run.findings.total, run.why,
                 run.findings.n_items ? run.findings.items[0].text : "");
    for (uint64_t i = 0; i < grid; i++)
        got += load_value(sim_host(&run, out, grid * size), i, type);
    if (got != expected)
        fail_msg("%s, n %llu: sum %g, not %g", c->symbol, (unsigned long long)n, got, expected);
    if (rung_model_launch(&model, c->tpl, &c->config, n, grid, &err))
        fail_msg("%s", err.text);
    if (run.counters.additions != model.additions || run.counters.body_runs != model.body_runs ||
        run.counters.serialised != model.serialised)
        fail_msg("%s, n %llu, %llu blocks: counted %llu additions, %llu runs, %llu serialised; "
                 "the model says %llu, %llu, %llu",
                 c->symbol, (unsigned long long)n, (unsigned long long)grid,
                 (unsigned long long)run.counters.additions,
                 (unsigned long long)run.counters.body_runs,
                 (unsigned long long)run.counters.serialised, (unsigned long long)model.additions,
                 (unsigned long long)model.body_runs, (unsigned long long)model.serialised);
    sim_unload(&run);
}

static void run_kernel(struct kernel_case *c)
{
    const struct rung_sim_options checked = {.check = true},
                                  shuffled = {.check = true, .seed = c->config.block + 1};
    uint64_t per_block = (uint64_t)c->config.block * c->shape.elements_per_thread;
    const uint64_t sizes[] = {1, per_block - 1, per_block, 2 * per_block + 1, 3 * per_block - 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint64_t n = sizes[i] ? sizes[i] : 1, grid = (n + per_block - 1) / per_block;
        if (c->shape.grid_rule == RUNG_GRID_FIXED)
            grid = 2;
        assert_true(grid <= BLOCKS_MAX);
        run_size(c, n, grid, i == 4 ? &shuffled : &checked);
    }
    run_size(c, 2 * per_block + 1, c->shape.grid_rule == RUNG_GRID_FIXED ? 2 : 3, NULL);
}

static void test_every_generated_kernel(void **state)
{
    struct ladder *ladder = *state;
    DIR *folder = opendir(FOLDER);
    unsigned n = 0;
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        struct kernel_case c = {0};
        struct rung_error err = {0};
        char id[RUNG_ID_SIZE], path[1024];
        size_t length = strlen(entry->d_name);
        if (length < 12 || length >= sizeof id || strcmp(entry->d_name + length - 4, ".ptx"))
            continue;
        snprintf(id, sizeof id, "%.*s", (int)(length - 11), entry->d_name + 7);
        for (char *p = id; *p; p++)
            *p = *p == '_' ? '-' : *p;
        if (rung_config_parse_id(&c.config, id, &err))
            fail_msg("%s", err.text);
        c.tpl = rung_ladder_find(&ladder->ladder, c.config.version, c.config.variant);
        assert_non_null(c.tpl);
        rung_template_shape(&c.shape, c.tpl, &c.config);
        rung_config_symbol(&c.config, c.symbol);
        snprintf(path, sizeof path, FOLDER "/%s", entry->d_name);
        if (rung_file_read(&c.text, &length, path, &err))
            fail_msg("%s", err.text);
        run_kernel(&c);
        free(c.text);
        n++;
    }
    closedir(folder);
    assert_true(n >= 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_generated_kernel)};
    return cmocka_run_group_tests(tests, open_ladder, close_ladder);
}
