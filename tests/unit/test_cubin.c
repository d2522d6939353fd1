/* The ELF check: what it reads from whole cubins of several releases and targets, and that cut and
 * flipped ones are refused or read without leaving the bytes (the sanitizer build watches). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cubin/elf.h"

#define FOLDER RUNG_SOURCE_DIR "/tests/data/cubin/"

/* `ptxas -v` on two.cu says the same. */
static const struct {
    const char *file;
    unsigned sm, with_registers, without_registers;
} whole[] = {
    {"two_sm75_11.8.cubin", 75,  10, 15},
    {"two_sm75.cubin",      75,  10, 15},
    {"two_sm90.cubin",      90,  10, 15},
    {"two_sm120.cubin",     120, 10, 15},
};
#define N_WHOLE (sizeof whole / sizeof whole[0])

static char *read_file(const char *name, size_t *length)
{
    char path[512];
    char *data = NULL;
    snprintf(path, sizeof path, "%s%s", FOLDER, name);
    assert_int_equal(rung_file_read(&data, length, path, NULL), RUNG_OK);
    return data;
}

static void test_whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_WHOLE; i++) {
        size_t length;
        char *data = read_file(whole[i].file, &length);
        struct rung_cubin cubin;
        struct rung_error err = {0};
        if (rung_cubin_read(&cubin, data, length, &err) != RUNG_OK)
            fail_msg("%s: %s", whole[i].file, err.text);
        assert_int_equal(cubin.sm, whole[i].sm);
        assert_int_equal(cubin.n_kernels, 2); /* third() is a function, not an entry */
        const struct rung_cubin_kernel *with = rung_cubin_find(&cubin, "with_shared");
        const struct rung_cubin_kernel *without = rung_cubin_find(&cubin, "without_shared");
        assert_non_null(with);
        assert_non_null(without);
        assert_null(rung_cubin_find(&cubin, "with"));
        assert_int_equal(with->shared_bytes, 4096);
        assert_int_equal(without->shared_bytes, 0);
        assert_int_equal(with->registers, whole[i].with_registers);
        assert_int_equal(without->registers, whole[i].without_registers);
        assert_true(with->text_length >= 256);
        assert_int_equal(with->text_length % 16, 0);
        rung_cubin_release(&cubin);
        free(data);
    }
}

/* A copy of exactly `length` bytes, so that a read past them is seen. */
static enum rung_status read_copy(const char *data, size_t length)
{
    char *copy = malloc(length ? length : 1);
    assert_non_null(copy);
    memcpy(copy, data, length);
    struct rung_cubin cubin;
    struct rung_error err = {0};
    enum rung_status status = rung_cubin_read(&cubin, copy, length, &err);
    if (status == RUNG_OK) {
        volatile size_t sum = 0;
        for (size_t i = 0; i < cubin.n_kernels; i++) {
            sum += strlen(cubin.kernels[i].name);
            for (size_t j = 0; j < cubin.kernels[i].text_length; j++)
                sum += cubin.kernels[i].text[j];
        }
        rung_cubin_release(&cubin);
    } else {
        assert_int_equal(status, RUNG_USAGE);
        assert_true(err.text[0] != '\0');
    }
    free(copy);
    return status;
}

static void test_cut_anywhere(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_WHOLE; i++) {
        size_t length;
        char *data = read_file(whole[i].file, &length);
        assert_int_equal(read_copy(data, length), RUNG_OK);
        for (size_t cut = 0; cut < length; cut++)
            if (read_copy(data, cut) != RUNG_USAGE)
                fail_msg("%s cut to %zu of %zu bytes is taken for whole", whole[i].file, cut,
                         length);
        free(data);
    }
}

static void test_flipped_bytes(void **state)
{
    (void)state;
    size_t length;
    char *data = read_file("two_sm90.cubin", &length);
    static const unsigned char values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    for (size_t at = 0; at < length; at++) {
        char kept = data[at];
        for (size_t v = 0; v < sizeof values; v++) {
            data[at] = (char)values[v];
            read_copy(data, length);
        }
        data[at] = kept;
    }
    /* Every word of the section and program tables at its extremes. */
    Elf64_Ehdr header;
    memcpy(&header, data, sizeof header);
    for (size_t at = header.e_shoff; at + 8 <= length; at += 4) {
        static const uint64_t extremes[] = {UINT64_MAX, UINT64_MAX - 64, (uint64_t)1 << 63,
                                            UINT32_MAX};
        char kept[8];
        memcpy(kept, data + at, 8);
        for (size_t v = 0; v < sizeof extremes / sizeof extremes[0]; v++) {
            memcpy(data + at, &extremes[v], 8);
            read_copy(data, length);
        }
        memcpy(data + at, kept, 8);
    }
    free(data);
}

static void test_other_files(void **state)
{
    (void)state;
    size_t length;
    char *data = NULL;
    struct rung_cubin cubin;
    struct rung_error err = {0};
    assert_int_equal(rung_file_read(&data, &length, "/proc/self/exe", NULL), RUNG_OK);
    assert_int_equal(rung_cubin_read(&cubin, data, length, &err), RUNG_USAGE);
    assert_non_null(strstr(err.text, "not for a GPU"));
    free(data);
    rung_error_clear(&err);
    assert_int_equal(rung_cubin_read(&cubin, ".version 9.0", 12, &err), RUNG_USAGE);
    assert_non_null(strstr(err.text, "no ELF"));
    assert_false(rung_cubin_is_elf("\177EL", 3));
    assert_true(rung_cubin_is_elf("\177ELF", 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_cut_anywhere),
        cmocka_unit_test(test_flipped_bytes),
        cmocka_unit_test(test_other_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
