/* The hand-written cases of tests/ptx on the simulator. The comments of a file say what to do and
 * what must come of it:
 *
 *   // launch: GRID BLOCK [DYNAMIC-BYTES]           each of these; 1 32 without any
 *   // options: check strict seed=7 budget=1000
 *   // expect: TYPE[I] = V V V ...                  of the output from element I on
 *   // expect: code 700                             else 0
 *   // expect: finding KIND line N [other N] [warp N] [lanes 0xMASK]
 *   // expect: no findings
 *   // expect: NAME = N                             a counter
 *   // error: CODE TEXT                             refused at load, TEXT in the message
 *
 * The entry is called `test` and takes .u64 out, .u64 in: 8 KiB of bytes 0xcd, and 1024 words that
 * hold their index. */
#include "support/ptx_case.h"
#include "support/sim_run.h"

#include <dirent.h>

#include "base/file.h"

#define FOLDER RUNG_SOURCE_DIR "/tests/ptx"

struct plan {
    const char *name;
    char *text;
    uint32_t grid, block;
    uint64_t dynamic_bytes;
    struct rung_sim_options options;
};

static void read_options(struct plan *plan)
{
    char line[512];
    const char *at = plan->text;
    plan->grid = 1;
    plan->block = 32;
    while (ptx_case_line(line, &at, "// options:")) {
        const char *seed = strstr(line, "seed="), *budget = strstr(line, "budget=");
        plan->options.check |= strstr(line, "check") != NULL;
        plan->options.strict |= strstr(line, "strict") != NULL;
        plan->options.seed = seed ? strtoull(seed + 5, NULL, 0) : 0;
        plan->options.step_budget = budget ? strtoull(budget + 7, NULL, 0) : 0;
    }
}

static const char *const kinds[] = {
    [RUNG_SIM_RACE] = "race",
    [RUNG_SIM_BARRIER] = "barrier",
    [RUNG_SIM_BOUNDS] = "bounds",
    [RUNG_SIM_MISALIGNED] = "misaligned",
    [RUNG_SIM_UNINITIALISED] = "uninitialised",
    [RUNG_SIM_SHUFFLE] = "shuffle",
    [RUNG_SIM_TIMEOUT] = "timeout",
};

/* A number behind a word of the line; `none` where the word is missing. */
static uint64_t number_of(const char *line, const char *word, uint64_t none)
{
    const char *at = strstr(line, word);
    return at ? strtoull(at + strlen(word), NULL, 0) : none;
}

static void print_findings(const struct plan *plan, const struct sim_run *run)
{
    for (size_t i = 0; i < run->findings.n_items; i++) {
        const struct rung_sim_finding *f = &run->findings.items[i];
        print_error("%s: found %s line %u other %u block %u warp %u lanes 0x%x: %s\n", plan->name,
                    kinds[f->kind], f->line, f->other_line, f->block, f->warp, f->lanes, f->text);
    }
}

static void expect_clean(const struct plan *plan, const struct sim_run *run)
{
    print_findings(plan, run);
    assert_int_equal(run->findings.total, 0);
}

static void expect_finding(const struct plan *plan, const char *line, const struct sim_run *run)
{
    uint64_t wanted_line = number_of(line, " line ", 0), other = number_of(line, " other ", 0);
    uint64_t warp = number_of(line, " warp ", UINT64_MAX), lanes = number_of(line, " lanes ", 0);
    for (size_t i = 0; i < run->findings.n_items; i++) {
        const struct rung_sim_finding *finding = &run->findings.items[i];
        char kind[32];
        snprintf(kind, sizeof kind, "finding %s ", kinds[finding->kind]);
        if (strstr(line, kind) && finding->line == wanted_line &&
            (!other || finding->other_line == other) &&
            (warp == UINT64_MAX || finding->warp == warp) && (!lanes || finding->lanes == lanes))
            return;
    }
    print_findings(plan, run);
    fail_msg("%s: not found:%s", plan->name, line);
}

static void expect_counter(const struct plan *plan, const char *line,
                           const struct rung_sim_counters *counters)
{
#define COUNTER(name)                                                                              \
    {                                                                                              \
#name, &counters->name                                                                     \
    }
    const struct {
        const char *name;
        const uint64_t *value;
    } all[] = {
        COUNTER(blocks),
        COUNTER(warps),
        COUNTER(warp_instructions),
        COUNTER(thread_instructions),
        COUNTER(arithmetic),
        COUNTER(logic),
        COUNTER(compare),
        COUNTER(move),
        COUNTER(convert),
        COUNTER(branch),
        COUNTER(barrier),
        COUNTER(shared_load),
        COUNTER(shared_store),
        COUNTER(global_load),
        COUNTER(global_store),
        COUNTER(other_memory),
        COUNTER(shuffle),
        COUNTER(vote),
        COUNTER(atomic),
        COUNTER(control),
        COUNTER(divergent_branches),
        COUNTER(additions),
        COUNTER(body_runs),
        COUNTER(serialised),
        COUNTER(shared_load_wavefronts),
        COUNTER(shared_store_wavefronts),
        COUNTER(shared_load_conflicts),
        COUNTER(shared_store_conflicts),
        COUNTER(global_load_sectors),
        COUNTER(global_store_sectors),
        COUNTER(block_barriers),
    };
#undef COUNTER
    char name[64];
    unsigned long long wanted;
    if (sscanf(line, " %63[a-z_] = %llu", name, &wanted) != 2)
        fail_msg("%s: cannot read the line:%s", plan->name, line);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!strcmp(all[i].name, name)) {
            if (*all[i].value != wanted)
                fail_msg("%s: %s is %llu, not %llu", plan->name, name,
                         (unsigned long long)*all[i].value, wanted);
            return;
        }
    fail_msg("%s: no counter is called %s", plan->name, name);
}

static void run_plan(struct plan *plan)
{
    struct sim_run run;
    char line[512];
    const char *at = plan->text;
    unsigned expectations = 0, code = 0;
    sim_load(&run, plan->text);
    uint64_t params[] = {sim_alloc(&run, PTX_CASE_OUT_BYTES),
                         sim_alloc(&run, PTX_CASE_IN_WORDS * 4)};
    uint32_t *in = sim_host(&run, params[1], PTX_CASE_IN_WORDS * 4);
    for (uint32_t i = 0; i < PTX_CASE_IN_WORDS; i++)
        in[i] = i;
    int got = sim_launch(&run, "test", plan->grid, plan->block, plan->dynamic_bytes, params,
                         &plan->options);
    while (ptx_case_line(line, &at, "// expect:"))
        if (strstr(line, " code "))
            code = (unsigned)number_of(line, " code ", 0);
    if (got != (int)code)
        fail_msg("%s: code %d, not %u: %s", plan->name, got, code, run.why);
    for (at = plan->text; ptx_case_line(line, &at, "// expect:"); expectations++) {
        if (strchr(line, '['))
            assert_true(
                ptx_case_check(plan->name, line, sim_host(&run, params[0], PTX_CASE_OUT_BYTES)));
        else if (strstr(line, " no findings"))
            expect_clean(plan, &run);
        else if (strstr(line, " finding "))
            expect_finding(plan, line, &run);
        else if (!strstr(line, " code "))
            expect_counter(plan, line, &run.counters);
    }
    if (!expectations)
        fail_msg("%s expects nothing", plan->name);
    sim_unload(&run);
}

static void run_launches(struct plan *plan)
{
    const char *at = plan->text;
    char line[512];
    unsigned n = 0;
    read_options(plan);
    for (; ptx_case_line(line, &at, "// launch:"); n++) {
        unsigned long long dynamic = 0;
        assert_true(sscanf(line, "%u %u %llu", &plan->grid, &plan->block, &dynamic) >= 2);
        plan->dynamic_bytes = dynamic;
        run_plan(plan);
    }
    if (!n)
        run_plan(plan);
}

static void refuse_plan(const struct plan *plan, const char *line)
{
    struct rung_sim_memory memory = {0};
    struct rung_sim_program *program = NULL;
    struct rung_error err = {0};
    int code = 0, used = 0;
    assert_int_equal(sscanf(line, "%d %n", &code, &used), 1);
    rung_sim_program_load(&program, &memory, plan->text, strlen(plan->text), SIM_CC, &err);
    if (program || err.native != code || !strstr(err.text, line + used))
        fail_msg("%s: %d, %s; not %s", plan->name, err.native, program ? "it loads" : err.text,
                 line);
    rung_sim_memory_release(&memory);
}

static void run_files(const char *prefix, unsigned at_least)
{
    DIR *folder = opendir(FOLDER);
    unsigned n = 0;
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        char path[1024], line[512];
        size_t length;
        struct rung_error err = {0};
        struct plan plan = {.name = entry->d_name};
        if (strncmp(entry->d_name, prefix, strlen(prefix)) || !strstr(entry->d_name, ".ptx"))
            continue;
        snprintf(path, sizeof path, FOLDER "/%s", entry->d_name);
        if (rung_file_read(&plan.text, &length, path, &err))
            fail_msg("%s", err.text);
        const char *at = plan.text;
        if (ptx_case_line(line, &at, "// error:"))
            refuse_plan(&plan, line + 1);
        else
            run_launches(&plan);
        free(plan.text);
        n++;
    }
    closedir(folder);
    assert_true(n >= at_least);
}

static void test_accepted(void **state)
{
    (void)state;
    run_files("ok_", 60);
}

static void test_refused(void **state)
{
    (void)state;
    run_files("err_", 25);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_accepted),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
