/* Ctrl-C as a question that a command asks when it suits: the row at work is finished and what
 * there is is printed. A second Ctrl-C ends the program at once. */
#ifndef RUNG_CLI_INTERRUPT_H
#define RUNG_CLI_INTERRUPT_H

#include <stdbool.h>

#include "base/error.h"

struct rung_interrupt; /* what SIGINT and SIGTERM meant before; one at a time in a process */

/* Makes no thread and blocks nothing: a process may be forked while it is on. */
enum rung_status rung_interrupt_watch(struct rung_interrupt **out, struct rung_error *err);
bool rung_interrupted(const struct rung_interrupt *interrupt); /* NULL: false */
/* Gives the signals their old meaning back. Accepts NULL. */
void rung_interrupt_stop(struct rung_interrupt *interrupt);

#endif
