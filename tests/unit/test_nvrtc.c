/* Compiling with NVRTC: results, refusals in words, several threads, several releases at once. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nvrtc/nvrtc.h"

static const char good[] =
    "extern \"C\" __global__ void twice(float *x) { x[threadIdx.x] *= 2.0f; }\n";
static const char bad[] =
    "extern \"C\" __global__ void broken(float *x)\n{\n    x[0] = nonesuch;\n}\n";

static struct rung_compile_job job(const char *source, const char *target)
{
    return (struct rung_compile_job){.source = source, .name = "kernel.cu", .target = target};
}

/* The NVRTC of this machine, or the test is skipped. */
static struct rung_nvrtc *open_nvrtc(void)
{
    struct rung_nvrtc *nvrtc = NULL;
    if (rung_nvrtc_open(&nvrtc, NULL, NULL) != RUNG_OK)
        skip();
    return nvrtc;
}

/* In a child of its own, before anything is opened here: a library that is loaded already would
 * serve the lone copy, too. */
static int compile_with_lone_library(const char *path)
{
    struct rung_error err = {0};
    struct rung_nvrtc *nvrtc = NULL;
    if (rung_nvrtc_open(&nvrtc, path, &err) != RUNG_OK)
        return 2;
    struct rung_compile_job work = job(good, "sm_75");
    struct rung_compiled compiled;
    enum rung_status status = rung_nvrtc_compile(&compiled, nvrtc, &work, &err);
    if (status == RUNG_OK)
        return 77; /* the loader's own folders have the built-ins */
    bool told = status == RUNG_UNABLE && err.native == 7 && strstr(err.text, path) &&
                strstr(err.text, "libnvrtc-builtins.so");
    rung_compiled_release(&compiled);
    rung_nvrtc_close(nvrtc);
    if (!told)
        fprintf(stderr, "%s\n", err.text);
    return told ? 0 : 1;
}

static int wait_for(pid_t child)
{
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Links the library at `from` into a folder of its own, where its built-ins are not. */
static int try_lone_library(const char *from)
{
    char folder[] = "/tmp/rung-nvrtc-XXXXXX";
    assert_non_null(mkdtemp(folder));
    char lone[64];
    snprintf(lone, sizeof lone, "%s/libnvrtc.so", folder);
    assert_int_equal(symlink(from, lone), 0);
    pid_t child = fork();
    if (child == 0)
        _exit(compile_with_lone_library(lone));
    int result = wait_for(child);
    unlink(lone);
    rmdir(folder);
    return result;
}

static void find_path(int to, const char *where)
{
    struct rung_nvrtc *nvrtc = NULL;
    if (rung_nvrtc_open(&nvrtc, where, NULL) == RUNG_OK)
        dprintf(to, "%s", rung_nvrtc_path(nvrtc));
    _exit(0);
}

static void test_missing_builtins(void **state)
{
    (void)state;
    const char *places[] = {NULL, RUNG_SOURCE_DIR "/build/nvrtc/12.4"};
    int result = 77;
    for (size_t i = 0; i < 2 && result == 77; i++) {
        char path[4096] = "";
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        if (child == 0)
            find_path(ends[1], places[i]);
        close(ends[1]);
        ssize_t length = read(ends[0], path, sizeof path - 1);
        close(ends[0]);
        assert_int_equal(wait_for(child), 0);
        if (length > 0)
            result = try_lone_library(path);
    }
    if (result == 77)
        skip();
    assert_int_equal(result, 0);
}

static void test_cubin_and_ptx(void **state)
{
    (void)state;
    struct rung_nvrtc *nvrtc = open_nvrtc();
    struct rung_error err = {0};
    struct rung_compiled compiled;
    struct rung_compile_job work = job(good, "sm_75");
    assert_int_equal(rung_nvrtc_compile(&compiled, nvrtc, &work, &err), RUNG_OK);
    assert_non_null(strstr(compiled.ptx, ".target sm_75"));
    assert_non_null(strstr(compiled.ptx, ".entry twice("));
    assert_int_equal(compiled.ptx_length, strlen(compiled.ptx));
    assert_true(compiled.cubin_length > 64);
    assert_memory_equal(compiled.cubin, "\177ELF", 4);
    assert_string_equal(compiled.log, "");
    assert_false(compiled.from_cache);
    /* The build number is the compiler's own, which it also writes into its PTX. */
    assert_true(rung_nvrtc_build(nvrtc)[0] != '\0');
    assert_non_null(strstr(compiled.ptx, rung_nvrtc_build(nvrtc)));
    rung_compiled_release(&compiled);

    work.target = "compute_75";
    assert_int_equal(rung_nvrtc_compile(&compiled, nvrtc, &work, &err), RUNG_OK);
    assert_non_null(strstr(compiled.ptx, ".target sm_75"));
    assert_null(compiled.cubin);
    rung_compiled_release(&compiled);
    rung_nvrtc_close(nvrtc);
}

static void test_log_of_a_bad_source(void **state)
{
    (void)state;
    struct rung_nvrtc *nvrtc = open_nvrtc();
    struct rung_error err = {0};
    struct rung_compiled compiled;
    struct rung_compile_job work = job(bad, "sm_80");
    assert_int_equal(rung_nvrtc_compile(&compiled, nvrtc, &work, &err), RUNG_COMPILE);
    assert_int_equal(err.native, 6);
    const char *said[] = {
        "kernel.cu(3)",        "nonesuch", "sm_80", "--std=c++17", rung_nvrtc_version(nvrtc),
        rung_nvrtc_path(nvrtc)};
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++)
        if (!strstr(err.text, said[i]))
            fail_msg("'%s' is missing in: %s", said[i], err.text);
    assert_non_null(strstr(compiled.log, "nonesuch"));
    assert_null(compiled.ptx);
    rung_compiled_release(&compiled);

    /* An option that NVRTC does not know is named. */
    const char *options[] = {"--nosuch"};
    work = job(good, "sm_80");
    work.options = options;
    work.n_options = 1;
    rung_error_clear(&err);
    assert_int_equal(rung_nvrtc_compile(&compiled, nvrtc, &work, &err), RUNG_COMPILE);
    assert_int_equal(err.native, 5);
    assert_non_null(strstr(err.text, "--nosuch"));
    rung_compiled_release(&compiled);
    rung_nvrtc_close(nvrtc);
}

static void test_targets(void **state)
{
    (void)state;
    struct rung_nvrtc *nvrtc = open_nvrtc();
    unsigned targets[RUNG_TARGETS_MAX];
    size_t n = rung_nvrtc_targets(nvrtc, targets);
    assert_true(n > 3);
    for (size_t i = 1; i < n; i++)
        assert_true(targets[i - 1] < targets[i]);

    const char *lacking[] = {"sm_12", "compute_999", "sm_76"};
    const char *senseless[] = {
        "",        "sm_",    "75",    "banana", "sm_75x",
        "sm_90aa", "sm_-75", "SM_75", "sm_75 ", "sm_7500000000000000000000000000000000"};
    struct rung_compiled compiled;
    for (size_t i = 0; i < sizeof lacking / sizeof lacking[0]; i++) {
        struct rung_error err = {0};
        struct rung_compile_job work = job(good, lacking[i]);
        assert_int_equal(rung_nvrtc_compile(&compiled, nvrtc, &work, &err), RUNG_UNABLE);
        assert_non_null(strstr(err.text, lacking[i]));
        assert_non_null(strstr(err.text, " 75 80 86"));
        rung_compiled_release(&compiled);
    }
    for (size_t i = 0; i < sizeof senseless / sizeof senseless[0]; i++) {
        struct rung_error err = {0};
        struct rung_compile_job work = job(good, senseless[i]);
        assert_int_equal(rung_nvrtc_compile(&compiled, nvrtc, &work, &err), RUNG_USAGE);
        assert_non_null(strstr(err.text, senseless[i]));
        rung_compiled_release(&compiled);
    }
    rung_nvrtc_close(nvrtc);
}

static void test_not_nvrtc(void **state)
{
    (void)state;
    struct rung_nvrtc *nvrtc = NULL;
    struct rung_error err = {0};
    assert_int_equal(rung_nvrtc_open(&nvrtc, "/nonexistent/libnvrtc.so", &err), RUNG_UNABLE);
    assert_null(nvrtc);
    assert_non_null(strstr(err.text, "/nonexistent/libnvrtc.so"));
    rung_error_clear(&err);
    assert_int_equal(rung_nvrtc_open(&nvrtc, "libm.so.6", &err), RUNG_UNABLE);
    assert_non_null(strstr(err.text, "nvrtcVersion"));
    rung_error_clear(&err);
    assert_int_equal(rung_nvrtc_open(&nvrtc, "/", &err), RUNG_UNABLE);
    assert_non_null(strstr(err.text, "libnvrtc.so"));

    /* The environment's choice is as binding as an argument, and named as its source. */
    rung_error_clear(&err);
    setenv("RUNG_NVRTC", "/nonexistent", 1);
    assert_int_equal(rung_nvrtc_open(&nvrtc, NULL, &err), RUNG_UNABLE);
    assert_non_null(strstr(err.text, "RUNG_NVRTC"));
    unsetenv("RUNG_NVRTC");
}

struct worker {
    const struct rung_nvrtc *nvrtc;
    struct rung_compiled compiled;
    enum rung_status status;
};

static void *compile_one(void *data)
{
    struct worker *worker = data;
    struct rung_compile_job work = job(good, "sm_75");
    worker->status = rung_nvrtc_compile(&worker->compiled, worker->nvrtc, &work, NULL);
    return NULL;
}

static void test_threads_get_the_same_bytes(void **state)
{
    (void)state;
    struct rung_nvrtc *nvrtc = open_nvrtc();
    struct worker workers[4];
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        workers[i] = (struct worker){.nvrtc = nvrtc};
        assert_int_equal(pthread_create(&threads[i], NULL, compile_one, &workers[i]), 0);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(workers[i].status, RUNG_OK);
        assert_string_equal(workers[i].compiled.ptx, workers[0].compiled.ptx);
        assert_int_equal(workers[i].compiled.cubin_length, workers[0].compiled.cubin_length);
        assert_memory_equal(workers[i].compiled.cubin, workers[0].compiled.cubin,
                            workers[0].compiled.cubin_length);
    }
    for (int i = 0; i < 4; i++)
        rung_compiled_release(&workers[i].compiled);
    rung_nvrtc_close(nvrtc);
}

/* The releases that `tools/setup --nvrtc 11.8,12.4,12.9` unpacks beside the build. */
static void test_releases_side_by_side(void **state)
{
    (void)state;
    glob_t found;
    if (glob(RUNG_SOURCE_DIR "/build/nvrtc/*", 0, NULL, &found) != 0 || found.gl_pathc < 2)
        skip();
    struct rung_nvrtc *open[16];
    size_t n = found.gl_pathc < 16 ? found.gl_pathc : 16;
    for (size_t i = 0; i < n; i++) {
        struct rung_error err = {0};
        if (rung_nvrtc_open(&open[i], found.gl_pathv[i], &err) != RUNG_OK)
            fail_msg("%s", err.text);
        const char *release = strrchr(found.gl_pathv[i], '/') + 1;
        assert_string_equal(rung_nvrtc_version(open[i]), release);
    }
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < n; i++) {
            struct rung_error err = {0};
            struct rung_compiled compiled;
            struct rung_compile_job work = job(good, "sm_75");
            if (rung_nvrtc_compile(&compiled, open[i], &work, &err) != RUNG_OK)
                fail_msg("%s", err.text);
            char release[32];
            snprintf(release, sizeof release, "release %s,", rung_nvrtc_version(open[i]));
            assert_non_null(strstr(compiled.ptx, release));
            assert_non_null(strstr(compiled.ptx, rung_nvrtc_build(open[i])));
            assert_non_null(compiled.cubin);
            rung_compiled_release(&compiled);
        }
    for (size_t i = 0; i < n; i++)
        rung_nvrtc_close(open[i]);
    globfree(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_missing_builtins), /* first: see compile_with_lone_library */
        cmocka_unit_test(test_cubin_and_ptx),
        cmocka_unit_test(test_log_of_a_bad_source),
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_not_nvrtc),
        cmocka_unit_test(test_threads_get_the_same_bytes),
        cmocka_unit_test(test_releases_side_by_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
