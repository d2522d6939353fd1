/* Owns the thread that waits for the signals. A thread instead of a handler: no state at file
 * scope, and the rest of the program is never stopped in the middle of a call. */
#define _POSIX_C_SOURCE 200809L
#include "cli/interrupt.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

struct rung_interrupt {
    pthread_t thread;
    sigset_t signals, before;
    atomic_bool asked, done;
};

static void *watch(void *context)
{
    struct rung_interrupt *interrupt = context;
    for (;;) {
        int signal;
        if (sigwait(&interrupt->signals, &signal) != 0)
            continue;
        if (atomic_load(&interrupt->done))
            return NULL;
        if (atomic_exchange(&interrupt->asked, true))
            _exit(rung_exit_status(RUNG_INTERRUPTED));
    }
}

enum rung_status rung_interrupt_watch(struct rung_interrupt **out, struct rung_error *err)
{
    struct rung_interrupt *interrupt = calloc(1, sizeof *interrupt);
    *out = NULL;
    if (!interrupt)
        return rung_fail(err, RUNG_MEMORY, "out of memory");
    sigemptyset(&interrupt->signals);
    sigaddset(&interrupt->signals, SIGINT);
    sigaddset(&interrupt->signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &interrupt->signals, &interrupt->before);
    if (pthread_create(&interrupt->thread, NULL, watch, interrupt) != 0) {
        pthread_sigmask(SIG_SETMASK, &interrupt->before, NULL);
        free(interrupt);
        return rung_fail(err, RUNG_UNABLE, "cannot make a thread");
    }
    *out = interrupt;
    return RUNG_OK;
}

bool rung_interrupted(const struct rung_interrupt *interrupt)
{
    return interrupt && atomic_load(&interrupt->asked);
}

void rung_interrupt_stop(struct rung_interrupt *interrupt)
{
    if (!interrupt)
        return;
    atomic_store(&interrupt->done, true);
    pthread_kill(interrupt->thread, SIGTERM);
    pthread_join(interrupt->thread, NULL);
    pthread_sigmask(SIG_SETMASK, &interrupt->before, NULL);
    free(interrupt);
}
