/* Templates: what is read, what is refused and how, and what is printed. Alone:
 * build/tests/test_gen_template */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "gen/model.h"
#include "gen/template.h"

/* A whole template, one line a string, so that tests can take one away or put another there. */
static const char *const whole[] = {
    "//! version  1",
    "//! title    a title",
    "//! change   a change",
    "//! lacks    mask, shift, opaque: no modulo",
    "extern \"C\" __global__ void @SYMBOL@(@PARAMETERS@)",
    "{",
    "    __shared__ @T@ tile[@threads@];",
    "    const unsigned int tid = threadIdx.x;",
    "    const unsigned long long block = blockIdx.x;",
    "    //! element  block * width + tid",
    "    //! load     tile[tid] = in[i]",
    "    const unsigned long long i = @ELEMENT@;",
    "    @LOAD@",
    "    __syncthreads();",
    "    //! steps    s = width / 2; s > 0; s >>= 1",
    "    //! active   tid < s",
    "    //! add      tile[tid] += tile[tid + s]",
    "    @UNROLL@",
    "    for (@STEPS@) {",
    "        @LET@",
    "        if (@ACTIVE@)",
    "            @ADD@",
    "        __syncthreads();",
    "    }",
    "    //! result   tile[0]",
    "    if (tid == 0)",
    "        out[block] = @RESULT@;",
    "}",
};
#define N_LINES (sizeof whole / sizeof *whole)

/* The whole template with the line that holds `find` replaced, or taken out for NULL. */
static char *variation(const char *find, const char *replacement)
{
    struct rung_text text = {0};
    bool found = find == NULL;
    for (size_t i = 0; i < N_LINES; i++) {
        bool here = find && !found && strstr(whole[i], find);
        found |= here;
        if (!here)
            rung_text_format(&text, "%s\n", whole[i]);
        else if (replacement)
            rung_text_format(&text, "%s\n", replacement);
    }
    assert_true(found);
    return rung_text_take(&text);
}

static enum rung_status parse(const struct rung_template **out, struct rung_arena *arena,
                              const char *find, const char *replacement, struct rung_error *err)
{
    char *text = variation(find, replacement);
    enum rung_status status = rung_template_parse(out, arena, "t.cu.in", text, err);
    free(text);
    return status;
}

static void test_the_whole_is_read(void **state)
{
    (void)state;
    struct rung_arena arena = {0};
    const struct rung_template *tpl;
    struct rung_error err = {0};
    if (parse(&tpl, &arena, NULL, NULL, &err) != RUNG_OK)
        fail_msg("%s", err.text);
    assert_int_equal(rung_template_version(tpl), 1);
    assert_string_equal(rung_template_title(tpl), "a title");
    assert_string_equal(rung_template_file(tpl), "t.cu.in");
    rung_arena_release(&arena);
}

static void test_what_is_wrong_is_named_with_its_line(void **state)
{
    (void)state;
    static const struct {
        const char *find, *replacement, *says;
    } wrong[] = {
        {"version",   NULL,                                     "t.cu.in:1: the directive 'version' is missing"     },
        {"version",   "//! version  one",                       "t.cu.in:1: version 'one' is not a number"          },
        {"title",     NULL,                                     "'title' is missing"                                },
        {"change",    NULL,                                     "'change' is missing"                               },
        {"title",     "//! titel    x",                         "t.cu.in:2: no directive 'titel'; there are version"},
        {"lacks",     "//! lacks    mask",                      "t.cu.in:4: 'lacks' reads WORD"                     },
        {"lacks",     "//! lacks    masks: x",                  "'masks' is no value of any axis"                   },
        {"active",    "//! active[masks] 1",                    "t.cu.in:16: [masks] is no value of any axis"       },
        {"active",    "//! active[mask 1",                      "']' is missing"                                    },
        {"active",    "//! active   tid < stride",              "t.cu.in:16: 'stride' is not known here"            },
        {"active",    "//! active   tid < s s",                 "t.cu.in:16: active: 's' is left over"              },
        {"active",    NULL,                                     "t.cu.in:15: steps need 'active' and 'add'"         },
        {"steps",     "//! steps    s = 1; s < width",          "steps: ';' is missing"                             },
        {"steps",     "//! steps    s = 1; s < width; t *= 2",  "must change its own variable"                      },
        {"steps",     "//! steps    k = 1; k < width; k *= 2",  "must be named s"                                   },
        {"steps",     NULL,                                     "t.cu.in:15: active: belongs below 'steps'"         },
        {"add  ",     "//! add      tile[tid] = tile[tid + s]", "an addition of the tree reads"                     },
        {"add  ",     "//! add      tile[tid] += 3",            "an operand is tile"                                },
        {"add  ",     "//! add      tile[tid += tile[1]",       "']' is missing"                                    },
        {"add  ",     "//! add      in[tid] += tile[1]",        "only tile[…] and sum can be written"             },
        {"load ",     "//! load     tile[tid] += in[i]",        "the first load sets"                               },
        {"load ",     "//! load     tile[tid] = tile[i]",       "a load reads PLACE = in"                           },
        {"element",   NULL,                                     "'element' and at least one 'load' are missing"     },
        {"result",    NULL,                                     "'result' is missing"                               },
        {"result",    "//! result   in[0]",                     "the result is tile[…] or sum"                    },
        {"@ADD@",     "            ;",                          "t.cu.in:17: 'add' is stated here and the code"     },
        {"@ACTIVE@",  "        if (tid < s)",                   "t.cu.in:16: 'active' is stated here"               },
        {"@LOAD@",    "    tile[tid] = in[i];",                 "'load' is stated here"                             },
        {"@STEPS@",   "    for (;;) {",                         "'steps' is stated here"                            },
        {"@RESULT@",  "        out[block] = tile[0];",          "'result' is stated here"                           },
        {"@ADD@",     "            @SUM@",                      "t.cu.in:22: no placeholder @SUM@"                  },
        {"@ADD@",     "            @ADD@ @",                    "a single @"                                        },
        {"@ADD@",     "            @PUT@ @ADD@",                "@PUT@ has no directive above it"                   },
        {"@threads@", "    __shared__ @T@ tile[@thread@];",     "'thread' is not known here"                        },
        {"@ADD@",     "//! each\n@ADD@",                        "between 'each' and 'end' stands code only"         },
        {"@ADD@",     "//! end",                                "'end' without 'each'"                              },
        {"change",    "//! change x\n//! caught race",          "belong to a 'control'"                             },
        {"change",    "//! control x",                          "a control states its 'mistake'"                    },
        {"change",    "//! change x\n//! const width = 3",      "const: the name is taken"                          },
        {"change",    "//! change x\n//! const a = tid + 1",    "only threads and constants"                        },
        {"change",    "//! change x\n//! const a = 1 / 0",      "a division by zero"                                },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct rung_arena arena = {0};
        const struct rung_template *tpl = NULL;
        struct rung_error err = {0};
        enum rung_status status = parse(&tpl, &arena, wrong[i].find, wrong[i].replacement, &err);
        if (status == RUNG_OK)
            fail_msg("'%s' was read", wrong[i].replacement ? wrong[i].replacement : wrong[i].find);
        if (status != RUNG_USAGE || !strstr(err.text, wrong[i].says))
            fail_msg("'%s' says \"%s\", not \"%s\"",
                     wrong[i].replacement ? wrong[i].replacement : wrong[i].find, err.text,
                     wrong[i].says);
        rung_arena_release(&arena);
    }
}

static void test_nothing_and_rubbish_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",          "\n", "//!",      "//! ",
        "int main;", "@",  "//! each", "//! version 1\n//! title x\n//! change y\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct rung_arena arena = {0};
        const struct rung_template *tpl;
        assert_int_equal(rung_template_parse(&tpl, &arena, "t", texts[i], NULL), RUNG_USAGE);
        rung_arena_release(&arena);
    }
}

/* A template that can be read, and whose tree does not do what a tree must. */
static void test_a_tree_that_does_not_reduce_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *find, *replacement, *says;
    } wrong[] = {
        {"active",  "//! active   tid <= s",                       "thread 8 touches tile[16] of 16"},
        {"active",  "//! active   tid + 1 < s",                    "not every value"                },
        {"active",  "//! active   all",                            NULL                             },
        {"add  ",   "//! add      tile[tid] += tile[tid + 2 * s]", "touches tile["                  },
        {"add  ",   "//! add      tile[tid] += tile[tid]",         "not every value"                },
        {"steps",   "//! steps    s = width / 2; s > 1; s >>= 1",  "not every value"                },
        {"steps",   "//! steps    s = width / 2; s >= 0; s >>= 1", "does not end"                   },
        {"steps",   "//! steps    s = width / 2; s > 0; s -= 3",   "below zero"                     },
        {"result",  "//! result   tile[1]",                        "not every value"                },
        {"element", "//! element  block * width + tid % 2",        "sum of multiples"               },
    };
    const struct rung_config config = {.version = 1, .block = 16};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct rung_arena arena = {0};
        const struct rung_template *tpl;
        struct rung_error err = {0};
        struct rung_model model;
        if (!wrong[i].says) { /* the placeholder has nothing to stand for */
            assert_int_equal(parse(&tpl, &arena, wrong[i].find, wrong[i].replacement, &err),
                             RUNG_USAGE);
            rung_arena_release(&arena);
            continue;
        }
        if (parse(&tpl, &arena, wrong[i].find, wrong[i].replacement, &err) != RUNG_OK)
            fail_msg("%s", err.text);
        if (rung_model_block(&model, tpl, &config, &err) != RUNG_USAGE ||
            !strstr(err.text, wrong[i].says))
            fail_msg("'%s' says: %s", wrong[i].replacement, err.text);
        rung_arena_release(&arena);
    }
}

static void test_what_a_version_lacks_is_said(void **state)
{
    (void)state;
    struct rung_arena arena = {0};
    struct rung_ladder ladder;
    assert_int_equal(rung_ladder_load(&ladder, &arena, NULL), RUNG_OK);
    static const struct {
        struct rung_config config;
        const char *says; /* NULL: it has it */
    } cases[] = {
        {{.version = 1, .block = 256, .predicate = RUNG_PREDICATE_OPAQUE},                      NULL                          },
        {{.version = 2, .block = 256, .predicate = RUNG_PREDICATE_MASK},
         "version 2 has no predicate mask"                                                                                    },
        {{.version = 6, .block = 256, .bound = RUNG_BOUND_RUNTIME, .unroll = RUNG_UNROLL_NONE},
         "version 6 has no bound runtime: its tree"                                                                           },
        {{.version = 7, .block = 256, .unroll = RUNG_UNROLL_NONE},                              "version 7 has no unroll none"},
        {{.version = 5, .block = 256, .bound = RUNG_BOUND_RUNTIME, .unroll = RUNG_UNROLL_NONE},
         NULL                                                                                                                 },
        {{.version = 1, .block = 256, .bound = RUNG_BOUND_RUNTIME},                             "never unrolled in full"      },
        {{.version = 1, .block = 96},                                                           "96 threads per block"        },
        {{.version = 8, .block = 256, .variant = RUNG_VARIANT_TWOLEVEL},                        "has no variant twolevel"     },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rung_error err = {0};
        const struct rung_template *tpl =
            rung_ladder_find(&ladder, cases[i].config.version, RUNG_VARIANT_BASE);
        enum rung_status status = rung_template_supports(tpl, &cases[i].config, &err);
        assert_int_equal(status, cases[i].says ? RUNG_USAGE : RUNG_OK);
        if (cases[i].says && !strstr(err.text, cases[i].says))
            fail_msg("%s", err.text);
    }
    assert_null(rung_ladder_find(&ladder, 99, RUNG_VARIANT_BASE));
    assert_null(rung_ladder_find(&ladder, 3, RUNG_VARIANT_TWOLEVEL));
    rung_arena_release(&arena);
}

static void test_the_ladder_is_in_order(void **state)
{
    (void)state;
    struct rung_arena arena = {0};
    struct rung_ladder ladder;
    assert_int_equal(rung_ladder_load(&ladder, &arena, NULL), RUNG_OK);
    assert_true(ladder.n_versions >= 9);
    for (unsigned version = 1; version <= 8; version++) {
        const struct rung_template *tpl = rung_ladder_find(&ladder, version, RUNG_VARIANT_BASE);
        struct rung_shape shape;
        const struct rung_config config = {.version = version, .block = 64};
        assert_non_null(tpl);
        rung_template_shape(&shape, tpl, &config);
        assert_int_equal(shape.elements_per_thread, version < 4 ? 1 : 2);
        assert_int_equal(shape.grid_rule, version < 7 ? RUNG_GRID_TILES : RUNG_GRID_FIXED);
        assert_false(shape.takes_step);
        assert_false(shape.rereads_input);
    }
    struct rung_shape shape;
    rung_template_shape(
        &shape, ladder.versions[0],
        &(struct rung_config){.version = 1, .block = 64, .predicate = RUNG_PREDICATE_OPAQUE});
    assert_true(shape.takes_step);
    rung_arena_release(&arena);
}

/* ---- the text of a kernel ---- */

static char *kernel_text(const struct rung_ladder *ladder, const char *id)
{
    struct rung_config config;
    struct rung_text text = {0};
    struct rung_error err = {0};
    assert_int_equal(rung_config_parse_id(&config, id, &err), RUNG_OK);
    const struct rung_template *tpl = rung_ladder_find(ladder, config.version, config.variant);
    if (rung_template_emit(&text, tpl, &config, &err) != RUNG_OK)
        fail_msg("%s: %s", id, err.text);
    char *all = rung_text_take(&text);
    char *end = strstr(all, "// The model of this kernel");
    assert_non_null(end);
    *end = '\0';
    return all;
}

static void test_kernels_read_as_written_by_hand(void **state)
{
    (void)state;
    struct rung_arena arena = {0};
    struct rung_ladder ladder;
    assert_int_equal(rung_ladder_load(&ladder, &arena, NULL), RUNG_OK);
    static const struct {
        const char *id;
        const char *lines[6];
    } cases[] = {
        {"v1-b256-const",
         {"    for (unsigned int s = 1; s < 256; s *= 2) {\n        if (tid % (2 * s) == 0)\n"
          "            tile[tid] += tile[tid + s];\n        __syncthreads();\n    }\n",
          "    tile[tid] = i < n ? in[i] : 0.0f;\n",
          "reduce_v1_b256_const(const float *in, float *out, unsigned long long n)\n"}           },
        {"v1-b64-runtime-opaque-dot-f64",
         {"s < blockDim.x; s *= step) {\n        if (tid % (step * s) == 0)\n",
          "tile[tid] = i < n ? a[i] * b[i] : 0.0;\n",
          "(const double *a, const double *b, double *out, unsigned long long n, unsigned int "
          "step)"}                                                                               },
        {"v1-b64-const-shift",
         {"    for (unsigned int j = 0; 1u << j < 64; j += 1) {\n"
          "        const unsigned int s = 1u << j;\n        if (tid % (2u << j) == 0)\n"}        },
        {"v2-b256-const-none-i32",
         {"#pragma unroll 1\n    for (unsigned int s = 1; s < 256; s *= 2) {\n"
          "        const unsigned int index = 2 * s * tid;\n        if (index < 256)\n"
          "            tile[index] += tile[index + s];\n",
          "tile[tid] = i < n ? in[i] : 0;\n"}                                                    },
        {"v4-b128-runtime",
         {"const unsigned long long i = block * (2 * blockDim.x) + tid;\n",
          "    if (i + blockDim.x < n)\n        sum += in[i + blockDim.x];\n"}                   },
        {"v6-b128-const",
         {"    if (tid < 64)\n        tile[tid] += tile[tid + 64];\n    __syncthreads();\n",
          "        sum += tile[tid + 1];\n        __syncwarp(0xffffffffu);\n        tile[tid] = "
          "sum;\n"}                                                                              },
        {"v5-b16-const",
         {"    if (tid < 8) {\n        sum = tile[tid];\n        sum += tile[tid + 8];\n"
          "        __syncwarp(0xff);\n"}                                                         },
        {"v7-b512-const",
         {"    for (i += grid * 512; i < n; i += grid * 512)\n        sum += in[i];\n"}          },
        {"v8-b8-const",                   {"        sum += __shfl_down_sync(0xff, sum, 4, 8);\n"}},
        {"v8-b1024-const-twolevel",
         {"    __shared__ float tile[32];\n",
          "    if (tid % 32 == 0)\n        tile[tid / 32] = sum;\n",
          "        sum = tid < 32 ? tile[tid] : 0.0f;\n        sum += "
          "__shfl_down_sync(0xffffffffu, sum, 16, 32);\n"}                                       },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = kernel_text(&ladder, cases[i].id);
        for (size_t k = 0; k < 6 && cases[i].lines[k]; k++)
            if (!strstr(text, cases[i].lines[k]))
                fail_msg("%s lacks\n%s\nit reads\n%s", cases[i].id, cases[i].lines[k], text);
        assert_null(strchr(text, '@'));
        assert_null(strstr(text, "//!"));
        free(text);
    }
    rung_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_whole_is_read),
        cmocka_unit_test(test_what_is_wrong_is_named_with_its_line),
        cmocka_unit_test(test_nothing_and_rubbish_are_refused),
        cmocka_unit_test(test_a_tree_that_does_not_reduce_is_refused),
        cmocka_unit_test(test_what_a_version_lacks_is_said),
        cmocka_unit_test(test_the_ladder_is_in_order),
        cmocka_unit_test(test_kernels_read_as_written_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
