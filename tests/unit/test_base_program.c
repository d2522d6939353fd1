/* Other programs: found without a shell, run, and what they said. */
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
#include <unistd.h>

#include "base/file.h"
#include "base/program.h"

static char folder[64];

static int set_up(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/rung-program-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static char *write_script(const char *name, const char *text, mode_t mode)
{
    char *path = rung_path_join(folder, name);
    assert_int_equal(rung_file_write_unsynced(path, text, strlen(text), NULL), RUNG_OK);
    assert_int_equal(chmod(path, mode), 0);
    return path;
}

static void test_find(void **state)
{
    (void)state;
    const char *folders[] = {NULL, "", "/nonexistent", folder};
    char *script = write_script("rung-probe", "#!/bin/sh\n", 0755);
    free(write_script("rung-text", "no program\n", 0644));
    char *inner = rung_path_join(folder, "rung-folder");
    assert_int_equal(mkdir(inner, 0755), 0);

    char *found = rung_program_find("rung-probe", folders, 4);
    assert_non_null(found);
    assert_string_equal(found, script);
    free(found);
    assert_null(rung_program_find("rung-text", folders, 4));   /* may not be run */
    assert_null(rung_program_find("rung-folder", folders, 4)); /* a folder is none */
    assert_null(rung_program_find("rung-probe", NULL, 0));
    char *path = NULL, *old = strdup(getenv("PATH"));
    assert_true(asprintf(&path, "::/nonexistent:%s", folder) > 0);
    setenv("PATH", path, 1);
    found = rung_program_find("rung-probe", NULL, 0);
    setenv("PATH", old, 1);
    assert_non_null(found);
    assert_string_equal(found, script);
    free(found);
    free(path);
    free(old);
    free(inner);
    free(script);
}

static int run(const char *text, struct rung_text *said)
{
    int result = -1;
    char *script = write_script("script", text, 0755);
    char *argv[] = {script, (char *)"an argument", NULL};
    struct rung_error err = {0};
    if (rung_program_run(&result, said, argv, &err) != RUNG_OK)
        fail_msg("%s", err.text);
    free(script);
    return result;
}

static void test_run(void **state)
{
    (void)state;
    struct rung_text said = {0};
    assert_int_equal(run("#!/bin/sh\necho \"$1\"; echo wrong >&2; exit 7\n", &said), 7);
    assert_string_equal(said.data, "an argument\nwrong\n");
    rung_text_release(&said);
    assert_int_equal(run("#!/bin/sh\nkill -9 $$\n", &said), 128 + 9);
    /* It gets no input to wait for, and a flood of output is read to its end but not kept. */
    assert_int_equal(run("#!/bin/sh\ncat\nhead -c 3000000 /dev/zero | tr '\\0' x\n", &said), 0);
    assert_true(said.length >= 1 << 20);
    assert_true(said.length < (1 << 20) + 65536);
    rung_text_release(&said);
}

/* A Ctrl-C goes to every process of the terminal; only the first program answers it. */
static void test_an_interrupt_is_not_for_it(void **state)
{
    (void)state;
    struct rung_text said = {0};
    assert_int_equal(run("#!/bin/sh\nkill -INT $$\necho finished\n", &said), 0);
    assert_string_equal(said.data, "finished\n");
    rung_text_release(&said);
    assert_int_equal(run("#!/bin/sh\nkill -TERM $$\necho finished\n", &said), 128 + 15);
    rung_text_release(&said);
}

static void test_what_cannot_be_started(void **state)
{
    (void)state;
    int result = 0;
    struct rung_text said = {0};
    struct rung_error err = {0};
    char *argv[] = {(char *)"/nonexistent/program", NULL};
    assert_int_equal(rung_program_run(&result, &said, argv, &err), RUNG_IO);
    assert_non_null(strstr(err.text, "/nonexistent/program"));
    rung_text_release(&said);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_find), TEST(test_run),
                                       TEST(test_an_interrupt_is_not_for_it),
                                       TEST(test_what_cannot_be_started)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
