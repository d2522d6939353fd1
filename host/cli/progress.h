/* One line on standard error that says what is being done, on a terminal only. */
#ifndef RUNG_CLI_PROGRESS_H
#define RUNG_CLI_PROGRESS_H

#include <stdbool.h>

struct rung_progress {
    bool on;    /* standard error is a terminal */
    bool shown; /* a line stands there */
};

void rung_progress_begin(struct rung_progress *progress);
void rung_progress_show(struct rung_progress *progress, const char *text);
/* Takes the line away; whatever is printed next begins in the first column. */
void rung_progress_clear(struct rung_progress *progress);

#endif
