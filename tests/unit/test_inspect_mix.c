/* Normalising and comparing instructions: SASS by hand, in nvdisasm's words. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "inspect/inspect.h"
#include "inspect/lower.h"
#include "inspect/mix.h"

static void lower(struct rung_code *code, const char *text, size_t first, size_t count,
                  struct rung_arena *arena)
{
    json_t *array = json_loads(text, 0, NULL);
    assert_non_null(array);
    const struct rung_sass_input input = {
        .name = "k", .array = array, .first = first, .count = count};
    assert_true(rung_lower_sass(code, &input, arena));
    json_decref(array);
}

#define CONTROL ",\"other-attributes\":{\"control-flow\":\"True\"}"

/* The same kernel twice, the second with other registers and behind the first in the listing. */
static const char twice[] =
    "[{\"opcode\":\"S2R\",\"operands\":\"R0,SR_TID.X\"},"
    "{\"opcode\":\"LOP3.LUT\",\"operands\":\"P0,RZ,R0.reuse,0x7,RZ,0xc0,!PT\"},"
    "{\"opcode\":\"LDS\",\"operands\":\"R2[R1+0x4]\",\"predicate\":\"@!P0\"},"
    "{\"opcode\":\"BAR.SYNC\",\"operands\":\"0x0\"},"
    "{\"opcode\":\"BRA\",\"operands\":\"0x10\",\"predicate\":\"@P0\"" CONTROL "},"
    "{\"opcode\":\"EXIT\"" CONTROL "},"
    "{\"opcode\":\"BRA\",\"operands\":\"0x60\"" CONTROL "},"
    "{\"opcode\":\"NOP\"},"
    "{\"opcode\":\"S2R\",\"operands\":\"R7,SR_TID.X\"},"
    "{\"opcode\":\"LOP3.LUT\",\"operands\":\"P3,RZ,R7,0x7,RZ,0xc0,!PT\"},"
    "{\"opcode\":\"LDS\",\"operands\":\"R4[R5+0x4]\",\"predicate\":\"@!P3\"},"
    "{\"opcode\":\"BAR.SYNC\",\"operands\":\"0x0\"},"
    "{\"opcode\":\"BRA\",\"operands\":\"0x90\",\"predicate\":\"@P3\"" CONTROL "},"
    "{\"opcode\":\"EXIT\"" CONTROL "},"
    "{\"opcode\":\"BRA\",\"operands\":\"0xe0\"" CONTROL "},"
    "{\"opcode\":\"NOP\"}]";

static void registers_and_addresses_do_not_count(void **state)
{
    (void)state;
    struct rung_arena arena = {0};
    struct rung_code a, b;
    struct rung_mix_line *lines;
    size_t n;
    lower(&a, twice, 0, 8, &arena);
    lower(&b, twice, 8, 8, &arena);
    assert_true(rung_mix_compare(&lines, &n, &a, &b, &arena));
    assert_int_equal(n, 0);
    assert_int_equal(b.instructions[4].target,
                     1); /* from the start of the kernel, not the listing */
    assert_string_equal(b.instructions[4].text, "@P3 BRA 0x10");
    assert_string_equal(a.instructions[4].text, "@P0 BRA 0x10");
    rung_arena_release(&arena);
}

static void constants_count(void **state)
{
    (void)state;
    struct rung_arena arena = {0};
    struct rung_code a, b;
    struct rung_mix_line *lines;
    size_t n;
    lower(&a, "[{\"opcode\":\"LOP3.LUT\",\"operands\":\"P0,RZ,R0,0x7,RZ,0xc0,!PT\"}]", 0, 1,
          &arena);
    lower(&b, "[{\"opcode\":\"LOP3.LUT\",\"operands\":\"P0,RZ,R0,0xf,RZ,0xc0,!PT\"}]", 0, 1,
          &arena);
    assert_true(rung_mix_compare(&lines, &n, &a, &b, &arena));
    assert_int_equal(n, 2);
    assert_string_equal(lines[0].text, "LOP3.LUT P,RZ,R,0x7,RZ,0xc0,!PT");
    assert_int_equal(lines[0].a, 1);
    assert_int_equal(lines[0].b, 0);
    assert_int_equal(lines[1].b, 1);
    rung_arena_release(&arena);
}

static void classes_are_counted_without_padding(void **state)
{
    (void)state;
    struct rung_arena arena = {0};
    struct rung_code code;
    struct rung_mix mix;
    lower(&code, twice, 0, 8, &arena);
    rung_mix_count(&mix, &code);
    assert_int_equal(mix.total, 6);
    assert_int_equal(mix.guarded, 1);
    assert_int_equal(mix.counts[RUNG_MIX_MOVE], 1);
    assert_int_equal(mix.counts[RUNG_MIX_LOGIC], 1);
    assert_int_equal(mix.counts[RUNG_MIX_LOAD_SHARED], 1);
    assert_int_equal(mix.counts[RUNG_MIX_BARRIER], 1);
    assert_int_equal(mix.counts[RUNG_MIX_CONTROL], 2);
    unsigned sum = 0;
    for (int class = 0; class < RUNG_MIX_COUNT; class ++)
        sum += mix.counts[class];
    assert_int_equal(sum, mix.total);
    rung_arena_release(&arena);
}

static void places_of_parameters_and_ptx_names_are_left_out(void **state)
{
    (void)state;
    struct rung_arena arena = {0};
    struct rung_code code;
    char text[RUNG_MIX_TEXT];
    lower(&code,
          "[{\"opcode\":\"IMAD.WIDE\",\"operands\":\"R2,R7.reuse,R2,c[0x0][0x160]\"},"
          "{\"opcode\":\"ULDC.64\",\"operands\":\"UR4,c[0x0][0x220]\"}]",
          0, 2, &arena);
    rung_mix_normalise(text, &code, 0);
    assert_string_equal(text, "IMAD.WIDE R,R,R,c[]");
    rung_mix_normalise(text, &code, 1);
    assert_string_equal(text, "ULDC.64 UR,c[]");
    code.instructions[0].text = "@%p12 bra  $L__BB3_6;";
    rung_mix_normalise(text, &code, 0);
    assert_string_equal(text, "@%p bra label");
    rung_arena_release(&arena);
}

static const char ladder_ptx[] =
    ".version 9.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry k(.param .u32 m)\n{\n.reg .pred %p<2>;\n.reg .b32 %r<5>;\n"
    ".shared .align 4 .b8 w[64];\nmov.u32 %r1, %tid.x;\nand.b32 %r2, %r1, 3;\n"
    "setp.ne.s32 %p1, %r2, 0;\n@%p1 bra L;\nld.shared.u32 %r3, [%r1];\n"
    "st.shared.u32 [%r1], %r3;\nL:\nret;\n}\n"
    ".visible .entry other()\n{\nret;\n}\n";

static void words_for_a_table(void **state)
{
    (void)state;
    char word[RUNG_INSPECT_WORD];
    const struct rung_inspect_input input = {.ptx = ladder_ptx,
                                             .ptx_length = sizeof ladder_ptx - 1};
    rung_inspect_image(word, &input, "k", NULL);
    assert_string_equal(word, "mask");
    rung_inspect_image(word, &input, "other", NULL);
    assert_string_equal(word, "none");
    rung_inspect_image(word, &input, "absent", NULL);
    assert_string_equal(word, "");
    rung_inspect_image(word, &input, NULL, NULL); /* which of two? */
    assert_string_equal(word, "");
    const struct rung_inspect_input broken = {.ptx = ladder_ptx, .ptx_length = 120};
    rung_inspect_image(word, &broken, "k", NULL);
    assert_string_equal(word, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registers_and_addresses_do_not_count),
        cmocka_unit_test(constants_count),
        cmocka_unit_test(classes_are_counted_without_padding),
        cmocka_unit_test(places_of_parameters_and_ptx_names_are_left_out),
        cmocka_unit_test(words_for_a_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
