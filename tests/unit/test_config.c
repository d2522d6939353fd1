/* Ids and numbers. Alone: build/tests/test_config */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"

static const struct {
    struct rung_config config;
    const char *id;
    const char *symbol;
} ids[] = {
    {{.version = 1, .block = 256},                               "v1-b256-const", "reduce_v1_b256_const"                },
    {{.version = 12, .block = 2, .unroll = RUNG_UNROLL_NONE},
     "v12-b2-const-none",                                                         "reduce_v12_b2_const_none"            },
    {{1, 1024, RUNG_BOUND_RUNTIME, RUNG_UNROLL_NONE, RUNG_PREDICATE_MASK, RUNG_OP_DOT,
      RUNG_TYPE_F64, 0},
     "v1-b1024-runtime-mask-dot-f64",                                             "reduce_v1_b1024_runtime_mask_dot_f64"},
    {{8, 256, 0, 0, 0, 0, RUNG_TYPE_I32, RUNG_VARIANT_TWOLEVEL},
     "v8-b256-const-i32-twolevel",                                                "reduce_v8_b256_const_i32_twolevel"   },
};

static void test_ids_are_spelled_and_read_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        char text[RUNG_ID_SIZE];
        rung_config_id(&ids[i].config, text);
        assert_string_equal(text, ids[i].id);
        rung_config_symbol(&ids[i].config, text);
        assert_string_equal(text, ids[i].symbol);
        struct rung_config back;
        assert_int_equal(rung_config_parse_id(&back, ids[i].id, NULL), RUNG_OK);
        assert_true(rung_config_equal(&back, &ids[i].config));
    }
}

static void test_every_point_of_the_axes_survives_its_id(void **state)
{
    (void)state;
    struct rung_config config = {.version = 7};
    for (config.block = 2; config.block <= 1024; config.block *= 2)
        for (int point = 0; point < 2 * 2 * 4 * 2 * 3 * 2; point++) {
            int rest = point;
            config.bound = (enum rung_bound)(rest % 2);
            config.unroll = (enum rung_unroll)((rest /= 2) % 2);
            config.predicate = (enum rung_predicate)((rest /= 2) % 4);
            config.op = (enum rung_op)((rest /= 4) % 2);
            config.type = (enum rung_type)((rest /= 2) % 3);
            config.variant = (enum rung_variant)(rest / 3);
            if (config.bound == RUNG_BOUND_RUNTIME && config.unroll == RUNG_UNROLL_FULL)
                continue;
            char id[RUNG_ID_SIZE];
            rung_config_id(&config, id);
            struct rung_config back;
            assert_int_equal(rung_config_parse_id(&back, id, NULL), RUNG_OK);
            assert_true(rung_config_equal(&back, &config));
        }
}

static void test_wrong_ids_name_the_token(void **state)
{
    (void)state;
    static const struct {
        const char *id, *names;
    } wrong[] = {
        {"",                           "begin with v"         },
        {"v0-b256-const",              "begin with v"         },
        {"v01-b256-const",             "begin with v"         },
        {"v1",                         "begin with v"         },
        {"v1-256-const",               "threads per block"    },
        {"v1-b256",                    "the bound"            },
        {"v1-b0-const",                "threads per block"    },
        {"v1-b1-const",                "power of two"         },
        {"v1-b96-const",               "96 threads"           },
        {"v1-b2048-const",             "2048 threads"         },
        {"v1-b99999999999-const",      "threads per block"    },
        {"v1-b256-",                   "'' cannot stand there"},
        {"v1-b256-mask",               "const, runtime"       },
        {"v1-b256-const-dot-mask",     "'mask'"               },
        {"v1-b256-const-dot-dot",      "'dot'"                },
        {"v1-b256-const-twolevel-f64", "nothing may follow"   },
        {"v1-b256-const-",             "'' cannot stand there"},
        {"v1-b256-constant",           "'constant'"           },
        {"v1-b256-runtime-full",       "never unrolled"       },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct rung_error err = {0};
        struct rung_config config = {.version = 77};
        assert_int_equal(rung_config_parse_id(&config, wrong[i].id, &err), RUNG_USAGE);
        if (!strstr(err.text, wrong[i].names))
            fail_msg("'%s' says \"%s\", not \"%s\"", wrong[i].id, err.text, wrong[i].names);
        assert_int_equal(config.version, 77);
    }
}

static void test_defaults_may_be_spelled(void **state)
{
    (void)state;
    struct rung_config config;
    assert_int_equal(rung_config_parse_id(&config, "v1-b256-runtime-none-mod-sum-f32-base", NULL),
                     RUNG_OK);
    char id[RUNG_ID_SIZE];
    rung_config_id(&config, id);
    assert_string_equal(id, "v1-b256-runtime");
}

static void test_configurations_sort_by_field(void **state)
{
    (void)state;
    struct rung_config list[] = {
        {.version = 2,                 .block = 32      },
        {            .version = 1,                .block = 256, .op = RUNG_OP_DOT},
        {            .version = 1,                .block = 256                 },
        { .version = 1, .block = 64,                  .bound = RUNG_BOUND_RUNTIME},
    };
    qsort(list, 4, sizeof *list, rung_config_compare);
    assert_int_equal(list[0].block, 64);
    assert_int_equal(list[1].op, RUNG_OP_SUM);
    assert_int_equal(list[2].op, RUNG_OP_DOT);
    assert_int_equal(list[3].version, 2);
}

static void test_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t value;
    } right[] = {
        {"0",            0         },
        {"16776605",     16776605  },
        {"2^24-611",     16776605  },
        {"64Ki",         65536     },
        {"3Mi+1",        3145729   },
        {"2^40",         RUNG_N_MAX},
        {"1024Gi",       RUNG_N_MAX},
        {"2^40+5-5",     RUNG_N_MAX},
        {"10^6",         1000000   },
        {"2^10Ki",       1048576   },
        {"0^0",          1         },
        {"1^9999999999", 1         },
        {"007",          7         },
    };
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        uint64_t n = 99;
        struct rung_error err = {0};
        if (rung_parse_n(&n, right[i].text, &err) != RUNG_OK)
            fail_msg("'%s': %s", right[i].text, err.text);
        assert_int_equal(n, right[i].value);
    }
    static const char *const wrong[] = {"",       "-1",
                                        "1.5",    "abc",
                                        "2^60",   "2^41",
                                        "1e6",    "0x10",
                                        " 1",     "1 ",
                                        "2^",     "^2",
                                        "1+",     "1-2",
                                        "2^40+1", "1K",
                                        "1KiB",   "1,2",
                                        "2**24",  "--1",
                                        "+1",     "9999999999999999999999",
                                        "2^64"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        uint64_t n = 99;
        struct rung_error err = {0};
        if (rung_parse_n(&n, wrong[i], &err) != RUNG_USAGE)
            fail_msg("'%s' was read as %llu", wrong[i], (unsigned long long)n);
        assert_int_equal(n, 99);
        if (!strstr(err.text, wrong[i]))
            fail_msg("'%s' is not named in: %s", wrong[i], err.text);
    }
}

static void test_lists(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t count;
        uint64_t values[8];
    } right[] = {
        {"7",              1, {7}                         },
        {"1,2,4",          3, {1, 2, 4}                   },
        {"1:4",            4, {1, 2, 3, 4}                },
        {"1:9:4",          3, {1, 5, 9}                   },
        {"1:8:4",          2, {1, 5}                      },
        {"64:1024:*2",     5, {64, 128, 256, 512, 1024}   },
        {"64:1000:*4,3",   3, {64, 256, 3}                },
        {"5:5",            1, {5}                         },
        {"0:2,2^4,1Ki",    5, {0, 1, 2, 16, 1024}         },
        {"2^39:2^40:*2",   2, {RUNG_N_MAX / 2, RUNG_N_MAX}},
        {"2^40:2^40:2^40", 1, {RUNG_N_MAX}                },
    };
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        uint64_t *values = NULL;
        size_t count = 0;
        assert_int_equal(rung_parse_numbers(&values, &count, right[i].text, NULL), RUNG_OK);
        assert_int_equal(count, right[i].count);
        for (size_t k = 0; k < count; k++)
            assert_int_equal(values[k], right[i].values[k]);
        free(values);
    }
    uint64_t *values = NULL;
    size_t count = 0;
    assert_int_equal(rung_parse_numbers(&values, &count, "1:4096", NULL), RUNG_OK);
    assert_int_equal(count, 4096);
    free(values);
    static const char *const wrong[] = {"",       ",",      "1,",     ",1",     "1,,2",
                                        "4:1",    "1:",     ":4",     "1:4:",   "1:4:0",
                                        "1:4:*1", "1:4:*0", "0:4:*2", "1:4:*",  "1:4:2:2",
                                        "1:4097", "a:b",    "1..4",   "1:2^41", "1;2"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct rung_error err = {0};
        values = NULL;
        if (rung_parse_numbers(&values, &count, wrong[i], &err) != RUNG_USAGE)
            fail_msg("list '%s' was read", wrong[i]);
        assert_null(values);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ids_are_spelled_and_read_back),
        cmocka_unit_test(test_every_point_of_the_axes_survives_its_id),
        cmocka_unit_test(test_wrong_ids_name_the_token),
        cmocka_unit_test(test_defaults_may_be_spelled),
        cmocka_unit_test(test_configurations_sort_by_field),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
