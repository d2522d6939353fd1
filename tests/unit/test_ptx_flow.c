/* Blocks, post-dominators, definitions, reaching definitions and slices of small functions; and what
 * the parser keeps of directives and operands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ptx/flow.h"
#include "ptx/opcodes.h"

#define HEAD ".version 9.0\n.target sm_75\n.address_size 64\n"

struct parsed {
    struct rung_ptx_module module;
    const struct rung_ptx_function *function; /* the last one */
    struct rung_ptx_flow flow;
};

static void parse(struct parsed *p, const char *text)
{
    struct rung_error err = {0};
    if (rung_ptx_parse(&p->module, text, strlen(text), &err))
        fail_msg("%s", err.text);
    p->function = p->module.functions[p->module.n_functions - 1];
    assert_int_equal(rung_ptx_flow_make(&p->flow, p->function, &err), RUNG_OK);
}

static void release(struct parsed *p)
{
    rung_ptx_flow_release(&p->flow);
    rung_ptx_module_release(&p->module);
}

static uint32_t register_of(const struct parsed *p, const char *name)
{
    for (uint32_t i = 0; i < p->function->n_registers; i++)
        if (!strcmp(p->function->registers[i].name, name))
            return i;
    fail_msg("no register %s", name);
    return 0;
}

static void assert_list(const struct rung_ptx_list *list, unsigned n, const uint32_t *wanted)
{
    assert_int_equal(list->count, n);
    for (unsigned i = 0; i < n; i++) {
        bool found = false;
        for (unsigned k = 0; k < n; k++)
            found |= list->items[k] == wanted[i];
        assert_true(found);
    }
}
#define ASSERT_LIST(list, ...)                                                                     \
    assert_list(list, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t),                        \
                (const uint32_t[]){__VA_ARGS__})

/* A loop with a branch inside; instruction numbers stand behind. */
static const char loop[] = HEAD ".entry k(.param .u32 n)\n{\n"
                                ".reg .pred %p<3>;\n.reg .b32 %r<6>;\n"
                                "ld.param.u32 %r1, [n];\n"     /* 0 */
                                "mov.u32 %r2, 0;\n"            /* 1 */
                                "TOP:\n"
                                "and.b32 %r3, %r2, 1;\n"       /* 2: block 1 */
                                "setp.eq.u32 %p1, %r3, 0;\n"   /* 3 */
                                "@%p1 bra EVEN;\n"             /* 4 */
                                "add.u32 %r2, %r2, 3;\n"       /* 5: block 2 */
                                "bra NEXT;\n"                  /* 6 */
                                "EVEN:\n"
                                "@!%p1 mov.u32 %r2, 9;\n"      /* 7: block 3 */
                                "add.u32 %r2, %r2, 1;\n"       /* 8 */
                                "NEXT:\n"
                                "setp.lt.u32 %p2, %r2, %r1;\n" /* 9: block 4 */
                                "@%p2 bra TOP;\n"              /* 10 */
                                "st.global.u32 [%r4], %r2;\n"  /* 11: block 5 */
                                "ret;\n}\n";                   /* 12 */

static void test_blocks(void **state)
{
    (void)state;
    struct parsed p;
    parse(&p, loop);
    const struct rung_ptx_block *b = p.flow.blocks;
    const uint32_t first[] = {0, 2, 5, 7, 9, 11}, meets[] = {1, 4, 4, 4, 5};
    assert_int_equal(p.flow.n_blocks, 6);
    for (unsigned i = 0; i < 6; i++) {
        assert_int_equal(b[i].first, first[i]);
        assert_true(b[i].reachable);
    }
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(b[i].post_dominator, meets[i]);
    assert_int_equal(b[5].post_dominator, RUNG_PTX_NO_BLOCK);
    assert_int_equal(b[5].n_successors, 0);
    assert_int_equal(b[1].successors[0], 2);
    assert_int_equal(b[1].successors[1], 3);
    assert_int_equal(b[1].n_predecessors, 2);
    release(&p);
}

static void test_definitions(void **state)
{
    (void)state;
    struct parsed p;
    parse(&p, loop);
    uint32_t r2 = register_of(&p, "%r2"), p1 = register_of(&p, "%p1");
    ASSERT_LIST(&p.flow.definitions[r2], 1, 5, 7, 8);
    ASSERT_LIST(&p.flow.uses[r2], 2, 5, 8, 9, 11);
    ASSERT_LIST(&p.flow.uses[p1], 4, 7);
    assert_int_equal(p.flow.definitions[register_of(&p, "%r4")].count, 0);
    ASSERT_LIST(&p.flow.uses[register_of(&p, "%r4")], 11);
    release(&p);
}

static void test_reaching(void **state)
{
    (void)state;
    struct parsed p;
    struct rung_arena arena = {0};
    struct rung_ptx_list list;
    parse(&p, loop);
    uint32_t r2 = register_of(&p, "%r2");
    rung_ptx_reaching(&list, &arena, &p.flow, 2, r2, NULL); /* round the loop */
    ASSERT_LIST(&list, 1, 5, 8);
    rung_ptx_reaching(&list, &arena, &p.flow, 8, r2, NULL); /* a guarded one kills nothing */
    ASSERT_LIST(&list, 1, 5, 7, 8);
    rung_ptx_reaching(&list, &arena, &p.flow, 11, r2, NULL);
    ASSERT_LIST(&list, 5, 8);
    rung_arena_release(&arena);
    release(&p);
}

static bool not_adds(void *context, const struct rung_ptx_instruction *definition)
{
    (void)context;
    return definition->opcode != RUNG_PTX_OP_ADD;
}

static void test_slices(void **state)
{
    (void)state;
    struct parsed p;
    struct rung_arena arena = {0};
    struct rung_ptx_list list;
    parse(&p, loop);
    assert_int_equal(rung_ptx_slice(&list, &arena, &p.flow, register_of(&p, "%p2"), NULL, NULL, NULL),
                     RUNG_OK);
    ASSERT_LIST(&list, 0, 1, 2, 3, 5, 7, 8, 9); /* through the guard of 7 to %p1 */
    rung_ptx_slice(&list, &arena, &p.flow, register_of(&p, "%p2"), not_adds, NULL, NULL);
    ASSERT_LIST(&list, 0, 1, 2, 3, 5, 7, 8, 9);
    for (uint32_t i = 1; i < list.count; i++)
        assert_true(list.items[i] > list.items[i - 1]);
    release(&p);
    parse(&p, HEAD ".entry k()\n{\n.reg .b32 %r<6>;\n.shared .b32 t[4];\n"
                   "mov.u32 %r1, %tid.x;\nld.shared.u32 %r2, [%r1];\nadd.u32 %r3, %r2, %r4;\n}\n");
    rung_ptx_slice(&list, &arena, &p.flow, register_of(&p, "%r3"), NULL, NULL, NULL);
    ASSERT_LIST(&list, 1, 2); /* a load is in it, its address is not */
    rung_arena_release(&arena);
    release(&p);
}

static void test_endless_loop_has_no_post_dominator(void **state)
{
    (void)state;
    struct parsed p;
    parse(&p, HEAD ".entry k()\n{\nL: bra L;\nret;\n}\n");
    assert_int_equal(p.flow.blocks[0].post_dominator, RUNG_PTX_NO_BLOCK);
    assert_false(p.flow.blocks[1].reachable);
    release(&p);
}

/* What NVRTC and inline assembly write besides instructions. */
static void test_syntax(void **state)
{
    (void)state;
    struct parsed p;
    parse(&p, "// Based on NVVM 20.0.0\r\n.version 8.7\r\n.target sm_120a, debug\r\n"
              ".address_size 64\r\n.file 1 \"a.cu\", 12, 34\r\n"
              ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
              ".global .align 8 .b8 text[3] = {104, 105, 0};\n"
              ".global .u64 pointer = text;\n"
              ".section .debug_str { $L: .b8 1, 2 }\n"
              ".visible .entry k(.param .u64 .ptr .align 1 a, .param .align 8 .b8 s[24],\n"
              " .param .u16 h)\n.maxntid 256, 2\n.minnctapersm 3\n.reqntid 8\n{\n"
              ".reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<3>; .reg .f32 %f<3>;\n"
              ".pragma \"nounroll\";\n.loc 1 77 5, function_name $L, inlined_at 1 9 1\n"
              "{ .reg .pred q; setp.eq.s32 q|%p1, %r1, -0x10; @!q bra L1; add.s32 %r1,%r1,1;\n"
              "L1: }\n"
              "{ .reg .b32 q; mov.b32 q, 3; L1: mov.u32 %r2, q; }\n"
              "mov.f32 %f1, 0f3F800000; /* a\ncomment */ mov.b64 %rd1, {%r1, _};\n"
              "ld.global.v2.u32 {%r3, %r4}, [%rd1+-8];\n"
              "call.uni (%r5), vprintf, (%rd1, %rd2);\n"
              "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1}, %rd1, %rd2, 1;\n"
              "mov.u32 %r6, %clock; mov.u32 %r7, %envreg3;\n}\n");
    const struct rung_ptx_instruction *all = p.function->instructions;
    assert_int_equal(p.module.version, 87);
    assert_int_equal(p.module.target, 120);
    assert_string_equal(p.module.target_word, "sm_120a");
    assert_string_equal(p.module.nvvm, "20.0.0");
    assert_true(p.module.has_debug_sections);
    assert_int_equal(p.function->n_params, 3);
    assert_int_equal(p.function->params[1]->offset, 8);
    assert_int_equal(p.function->params[2]->offset, 32);
    assert_int_equal(p.function->param_bytes, 34);
    assert_int_equal(p.function->max_ntid[1], 2);
    assert_int_equal(p.function->req_ntid[0], 8);
    assert_int_equal(p.function->min_nctapersm, 3);
    assert_int_equal(all[0].operands[0].kind, RUNG_PTX_PAIR);
    assert_int_equal((int64_t)all[0].operands[2].bits, -16);
    assert_int_equal(all[0].source_line, 77);
    assert_true(all[1].guarded && all[1].guard_negated);
    assert_int_equal(all[1].operands[0].kind, RUNG_PTX_LABEL);
    assert_int_equal(p.function->labels[all[1].operands[0].index].target, 3);
    assert_int_equal(all[5].operands[1].float_bits, 32);
    assert_int_equal(all[6].operands[1].items[1].kind, RUNG_PTX_SINK);
    assert_int_equal(all[7].vector, 2);
    assert_int_equal(all[7].space, RUNG_PTX_SPACE_GLOBAL);
    assert_int_equal(all[7].operands[1].offset, -8);
    assert_int_equal(all[7].line, 24);
    assert_int_equal(all[8].opcode, RUNG_PTX_OP_UNKNOWN);
    assert_string_equal(all[9].mnemonic, "wgmma");
    assert_true(all[9].has_unknown_word);
    assert_int_equal(all[11].operands[1].special, RUNG_PTX_SR_NONE);
    release(&p);
}

static void test_opcode_table(void **state)
{
    (void)state;
    struct rung_text text = {0};
    unsigned rows = 0;
    rung_ptx_opcodes_print(&text);
    assert_true(rung_text_ok(&text));
    for (const char *line = text.data; *line; line += strcspn(line, "\n") + 1)
        assert_true(strcspn(line, "\n") <= 80);
    for (int i = RUNG_PTX_OP_UNKNOWN + 1; i < RUNG_PTX_OP_COUNT; i++, rows++) {
        const struct rung_ptx_opcode_row *row = rung_ptx_opcode_row((enum rung_ptx_opcode)i);
        char start[32];
        snprintf(start, sizeof start, "\n%-10s ", row->mnemonic);
        assert_non_null(strstr(text.data, start));
        assert_int_equal(rung_ptx_opcode_find(row->mnemonic, strlen(row->mnemonic)), i);
        for (const char *word = row->types; *word;) { /* each is in the table of types */
            size_t length = strcspn(word, " ");
            bool known = false;
            for (int t = RUNG_PTX_TYPE_NONE + 1; t < RUNG_PTX_TYPE_COUNT; t++) {
                const char *name = rung_ptx_type_word((enum rung_ptx_type)t);
                known |= strlen(name) == length && !memcmp(name, word, length);
            }
            assert_true(known);
            word += length + (word[length] == ' ');
        }
        for (const char *word = row->modifiers; *word;) {
            size_t length = strcspn(word, " ");
            assert_true(rung_ptx_modifier_find(word, length) >= 0);
            word += length + (word[length] == ' ');
        }
    }
    assert_true(rows > 50);
    assert_int_equal(rung_ptx_opcode_find("wgmma", 5), RUNG_PTX_OP_UNKNOWN);
    rung_text_release(&text);
}

/* Deep nesting is refused, not followed. */
static void test_nesting(void **state)
{
    (void)state;
    char text[4096];
    const char *const opens[] = {"{", "mov.u32 _, ("};
    for (int kind = 0; kind < 2; kind++) {
        struct rung_ptx_module module;
        struct rung_error err = {0};
        int at = snprintf(text, sizeof text, HEAD ".entry k() {\n%s", opens[kind]);
        memset(text + at, kind ? '(' : '{', 1000);
        text[at + 1000] = 0;
        assert_int_equal(rung_ptx_parse(&module, text, strlen(text), &err), RUNG_COMPILE);
        assert_non_null(strstr(err.text, "nested too deep"));
        rung_ptx_module_release(&module);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_definitions),
        cmocka_unit_test(test_reaching),
        cmocka_unit_test(test_slices),
        cmocka_unit_test(test_endless_loop_has_no_post_dominator),
        cmocka_unit_test(test_syntax),
        cmocka_unit_test(test_opcode_table),
        cmocka_unit_test(test_nesting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
