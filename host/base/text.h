/* A growing string. Errors stick: after a failed allocation every append does nothing, and
 * rung_text_ok tells once at the end. Zero-initialise, append, read `data`, release. */
#ifndef RUNG_BASE_TEXT_H
#define RUNG_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct rung_text {
    char *data;    /* NUL-terminated once anything was appended; NULL before */
    size_t length; /* bytes without the final NUL */
    size_t capacity;
    bool failed;
};

void rung_text_append(struct rung_text *text, const char *string);
void rung_text_append_bytes(struct rung_text *text, const char *bytes, size_t length);
/* Appends what one read(2) gives, at most 64 KiB of it, and returns what it returns: 0 at the end,
 * -1 with errno set, which is never EINTR and is ENOMEM where there is no memory. */
ssize_t rung_text_read(struct rung_text *text, int fd);
/* For HTML, XML and SVG, between tags and in quoted attributes: & < > " become entities. */
void rung_text_append_xml(struct rung_text *text, const char *string);
void rung_text_format(struct rung_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The text so far, "" when empty. Borrowed: valid until the next append or release. */
const char *rung_text_string(const struct rung_text *text);

/* False if any append ran out of memory. */
bool rung_text_ok(const struct rung_text *text);

/* Empties the text and keeps its memory. */
void rung_text_clear(struct rung_text *text);

/* Hands the string to the caller, who frees it with free(); NULL if any append failed. */
char *rung_text_take(struct rung_text *text);

void rung_text_release(struct rung_text *text);

/* Puts '?' in place of every byte of `string` that is no part of UTF-8: file names and what other
 * libraries say may hold such bytes, and JSON may not. */
void rung_text_keep_utf8(char *string);

#endif
