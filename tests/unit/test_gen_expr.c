/* Expressions: parsed, evaluated, printed, as linear forms. Alone: build/tests/test_gen_expr */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gen/expr.h"
#include "gen/loads.h"

enum { TID, S, WIDTH, BLOCK, N_NAMES };
static const struct rung_scope scope = {
    {"tid", "s", "width", "block"},
    N_NAMES
};
static const uint64_t values[RUNG_NAMES_MAX] = {[TID] = 5, [S] = 4, [WIDTH] = 256, [BLOCK] = 7};

static const struct rung_expr *parse(struct rung_arena *arena, const char *text,
                                     struct rung_error *err)
{
    const struct rung_expr *expr = NULL;
    const char *at = text;
    const struct rung_place place = {"test", 3};
    if (rung_expr_parse(&expr, arena, &scope, place, &at, err) != RUNG_OK)
        return NULL;
    return *at ? NULL : expr;
}

static void test_values(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t value;
    } right[] = {
        {"1 + 2 * 3",                     7                },
        {"(1 + 2) * 3",                   9                },
        {"2 * s * tid + s",               44               },
        {"tid % (2 * s) == 0",            0                },
        {"(tid & (2 * s - 1)) == 5",      1                },
        {"1u << s < width",               1                },
        {"width >> 2 >> 1",               32               },
        {"10 - 3 - 2",                    5                },
        {"100 / 7 / 2",                   7                },
        {"1 | 6 & 3 ^ 2",                 1 | ((6 & 3) ^ 2)},
        {"0x1f + 1",                      32               },
        {"tid < s ? 1 : tid < 6 ? 2 : 3", 2                },
        {"!tid || !(s == 5) && 1",        1                },
        {"tid != 5 || s >= 4",            1                },
        {"0 && 1 / 0",                    0                },
        {"1 || 1 / 0",                    1                },
        {"18446744073709551615",          UINT64_MAX       },
        {"tid<=s",                        0                },
    };
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        struct rung_arena arena = {0};
        struct rung_error err = {0};
        uint64_t got = 99;
        const char *why = "";
        const struct rung_expr *expr = parse(&arena, right[i].text, &err);
        if (!expr)
            fail_msg("%s: %s", right[i].text, err.text);
        if (!rung_expr_eval(&got, expr, values, &why) || got != right[i].value)
            fail_msg("%s is %llu (%s), not %llu", right[i].text, (unsigned long long)got, why,
                     (unsigned long long)right[i].value);
        rung_arena_release(&arena);
    }
}

static void test_what_has_no_value_is_an_error(void **state)
{
    (void)state;
    static const char *const wrong[] = {"1 / 0",
                                        "tid % (s - 4)",
                                        "s - tid",
                                        "1 << 64",
                                        "18446744073709551615 + 1",
                                        "4294967296 * 4294967296",
                                        "3 << 63"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct rung_arena arena = {0};
        uint64_t got;
        const char *why = NULL;
        const struct rung_expr *expr = parse(&arena, wrong[i], NULL);
        assert_non_null(expr);
        if (rung_expr_eval(&got, expr, values, &why))
            fail_msg("%s has the value %llu", wrong[i], (unsigned long long)got);
        assert_non_null(why);
        rung_arena_release(&arena);
    }
}

static void test_what_cannot_be_read_names_the_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } wrong[] = {
        {"",                     "an expression must stand"},
        {"1 +",                  "an expression must stand"},
        {"(1",                   "')' is missing"          },
        {"stride * 2",           "'stride' is not known"   },
        {"1 ? 2",                "':' is missing"          },
        {"99999999999999999999", "above 2^64"              },
        {"0x",                   "without digits"          },
        {"12ab",                 "not an integer literal"  },
        {"* 2",                  "an expression must stand"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct rung_arena arena = {0};
        struct rung_error err = {0};
        assert_null(parse(&arena, wrong[i].text, &err));
        if (strncmp(err.text, "test:3: ", 8) != 0 || !strstr(err.text, wrong[i].says))
            fail_msg("'%s' says: %s", wrong[i].text, err.text);
        rung_arena_release(&arena);
    }
    char deep[512] = "";
    memset(deep, '(', 200);
    struct rung_arena arena = {0};
    struct rung_error err = {0};
    assert_null(parse(&arena, deep, &err));
    assert_non_null(strstr(err.text, "nested too deeply"));
    rung_arena_release(&arena);
}

static void test_an_assignment_ends_an_expression(void **state)
{
    (void)state;
    static const char *const operators[] = {"+=", "-=", "*=", "/=", "<<=", ">>=", "="};
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        struct rung_arena arena = {0};
        const struct rung_expr *expr;
        char text[32] = "s ";
        strcat(text, operators[i]);
        strcat(text, " 2");
        const char *at = text;
        const struct rung_place place = {"test", 1};
        assert_int_equal(rung_expr_parse(&expr, &arena, &scope, place, &at, NULL), RUNG_OK);
        assert_ptr_equal(at, text + 2);
        rung_arena_release(&arena);
    }
}

static void test_printing_folds_what_is_known(void **state)
{
    (void)state;
    static const struct {
        const char *text, *constant_bound, *runtime_bound;
    } cases[] = {
        {"s < width",                   "s < 256",                  "s < blockDim.x"                       },
        {"width / 2",                   "128",                      "blockDim.x / 2"                       },
        {"block * (2 * width) + tid",   "block * 512 + tid",        "block * (2 * blockDim.x) + tid"       },
        {"1u << s < width",             "1u << s < 256",            "1u << s < blockDim.x"                 },
        {"(tid & (2 * s - 1)) == 0",    "(tid & (2 * s - 1)) == 0", "(tid & (2 * s - 1)) == 0"             },
        {"width < 64 || tid == s",      "tid == s",                 "blockDim.x < 64 || tid == s"          },
        {"width > 64 || tid == s",      "1",                        "blockDim.x > 64 || tid == s"          },
        {"width < 64 && tid == s",      "0",                        "blockDim.x < 64 && tid == s"          },
        {"width < 64 ? width / 2 : 32", "32",                       "blockDim.x < 64 ? blockDim.x / 2 : 32"},
        {"(0x1u << width / 32) - 1",    "0xff",                     "(0x1u << blockDim.x / 32) - 1"        },
        {"width * 16777216",            "4294967296ull",            "blockDim.x * 16777216"                },
        {"width * 8388608",             "2147483648u",              "blockDim.x * 8388608"                 },
    };
    struct rung_binding constant[RUNG_NAMES_MAX] = {{0}}, runtime[RUNG_NAMES_MAX] = {{0}};
    constant[WIDTH] = (struct rung_binding){.kind = RUNG_BIND_VALUE, .value = 256};
    runtime[WIDTH] = (struct rung_binding){.kind = RUNG_BIND_TEXT, .text = "blockDim.x"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rung_arena arena = {0};
        struct rung_text text = {0};
        const struct rung_expr *expr = parse(&arena, cases[i].text, NULL);
        assert_non_null(expr);
        rung_expr_print(&text, expr, &scope, constant);
        /* The hexadecimal literal is unsigned, so its fold is, too. */
        if (strncmp(rung_text_string(&text), cases[i].constant_bound,
                    strlen(cases[i].constant_bound)) != 0)
            fail_msg("%s prints as %s", cases[i].text, rung_text_string(&text));
        rung_text_clear(&text);
        rung_expr_print(&text, expr, &scope, runtime);
        assert_string_equal(rung_text_string(&text), cases[i].runtime_bound);
        rung_text_release(&text);
        rung_arena_release(&arena);
    }
}

static void test_a_let_keeps_its_precedence(void **state)
{
    (void)state;
    struct rung_arena arena = {0};
    struct rung_text text = {0};
    struct rung_binding bindings[RUNG_NAMES_MAX] = {{0}};
    bindings[S] =
        (struct rung_binding){.kind = RUNG_BIND_EXPR, .expr = parse(&arena, "tid + 1", NULL)};
    rung_expr_print(&text, parse(&arena, "2 * s - s", NULL), &scope, bindings);
    assert_string_equal(rung_text_string(&text), "2 * (tid + 1) - (tid + 1)");
    rung_text_release(&text);
    rung_arena_release(&arena);
}

static void test_linear_forms(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool linear;
        struct rung_affine form;
    } cases[] = {
        {"block * width + tid",           true,  {0, 256, 1}},
        {"2 * (block * width + tid)",     true,  {0, 512, 2}},
        {"block * (2 * width) + tid + s", true,  {4, 512, 1}},
        {"width / 2 + 1",                 true,  {129, 0, 0}},
        {"tid * tid",                     false, {0, 0, 0}  },
        {"tid % 32",                      false, {0, 0, 0}  },
        {"block << 3",                    false, {0, 0, 0}  },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rung_arena arena = {0};
        struct rung_affine form = {0};
        const struct rung_expr *expr = parse(&arena, cases[i].text, NULL);
        assert_int_equal(rung_expr_affine(&form, expr, BLOCK, TID, values), cases[i].linear);
        if (cases[i].linear) {
            assert_int_equal(form.constant, cases[i].form.constant);
            assert_int_equal(form.per_x, cases[i].form.per_x);
            assert_int_equal(form.per_y, cases[i].form.per_y);
        }
        rung_arena_release(&arena);
    }
}

static void test_floor_sum_is_the_sum(void **state)
{
    (void)state;
    for (uint64_t count = 0; count < 30; count++)
        for (uint64_t m = 1; m < 14; m++)
            for (uint64_t step = 0; step < 20; step += 3)
                for (uint64_t first = 0; first < 40; first += 7) {
                    uint64_t sum = 0;
                    for (uint64_t k = 0; k < count; k++)
                        sum += (first + k * step) / m;
                    assert_int_equal(rung_floor_sum(count, m, step, first), sum);
                }
    /* 2^21 blocks whose sweeps go 2^20 elements far, up to 2^40. */
    assert_int_equal(rung_floor_sum(1 << 21, 1 << 20, 1 << 19, 0), (1ull << 40) - (1ull << 20));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_what_has_no_value_is_an_error),
        cmocka_unit_test(test_what_cannot_be_read_names_the_line),
        cmocka_unit_test(test_an_assignment_ends_an_expression),
        cmocka_unit_test(test_printing_folds_what_is_known),
        cmocka_unit_test(test_a_let_keeps_its_precedence),
        cmocka_unit_test(test_linear_forms),
        cmocka_unit_test(test_floor_sum_is_the_sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
