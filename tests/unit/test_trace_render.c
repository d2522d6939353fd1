/* The text, the JSON and the pictures of a trace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "support/trace_events.h"

static const double seed_a[8] = {1, 2, 3, 4, 5, 6, 7, 8};
static const double seed_b[8] = {2, 1, 2, 1, 2, 1, 2, 1};
static double iota[1024];

static int fill(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 1024; i++)
        iota[i] = i + 1;
    return 0;
}

static void build(struct rung_trace *trace, struct rung_arena *arena, struct events_block *block)
{
    struct rung_error err = {0};
    assert_int_equal(events_trace(trace, arena, block, &err), RUNG_OK);
}

static void assert_line(const char *text, const char *line)
{
    char wanted[256];
    snprintf(wanted, sizeof wanted, "\n%s\n", line);
    if (!strstr(text, wanted))
        fail_msg("no line '%s' in:\n%s", line, text);
}

static void text_of_the_seed(void **state)
{
    (void)state;
    struct rung_arena arena = {0};
    struct rung_trace trace;
    struct events_block block = {.version = 3, .threads = 8, .n = 8, .a = seed_a, .b = seed_b};
    build(&trace, &arena, &block);
    struct rung_text text = {0};
    struct rung_trace_look look = {.columns = 80};
    rung_trace_write_text(&text, &trace, &look);
    const char *out = rung_text_string(&text);
    assert_line(out, "  T0: 1 × 2 = 2    T1: 2 × 1 = 2    T2: 3 × 2 = 6    T3: 4 × 1 = 4");
    assert_line(out, "  shared       [2]   [2]   [6]   [4]  [10]   [6]  [14]   [8]");
    assert_line(out, "  T0: 2 + 10 = 12   T1: 2 + 6 = 8     T2: 6 + 14 = 20   T3: 4 + 8 = 12");
    assert_line(out, "  before        2     2     6     4    10     6    14     8");
    assert_line(out, "  after       [12]   [8]  [20]  [12]   10     6    14     8");
    assert_line(out, "  words     warp 0 reads 0–3 and 4–7, writes 0–3: no conflict");
    assert_line(out, "  T0: 12 + 20 = 32   T1: 8 + 12 = 20");
    assert_line(out, "  after       [52]   20    20    12    10     6    14     8");
    assert_line(out, "result 52");
    assert_line(out, "(1×2) + (2×1) + (3×2) + (4×1) + (5×2) + (6×1) + (7×2) + (8×1)");
    assert_line(out, "= 2 + 2 + 6 + 4 + 10 + 6 + 14 + 8 = 52 ✓");
    assert_null(strchr(out, '\033'));
    look.colour = true;
    rung_text_clear(&text);
    rung_trace_write_text(&text, &trace, &look);
    assert_non_null(strstr(rung_text_string(&text), "\033[1m12\033[0m"));
    rung_text_release(&text);
    rung_arena_release(&arena);
}

/* Text of any block stays within 80 columns, folded and in full. */
static void lines_fit(void **state)
{
    (void)state;
    for (unsigned version = 1; version <= 3; version++)
        for (unsigned threads = 2; threads <= 1024; threads *= 2) {
            struct rung_arena arena = {0};
            struct rung_trace trace;
            struct events_block block = {
                .version = version, .threads = threads, .n = threads, .a = iota};
            build(&trace, &arena, &block);
            struct rung_text text = {0};
            struct rung_trace_look look = {.columns = 80, .all = threads == 64};
            rung_trace_write_text(&text, &trace, &look);
            unsigned width = 0, lines = 0;
            for (const char *at = rung_text_string(&text); *at; at++) {
                width = *at == '\n' ? 0 : width + (((unsigned char)*at & 0xC0) != 0x80);
                lines += *at == '\n';
                if (width > 80)
                    fail_msg("version %u, block %u: line %u is wider than 80 columns", version,
                             threads, lines + 1);
            }
            assert_true(look.all || lines < 20 * trace.n_steps);
            rung_text_release(&text);
            rung_arena_release(&arena);
        }
}

static void conflicts_show_in_text(void **state)
{
    (void)state;
    struct rung_arena arena = {0};
    struct rung_trace trace;
    struct events_block block = {.version = 2, .threads = 256, .n = 256, .a = iota};
    build(&trace, &arena, &block);
    struct rung_text text = {0};
    struct rung_trace_look look = {.columns = 80};
    rung_trace_write_text(&text, &trace, &look);
    const char *out = rung_text_string(&text);
    assert_line(out, "  warps 0–3 ████████████████████████████████  32/32 lanes each  "
                     "2-way conflict");
    assert_line(out, "  warps 4–7 ································  idle");
    assert_line(out, "  banks     ················8···············  words a bank serves, warp 0");
    assert_line(out,
                "  words     warp 0 reads 0, 32, … 224 and 16, 48, … 240, writes 0, 32, … 224");
    assert_line(out, "255 additions, 12 body runs, 47 serialised");
    rung_text_release(&text);
    rung_arena_release(&arena);
}

static double at(const json_t *list, size_t index)
{
    const json_t *item = json_array_get(list, index);
    assert_true(json_is_number(item));
    return json_number_value(item);
}

static const json_t *step_of(const json_t *object, size_t index)
{
    return json_array_get(json_object_get(object, "steps"), index);
}

static void json_of_the_seed(void **state)
{
    (void)state;
    struct rung_arena arena = {0};
    struct rung_trace trace;
    struct events_block block = {.version = 3, .threads = 8, .n = 8, .a = seed_a, .b = seed_b};
    build(&trace, &arena, &block);
    json_t *object = rung_trace_to_json(&trace, false);
    assert_non_null(object);
    assert_int_equal(json_array_size(json_object_get(object, "steps")), 5);
    const json_t *step = step_of(object, 1);
    const double before[8] = {2, 2, 6, 4, 10, 6, 14, 8}, after[8] = {12, 8, 20, 12, 10, 6, 14, 8};
    for (size_t i = 0; i < 8; i++) {
        assert_true(at(json_object_get(step, "shared_before"), i) == before[i]);
        assert_true(at(json_object_get(step, "shared_after"), i) == after[i]);
    }
    const json_t *adds = json_object_get(step, "additions");
    assert_true(at(json_object_get(adds, "left"), 2) == 6);
    assert_true(at(json_object_get(adds, "right"), 2) == 14);
    assert_true(at(json_object_get(adds, "right_at"), 2) == 6);
    assert_true(at(json_object_get(adds, "result"), 2) == 20);
    assert_int_equal(json_integer_value(json_object_get(step, "stride")), 4);
    assert_string_equal(json_string_value(json_object_get(step, "order")), "block");
    assert_true(
        json_is_null(json_array_get(json_object_get(step_of(object, 0), "shared_before"), 0)));
    json_decref(object);
    object = rung_trace_to_json(&trace, true);
    assert_null(json_object_get(step_of(object, 1), "shared_after"));
    json_decref(object);
    rung_arena_release(&arena);
}

static size_t count(const char *text, const char *what)
{
    size_t found = 0;
    for (const char *next = text; (next = strstr(next, what)); next += strlen(what))
        found++;
    return found;
}

/* Both pictures: every row or panel is there, every group that opens closes. */
static void pictures_are_whole(void **state)
{
    (void)state;
    for (unsigned threads = 8; threads <= 1024; threads *= 2) {
        struct rung_arena arena = {0};
        struct rung_trace trace;
        struct rung_error err = {0};
        struct events_block block = {.version = 2, .threads = threads, .n = threads, .a = iota};
        build(&trace, &arena, &block);
        struct rung_text text = {0};
        assert_int_equal(rung_trace_write_svg(&text, &trace, &err), RUNG_OK);
        const char *out = rung_text_string(&text);
        assert_int_equal(count(out, "<g"), count(out, "</g>"));
        assert_int_equal(count(out, "<text"), count(out, "</text>"));
        assert_int_equal(count(out, "class=\"row\""), trace.n_steps - (threads > 32));
        assert_true(text.length < 512 * 1024);
        rung_text_release(&text);
        rung_arena_release(&arena);
    }
}

/* The page holds together whatever a title says, and the largest stays small. */
static void pages_are_closed(void **state)
{
    (void)state;
    struct rung_arena arena = {0};
    struct rung_trace traces[2];
    struct rung_error err = {0};
    struct events_block first = {.version = 1, .threads = 1024, .n = 1024, .a = iota};
    struct events_block second = {.version = 2, .threads = 1024, .n = 1024, .a = iota};
    build(&traces[0], &arena, &first);
    build(&traces[1], &arena, &second);
    traces[0].title = "</script><b>&\"";
    struct rung_text text = {0};
    assert_int_equal(rung_trace_write_page(&text, traces, 2, "rung <trace>", &err), RUNG_OK);
    const char *out = rung_text_string(&text);
    assert_int_equal(count(out, "<script"), 2);
    assert_int_equal(count(out, "</script>"), 2);
    assert_non_null(strstr(out, "&lt;/script&gt;&lt;b&gt;&amp;&quot;"));
    assert_non_null(strstr(out, "rung &lt;trace&gt;"));
    assert_int_equal(count(out, "@TRACES@"), 0);
    assert_int_equal(count(out, "http://www.w3.org") + count(out, "https://"), 0);
    assert_true(text.length < 2 * 1024 * 1024);
    rung_text_release(&text);
    rung_arena_release(&arena);
}

/* Fractions: signs keep their brackets, and a rounded result says so. */
static void rounding_is_told(void **state)
{
    (void)state;
    static const double fractions[8] = {0.1f, 0.2f, 0.3f, -0.4f, 1e6f, 1e-3f, 7, -1e6f};
    struct rung_arena arena = {0};
    struct rung_trace trace;
    struct events_block block = {.version = 1, .threads = 8, .n = 8, .a = fractions};
    build(&trace, &arena, &block);
    assert_true(!trace.exact && trace.correct && trace.result != trace.expected);
    struct rung_text text = {0};
    rung_trace_write_verification(&text, &trace, 8);
    const char *out = rung_text_string(&text);
    const char *start = "0.1 + 0.2 + 0.3 + (-0.4) + 1000000 + 0.001 + 7 + (-1000000) = 7.201 ✓\n"
                        "  the block made 7.";
    assert_memory_equal(out, start, strlen(start));
    assert_non_null(strstr(out, "within the rounding of f32"));
    rung_text_release(&text);
    trace.result += 1;
    trace.correct = false;
    rung_trace_write_verification(&text, &trace, 8);
    assert_non_null(strstr(rung_text_string(&text), "✗ but the block wrote 8."));
    rung_text_release(&text);
    rung_arena_release(&arena);
}

static void values_read_back(void **state)
{
    (void)state;
    const double values[] = {0, -3, 0.5, 1.0f / 3, 16777216, 1e20f, -2.5e-7f};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char text[32];
        rung_trace_format_value(text, values[i], RUNG_TYPE_F32);
        assert_true((float)strtod(text, NULL) == (float)values[i]);
    }
    char text[32];
    rung_trace_format_value(text, 0.1f, RUNG_TYPE_F32);
    assert_string_equal(text, "0.1");
    rung_trace_format_value(text, -0.0, RUNG_TYPE_F32);
    assert_string_equal(text, "0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_of_the_seed),       cmocka_unit_test(lines_fit),
        cmocka_unit_test(conflicts_show_in_text), cmocka_unit_test(json_of_the_seed),
        cmocka_unit_test(pictures_are_whole),     cmocka_unit_test(pages_are_closed),
        cmocka_unit_test(values_read_back),       cmocka_unit_test(rounding_is_told),
    };
    return cmocka_run_group_tests(tests, fill, NULL);
}
