/* What went wrong, kept by the caller. A function that can fail returns a status and takes a
 * `struct rung_error *` last; on any status but RUNG_OK that record has been filled. The first
 * cause is kept: a later rung_fail on a record that already holds a failure changes nothing. */
#ifndef RUNG_BASE_ERROR_H
#define RUNG_BASE_ERROR_H

#include <stdarg.h>

enum rung_status {
#define STATUS(name, exit_status, text) RUNG_##name,
#include "base/status.def"
#undef STATUS
};

#define RUNG_ERROR_TEXT 2048

struct rung_error {
    enum rung_status status;    /* RUNG_OK: nothing recorded */
    int native;                 /* CUresult or nvrtcResult behind it, 0 if none */
    char text[RUNG_ERROR_TEXT]; /* one or more lines without a final newline, always terminated,
                                 * always UTF-8: what is none is shown as '?' */
};

/* Records a failure unless one is recorded already; returns the status of the recorded one.
 * Texts longer than the record end in "...". `err` may be NULL: then only the status is returned. */
enum rung_status rung_fail(struct rung_error *err, enum rung_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same, with the native code of the library that refused. */
enum rung_status rung_fail_native(struct rung_error *err, enum rung_status status, int native,
                                  const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Forgets a recorded failure, where a caller has dealt with it and goes on. */
void rung_error_clear(struct rung_error *err);

/* The process exit status that stands for `status` (status.def). */
int rung_exit_status(enum rung_status status);

/* The fixed text of a status, for example "usage". */
const char *rung_status_text(enum rung_status status);

#endif
