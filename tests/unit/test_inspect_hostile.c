/* Damaged and odd input: PTX cut and flipped at every byte, cubins likewise, a disassembler that
 * fails, hangs up or lies. What is asked is that nothing crashes, and that each says what is wrong.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "inspect/inspect.h"
#include "inspect/lower.h"
#include "support/disassembler.h"

static const char ptx[] = "// Based on NVVM 7.0.1\n"
                          ".version 9.0\n.target sm_75\n.address_size 64\n"
                          ".visible .entry k(.param .u64 a, .param .u32 m)\n{\n"
                          ".reg .pred %p<3>;\n.reg .b32 %r<9>;\n.reg .f32 %f<3>;\n"
                          ".shared .align 4 .b8 w[1024];\n"
                          "mov.u32 %r1, %tid.x;\n"
                          "ld.param.u32 %r2, [m];\n"
                          "shl.b32 %r3, %r1, 2;\n"
                          "mov.u32 %r4, w;\n"
                          "add.s32 %r5, %r4, %r3;\n"
                          "LOOP:\n"
                          "rem.u32 %r6, %r1, %r2;\n"
                          "setp.ne.s32 %p1, %r6, 0;\n"
                          "@%p1 bra NEXT;\n"
                          "ld.shared.f32 %f1, [%r5];\n"
                          "add.f32 %f2, %f1, %f1;\n"
                          "st.shared.f32 [%r5], %f2;\n"
                          "NEXT:\n"
                          "bar.sync 0;\n"
                          "setp.lt.u32 %p2, %r2, 100;\n"
                          "@%p2 bra LOOP;\n"
                          "/* a comment that a cut leaves open */\n"
                          "ret;\n}\n";

static enum rung_verdict_word judge(const char *text, size_t length, enum rung_status *status)
{
    struct rung_inspection inspection;
    const struct rung_inspect_input input = {.ptx = text, .ptx_length = length};
    rung_inspect(&inspection, &input, 1, NULL, NULL);
    *status = inspection.status;
    if (inspection.status != RUNG_OK)
        assert_true(inspection.err.text[0] != '\0');
    enum rung_verdict_word word =
        inspection.n_kernels ? inspection.kernels[0].ptx.verdict.word : RUNG_VERDICT_NONE;
    rung_inspection_release(&inspection);
    return word;
}

static void whole_ptx_divides(void **state)
{
    (void)state;
    enum rung_status status;
    assert_int_equal(judge(ptx, sizeof ptx - 1, &status), RUNG_VERDICT_DIVIDE);
    assert_int_equal(status, RUNG_OK);
}

static void cut_ptx_never_crashes(void **state)
{
    (void)state;
    enum rung_status status;
    for (size_t length = 0; length + 2 < sizeof ptx; length++) {
        char *copy = malloc(length ? length : 1); /* no NUL behind: a sanitizer sees overruns */
        memcpy(copy, ptx, length);
        judge(copy, length, &status);
        if (length + 4 < sizeof ptx) /* without its closing brace no kernel is whole */
            assert_true(length < 100 || status != RUNG_OK);
        free(copy);
    }
}

static void flipped_ptx_never_crashes(void **state)
{
    (void)state;
    enum rung_status status;
    char copy[sizeof ptx];
    for (size_t at = 0; at < sizeof ptx - 1; at++)
        for (unsigned bit = 0; bit < 8; bit++) {
            memcpy(copy, ptx, sizeof ptx);
            copy[at] = (char)(copy[at] ^ 1 << bit);
            judge(copy, sizeof ptx - 1, &status);
        }
}

/* Ten thousand branches into each other, and each of their predicates from all the others. */
static void tangled_ptx_ends(void **state)
{
    (void)state;
    struct rung_text text = {0};
    rung_text_append(&text,
                     ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k()\n{\n"
                     ".reg .pred %p<3>;\n.reg .b32 %r<9>;\n.shared .b8 w[4];\n"
                     "mov.u32 %r1, %tid.x;\n");
    for (unsigned i = 0; i < 10000; i++)
        rung_text_format(&text,
                         "L%u:\n@%%p1 add.s32 %%r2, %%r2, %%r1;\nand.b32 %%r3, %%r2, 7;\n"
                         "setp.eq.s32 %%p1, %%r3, 0;\n@%%p1 st.shared.u32 [%%r2], %%r3;\n"
                         "@%%p1 bra L%u;\n",
                         i, i * 7919 % 10000);
    rung_text_append(&text, "ret;\n}\n");
    enum rung_status status;
    judge(rung_text_string(&text), text.length, &status);
    assert_int_equal(status, RUNG_OK);
    rung_text_release(&text);
}

/* A kernel of twenty thousand lines, the thread index far from where it is used. */
static void thousands_of_guards_are_all_followed(void **state)
{
    (void)state;
    enum { GUARDS = 3000 };
    struct rung_text text = {0};
    rung_text_append(&text,
                     ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k()\n{\n"
                     ".reg .pred %p<2>;\n.reg .b32 %r<9>;\n.shared .b8 w[4096];\n"
                     "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %tid.x;\n");
    for (unsigned i = 0; i < GUARDS; i++)
        rung_text_format(&text,
                         "and.b32 %%r3, %%r1, 7;\nsetp.ne.s32 %%p1, %%r3, 0;\n@%%p1 bra L%u;\n"
                         "ld.shared.u32 %%r4, [%%r1];\nst.shared.u32 [%%r1], %%r4;\nL%u:\n"
                         "bar.sync 0;\n",
                         i, i);
    rung_text_append(&text, "mov.u32 %r1, 5;\nret;\n}\n"); /* so that it has two definitions */
    struct rung_inspection inspection;
    const struct rung_inspect_input input = {.ptx = rung_text_string(&text),
                                             .ptx_length = text.length};
    rung_inspect(&inspection, &input, 1, NULL, NULL);
    assert_string_equal(inspection.err.text, "");
    assert_int_equal(inspection.n_kernels, 1);
    assert_int_equal(inspection.kernels[0].ptx.verdict.word, RUNG_VERDICT_MASK);
    assert_int_equal(inspection.kernels[0].ptx.verdict.mask, GUARDS);
    assert_int_equal(inspection.kernels[0].ptx.verdict.barriers, GUARDS);
    assert_false(inspection.kernels[0].ptx.verdict.incomplete);
    rung_inspection_release(&inspection);
    rung_text_release(&text);
}

static void read_cubin(unsigned char **bytes, size_t *length)
{
    struct rung_error err = {0};
    char *data;
    assert_int_equal(
        rung_file_read(&data, length, RUNG_SOURCE_DIR "/tests/data/cubin/two_sm75.cubin", &err),
        RUNG_OK);
    *bytes = (unsigned char *)data;
}

static void look(const unsigned char *bytes, size_t length, const struct rung_disasm *disasm)
{
    struct rung_inspection inspection;
    const struct rung_inspect_input input = {.cubin = bytes, .cubin_length = length};
    rung_inspect(&inspection, &input, 1, disasm, "none wanted");
    if (inspection.status != RUNG_OK)
        assert_true(inspection.err.text[0] != '\0');
    for (size_t k = 0; k < inspection.n_kernels; k++)
        assert_true(inspection.kernels[k].sass.present || inspection.kernels[k].sass.why[0]);
    rung_inspection_release(&inspection);
}

static void damaged_cubins_never_crash(void **state)
{
    (void)state;
    unsigned char *bytes;
    size_t length;
    read_cubin(&bytes, &length);
    for (size_t cut = 0; cut < length; cut++) {
        unsigned char *copy = malloc(cut ? cut : 1);
        memcpy(copy, bytes, cut);
        look(copy, cut, NULL);
        free(copy);
    }
    for (size_t at = 0; at < length; at++) {
        bytes[at] ^= 0xff;
        look(bytes, length, NULL);
        bytes[at] ^= 0xff;
    }
    free(bytes);
}

/* Sections whose type says that they have no bytes, at places outside the file. */
static void sections_without_bytes_are_not_read(void **state)
{
    (void)state;
    unsigned char *bytes;
    size_t length;
    read_cubin(&bytes, &length);
    Elf64_Ehdr header;
    memcpy(&header, bytes, sizeof header);
    for (size_t i = 0; i < header.e_shnum; i++)
        for (uint32_t type = 0; type < 16; type++) {
            unsigned char *at = bytes + header.e_shoff + i * sizeof(Elf64_Shdr);
            Elf64_Shdr section, kept;
            memcpy(&kept, at, sizeof kept);
            section = kept;
            section.sh_type = type;
            section.sh_offset = UINT64_MAX / 2;
            memcpy(at, &section, sizeof section);
            look(bytes, length, NULL);
            memcpy(at, &kept, sizeof kept);
        }
    free(bytes);
}

/* Random machine code: nvdisasm may refuse it or print what it likes. */
static void damaged_code_is_disassembled_or_refused(void **state)
{
    (void)state;
    struct rung_disasm disasm;
    struct rung_error why = {0};
    if (!find_disassembler(&disasm, &why)) {
        print_message("%s\n", why.text);
        skip();
    }
    unsigned char *bytes;
    size_t length;
    read_cubin(&bytes, &length);
    uint32_t random = 1;
    for (unsigned round = 0; round < 6; round++) {
        for (unsigned flips = 0; flips < 40; flips++) {
            random = random * 1664525 + 1013904223;
            bytes[64 + random % (length - 64)] ^= (unsigned char)(1 << (random >> 29));
        }
        look(bytes, length, &disasm);
    }
    free(bytes);
}

/* A program that stands in for nvdisasm and runs `body`. */
static void pretend(struct rung_disasm *out, const char *body)
{
    char script[600];
    snprintf(out->path, sizeof out->path, "/tmp/rung-test-%ld.sh", (long)getpid());
    int length = snprintf(script, sizeof script, "#!/bin/sh\n%s\n", body);
    struct rung_error err = {0};
    assert_int_equal(rung_file_write(out->path, script, (size_t)length, &err), RUNG_OK);
    assert_int_equal(chmod(out->path, 0755), 0);
}

static void a_disassembler_that_does_not_serve_costs_the_sass(void **state)
{
    (void)state;
    static const char *const bodies[] = {"exit 1",
                                         "echo nvdisasm fatal: no >&2; exit 1",
                                         "kill -9 $$",
                                         "true",
                                         "echo '[]'",
                                         "echo '[{},[]]'",
                                         "echo '[{},[{\"sass-instructions\":[]}]]'",
                                         "echo '[{},7]'",
                                         "head -c 100000 /dev/urandom",
                                         "echo '[1,[{\"sass-instructions\":[{}]}]'"};
    unsigned char *bytes;
    size_t length;
    read_cubin(&bytes, &length);
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        struct rung_disasm disasm;
        pretend(&disasm, bodies[i]);
        struct rung_inspection inspection;
        const struct rung_inspect_input input = {.cubin = bytes, .cubin_length = length};
        rung_inspect(&inspection, &input, 1, &disasm, NULL);
        assert_int_equal(inspection.status, RUNG_OK);
        assert_int_equal(inspection.n_kernels, 2);
        for (size_t k = 0; k < 2; k++) {
            assert_false(inspection.kernels[k].sass.present);
            assert_non_null(strstr(inspection.kernels[k].sass.why, disasm.path));
        }
        rung_inspection_release(&inspection);
        unlink(disasm.path);
    }
    struct rung_disasm absent = {.path = "/nowhere/nvdisasm"};
    look(bytes, length, &absent);
    free(bytes);
}

/* Objects that no disassembler prints. */
static void odd_instructions_are_lowered(void **state)
{
    (void)state;
    static const char text[] =
        "[{}, 7, null, {\"opcode\": 3, \"operands\": []}, {\"opcode\": \"\", \"operands\": "
        "\",,,,\"},"
        " {\"opcode\": \"LOP3.LUT\", \"operands\": \"\"}, {\"opcode\": \"LOP3.LUT\", \"operands\":"
        " \"P0,RZ,R99999999999,0x\"}, {\"opcode\": \"BRA\", \"operands\": \"0xffffffffffffffff\"},"
        " {\"opcode\": \"BRA\", \"operands\": \"0x70\", \"predicate\": \"@!\"},"
        " {\"opcode\": \"U\", \"operands\": \"UR255,R255,P7,UP7\"}, {\"opcode\": \"SHF.R.U32.HI\"},"
        " {\"opcode\": \"SGXT.U32\", \"operands\": \"R1,R2,0xffffffff\"},"
        " {\"opcode\": \"STS\", \"operands\": \"[R255.64+UR254.64\"}, {\"opcode\": \"PRMT\","
        " \"operands\": \"R1,R2\"}, {\"opcode\": \"LDG.E.128\", \"operands\": \"R254,[R3]\"}]";
    json_t *array = json_loads(text, 0, NULL);
    assert_non_null(array);
    struct rung_arena arena = {0};
    struct rung_code code;
    struct rung_modulo verdict;
    const struct rung_sass_routine routines[] = {
        {"$x$__cuda_sm20_rem_u64", 0         },
        {"$x$__cuda_sm20_div_u16", UINT64_MAX}
    };
    const struct rung_sass_input input = {.name = "odd",
                                          .array = array,
                                          .count = json_array_size(array),
                                          .routines = routines,
                                          .n_routines = 2};
    assert_true(rung_lower_sass(&code, &input, &arena));
    assert_true(rung_verdict_reach(&verdict, &code, &arena));
    assert_int_equal(verdict.word, RUNG_VERDICT_NONE);
    for (uint32_t i = 0; i < code.n_instructions; i++)
        for (uint32_t d = 0; d < code.instructions[i].n_defs; d++)
            assert_true(code.instructions[i].defs[d] < code.n_registers);
    rung_arena_release(&arena);
    json_decref(array);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_ptx_divides),
        cmocka_unit_test(cut_ptx_never_crashes),
        cmocka_unit_test(flipped_ptx_never_crashes),
        cmocka_unit_test(tangled_ptx_ends),
        cmocka_unit_test(thousands_of_guards_are_all_followed),
        cmocka_unit_test(damaged_cubins_never_crash),
        cmocka_unit_test(sections_without_bytes_are_not_read),
        cmocka_unit_test(damaged_code_is_disassembled_or_refused),
        cmocka_unit_test(a_disassembler_that_does_not_serve_costs_the_sass),
        cmocka_unit_test(odd_instructions_are_lowered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
