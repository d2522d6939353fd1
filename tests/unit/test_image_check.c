/* What bytes are, before a driver sees them; and the folders of images made ahead of time. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "image/folder.h"

#define CUBIN RUNG_SOURCE_DIR "/tests/data/cubin/two_sm90.cubin"

static void test_accepts(void **state)
{
    (void)state;
    struct rung_image_facts facts;
    static const char ptx[] = "\r\n// a comment\r\n.version 8.4\r\n.target sm_89\r\n";
    for (size_t extra = 0; extra < 2; extra++) { /* with and without its NUL */
        assert_int_equal(rung_image_check(&facts, ptx, sizeof ptx - 1 + extra, NULL), RUNG_OK);
        assert_true(facts.is_ptx);
        assert_int_equal(facts.target, 89);
        assert_int_equal(facts.ptx_version, 84);
        assert_string_equal(facts.target_word, "sm_89");
    }
    char *cubin;
    size_t length;
    assert_int_equal(rung_file_read(&cubin, &length, CUBIN, NULL), RUNG_OK);
    assert_int_equal(rung_image_check(&facts, cubin, length, NULL), RUNG_OK);
    assert_false(facts.is_ptx);
    assert_int_equal(facts.target, 90);
    assert_string_equal(facts.target_word, "sm_90");
    assert_int_equal(facts.ptx_version, 0);

    struct rung_error err = {0};
    assert_int_equal(rung_image_check(&facts, cubin, length / 2, &err), RUNG_USAGE);
    assert_non_null(strstr(err.text, "damaged cubin"));
    free(cubin);
}

static void test_refuses_in_words(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t length;
        const char *said;
    } refused[] = {
        {"",                                          0,  "0 bytes there are none" },
        {"\0\0\0\0",                                  4,  "neither PTX nor a cubin"},
        {"\x50\xed\x55\xba\1\0\x10\0",                8,  "a fatbin"               },
        {"reduce_v1.ptx",                             13, "'reduce_v1.ptx'"        }, /* a file name in place of its content */
        {"\xef\xbb\xbf.version 9.0\n.target sm_75\n", 31, "ef bb bf"               },
        {".version 9.0\n.tar\0get sm_75\n",           28, "NUL"                    },
        {".version 9.0\n",                            13, "without a .target"      },
        {"\177ELF",                                   4,  "cut off"                },
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct rung_image_facts facts;
        struct rung_error err = {0};
        assert_int_equal(rung_image_check(&facts, refused[i].bytes, refused[i].length, &err),
                         RUNG_USAGE);
        if (!strstr(err.text, refused[i].said))
            fail_msg("'%s' is missing in: %s", refused[i].said, err.text);
    }
}

static void test_runs_on(void **state)
{
    (void)state;
    assert_true(rung_cubin_runs_on(90, 90));
    assert_true(rung_cubin_runs_on(80, 86));
    assert_true(rung_cubin_runs_on(120, 121));
    assert_false(rung_cubin_runs_on(86, 80));
    assert_false(rung_cubin_runs_on(75, 90));
    assert_false(rung_cubin_runs_on(89, 90));
    assert_false(rung_cubin_runs_on(100, 110));
}

static char top[64];

static int make_top(void **state)
{
    (void)state;
    strcpy(top, "/tmp/rung-images-XXXXXX");
    return mkdtemp(top) ? setenv("RUNG_IMAGE_PATH", top, 1) : -1;
}

static int remove_top(void **state)
{
    (void)state;
    char command[128];
    unsetenv("RUNG_IMAGE_PATH");
    snprintf(command, sizeof command, "rm -rf '%s'", top);
    return system(command);
}

static void write_in_top(const char *name, const void *data, size_t length)
{
    char *path = rung_path_join(top, name);
    assert_int_equal(rung_file_write(path, data, length, NULL), RUNG_OK);
    free(path);
}

static const char image_ptx[] = ".version 9.0\n.target sm_90\n";

static enum rung_status get(struct rung_image *image, const char *source_text, bool *stale)
{
    struct rung_image_folders folders;
    struct rung_text source = {0};
    *image = (struct rung_image){0};
    rung_text_append(&source, source_text);
    assert_int_equal(rung_image_folders_open(&folders, NULL), RUNG_OK);
    assert_true(folders.count >= 1);
    assert_string_equal(folders.list[0].path, top);
    enum rung_status status =
        rung_image_folder_get(image, &folders.list[0], "reduce_x", 90, &source, stale);
    rung_image_folders_close(&folders);
    rung_text_release(&source);
    return status;
}

static void test_folder_without_manifest(void **state)
{
    (void)state;
    struct rung_image image;
    bool stale;
    assert_int_equal(get(&image, "source", &stale), RUNG_UNABLE);
    assert_false(stale);
    write_in_top("sm_90/reduce_x.ptx", image_ptx, sizeof image_ptx - 1);
    assert_int_equal(get(&image, "source", &stale), RUNG_OK);
    assert_string_equal(image.ptx, image_ptx);
    assert_int_equal(image.ptx_target, 90);
    assert_null(image.cubin);
    assert_int_equal(image.origin, RUNG_ORIGIN_AHEAD);
    assert_non_null(strstr(image.where, "sm_90/reduce_x.ptx"));
    rung_image_release(&image);

    char *cubin;
    size_t length;
    assert_int_equal(rung_file_read(&cubin, &length, CUBIN, NULL), RUNG_OK);
    write_in_top("sm_90/reduce_x.cubin", cubin, length);
    assert_int_equal(get(&image, "source", &stale), RUNG_OK);
    assert_int_equal(image.cubin_target, 90);
    assert_memory_equal(image.cubin, cubin, length);
    rung_image_release(&image);
    /* Half a cubin is not handed on; its PTX is. */
    write_in_top("sm_90/reduce_x.cubin", cubin, length / 2);
    assert_int_equal(get(&image, "source", &stale), RUNG_OK);
    assert_true(stale);
    assert_null(image.cubin);
    assert_int_equal(image.cubin_length, 0);
    rung_image_release(&image);
    free(cubin);
}

static void test_manifest_is_believed(void **state)
{
    (void)state;
    struct rung_image image;
    bool stale;
    struct rung_text manifest = {0};
    rung_text_append(&manifest, "# made for this test\n");
    rung_manifest_line(&manifest, "cu/reduce_x.cu", "source", 6);
    rung_manifest_line(&manifest, "sm_90/reduce_x.ptx", image_ptx, sizeof image_ptx - 1);
    write_in_top("MANIFEST", manifest.data, manifest.length);
    write_in_top("sm_90/reduce_x.ptx", image_ptx, sizeof image_ptx - 1);
    assert_int_equal(get(&image, "source", &stale), RUNG_OK);
    rung_image_release(&image);
    assert_int_equal(get(&image, "another source", &stale), RUNG_UNABLE);
    assert_true(stale);
    write_in_top("sm_90/reduce_x.ptx", ".version 9.0\n.target sm_91\n", 27);
    assert_int_equal(get(&image, "source", &stale), RUNG_UNABLE);
    assert_true(stale);
    rung_text_release(&manifest);
}

static void test_manifest_is_what_sha256sum_writes(void **state)
{
    (void)state;
    struct rung_text manifest = {0};
    rung_manifest_line(&manifest, "a/b", "abc", 3);
    assert_string_equal(manifest.data,
                        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  a/b\n");
    rung_text_release(&manifest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accepts),
        cmocka_unit_test(test_refuses_in_words),
        cmocka_unit_test(test_runs_on),
        cmocka_unit_test_setup_teardown(test_folder_without_manifest, make_top, remove_top),
        cmocka_unit_test_setup_teardown(test_manifest_is_believed, make_top, remove_top),
        cmocka_unit_test(test_manifest_is_what_sha256sum_writes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
