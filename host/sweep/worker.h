/* A child process that does the work that may hang or crash: a kernel that never ends takes its
 * process with it, and a context that has failed cannot be used again. The parent asks, one request
 * at a time, and kills what does not answer in time. */
#ifndef RUNG_SWEEP_WORKER_H
#define RUNG_SWEEP_WORKER_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/text.h"

/* Answers one request, in the child. Returns a new object; NULL ends the child. */
typedef json_t *rung_worker_fn(void *context, const json_t *request);

struct rung_worker {
    pid_t pid; /* 0: none */
    int fd;
    struct rung_text unread;
};

enum rung_worker_end {
    RUNG_WORKER_ANSWERED,
    RUNG_WORKER_TIMED_OUT,  /* and was killed */
    RUNG_WORKER_DIED,       /* by itself */
    RUNG_WORKER_INTERRUPTED /* `interrupted` said so; the worker has been killed */
};

/* Asked every tenth of a second of a wait; `asked` may be NULL. */
struct rung_stop_asked {
    bool (*asked)(void *context);
    void *context;
};

/* Forks. The child runs `answer` until the parent closes or dies, ignores SIGINT (the parent
 * decides what an interrupt means) and keeps no descriptor of the parent's but the three standard
 * ones. The calling process must have one thread. */
enum rung_status rung_worker_start(struct rung_worker *out, rung_worker_fn *answer, void *context,
                                   struct rung_error *err);

/* Sends `request` (taken over) and waits for the answer. Unless RUNG_WORKER_ANSWERED, `*reply` is
 * NULL, the worker is gone, and `why` says in one line what became of it. */
enum rung_worker_end rung_worker_ask(json_t **reply, struct rung_worker *worker, json_t *request,
                                     double timeout_s, struct rung_stop_asked interrupted,
                                     char why[256]);

/* Asks the child to end by closing, kills it when it does not within `grace_s`, and reaps it.
 * Accepts a zeroed or finished worker. */
void rung_worker_stop(struct rung_worker *worker, double grace_s);

#endif
