/* Owns the progress line. */
#define _POSIX_C_SOURCE 200809L
#include "cli/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WIDTH 78 /* never into the last column of 80: some terminals wrap there */

void rung_progress_begin(struct rung_progress *progress)
{
    const char *term = getenv("TERM");
    bool dumb = !term || strcmp(term, "dumb") == 0;
    *progress = (struct rung_progress){.on = isatty(STDERR_FILENO) && !dumb};
}

void rung_progress_show(struct rung_progress *progress, const char *text)
{
    if (!progress->on)
        return;
    fprintf(stderr, "\r%-*.*s", WIDTH, WIDTH, text);
    fflush(stderr);
    progress->shown = true;
}

void rung_progress_clear(struct rung_progress *progress)
{
    if (!progress->shown)
        return;
    fprintf(stderr, "\r%*s\r", WIDTH, "");
    fflush(stderr);
    progress->shown = false;
}
