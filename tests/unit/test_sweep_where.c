/* Conditions: what they accept, and what they refuse to read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sweep/where.h"

static const struct rung_cell sample = {
    .config = {.version = 3, .block = 256, .bound = RUNG_BOUND_RUNTIME, .unroll = RUNG_UNROLL_NONE},
    .n = (1 << 24) - 611,
    .target = 90,
    .state = RUNG_STATE_DIRTY,
    .timer = RUNG_TIMER_GRAPH,
};

static bool accepts(const char *text)
{
    struct rung_arena arena = {0};
    struct rung_error err = {0};
    const struct rung_where *where = NULL;
    if (rung_where_parse(&where, &arena, text, &err) != RUNG_OK)
        fail_msg("'%s': %s", text, err.text);
    bool result = rung_where_accepts(where, &sample);
    rung_arena_release(&arena);
    return result;
}

static void comparisons(void **state)
{
    (void)state;
    assert_true(accepts("version == 3"));
    assert_true(accepts("version=3"));
    assert_false(accepts("version != 3"));
    assert_true(accepts("block<=256"));
    assert_false(accepts("block < 256"));
    assert_true(accepts("n == 2^24-611"));
    assert_true(accepts("n<16Mi"));
    assert_true(accepts("target >= sm_90"));
    assert_false(accepts("target > 90"));
    assert_true(accepts("bound == runtime"));
    assert_true(accepts("state != clean"));
    assert_true(accepts("timer == graph"));
    assert_true(accepts("image == auto"));
    assert_true(accepts("type == f32 && op == sum && predicate == mod && variant == base"));
}

static void and_binds_tighter_than_or(void **state)
{
    (void)state;
    assert_true(accepts("version == 3 || version == 1 && block == 1"));
    assert_false(accepts("(version == 3 || version == 1) && block == 1"));
    assert_true(accepts("!version == 1"));
    assert_true(accepts("!(version == 1 || block == 64) && !(n == 0)"));
    assert_false(accepts("!!(version == 1)"));
    assert_true(accepts("block == 1 || block == 2 || block == 256"));
}

static void no_condition_accepts_all(void **state)
{
    (void)state;
    assert_true(rung_where_accepts(NULL, &sample));
}

static void refuses(const char *text, const char *part)
{
    struct rung_arena arena = {0};
    struct rung_error err = {0};
    const struct rung_where *where = NULL;
    assert_int_equal(rung_where_parse(&where, &arena, text, &err), RUNG_USAGE);
    assert_null(where);
    if (!strstr(err.text, part))
        fail_msg("'%s' says '%s', not '%s'", text, err.text, part);
    rung_arena_release(&arena);
}

static void errors_name_place_and_choices(void **state)
{
    (void)state;
    refuses("", "column 1");
    refuses("versio == 1", "'versio' is no axis; the axes are version, block");
    refuses("bound == runtme", "bound takes const, runtime");
    refuses("bound == run", "bound takes const, runtime");
    refuses("bound < runtime", "words have no order");
    refuses("block 256", "one of == != <");
    refuses("block == x", "a number is wanted");
    refuses("block == -1", "a number is wanted");
    refuses("n == 2^99", "2^99");
    refuses("version == 1 block == 2", "column 14");
    refuses("(version == 1", "a ) is missing");
    refuses("version == 1)", "&& or ||");
    refuses("version == 1 &&", "is no axis");
}

static void deep_nesting_is_refused(void **state)
{
    (void)state;
    char text[5000];
    memset(text, '(', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    refuses(text, "nested too deeply");
    memset(text, '!', sizeof text - 1);
    refuses(text, "nested too deeply");
}

/* Every prefix of a condition either parses or is refused: nothing reads past the end. */
static void every_prefix_is_read_safely(void **state)
{
    (void)state;
    const char *text = "!(block <= 512 || version >= 3) && n != 2^24-611 && bound == const";
    for (size_t length = 0; length <= strlen(text); length++) {
        char prefix[128] = {0};
        memcpy(prefix, text, length);
        struct rung_arena arena = {0};
        struct rung_error err = {0};
        const struct rung_where *where = NULL;
        enum rung_status status = rung_where_parse(&where, &arena, prefix, &err);
        assert_true(status == RUNG_OK ? where != NULL : err.text[0] != '\0');
        rung_arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comparisons),
        cmocka_unit_test(and_binds_tighter_than_or),
        cmocka_unit_test(no_condition_accepts_all),
        cmocka_unit_test(errors_name_place_and_choices),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(every_prefix_is_read_safely),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
