/* The string builder: geometric growth, one sticky error. */
#include "base/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_BYTES 65536

static bool reserve(struct rung_text *text, size_t extra)
{
    if (text->failed)
        return false;
    size_t needed = text->length + extra + 1;
    if (needed <= text->capacity)
        return true;
    size_t capacity = text->capacity ? text->capacity : 256;
    while (capacity < needed)
        capacity *= 2;
    char *data = realloc(text->data, capacity);
    if (!data) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->capacity = capacity;
    return true;
}

void rung_text_append_bytes(struct rung_text *text, const char *bytes, size_t length)
{
    if (!reserve(text, length))
        return;
    memcpy(text->data + text->length, bytes, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void rung_text_append(struct rung_text *text, const char *string)
{
    rung_text_append_bytes(text, string, strlen(string));
}

ssize_t rung_text_read(struct rung_text *text, int fd)
{
    ssize_t got;
    if (!reserve(text, READ_BYTES)) {
        errno = ENOMEM;
        return -1;
    }
    do
        got = read(fd, text->data + text->length, READ_BYTES);
    while (got < 0 && errno == EINTR);
    text->length += got > 0 ? (size_t)got : 0;
    text->data[text->length] = '\0';
    return got;
}

void rung_text_append_xml(struct rung_text *text, const char *string)
{
    for (; *string; string++) {
        switch (*string) {
        case '&':
            rung_text_append(text, "&amp;");
            break;
        case '<':
            rung_text_append(text, "&lt;");
            break;
        case '>':
            rung_text_append(text, "&gt;");
            break;
        case '"':
            rung_text_append(text, "&quot;");
            break;
        default:
            rung_text_append_bytes(text, string, 1);
        }
    }
}

void rung_text_format(struct rung_text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0 || !reserve(text, (size_t)length)) {
        text->failed = true;
        return;
    }
    va_start(args, format);
    vsnprintf(text->data + text->length, (size_t)length + 1, format, args);
    va_end(args);
    text->length += (size_t)length;
}

const char *rung_text_string(const struct rung_text *text)
{
    return text->data ? text->data : "";
}

bool rung_text_ok(const struct rung_text *text)
{
    return !text->failed;
}

void rung_text_clear(struct rung_text *text)
{
    text->length = 0;
    if (text->data)
        text->data[0] = '\0';
}

char *rung_text_take(struct rung_text *text)
{
    if (!reserve(text, 0)) {
        rung_text_release(text);
        return NULL;
    }
    char *data = text->data;
    data[text->length] = '\0';
    *text = (struct rung_text){0};
    return data;
}

void rung_text_release(struct rung_text *text)
{
    free(text->data);
    *text = (struct rung_text){0};
}

/* Bytes of the well-formed character that begins at `at`, 0 if none does (RFC 3629). */
static size_t utf8_length(const unsigned char *at)
{
    if (at[0] < 0x80)
        return 1;
    size_t length = at[0] < 0xc2 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : at[0] < 0xf5 ? 4 : 0;
    for (size_t i = 1; i < length; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xf0 && at[1] < 0x90);
    bool surrogate = at[0] == 0xed && at[1] >= 0xa0;
    bool beyond = at[0] == 0xf4 && at[1] >= 0x90;
    return overlong || surrogate || beyond ? 0 : length;
}

void rung_text_keep_utf8(char *string)
{
    while (*string) {
        size_t length = utf8_length((const unsigned char *)string);
        if (length == 0)
            *string = '?';
        string += length ? length : 1;
    }
}
