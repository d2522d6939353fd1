/* PTX as text: finding its head without a parser, and the oldest version that it can be written
 * in. The tables stand in ptx_floor.def. */
#include "image/ptx_text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

struct cursor {
    const char *text;
    size_t at, length;
};

static bool follows(const struct cursor *cursor, const char *word)
{
    size_t n = strlen(word);
    return cursor->length - cursor->at >= n && memcmp(cursor->text + cursor->at, word, n) == 0;
}

static void skip_past(struct cursor *cursor, const char *end)
{
    while (cursor->at < cursor->length && !follows(cursor, end))
        cursor->at++;
    if (cursor->at < cursor->length)
        cursor->at += strlen(end);
}

static void skip_blank(struct cursor *cursor)
{
    for (;;) {
        while (cursor->at < cursor->length && isspace((unsigned char)cursor->text[cursor->at]))
            cursor->at++;
        if (follows(cursor, "//"))
            skip_past(cursor, "\n");
        else if (follows(cursor, "/*"))
            skip_past(cursor, "*/");
        else
            return;
    }
}

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || strchr("_.:%$", c);
}

/* The length of the word at the cursor, which stays. */
static size_t word_length(const struct cursor *cursor)
{
    size_t end = cursor->at;
    while (end < cursor->length && cursor->text[end] && in_word(cursor->text[end]))
        end++;
    return end - cursor->at;
}

static bool take(struct cursor *cursor, const char *word)
{
    skip_blank(cursor);
    if (!follows(cursor, word) || word_length(cursor) != strlen(word))
        return false;
    cursor->at += strlen(word);
    skip_blank(cursor);
    return true;
}

bool rung_ptx_starts(const char *text, size_t length)
{
    struct cursor cursor = {text, 0, length};
    return take(&cursor, ".version");
}

/* Up to three digits at `*at`; false if there are none or more. */
static bool read_number(unsigned *out, const char *word, size_t length, size_t *at)
{
    size_t start = *at;
    *out = 0;
    while (*at < length && isdigit((unsigned char)word[*at]))
        if (*at - start < 3)
            *out = *out * 10 + (unsigned)(word[(*at)++] - '0');
        else
            return false;
    return *at > start;
}

static bool read_version(struct rung_ptx_head *head, const char *word, size_t length)
{
    unsigned major, minor;
    size_t at = 0;
    if (!read_number(&major, word, length, &at) || at >= length || word[at++] != '.' ||
        !read_number(&minor, word, length, &at) || at != length || minor > 9)
        return false;
    head->version = major * 10 + minor;
    return true;
}

static bool read_target(struct rung_ptx_head *head, const char *word, size_t length)
{
    size_t at = 3;
    if (length < 5 || length > 15 || memcmp(word, "sm_", 3) != 0)
        return false;
    return read_number(&head->target, word, length, &at) &&
           (at == length || (at + 1 == length && islower((unsigned char)word[at])));
}

bool rung_ptx_read_head(struct rung_ptx_head *out, const char *text, size_t length)
{
    struct cursor cursor = {text, 0, length};
    struct rung_ptx_head head = {0};
    if (!take(&cursor, ".version"))
        return false;
    head.version_word = cursor.at;
    head.version_word_length = word_length(&cursor);
    if (!read_version(&head, text + cursor.at, head.version_word_length))
        return false;
    cursor.at += head.version_word_length;
    if (!take(&cursor, ".target"))
        return false;
    head.target_word = cursor.at;
    head.target_word_length = word_length(&cursor);
    if (!read_target(&head, text + cursor.at, head.target_word_length))
        return false;
    *out = head;
    return true;
}

unsigned rung_ptx_of_driver(int driver_version)
{
    unsigned newest = 0;
#define PTX_RELEASE(version, driver, release)                                                      \
    if (driver_version >= (driver))                                                                \
        newest = (version);
#include "image/ptx_floor.def"
    return newest;
}

const char *rung_ptx_release(unsigned version)
{
#define PTX_RELEASE(row_version, driver, release)                                                  \
    if (version == (row_version))                                                                  \
        return (release);
#include "image/ptx_floor.def"
    return "";
}

static unsigned target_floor(const char *word, size_t length)
{
#define PTX_TARGET(target, version)                                                                \
    if (length == sizeof target - 1 && memcmp(word, target, length) == 0)                          \
        return (version);
#include "image/ptx_floor.def"
    return 0;
}

struct feature {
    const char *start, *within;
    unsigned version;
};

static const struct feature features[] = {
#define PTX_FEATURE(start, within, version) {start, within, version},
#include "image/ptx_floor.def"
};

static bool word_holds(const char *word, size_t length, const char *part)
{
    size_t n = strlen(part);
    for (size_t i = 0; i + n <= length; i++)
        if (memcmp(word + i, part, n) == 0)
            return true;
    return false;
}

static unsigned word_floor(const char *word, size_t length)
{
    unsigned floor = 0;
    for (size_t i = 0; i < sizeof features / sizeof features[0]; i++) {
        size_t n = strlen(features[i].start);
        if (features[i].version > floor && length >= n && memcmp(word, features[i].start, n) == 0 &&
            word_holds(word, length, features[i].within))
            floor = features[i].version;
    }
    return floor;
}

unsigned rung_ptx_floor(const char *text, size_t length)
{
    struct rung_ptx_head head;
    if (!rung_ptx_read_head(&head, text, length))
        return 0;
    unsigned floor = target_floor(text + head.target_word, head.target_word_length);
    if (floor == 0)
        return 0;
    struct cursor cursor = {text, head.target_word + head.target_word_length, length};
    for (;;) {
        skip_blank(&cursor);
        if (cursor.at >= length)
            break;
        size_t n = word_length(&cursor);
        unsigned needed = word_floor(text + cursor.at, n);
        if (needed > floor)
            floor = needed;
        cursor.at += n ? n : 1;
    }
    return floor < head.version ? floor : head.version;
}

enum rung_status rung_ptx_with_version(char **out, size_t *out_length, const char *text,
                                       size_t length, unsigned version, struct rung_error *err)
{
    struct rung_ptx_head head;
    if (!rung_ptx_read_head(&head, text, length))
        return rung_fail(err, RUNG_USAGE, "this text is no PTX: it has no .version and .target");
    struct rung_text copy = {0};
    rung_text_append_bytes(&copy, text, head.version_word);
    rung_text_format(&copy, "%u.%u", version / 10, version % 10);
    size_t rest = head.version_word + head.version_word_length;
    rung_text_append_bytes(&copy, text + rest, length - rest);
    size_t total = copy.length;
    char *result = rung_text_take(&copy);
    if (!result)
        return rung_fail(err, RUNG_MEMORY, "out of memory");
    *out = result;
    *out_length = total;
    return RUNG_OK;
}
