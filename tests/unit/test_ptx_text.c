/* The head of PTX, the versions that drivers take, and lowering. The rows of ptx_floor.def are
 * tried on ptxas where there is one: accepted at the floor, refused one version below it. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "image/ptx_text.h"

static const char plain[] =
    "// by NVRTC\n/* .version 1.0 */\r\n.version 9.0 // newest\n"
    ".target sm_90a, debug\n.address_size 64\n.visible .entry k(){ ret; }\n";

static void test_head(void **state)
{
    (void)state;
    struct rung_ptx_head head;
    assert_true(rung_ptx_starts(plain, sizeof plain - 1));
    assert_true(rung_ptx_read_head(&head, plain, sizeof plain - 1));
    assert_int_equal(head.version, 90);
    assert_int_equal(head.target, 90);
    assert_memory_equal(plain + head.version_word, "9.0", head.version_word_length);
    assert_memory_equal(plain + head.target_word, "sm_90a", head.target_word_length);
    for (size_t length = 0; length < sizeof plain - 1; length++) {
        char *cut = malloc(length + 1); /* a read past the end is seen by the sanitizer build */
        memcpy(cut, plain, length);
        char *exact = realloc(cut, length ? length : 1);
        rung_ptx_read_head(&head, exact, length);
        rung_ptx_floor(exact, length);
        free(exact);
    }
    static const char *const none[] = {
        "",
        ".version",
        ".version 9.0",
        ".versions 9.0\n.target sm_75",
        ".version 9\n.target sm_75",
        ".version 9.10\n.target sm_75",
        ".version 99999999999.0\n.target sm_75",
        ".version 9.0\n.target sm_",
        ".version 9.0\n.target banana",
        ".version 9.0\n.target sm_75xx",
        ".version 9.0\n/* never closed .target sm_75",
        "ret;",
    };
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        if (rung_ptx_read_head(&head, none[i], strlen(none[i])))
            fail_msg("'%s' is taken for the head of PTX", none[i]);
}

static void test_drivers(void **state)
{
    (void)state;
    assert_int_equal(rung_ptx_of_driver(9020), 0);
    assert_int_equal(rung_ptx_of_driver(10000), 63);
    assert_int_equal(rung_ptx_of_driver(11080), 78);
    assert_int_equal(rung_ptx_of_driver(12060), 85); /* 12.6 brought no new version */
    assert_int_equal(rung_ptx_of_driver(13000), 90);
    assert_int_equal(rung_ptx_of_driver(99000), 91);
    assert_string_equal(rung_ptx_release(84), "12.4");
    assert_string_equal(rung_ptx_release(79), "");
}

static void test_lowering(void **state)
{
    (void)state;
    char *out;
    size_t length;
    assert_int_equal(rung_ptx_with_version(&out, &length, plain, sizeof plain - 1, 80, NULL),
                     RUNG_OK);
    assert_int_equal(length, strlen(out));
    char *at = strstr(out, ".version 8.0 // newest");
    assert_non_null(at);
    memcpy(at, ".version 9.0", 12);
    assert_string_equal(out, plain); /* nothing else was changed */
    free(out);
    struct rung_error err = {0};
    assert_int_equal(rung_ptx_with_version(&out, &length, "ret;", 4, 80, &err), RUNG_USAGE);
    assert_true(err.text[0] != '\0');
}

#define REGISTERS                                                                                  \
    ".reg .pred p; .reg .b32 r<10>; .reg .b64 d<10>; .reg .f32 f<10>; .reg .f64 g<4>; "

static const struct {
    const char *target, *code;
    unsigned floor;
} features[] = {
    {"sm_75",  "ret;",                                                                             63},
    {"sm_75",  "shfl.sync.down.b32 r1, r2, 1, 31, -1;",                                            63},
    {"sm_75",  "bar.warp.sync -1;",                                                                63},
    {"sm_75",  "ld.global.v4.f32 {f1,f2,f3,f4}, [d1];",                                            63},
    {"sm_75",  "atom.global.add.f32 f1, [d1], f2;",                                                63},
    {"sm_75",  "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {r1}, [r2];",                             65},
    {"sm_75",
     "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {f1,f2,f3,f4},{r1,r2},{r3},{f1,f2,f3,f4};", 65},
    {"sm_75",  "tanh.approx.f32 f1, f2;",                                                          70},
    {"sm_75",  "alloca.u64 d1, 16;",                                                               73},
    {"sm_75",  "ld.global.L1::no_allocate.f32 f1, [d1];",                                          74},
    {"sm_75",  "ld.global.L2::128B.f32 f1, [d1];",                                                 74},
    {"sm_75",  "bmsk.clamp.b32 r1, r2, r3;",                                                       76},
    {"sm_75",  "szext.clamp.s32 r1, r2, r3;",                                                      76},
    {"sm_75",  "isspacep.param p, d1;",                                                            77},
    {"sm_75",  "ld.shared::cta.f32 f1, [r1];",                                                     78},
    {"sm_75",  "barrier.cta.sync 0;",                                                              78},
    {"sm_75",  "bar.cta.sync 0;",                                                                  78},
    {"sm_75",  "movmatrix.sync.aligned.m8n8.trans.b16 r1, r2;",                                    78},
    {"sm_75",  "mov.u64 d1, %current_graph_exec;",                                                 80},
    {"sm_75",  "lop3.or.b32 r1|p, r2, r3, r4, 0xc0, p;",                                           82},
    {"sm_75",  ".reg .b128 q; ld.global.b128 q, [d1];",                                            83},
    {"sm_80",  "redux.sync.add.s32 r1, r2, -1;",                                                   70},
    {"sm_80",  "cp.async.ca.shared.global [r1], [d1], 4;",                                         70},
    {"sm_80",  "mbarrier.init.shared.b64 [r1], r2;",                                               70},
    {"sm_80",  "fma.rn.bf16x2 r1, r2, r3, r3;",                                                    70},
    {"sm_80",  "createpolicy.fractional.L2::evict_first.b64 d1, 1.0;",                             74},
    {"sm_80",  "ld.global.L2::cache_hint.f32 f1, [d1], d2;",                                       74},
    {"sm_80",  "discard.global.L2 [d1], 128;",                                                     74},
    {"sm_80",  "mov.u32 r1, %reserved_smem_offset_begin;",                                         76},
    {"sm_90",  "add.rn.bf16x2 r1, r2, r3;",                                                        78},
    {"sm_90",  "mov.u32 r1, %cluster_ctarank;",                                                    78},
    {"sm_90",  "mapa.shared::cluster.u32 r1, r2, r3;",                                             78},
    {"sm_90",  "griddepcontrol.wait;",                                                             78},
    {"sm_90",  "barrier.cluster.arrive;",                                                          78},
    {"sm_90",  "fence.proxy.async;",                                                               80},
    {"sm_90",  "elect.sync r1|p, -1;",                                                             80},
    {"sm_90",
     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [r1],[d1],r2,[r3];",       80},
    {"sm_90",  "atom.global.add.v4.f32 {f1,f2,f3,f4}, [d1], {f1,f2,f3,f4};",                       81},
    {"sm_90",  "red.global.add.v2.f32 [d1], {f1,f2};",                                             81},
    {"sm_90",  "multimem.ld_reduce.global.add.f32 f1, [d1];",                                      81},
    {"sm_90a", "wgmma.fence.sync.aligned;",                                                        80},
    {"sm_90a", "setmaxnreg.inc.sync.aligned.u32 128;",                                             80},
    {"sm_100", "add.rn.f32x2 d1, d2, d3;",                                                         86},
    {"sm_100", "ld.global.v4.b64 {d1,d2,d3,d4}, [d1];",                                            88},
    {"sm_100", "ld.global.v8.b32 {r1,r2,r3,r4,r5,r6,r7,r8}, [d1];",                                88},
    {"sm_100", "st.bulk.weak.shared::cta [d1], 64, 0;",                                            86},
    {"sm_120", "ret;",                                                                             87},
};
#define N_FEATURES (sizeof features / sizeof features[0])

static char *write_ptx(size_t i, unsigned version)
{
    char *text = NULL;
    assert_true(asprintf(&text,
                         ".version %u.%u\n.target %s\n.address_size 64\n"
                         ".visible .entry k()\n{\n" REGISTERS "\n%s\nret;\n}\n",
                         version / 10, version % 10, features[i].target, features[i].code) > 0);
    return text;
}

static void test_floors(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_FEATURES; i++) {
        char *text = write_ptx(i, 90);
        unsigned floor = rung_ptx_floor(text, strlen(text));
        if (floor != features[i].floor)
            fail_msg("%s on %s: floor %u, not %u", features[i].code, features[i].target, floor,
                     features[i].floor);
        free(text);
    }
    /* Text that is old already is not raised, and a comment needs nothing. */
    const char *old = ".version 6.3\n.target sm_75\n// redux.sync is not used\nredux.sync r1;";
    assert_int_equal(rung_ptx_floor(old, strlen(old)), 63);
    const char *comment = ".version 9.0\n.target sm_75\n// redux.sync is not used\n";
    assert_int_equal(rung_ptx_floor(comment, strlen(comment)), 63);
    const char *unknown = ".version 9.0\n.target sm_60\n";
    assert_int_equal(rung_ptx_floor(unknown, strlen(unknown)), 0);
}

static bool assembles(const char *text, const char *target)
{
    char file[] = "/tmp/rung-ptx-XXXXXX";
    int fd = mkstemp(file);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    char *command = NULL;
    assert_true(asprintf(&command, "ptxas -arch=%s %s -o /dev/null >/dev/null 2>&1", target, file) >
                0);
    bool accepted = system(command) == 0;
    free(command);
    unlink(file);
    return accepted;
}

static unsigned version_before(unsigned version)
{
    unsigned before = 0;
#define PTX_RELEASE(row, driver, release)                                                          \
    if ((row) < version)                                                                           \
        before = (row);
#include "image/ptx_floor.def"
    return before;
}

static void test_floors_against_ptxas(void **state)
{
    (void)state;
    if (system("ptxas --version >/dev/null 2>&1") != 0)
        skip();
    for (size_t i = 0; i < N_FEATURES; i++) {
        char *at = write_ptx(i, features[i].floor);
        if (!assembles(at, features[i].target))
            fail_msg("ptxas refuses at %u: %s", features[i].floor, features[i].code);
        free(at);
        unsigned before = version_before(features[i].floor);
        char *below = before ? write_ptx(i, before) : NULL;
        if (below && assembles(below, features[i].target))
            fail_msg("ptxas takes %s below %u", features[i].code, features[i].floor);
        free(below);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_head),
        cmocka_unit_test(test_drivers),
        cmocka_unit_test(test_lowering),
        cmocka_unit_test(test_floors),
        cmocka_unit_test(test_floors_against_ptxas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
