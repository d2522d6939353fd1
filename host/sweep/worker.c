/* Forking, the line protocol over a socket pair, and killing. */
#define _GNU_SOURCE
#include "sweep/worker.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORKER_FD 3

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static bool send_line(int fd, json_t *message)
{
    char *text = json_dumps(message, JSON_COMPACT);
    json_decref(message);
    if (!text)
        return false;
    size_t length = strlen(text), done = 0;
    text[length++] = '\n'; /* in place of the NUL */
    while (done < length) {
        ssize_t sent = send(fd, text + done, length - done, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            break;
        done += (size_t)sent;
    }
    free(text);
    return done == length;
}

/* Takes the first line out of what was received; NULL if there is none yet. */
static json_t *take_line(struct rung_text *unread)
{
    char *end = unread->length ? memchr(unread->data, '\n', unread->length) : NULL;
    if (!end)
        return NULL;
    size_t length = (size_t)(end - unread->data);
    json_t *message = json_loadb(unread->data, length, 0, NULL);
    unread->length -= length + 1;
    memmove(unread->data, end + 1, unread->length);
    unread->data[unread->length] = '\0';
    return message ? message : json_null();
}

static _Noreturn void serve(int fd, pid_t parent, rung_worker_fn *answer, void *context)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* it died before the line above */
        _exit(0);
    sigset_t none;
    sigemptyset(&none);
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (fd != WORKER_FD)
        dup2(fd, WORKER_FD);
    closefrom(WORKER_FD + 1);
    struct rung_text unread = {0};
    for (;;) {
        json_t *request = take_line(&unread);
        if (!request) {
            if (rung_text_read(&unread, WORKER_FD) <= 0) /* the parent is gone */
                break;
            continue;
        }
        json_t *reply = answer(context, request);
        json_decref(request);
        if (!reply || !send_line(WORKER_FD, reply))
            break;
    }
    rung_text_release(&unread);
    _exit(0); /* the parent's exit handlers and buffers are not ours to run */
}

enum rung_status rung_worker_start(struct rung_worker *out, rung_worker_fn *answer, void *context,
                                   struct rung_error *err)
{
    int pair[2];
    *out = (struct rung_worker){0};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return rung_fail(err, RUNG_IO, "no socket for a worker: %s", strerror(errno));
    fflush(NULL); /* or the child would have a copy of what is buffered */
    pid_t parent = getpid();
    sigset_t all, before; /* no signal meets the parent's handlers in the child */
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    pid_t pid = fork();
    if (pid == 0)
        serve(pair[1], parent, answer, context);
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(pair[1]);
    if (pid < 0) {
        close(pair[0]);
        return rung_fail(err, RUNG_IO, "no process for a worker: %s", strerror(errno));
    }
    out->pid = pid;
    out->fd = pair[0];
    return RUNG_OK;
}

/* Waits for the child's end, kills it when that takes too long, and says what became of it. */
static void bury(struct rung_worker *worker, double grace_s, char why[256])
{
    double deadline = now_s() + grace_s;
    int result = 0;
    pid_t ended;
    while ((ended = waitpid(worker->pid, &result, WNOHANG)) == 0 && now_s() < deadline)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    if (ended == 0) {
        kill(worker->pid, SIGKILL);
        while (waitpid(worker->pid, &result, 0) < 0 && errno == EINTR)
            ;
    }
    close(worker->fd);
    rung_text_release(&worker->unread);
    *worker = (struct rung_worker){0};
    if (!why)
        return;
    if (WIFSIGNALED(result))
        snprintf(why, 256, "the measuring process was killed by signal %d (%s)", WTERMSIG(result),
                 strsignal(WTERMSIG(result)));
    else
        snprintf(why, 256, "the measuring process ended with status %d", WEXITSTATUS(result));
}

static enum rung_worker_end kill_for(struct rung_worker *worker, enum rung_worker_end end,
                                     double timeout_s, char why[256])
{
    bury(worker, 0, NULL);
    if (end == RUNG_WORKER_TIMED_OUT)
        snprintf(why, 256, "no answer within %.3g s; the measuring process was killed", timeout_s);
    else
        snprintf(why, 256, "interrupted");
    return end;
}

enum rung_worker_end rung_worker_ask(json_t **reply, struct rung_worker *worker, json_t *request,
                                     double timeout_s, struct rung_stop_asked interrupted,
                                     char why[256])
{
    double deadline = now_s() + timeout_s;
    *reply = NULL;
    bool sent = send_line(worker->fd, request);
    while (sent && !(*reply = take_line(&worker->unread))) {
        double left_s = deadline - now_s();
        if (interrupted.asked && interrupted.asked(interrupted.context))
            return kill_for(worker, RUNG_WORKER_INTERRUPTED, timeout_s, why);
        if (left_s <= 0)
            return kill_for(worker, RUNG_WORKER_TIMED_OUT, timeout_s, why);
        /* Short waits: a signal that arrives just before poll does not interrupt it. */
        struct pollfd ready = {.fd = worker->fd, .events = POLLIN};
        int n = poll(&ready, 1, left_s < 0.1 ? (int)(left_s * 1e3) + 1 : 100);
        if (n > 0 && rung_text_read(&worker->unread, worker->fd) <= 0)
            break;
    }
    if (json_is_object(*reply))
        return RUNG_WORKER_ANSWERED;
    json_decref(*reply);
    *reply = NULL;
    bury(worker, 1, why);
    return RUNG_WORKER_DIED;
}

void rung_worker_stop(struct rung_worker *worker, double grace_s)
{
    if (!worker->pid)
        return;
    shutdown(worker->fd, SHUT_RDWR);
    bury(worker, grace_s, NULL);
}
