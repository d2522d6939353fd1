/* Owns what SIGINT and SIGTERM do. A handler and not a thread that waits for them: a sweep forks
 * its worker, and a child made while another thread runs has that thread's locks without the
 * thread. */
#define _POSIX_C_SOURCE 200809L
#include "cli/interrupt.h"

#include <assert.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#define N_SIGNALS 2

struct rung_interrupt {
    struct sigaction before[N_SIGNALS];
};

static const int signals[N_SIGNALS] = {SIGINT, SIGTERM};

/* At file scope because a handler is given nothing else; any thread may run it or ask. */
static atomic_bool asked;
static_assert(ATOMIC_BOOL_LOCK_FREE == 2, "a handler may not take a lock");

static void mark(int signal)
{
    (void)signal;
    if (atomic_exchange(&asked, true))
        _exit(rung_exit_status(RUNG_INTERRUPTED));
}

enum rung_status rung_interrupt_watch(struct rung_interrupt **out, struct rung_error *err)
{
    struct rung_interrupt *interrupt = calloc(1, sizeof *interrupt);
    *out = NULL;
    if (!interrupt)
        return rung_fail(err, RUNG_MEMORY, "out of memory");
    /* Restarted: who reads or writes need not know of it. The others of the two wait meanwhile. */
    struct sigaction action = {.sa_handler = mark, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < N_SIGNALS; i++)
        sigaddset(&action.sa_mask, signals[i]);
    atomic_store(&asked, false);
    for (int i = 0; i < N_SIGNALS; i++)
        sigaction(signals[i], &action, &interrupt->before[i]);
    *out = interrupt;
    return RUNG_OK;
}

bool rung_interrupted(const struct rung_interrupt *interrupt)
{
    return interrupt && atomic_load(&asked);
}

void rung_interrupt_stop(struct rung_interrupt *interrupt)
{
    if (!interrupt)
        return;
    for (int i = 0; i < N_SIGNALS; i++)
        sigaction(signals[i], &interrupt->before[i], NULL);
    free(interrupt);
}
