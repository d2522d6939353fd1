/* Every form of a modulo, and kernels that have none, compiled for every target of the NVRTC found:
 * the verdicts of tests/data/inspect/forms.cu, from PTX and, where nvdisasm is found, from SASS. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "inspect/inspect.h"
#include "nvrtc/cache.h"
#include "support/disassembler.h"

#define FORMS RUNG_SOURCE_DIR "/tests/data/inspect/forms.cu"
#define KERNELS_MAX 128
#define NEW_GENERATION 20 /* the first NVVM that proves powers of two */

struct expected {
    char kernel[64];
    char word[2][16]; /* old generation, new */
    unsigned count[2];
};

struct fixture {
    char *source;
    struct expected expected[KERNELS_MAX];
    size_t n;
    struct rung_nvrtc *nvrtc;
    struct rung_cache *cache;
    bool disassembles;
    struct rung_disasm disasm;
};

static void read_expectations(struct fixture *fixture)
{
    for (const char *at = fixture->source; (at = strstr(at, "\n//= ")) != NULL; at += 5) {
        struct expected *expected = &fixture->expected[fixture->n++];
        assert_int_equal(sscanf(at, "\n//= %63s %15s %u %15s %u", expected->kernel,
                                expected->word[0], &expected->count[0], expected->word[1],
                                &expected->count[1]),
                         5);
        assert_true(fixture->n < KERNELS_MAX);
    }
    assert_true(fixture->n > 40);
}

static const struct expected *find(const struct fixture *fixture, const char *kernel)
{
    for (size_t i = 0; i < fixture->n; i++)
        if (strcmp(fixture->expected[i].kernel, kernel) == 0)
            return &fixture->expected[i];
    fail_msg("no expectation for kernel %s", kernel);
    return NULL;
}

static unsigned count_of(const struct rung_modulo *verdict)
{
    return verdict->word == RUNG_VERDICT_DIVIDE     ? verdict->divide
           : verdict->word == RUNG_VERDICT_MASK     ? verdict->mask
           : verdict->word == RUNG_VERDICT_MULTIPLY ? verdict->multiply
                                                    : 0;
}

static void check_side(const struct rung_inspected *kernel, const struct rung_inspected_side *side,
                       const char *language, const struct expected *expected, int generation)
{
    const struct rung_modulo *verdict = &side->verdict;
    if (strcmp(rung_verdict_text(verdict->word), expected->word[generation]) != 0 ||
        count_of(verdict) != expected->count[generation])
        fail_msg("%s for sm_%u, %s: %s %u in place of %s %u", kernel->kernel, kernel->ptx_target,
                 language, rung_verdict_text(verdict->word), count_of(verdict),
                 expected->word[generation], expected->count[generation]);
    assert_false(verdict->incomplete);
    uint32_t decides = 0;
    for (uint32_t i = 0; i < verdict->n_evidence; i++) {
        assert_true(verdict->evidence[i].instruction < side->code.n_instructions);
        decides += verdict->evidence[i].decides;
    }
    assert_int_equal(decides, verdict->divide + verdict->mask + verdict->multiply);
}

static void every_form_on_every_target(void **state)
{
    struct fixture *fixture = *state;
    unsigned targets[RUNG_TARGETS_MAX];
    size_t n = rung_nvrtc_targets(fixture->nvrtc, targets);
    char words[RUNG_TARGETS_MAX][16];
    struct rung_compile_job jobs[RUNG_TARGETS_MAX] = {0};
    struct rung_compiled compiled[RUNG_TARGETS_MAX] = {0};
    enum rung_status statuses[RUNG_TARGETS_MAX];
    static struct rung_error errors[RUNG_TARGETS_MAX];
    static struct rung_inspection inspections[RUNG_TARGETS_MAX];
    struct rung_inspect_input inputs[RUNG_TARGETS_MAX];
    for (size_t i = 0; i < n; i++) {
        snprintf(words[i], sizeof words[i], "sm_%u", targets[i]);
        jobs[i] = (struct rung_compile_job){
            .source = fixture->source, .name = "forms.cu", .target = words[i]};
    }
    rung_cached_compile_all(compiled, statuses, errors, fixture->cache, fixture->nvrtc, jobs, n);
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(errors[i].text, "");
        inputs[i] = (struct rung_inspect_input){compiled[i].ptx, compiled[i].ptx_length,
                                                compiled[i].cubin, compiled[i].cubin_length};
    }
    rung_inspect(inspections, inputs, n, fixture->disassembles ? &fixture->disasm : NULL, "absent");
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(inspections[i].err.text, "");
        assert_int_equal(inspections[i].n_kernels, fixture->n);
        for (size_t k = 0; k < inspections[i].n_kernels; k++) {
            const struct rung_inspected *kernel = &inspections[i].kernels[k];
            const struct expected *expected = find(fixture, kernel->kernel);
            assert_non_null(kernel->nvvm);
            int generation = atoi(kernel->nvvm) >= NEW_GENERATION;
            assert_int_equal(kernel->ptx_target, targets[i]);
            assert_int_equal(kernel->sass_target, targets[i]);
            check_side(kernel, &kernel->ptx, "PTX", expected, generation);
            if (kernel->sass.present)
                check_side(kernel, &kernel->sass, "SASS", expected, generation);
            else if (!fixture->disassembles)
                assert_string_equal(kernel->sass.why, "absent");
            else /* a disassembler need not know every target of another release's compiler */
                assert_non_null(strstr(kernel->sass.why, "does not know"));
        }
        rung_inspection_release(&inspections[i]);
        rung_compiled_release(&compiled[i]);
    }
}

static int set_up(void **state)
{
    static struct fixture fixture;
    struct rung_error err = {0};
    size_t length;
    char why[256];
    assert_int_equal(rung_file_read(&fixture.source, &length, FORMS, &err), RUNG_OK);
    read_expectations(&fixture);
    if (rung_nvrtc_open(&fixture.nvrtc, NULL, &err) != RUNG_OK) {
        print_message("%s\n", err.text);
        exit(77);
    }
    rung_cache_open(&fixture.cache, NULL, why);
    struct rung_error no_disasm = {0};
    fixture.disassembles = find_disassembler(&fixture.disasm, &no_disasm);
    if (!fixture.disassembles)
        print_message("PTX alone: %s\n", no_disasm.text);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    rung_cache_close(fixture->cache);
    rung_nvrtc_close(fixture->nvrtc);
    free(fixture->source);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_form_on_every_target)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
