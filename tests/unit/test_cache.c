/* The compile cache under everything that may befall it: cuts, flips, kills in the middle of a
 * write, other processes, folders that cannot be written, a disk that is full. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "nvrtc/entry.h"

#define KEY_A "aa11111111111111111111111111111111111111111111111111111111111111"
#define KEY_B "bb22222222222222222222222222222222222222222222222222222222222222"

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/rung-cache-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static struct rung_compiled sample(void)
{
    static char ptx[] = ".version 9.0\n.target sm_75\n";
    static unsigned char cubin[] = {0x7f, 'E', 'L', 'F', 0, 1, 2, 3};
    static char log[] = "a warning";
    return (struct rung_compiled){.ptx = ptx,
                                  .ptx_length = sizeof ptx - 1,
                                  .cubin = cubin,
                                  .cubin_length = sizeof cubin,
                                  .log = log,
                                  .compile_ms = 12.5};
}

static char *entry_path(const char *key)
{
    char *path = rung_entry_path(folder, key);
    assert_non_null(path);
    return path;
}

static void put(const char *key)
{
    struct rung_compiled compiled = sample();
    struct rung_error err = {0};
    char *path = entry_path(key);
    if (rung_entry_write(path, key, &compiled, &err) != RUNG_OK)
        fail_msg("%s", err.text);
    free(path);
}

static bool have(const char *key)
{
    struct rung_compiled back = {0};
    char *path = entry_path(key);
    bool found = rung_entry_read(&back, path, key) == RUNG_OK;
    if (found) {
        struct rung_compiled compiled = sample();
        assert_string_equal(back.ptx, compiled.ptx);
        assert_int_equal(back.ptx_length, compiled.ptx_length);
        assert_int_equal(back.cubin_length, compiled.cubin_length);
        assert_memory_equal(back.cubin, compiled.cubin, compiled.cubin_length);
        assert_string_equal(back.log, compiled.log);
        assert_true(back.compile_ms == compiled.compile_ms);
        assert_true(back.from_cache);
    }
    rung_compiled_release(&back);
    free(path);
    return found;
}

static struct rung_cache *open_cache(void)
{
    struct rung_cache *cache = NULL;
    char why[256];
    rung_cache_open(&cache, folder, why);
    assert_non_null(cache);
    assert_string_equal(why, "");
    return cache;
}

static void test_round_trip(void **state)
{
    (void)state;
    assert_false(have(KEY_A));
    put(KEY_A);
    assert_true(have(KEY_A));
    assert_false(have(KEY_B));

    /* Neither cubin nor log: what a compute_ target gives. */
    struct rung_compiled bare = sample(), back = {0};
    bare.cubin = NULL;
    bare.cubin_length = 0;
    bare.log = (char[]){""};
    char *path = entry_path(KEY_B);
    assert_int_equal(rung_entry_write(path, KEY_B, &bare, NULL), RUNG_OK);
    assert_int_equal(rung_entry_read(&back, path, KEY_B), RUNG_OK);
    assert_null(back.cubin);
    assert_string_equal(back.log, "");
    rung_compiled_release(&back);
    free(path);
}

static void overwrite(const char *path, const char *data, size_t length)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, length, file), length);
    fclose(file);
}

static void test_damage_is_a_miss(void **state)
{
    (void)state;
    put(KEY_A);
    char *path = entry_path(KEY_A), *data;
    size_t length;
    assert_int_equal(rung_file_read(&data, &length, path, NULL), RUNG_OK);
    for (size_t cut = 0; cut < length; cut++) {
        overwrite(path, data, cut);
        assert_false(have(KEY_A));
    }
    for (size_t at = 0; at < length; at++)
        for (int bit = 0; bit < 8; bit++) {
            data[at] ^= (char)(1 << bit);
            overwrite(path, data, length);
            assert_false(have(KEY_A));
            data[at] ^= (char)(1 << bit);
        }
    char *longer = calloc(length + 1, 1);
    memcpy(longer, data, length);
    overwrite(path, longer, length + 1);
    assert_false(have(KEY_A));

    struct rung_cache *cache = open_cache();
    struct rung_cache_usage usage;
    assert_int_equal(rung_cache_inspect(&usage, cache, NULL), RUNG_OK);
    assert_int_equal(usage.entries, 1);
    assert_int_equal(usage.damaged, 1);
    rung_cache_close(cache);
    put(KEY_A); /* the next compilation repairs it */
    assert_true(have(KEY_A));
    free(longer);
    free(data);
    free(path);
}

static void test_entry_under_a_wrong_name_is_a_miss(void **state)
{
    (void)state;
    put(KEY_A);
    put(KEY_B);
    char *from = entry_path(KEY_A), *to = entry_path(KEY_B);
    assert_int_equal(rename(from, to), 0);
    assert_false(have(KEY_A));
    assert_false(have(KEY_B));
    free(from);
    free(to);
}

static void numbered_key(char key[RUNG_HASH_HEX], unsigned number)
{
    snprintf(key, RUNG_HASH_HEX, "%02x%062x", number % 3, number);
}

static void write_forever(void)
{
    struct rung_compiled compiled = sample();
    for (unsigned i = 0;; i++) {
        char key[RUNG_HASH_HEX];
        numbered_key(key, i % 8);
        char *path = rung_entry_path(folder, key);
        rung_entry_write(path, key, &compiled, NULL);
        free(path);
    }
}

static void test_killed_writers_leave_whole_entries(void **state)
{
    (void)state;
    struct rung_cache *cache = open_cache();
    for (int round = 0; round < 40; round++) {
        pid_t children[3];
        for (int i = 0; i < 3; i++)
            if ((children[i] = fork()) == 0)
                write_forever();
        nanosleep(&(struct timespec){0, 1000000L * (1 + round % 7)}, NULL);
        for (int i = 0; i < 3; i++) {
            kill(children[i], SIGKILL);
            waitpid(children[i], NULL, 0);
        }
        struct rung_cache_usage usage;
        assert_int_equal(rung_cache_inspect(&usage, cache, NULL), RUNG_OK);
        assert_int_equal(usage.damaged, 0);
        assert_true(usage.entries <= 8);
    }
    /* What they left unfinished goes with the rest. */
    struct rung_cache_usage removed, usage;
    assert_int_equal(rung_cache_prune(&removed, cache, 0, NULL), RUNG_OK);
    assert_true(removed.entries > 0);
    assert_int_equal(rung_cache_inspect(&usage, cache, NULL), RUNG_OK);
    assert_int_equal(usage.entries, 0);
    assert_int_equal(usage.bytes, 0);
    rung_cache_close(cache);
}

/* Readers beside writers and a pruner: never anything but a whole entry or none. */
static void test_many_processes(void **state)
{
    (void)state;
    pid_t children[5];
    for (int i = 0; i < 5; i++) {
        if ((children[i] = fork()) != 0)
            continue;
        struct rung_cache *cache = NULL;
        char why[256];
        rung_cache_open(&cache, folder, why);
        for (unsigned round = 0; round < 300; round++) {
            char key[RUNG_HASH_HEX];
            numbered_key(key, round % 5);
            struct rung_compiled compiled = sample(), back = {0};
            char *path = rung_entry_path(folder, key);
            if (i == 4) {
                if (round % 50 == 0 && rung_cache_prune(NULL, cache, 0, NULL) != RUNG_OK)
                    _exit(2);
            } else if (rung_entry_read(&back, path, key) == RUNG_WRONG) {
                _exit(3);
            } else if (rung_entry_write(path, key, &compiled, NULL) != RUNG_OK && i != 4) {
                /* the pruner took the temporary file: allowed, and no entry is harmed */
            }
            rung_compiled_release(&back);
            free(path);
        }
        _exit(0);
    }
    for (int i = 0; i < 5; i++) {
        int status;
        waitpid(children[i], &status, 0);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

static void set_age(const char *key, time_t seconds)
{
    char *path = entry_path(key);
    struct timespec times[2] = {{.tv_sec = time(NULL) - seconds}, {.tv_sec = time(NULL) - seconds}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    free(path);
}

static void test_prune_takes_the_longest_unused(void **state)
{
    (void)state;
    char keys[4][RUNG_HASH_HEX];
    for (unsigned i = 0; i < 4; i++) {
        numbered_key(keys[i], i);
        put(keys[i]);
        set_age(keys[i], 100 + (i * 7) % 4); /* ages 100, 103, 102, 101 */
    }
    char *foreign = rung_path_join(folder, "00/notes.txt");
    overwrite(foreign, "mine", 4);
    char left[256];
    char *first = entry_path(keys[0]);
    snprintf(left, sizeof left, "%s.1-0.tmp", first);
    overwrite(left, "half", 4);
    struct timespec old[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    utimensat(AT_FDCWD, left, old, 0);

    struct rung_cache *cache = open_cache();
    struct rung_cache_usage usage, removed;
    assert_int_equal(rung_cache_inspect(&usage, cache, NULL), RUNG_OK);
    assert_int_equal(usage.entries, 4);
    uint64_t one = (usage.bytes - 4) / 4;
    assert_int_equal(rung_cache_prune(&removed, cache, 2 * one, NULL), RUNG_OK);
    assert_int_equal(removed.entries, 2);
    assert_int_equal(removed.bytes, 2 * one + 4);
    assert_true(have(keys[0]) && have(keys[3]));
    assert_false(have(keys[1]) || have(keys[2]));
    assert_false(rung_file_exists(left));
    assert_int_equal(rung_cache_prune(&removed, cache, 0, NULL), RUNG_OK);
    assert_int_equal(removed.entries, 2);
    assert_true(rung_file_exists(foreign));
    rung_cache_close(cache);
    free(first);
    free(foreign);
}

static void test_where_it_lives(void **state)
{
    (void)state;
    struct rung_cache *cache;
    char why[256], wanted[128];
    setenv("XDG_CACHE_HOME", folder, 1);
    unsetenv("RUNG_CACHE_DIR");
    rung_cache_open(&cache, NULL, why);
    assert_non_null(cache);
    snprintf(wanted, sizeof wanted, "%s/rung", folder);
    assert_string_equal(rung_cache_folder(cache), wanted);
    struct stat info;
    assert_int_equal(stat(wanted, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    char *data;
    size_t length;
    snprintf(wanted, sizeof wanted, "%s/rung/CACHEDIR.TAG", folder);
    assert_int_equal(rung_file_read(&data, &length, wanted, NULL), RUNG_OK);
    assert_memory_equal(data, "Signature: 8a477f597d28d172789f06886806bc55", 43);
    free(data);
    rung_cache_close(cache);

    snprintf(wanted, sizeof wanted, "%s/deep/er/own", folder);
    setenv("RUNG_CACHE_DIR", wanted, 1);
    rung_cache_open(&cache, NULL, why);
    assert_string_equal(rung_cache_folder(cache), wanted);
    rung_cache_close(cache);
    unsetenv("RUNG_CACHE_DIR");

    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    rung_cache_open(&cache, NULL, why);
    assert_null(cache);
    assert_non_null(strstr(why, "HOME"));
    rung_cache_open(&cache, "/dev/null/cache", why);
    assert_null(cache);
    assert_non_null(strstr(why, "/dev/null"));
    /* No cache is a cache that is empty. */
    struct rung_cache_usage usage;
    assert_int_equal(rung_cache_inspect(&usage, NULL, NULL), RUNG_OK);
    assert_int_equal(usage.entries, 0);
    assert_int_equal(rung_cache_prune(&usage, NULL, 0, NULL), RUNG_OK);
    rung_cache_close(NULL);
}

static int as_nobody(void)
{
    if (getuid() == 0 && setuid(65534) != 0)
        return 77;
    struct rung_cache *cache;
    char why[256];
    rung_cache_open(&cache, folder, why);
    struct rung_compiled compiled = sample(), back = {0};
    char *path = rung_entry_path(folder, KEY_B);
    struct rung_error err = {0};
    bool good = cache && strstr(why, "only read") &&
                rung_entry_write(path, KEY_B, &compiled, &err) == RUNG_IO && err.text[0];
    free(path);
    path = rung_entry_path(folder, KEY_A);
    good = good && rung_entry_read(&back, path, KEY_A) == RUNG_OK;
    free(path);
    rung_compiled_release(&back);
    rung_cache_close(cache);
    return good ? 0 : 1;
}

static int run_in_child(int (*body)(void))
{
    pid_t child = fork();
    if (child == 0)
        _exit(body());
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void test_folder_that_is_only_read(void **state)
{
    (void)state;
    put(KEY_A);
    char *path = entry_path(KEY_A);
    chmod(path, 0644);
    *strrchr(path, '/') = '\0';
    chmod(path, 0555);
    chmod(folder, 0555);
    int result = run_in_child(as_nobody);
    chmod(folder, 0700);
    chmod(path, 0700);
    free(path);
    if (result == 77)
        skip();
    assert_int_equal(result, 0);
}

/* A limit on the size of files stands for a full disk: the write ends in the middle. */
static int with_full_disk(void)
{
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){100, 100});
    struct rung_compiled compiled = sample();
    struct rung_error err = {0};
    char *path = rung_entry_path(folder, KEY_A);
    int result = rung_entry_write(path, KEY_A, &compiled, &err) == RUNG_IO && err.text[0] ? 0 : 1;
    free(path);
    return result;
}

static void test_full_disk(void **state)
{
    (void)state;
    assert_int_equal(run_in_child(with_full_disk), 0);
    assert_false(have(KEY_A));
    struct rung_cache *cache = open_cache();
    struct rung_cache_usage usage;
    assert_int_equal(rung_cache_inspect(&usage, cache, NULL), RUNG_OK);
    assert_int_equal(usage.bytes, 0); /* no half file is left */
    rung_cache_close(cache);
}

static const char source[] = "extern \"C\" __global__ void k(float *x) { x[0] = 1.0f; }\n";

static void test_compiling_through_it(void **state)
{
    (void)state;
    struct rung_nvrtc *nvrtc = NULL;
    if (rung_nvrtc_open(&nvrtc, NULL, NULL) != RUNG_OK)
        skip();
    struct rung_cache *cache = open_cache();
    struct rung_compile_job job = {.source = source, .name = "k.cu", .target = "sm_75"};
    struct rung_compiled first, second;
    assert_int_equal(rung_cached_compile(&first, cache, nvrtc, &job, NULL), RUNG_OK);
    assert_int_equal(rung_cached_compile(&second, cache, nvrtc, &job, NULL), RUNG_OK);
    assert_false(first.from_cache);
    assert_true(second.from_cache);
    assert_string_equal(first.ptx, second.ptx);
    assert_int_equal(first.cubin_length, second.cubin_length);
    assert_memory_equal(first.cubin, second.cubin, first.cubin_length);
    assert_true(first.compile_ms == second.compile_ms);
    rung_compiled_release(&first);
    rung_compiled_release(&second);

    /* A failure is not remembered, and is told each time. */
    struct rung_error err = {0};
    job.source = "no C at all";
    for (int i = 0; i < 2; i++) {
        rung_error_clear(&err);
        assert_int_equal(rung_cached_compile(&first, cache, nvrtc, &job, &err), RUNG_COMPILE);
        assert_non_null(strstr(err.text, "k.cu(1)"));
        rung_compiled_release(&first);
    }
    rung_cache_close(cache);
    rung_nvrtc_close(nvrtc);
}

static void test_everything_that_decides_the_bytes_is_in_the_key(void **state)
{
    (void)state;
    struct rung_nvrtc *nvrtc = NULL;
    if (rung_nvrtc_open(&nvrtc, NULL, NULL) != RUNG_OK)
        skip();
    static const char *const ab[] = {"-DA=1", "-DB=2"}, *const ba[] = {"-DB=2", "-DA=1"},
                             *const joined[] = {"-DA=1-DB=2"};
    const struct rung_compile_job jobs[] = {
        {"x",     "k.cu", "sm_75",      NULL,   0},
        {"y",     "k.cu", "sm_75",      NULL,   0},
        {"x",     "l.cu", "sm_75",      NULL,   0},
        {"x",     "k.cu", "compute_75", NULL,   0},
        {"x",     "k.cu", "sm_75",      ab,     2},
        {"x",     "k.cu", "sm_75",      ba,     2},
        {"x",     "k.cu", "sm_75",      joined, 1},
        {"x",     "k.cu", "sm_75",      ab,     1},
        {"xk.cu", "",     "sm_75",      NULL,   0},
    };
    enum { N = sizeof jobs / sizeof jobs[0] };
    char keys[N][RUNG_HASH_HEX], again[RUNG_HASH_HEX];
    for (size_t i = 0; i < N; i++) {
        rung_cache_key(keys[i], nvrtc, &jobs[i]);
        rung_cache_key(again, nvrtc, &jobs[i]);
        assert_string_equal(keys[i], again);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(keys[i], keys[j]);
    }
    rung_nvrtc_close(nvrtc);
}

static void test_all_at_once(void **state)
{
    (void)state;
    struct rung_nvrtc *nvrtc = NULL;
    if (rung_nvrtc_open(&nvrtc, NULL, NULL) != RUNG_OK)
        skip();
    struct rung_cache *cache = open_cache();
    enum { N = 9, BAD = 4 };
    char sources[N][128];
    struct rung_compile_job jobs[N];
    for (int i = 0; i < N; i++) {
        snprintf(sources[i], sizeof sources[i],
                 "extern \"C\" __global__ void k%d(float *x) { x[0] = %s; }", i,
                 i == BAD ? "nonesuch" : "1.0f");
        jobs[i] = (struct rung_compile_job){sources[i], "k.cu", "sm_75", NULL, 0};
    }
    for (int round = 0; round < 2; round++) {
        struct rung_compiled out[N];
        enum rung_status statuses[N];
        struct rung_error errors[N] = {0};
        assert_int_equal(rung_cached_compile_all(out, statuses, errors, cache, nvrtc, jobs, N),
                         RUNG_COMPILE);
        for (int i = 0; i < N; i++) {
            assert_int_equal(statuses[i], i == BAD ? RUNG_COMPILE : RUNG_OK);
            char name[16];
            snprintf(name, sizeof name, ".entry k%d(", i);
            if (i == BAD)
                assert_non_null(strstr(errors[i].text, "nonesuch"));
            else
                assert_non_null(strstr(out[i].ptx, name));
            assert_int_equal(out[i].from_cache, round == 1 && i != BAD);
            rung_compiled_release(&out[i]);
        }
    }
    assert_null(rung_cache_trouble(cache));
    rung_cache_close(cache);
    rung_nvrtc_close(nvrtc);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_round_trip),
        IN_FOLDER(test_damage_is_a_miss),
        IN_FOLDER(test_entry_under_a_wrong_name_is_a_miss),
        IN_FOLDER(test_killed_writers_leave_whole_entries),
        IN_FOLDER(test_many_processes),
        IN_FOLDER(test_prune_takes_the_longest_unused),
        IN_FOLDER(test_where_it_lives),
        IN_FOLDER(test_folder_that_is_only_read),
        IN_FOLDER(test_full_disk),
        IN_FOLDER(test_compiling_through_it),
        IN_FOLDER(test_everything_that_decides_the_bytes_is_in_the_key),
        IN_FOLDER(test_all_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
