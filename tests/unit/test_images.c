/* Where images come from: folders, cache, NVRTC, and what is said when there is none. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "image/folder.h"
#include "image/image.h"

static char top[64];
static struct rung_arena arena;
static struct rung_ladder ladder;
static struct rung_nvrtc *nvrtc;

static const struct rung_config two[] = {
    {.version = 1,                 .block = 64               },
    { .version = 3, .block = 128, .bound = RUNG_BOUND_RUNTIME, .unroll = RUNG_UNROLL_NONE},
};

static int set_up(void **state)
{
    (void)state;
    strcpy(top, "/tmp/rung-images-XXXXXX");
    if (!mkdtemp(top) || rung_ladder_load(&ladder, &arena, NULL) != RUNG_OK)
        return -1;
    rung_nvrtc_open(&nvrtc, NULL, NULL); /* NULL: those tests are skipped */
    return setenv("RUNG_IMAGE_PATH", top, 1);
}

static int tear_down(void **state)
{
    (void)state;
    char command[128];
    rung_nvrtc_close(nvrtc);
    rung_arena_release(&arena);
    nvrtc = NULL;
    unsetenv("RUNG_IMAGE_PATH");
    snprintf(command, sizeof command, "rm -rf '%s'", top);
    return system(command);
}

struct result {
    struct rung_image images[2];
    enum rung_status statuses[2];
    struct rung_error errors[2];
    enum rung_status status;
};

static void get(struct result *result, const struct rung_image_source *from, unsigned target)
{
    result->status =
        rung_images_get(result->images, result->statuses, result->errors, from, two, 2, target);
}

static void release(struct result *result)
{
    for (int i = 0; i < 2; i++)
        rung_image_release(&result->images[i]);
}

static void test_compiled_then_cached(void **state)
{
    (void)state;
    if (!nvrtc)
        skip();
    struct rung_cache *cache;
    char why[256];
    char *folder = rung_path_join(top, "cache");
    rung_cache_open(&cache, folder, why);
    struct rung_image_source from = {.ladder = &ladder, .nvrtc = nvrtc, .cache = cache};
    for (int round = 0; round < 2; round++) {
        struct result result;
        get(&result, &from, 80);
        if (result.status != RUNG_OK)
            fail_msg("%s", result.errors[0].text);
        for (int i = 0; i < 2; i++) {
            const struct rung_image *image = &result.images[i];
            char symbol[RUNG_ID_SIZE];
            rung_config_symbol(&two[i], symbol);
            assert_non_null(strstr(image->ptx, symbol));
            assert_int_equal(image->ptx_target, 80);
            assert_int_equal(image->cubin_target, 80);
            assert_int_equal(image->origin, round ? RUNG_ORIGIN_CACHE : RUNG_ORIGIN_NVRTC);
            assert_true(image->compile_ms > 0);
        }
        release(&result);
    }
    rung_cache_close(cache);
    free(folder);
}

/* Images are compiled with an option that the committed PTX was not: it must change nothing. */
static void test_the_lean_option_changes_no_byte(void **state)
{
    (void)state;
    if (!nvrtc || !rung_nvrtc_lean_option(nvrtc))
        skip();
    struct rung_image_source from = {.ladder = &ladder, .nvrtc = nvrtc};
    struct result result;
    get(&result, &from, 75);
    assert_int_equal(result.status, RUNG_OK);
    for (int i = 0; i < 2; i++) {
        char symbol[RUNG_ID_SIZE], name[RUNG_ID_SIZE + 4];
        struct rung_text source = {0};
        struct rung_compiled plain;
        rung_config_symbol(&two[i], symbol);
        snprintf(name, sizeof name, "%s.cu", symbol);
        rung_template_emit(&source, rung_ladder_find(&ladder, two[i].version, 0), &two[i], NULL);
        struct rung_compile_job job = {
            .source = rung_text_string(&source), .name = name, .target = "sm_75"};
        assert_int_equal(rung_nvrtc_compile(&plain, nvrtc, &job, NULL), RUNG_OK);
        assert_string_equal(plain.ptx, result.images[i].ptx);
        assert_int_equal(plain.cubin_length, result.images[i].cubin_length);
        assert_memory_equal(plain.cubin, result.images[i].cubin, plain.cubin_length);
        rung_compiled_release(&plain);
        rung_text_release(&source);
    }
    release(&result);
}

static void test_a_target_that_nvrtc_lacks_gets_older_ptx(void **state)
{
    (void)state;
    if (!nvrtc)
        skip();
    unsigned targets[RUNG_TARGETS_MAX];
    size_t n = rung_nvrtc_targets(nvrtc, targets);
    struct rung_image_source from = {.ladder = &ladder, .nvrtc = nvrtc};
    struct result result;
    get(&result, &from, 250);
    assert_int_equal(result.status, RUNG_OK);
    assert_int_equal(result.images[0].ptx_target, targets[n - 1]);
    assert_null(result.images[0].cubin);
    release(&result);
    get(&result, &from, 20);
    assert_int_equal(result.status, RUNG_UNABLE);
    assert_non_null(strstr(result.errors[1].text, "v3-b128-runtime"));
    assert_non_null(strstr(result.errors[1].text, "sm_20"));
    release(&result);
}

static void write_in_top(const char *name, const void *data, size_t length)
{
    char *path = rung_path_join(top, name);
    assert_int_equal(rung_file_write(path, data, length, NULL), RUNG_OK);
    free(path);
}

static void test_nothing_at_all(void **state)
{
    (void)state;
    struct rung_image_source from = {.ladder = &ladder, .nvrtc_why = "no NVRTC was found"};
    struct result result;
    /* 60: what the build may have put beside the tests is for 75 and later. */
    get(&result, &from, 60);
    assert_int_equal(result.status, RUNG_UNABLE);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(result.statuses[i], RUNG_UNABLE);
        assert_non_null(strstr(result.errors[i].text, "no NVRTC was found"));
        assert_non_null(strstr(result.errors[i].text, top));
        assert_null(result.images[i].ptx);
    }
    release(&result);
}

/* One of two is there, for an older target: what there is is used, what is not is said. */
static void test_only_a_folder(void **state)
{
    (void)state;
    static const char ptx[] = ".version 6.3\n.target sm_52\n";
    struct rung_image_source from = {.ladder = &ladder};
    struct result result;
    write_in_top("sm_52/reduce_v1_b64_const.ptx", ptx, sizeof ptx - 1);
    get(&result, &from, 60);
    assert_int_equal(result.status, RUNG_UNABLE);
    assert_int_equal(result.statuses[0], RUNG_OK);
    assert_string_equal(result.images[0].ptx, ptx);
    assert_int_equal(result.images[0].ptx_target, 52);
    assert_int_equal(result.images[0].origin, RUNG_ORIGIN_AHEAD);
    assert_int_equal(result.statuses[1], RUNG_UNABLE);
    release(&result);

    /* A manifest that speaks of another source takes it away again, and the reason is told. */
    struct rung_text manifest = {0};
    rung_manifest_line(&manifest, "cu/reduce_v1_b64_const.cu", "old", 3);
    rung_manifest_line(&manifest, "sm_52/reduce_v1_b64_const.ptx", ptx, sizeof ptx - 1);
    write_in_top("MANIFEST", manifest.data, manifest.length);
    rung_text_release(&manifest);
    get(&result, &from, 60);
    assert_int_equal(result.statuses[0], RUNG_UNABLE);
    assert_non_null(strstr(result.errors[0].text, "this version of the source"));
    release(&result);
}

static void test_ptx_without_cubin(void **state)
{
    (void)state;
    static const char ptx[] = ".version 8.0\n.target sm_90\n";
    if (!nvrtc)
        skip();
    write_in_top("sm_90/reduce_v1_b64_const.ptx", ptx, sizeof ptx - 1);
    struct result result;
    struct rung_image_source from = {.ladder = &ladder, .nvrtc = nvrtc};
    get(&result, &from, 90); /* a compiler can do better for a card */
    assert_int_equal(result.images[0].origin, RUNG_ORIGIN_NVRTC);
    assert_int_equal(result.images[0].cubin_target, 90);
    release(&result);
    from.ptx_only = true; /* but not for the simulator */
    get(&result, &from, 90);
    assert_int_equal(result.images[0].origin, RUNG_ORIGIN_AHEAD);
    assert_string_equal(result.images[0].ptx, ptx);
    assert_int_equal(result.images[1].origin, RUNG_ORIGIN_NVRTC);
    assert_null(result.images[1].cubin);
    release(&result);
}

static void test_configurations_that_do_not_exist(void **state)
{
    (void)state;
    struct rung_config wrong[] = {
        {.version = 99, .block = 64                     },
        { .version = 2,  .block = 64, .predicate = RUNG_PREDICATE_MASK}
    };
    struct rung_image images[2];
    enum rung_status statuses[2];
    struct rung_error errors[2];
    struct rung_image_source from = {.ladder = &ladder, .nvrtc = nvrtc};
    assert_int_equal(rung_images_get(images, statuses, errors, &from, wrong, 2, 75), RUNG_USAGE);
    assert_int_equal(statuses[0], RUNG_USAGE);
    assert_non_null(strstr(errors[0].text, "99"));
    assert_int_equal(statuses[1], RUNG_USAGE);
    assert_true(errors[1].text[0] != '\0');
    assert_int_equal(rung_images_get(images, statuses, errors, &from, wrong, 0, 75), RUNG_OK);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_compiled_then_cached),
        TEST(test_the_lean_option_changes_no_byte),
        TEST(test_a_target_that_nvrtc_lacks_gets_older_ptx),
        TEST(test_nothing_at_all),
        TEST(test_only_a_folder),
        TEST(test_ptx_without_cubin),
        TEST(test_configurations_that_do_not_exist),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
