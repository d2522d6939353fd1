/* The input of a trace: patterns, lists, files, and what is refused by name. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/file.h"
#include "trace/input.h"

static enum rung_status make(const double **out, struct rung_arena *arena, const char *word,
                             uint64_t n, enum rung_type type, struct rung_error *err)
{
    struct rung_trace_input input;
    enum rung_status status = rung_trace_input_read(&input, arena, "--input", word, err);
    if (status != RUNG_OK)
        return status;
    return rung_trace_input_make(out, arena, &input, "--input", n, type, 7, err);
}

static void check_values(const char *word, uint64_t n, const double *expected)
{
    struct rung_arena arena = {0};
    struct rung_error err = {0};
    const double *values;
    assert_int_equal(make(&values, &arena, word, n, RUNG_TYPE_F32, &err), RUNG_OK);
    for (uint64_t i = 0; i < n; i++)
        assert_true(values[i] == expected[i]);
    rung_arena_release(&arena);
}

static void check_refused(const char *word, uint64_t n, enum rung_type type, const char *reason)
{
    struct rung_arena arena = {0};
    struct rung_error err = {0};
    const double *values;
    assert_int_equal(make(&values, &arena, word, n, type, &err), RUNG_USAGE);
    if (!strstr(err.text, reason))
        fail_msg("'%s' does not say '%s'", err.text, reason);
    rung_arena_release(&arena);
}

static void patterns(void **state)
{
    (void)state;
    check_values("ones", 3, (const double[]){1, 1, 1});
    check_values("iota", 4, (const double[]){1, 2, 3, 4});
    check_values("alternating", 4, (const double[]){2, 1, 2, 1});
    check_values("1,-2.5,3e2", 3, (const double[]){1, -2.5, 300});
    check_values("4", 1, (const double[]){4});
    check_values("0.1", 1, (const double[]){0.1f});
}

static void random_is_whole_and_repeats(void **state)
{
    (void)state;
    struct rung_arena arena = {0};
    struct rung_error err = {0};
    const double *first, *again;
    assert_int_equal(make(&first, &arena, "random", 256, RUNG_TYPE_I32, &err), RUNG_OK);
    assert_int_equal(make(&again, &arena, "random", 256, RUNG_TYPE_I32, &err), RUNG_OK);
    double least = 100, most = 0;
    for (unsigned i = 0; i < 256; i++) {
        assert_true(first[i] == again[i] && first[i] == (int)first[i]);
        least = first[i] < least ? first[i] : least;
        most = first[i] > most ? first[i] : most;
    }
    assert_true(least >= 0 && least < 10 && most > 89 && most <= 99);
    rung_arena_release(&arena);
}

static void files(void **state)
{
    (void)state;
    char path[] = "/tmp/rung-trace-input-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    struct rung_error err = {0};
    assert_int_equal(rung_file_write(path, "1 2\n3,\t4\r\n", 10, &err), RUNG_OK);
    check_values(path, 4, (const double[]){1, 2, 3, 4});
    assert_int_equal(rung_file_write(path, "1 2 three", 9, &err), RUNG_OK);
    check_refused(path, 3, RUNG_TYPE_F32, "number 3 is 'three'");
    assert_int_equal(rung_file_write(path, "1\0002", 3, &err), RUNG_OK);
    check_refused(path, 2, RUNG_TYPE_F32, "not a text file");
    assert_int_equal(rung_file_write(path, " \n", 2, &err), RUNG_OK);
    check_refused(path, 2, RUNG_TYPE_F32, "no numbers");
    unlink(path);
}

static void refusals(void **state)
{
    (void)state;
    check_refused("1,2,3", 4, RUNG_TYPE_F32, "has 3 numbers, and there are 4 elements");
    check_refused("1,x,3", 3, RUNG_TYPE_F32, "number 2 is 'x'");
    check_refused("1,2x", 2, RUNG_TYPE_F32, "number 2 is '2x'");
    check_refused("1,nan", 2, RUNG_TYPE_F32, "'nan'");
    check_refused("1e39", 1, RUNG_TYPE_F32, "more than an f32 holds");
    check_refused("1.5", 1, RUNG_TYPE_I32, "not a whole number that an i32 holds");
    check_refused("3000000000", 1, RUNG_TYPE_I32, "not a whole number that an i32 holds");
    check_refused(",", 1, RUNG_TYPE_F32, "an element is missing");
    check_refused("/no/such/file", 1, RUNG_TYPE_F32, "no such file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns),
        cmocka_unit_test(random_is_whole_and_repeats),
        cmocka_unit_test(files),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
