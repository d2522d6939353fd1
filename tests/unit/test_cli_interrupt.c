/* What Ctrl-C does to a command: once, twice, after it, and to the process that a sweep forks. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/interrupt.c"
#include "sweep/worker.h"

static int count_threads(void)
{
    int n = 0;
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    for (const struct dirent *entry; (entry = readdir(tasks));)
        n += entry->d_name[0] != '.';
    closedir(tasks);
    return n;
}

static void one_is_a_question(void **state)
{
    (void)state;
    for (int i = 0; i < N_SIGNALS; i++) {
        struct rung_interrupt *interrupt;
        assert_int_equal(rung_interrupt_watch(&interrupt, NULL), RUNG_OK);
        assert_false(rung_interrupted(interrupt));
        assert_false(rung_interrupted(NULL));
        raise(signals[i]);
        assert_true(rung_interrupted(interrupt));
        rung_interrupt_stop(interrupt);
    }
}

static void a_second_ends_the_program(void **state)
{
    (void)state;
    int result;
    pid_t child = fork();
    if (child == 0) {
        struct rung_interrupt *interrupt;
        if (rung_interrupt_watch(&interrupt, NULL) != RUNG_OK)
            _exit(1);
        raise(SIGINT);
        if (!rung_interrupted(interrupt))
            _exit(2);
        raise(SIGTERM);
        _exit(3);
    }
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    assert_int_equal(WEXITSTATUS(result), 130);
}

static void the_old_meaning_comes_back(void **state)
{
    (void)state;
    struct rung_interrupt *interrupt;
    struct sigaction now;
    signal(SIGINT, SIG_IGN);
    assert_int_equal(rung_interrupt_watch(&interrupt, NULL), RUNG_OK);
    rung_interrupt_stop(interrupt);
    for (int i = 0; i < N_SIGNALS; i++) {
        sigaction(signals[i], NULL, &now);
        assert_ptr_equal(now.sa_handler, signals[i] == SIGINT ? SIG_IGN : SIG_DFL);
    }
    signal(SIGINT, SIG_DFL);
    rung_interrupt_stop(NULL);
}

static json_t *pid_of(void *context, const json_t *request)
{
    (void)context;
    (void)request;
    return json_pack("{s:i}", "pid", (int)getpid());
}

/* A worker is forked while the signals are watched: that process must have one thread, and the
 * child must not take the parent's handlers with it. */
static void a_worker_may_be_forked(void **state)
{
    (void)state;
    struct rung_interrupt *interrupt;
    struct rung_worker worker;
    json_t *reply;
    char why[256];
    int before = count_threads();
    assert_int_equal(rung_interrupt_watch(&interrupt, NULL), RUNG_OK);
    assert_int_equal(count_threads(), before);
    assert_int_equal(rung_worker_start(&worker, pid_of, NULL, NULL), RUNG_OK);
    kill(worker.pid, SIGINT);
    assert_int_equal(rung_worker_ask(&reply, &worker, json_object(), 10,
                                     (struct rung_stop_asked){NULL, NULL}, why),
                     RUNG_WORKER_ANSWERED);
    assert_int_equal(json_integer_value(json_object_get(reply, "pid")), worker.pid);
    json_decref(reply);
    kill(worker.pid, SIGTERM);
    assert_int_equal(rung_worker_ask(&reply, &worker, json_object(), 10,
                                     (struct rung_stop_asked){NULL, NULL}, why),
                     RUNG_WORKER_DIED);
    assert_string_equal(why, "the measuring process was killed by signal 15 (Terminated)");
    assert_false(rung_interrupted(interrupt));
    rung_interrupt_stop(interrupt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_is_a_question),
        cmocka_unit_test(a_second_ends_the_program),
        cmocka_unit_test(the_old_meaning_comes_back),
        cmocka_unit_test(a_worker_may_be_forked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
