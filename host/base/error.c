/* The error record: filling it once, and what its statuses mean outside the process. */
#include "base/error.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

static void record(struct rung_error *err, enum rung_status status, int native, const char *format,
                   va_list args)
{
    if (err->status != RUNG_OK)
        return;
    err->status = status;
    err->native = native;
    int length = vsnprintf(err->text, sizeof err->text, format, args);
    if (length >= (int)sizeof err->text)
        memcpy(err->text + sizeof err->text - 4, "...", 4);
    rung_text_keep_utf8(err->text); /* a cut may halve a character, too */
    for (size_t end = strlen(err->text); end > 0 && err->text[end - 1] == '\n'; end--)
        err->text[end - 1] = '\0';
}

enum rung_status rung_fail(struct rung_error *err, enum rung_status status, const char *format, ...)
{
    if (!err)
        return status;
    va_list args;
    va_start(args, format);
    record(err, status, 0, format, args);
    va_end(args);
    return err->status;
}

enum rung_status rung_fail_native(struct rung_error *err, enum rung_status status, int native,
                                  const char *format, ...)
{
    if (!err)
        return status;
    va_list args;
    va_start(args, format);
    record(err, status, native, format, args);
    va_end(args);
    return err->status;
}

void rung_error_clear(struct rung_error *err)
{
    *err = (struct rung_error){0};
}

int rung_exit_status(enum rung_status status)
{
    static const int exit_statuses[] = {
#define STATUS(name, exit_status, text) exit_status,
#include "base/status.def"
#undef STATUS
    };
    return exit_statuses[status];
}

const char *rung_status_text(enum rung_status status)
{
    static const char *const texts[] = {
#define STATUS(name, exit_status, text) text,
#include "base/status.def"
#undef STATUS
    };
    return texts[status];
}
