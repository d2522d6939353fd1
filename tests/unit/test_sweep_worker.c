/* A worker that answers, hangs, crashes, exits, and outlives nobody. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "sweep/worker.h"

static json_t *answer(void *context, const json_t *request)
{
    const char *what = json_string_value(json_object_get(request, "do"));
    if (strcmp(what, "hang") == 0)
        for (;;)
            pause();
    if (strcmp(what, "crash") == 0)
        raise(SIGKILL);
    if (strcmp(what, "exit") == 0)
        _exit(7);
    if (strcmp(what, "end") == 0)
        return NULL;
    if (strcmp(what, "large") == 0) {
        json_t *array = json_array();
        for (int i = 0; i < 100000; i++)
            json_array_append_new(array, json_integer(i));
        return json_pack("{s:o}", "array", array);
    }
    return json_pack("{s:i, s:i}", "pid", (int)getpid(), "context", *(int *)context);
}

static int number = 42;

static const struct rung_stop_asked never;

static bool at_once(void *context)
{
    (void)context;
    return true;
}

static void start(struct rung_worker *worker)
{
    assert_int_equal(rung_worker_start(worker, answer, &number, NULL), RUNG_OK);
}

static enum rung_worker_end ask(struct rung_worker *worker, const char *what, json_t **reply,
                                char why[256])
{
    return rung_worker_ask(reply, worker, json_pack("{s:s}", "do", what), 0.3, never, why);
}

static void answers_many_requests(void **state)
{
    (void)state;
    struct rung_worker worker;
    json_t *reply;
    char why[256];
    start(&worker);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(ask(&worker, "number", &reply, why), RUNG_WORKER_ANSWERED);
        assert_int_equal(json_integer_value(json_object_get(reply, "context")), 42);
        assert_int_equal(json_integer_value(json_object_get(reply, "pid")), worker.pid);
        json_decref(reply);
    }
    assert_int_equal(ask(&worker, "large", &reply, why), RUNG_WORKER_ANSWERED);
    assert_int_equal(json_array_size(json_object_get(reply, "array")), 100000);
    json_decref(reply);
    pid_t pid = worker.pid;
    rung_worker_stop(&worker, 1);
    assert_int_equal(kill(pid, 0), -1);
    rung_worker_stop(&worker, 1);
}

static void says_what_became_of_it(void **state)
{
    (void)state;
    const struct {
        const char *what, *why;
        enum rung_worker_end end;
    } cases[] = {
        {"hang",  "no answer within 0.3 s", RUNG_WORKER_TIMED_OUT},
        {"crash", "signal 9",               RUNG_WORKER_DIED     },
        {"exit",  "status 7",               RUNG_WORKER_DIED     },
        {"end",   "status 0",               RUNG_WORKER_DIED     },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rung_worker worker;
        json_t *reply;
        char why[256];
        start(&worker);
        pid_t pid = worker.pid;
        assert_int_equal(ask(&worker, cases[i].what, &reply, why), cases[i].end);
        assert_null(reply);
        assert_int_equal(worker.pid, 0);
        assert_int_equal(kill(pid, 0), -1);
        if (!strstr(why, cases[i].why))
            fail_msg("%s: %s", cases[i].what, why);
    }
}

static void an_interrupt_ends_the_wait(void **state)
{
    (void)state;
    struct rung_worker worker;
    json_t *reply;
    char why[256];
    start(&worker);
    assert_int_equal(rung_worker_ask(&reply, &worker, json_pack("{s:s}", "do", "hang"), 60,
                                     (struct rung_stop_asked){at_once, NULL}, why),
                     RUNG_WORKER_INTERRUPTED);
    assert_int_equal(worker.pid, 0);
}

static void a_hanging_worker_is_stopped(void **state)
{
    (void)state;
    struct rung_worker worker;
    start(&worker);
    kill(worker.pid, SIGSTOP);
    pid_t pid = worker.pid;
    rung_worker_stop(&worker, 0.05);
    assert_int_equal(kill(pid, 0), -1);
}

/* The parent is killed outright; its worker, busy for ever, must go with it. */
static void a_worker_dies_with_its_parent(void **state)
{
    (void)state;
    int report[2];
    assert_int_equal(pipe(report), 0);
    pid_t parent = fork();
    if (parent == 0) {
        struct rung_worker worker;
        json_t *reply;
        char why[256];
        if (rung_worker_start(&worker, answer, &number, NULL) != RUNG_OK)
            _exit(1);
        if (write(report[1], &worker.pid, sizeof worker.pid) < 0)
            _exit(1);
        rung_worker_ask(&reply, &worker, json_pack("{s:s}", "do", "hang"), 60, never, why);
        _exit(1);
    }
    pid_t worker;
    assert_int_equal(read(report[0], &worker, sizeof worker), sizeof worker);
    kill(parent, SIGKILL);
    waitpid(parent, NULL, 0);
    int tries = 0;
    while (kill(worker, 0) == 0 && ++tries < 500) /* a zombie of init's at worst, for a moment */
        usleep(10000);
    assert_true(tries < 500);
    close(report[0]);
    close(report[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_many_requests),
        cmocka_unit_test(says_what_became_of_it),
        cmocka_unit_test(an_interrupt_ends_the_wait),
        cmocka_unit_test(a_hanging_worker_is_stopped),
        cmocka_unit_test(a_worker_dies_with_its_parent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
