/* An image as bytes: what they are and for which target, before a driver sees them. */
#include "image/image.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cubin/elf.h"
#include "image/ptx_text.h"

#define FATBIN_MAGIC "\x50\xed\x55\xba"

void rung_image_release(struct rung_image *image)
{
    free(image->source);
    free(image->ptx);
    free(image->cubin);
    *image = (struct rung_image){0};
}

/* The first bytes for the reader: as text where they are text, and in hexadecimal. */
static void describe_start(struct rung_text *text, const unsigned char *bytes, size_t length)
{
    size_t shown = length < 16 ? length : 16;
    rung_text_append(text, shown ? "they begin" : "there are none");
    for (size_t i = 0; i < shown; i++)
        rung_text_format(text, " %02x", bytes[i]);
    rung_text_append(text, shown ? " '" : "");
    for (size_t i = 0; i < shown; i++)
        rung_text_format(text, "%c", isprint(bytes[i]) ? bytes[i] : '.');
    rung_text_append(text, shown ? "'" : "");
}

static enum rung_status refuse(const void *bytes, size_t length, const char *what,
                               struct rung_error *err)
{
    struct rung_text start = {0};
    describe_start(&start, bytes, length);
    enum rung_status status =
        rung_fail(err, RUNG_USAGE, "%s; of %zu bytes %s", what, length, rung_text_string(&start));
    rung_text_release(&start);
    return status;
}

static enum rung_status check_ptx(struct rung_image_facts *out, const char *text, size_t length,
                                  struct rung_error *err)
{
    struct rung_ptx_head head;
    if (memchr(text, '\0', length))
        return refuse(text, length, "PTX with a NUL byte inside", err);
    if (!rung_ptx_read_head(&head, text, length))
        return refuse(text, length, "PTX without a .target after its .version", err);
    out->is_ptx = true;
    out->ptx_version = head.version;
    out->target = head.target;
    snprintf(out->target_word, sizeof out->target_word, "%.*s", (int)head.target_word_length,
             text + head.target_word);
    return RUNG_OK;
}

static enum rung_status check_cubin(struct rung_image_facts *out, const void *bytes, size_t length,
                                    struct rung_error *err)
{
    struct rung_cubin cubin;
    enum rung_status status = rung_cubin_read(&cubin, bytes, length, err);
    if (status != RUNG_OK)
        return status;
    out->target = cubin.sm;
    snprintf(out->target_word, sizeof out->target_word, "sm_%u", cubin.sm);
    rung_cubin_release(&cubin);
    return RUNG_OK;
}

enum rung_status rung_image_check(struct rung_image_facts *out, const void *bytes, size_t length,
                                  struct rung_error *err)
{
    *out = (struct rung_image_facts){0};
    const char *text = bytes;
    while (length > 0 && text[length - 1] == '\0' && !rung_cubin_is_elf(bytes, length))
        length--; /* PTX may end in NULs */
    if (rung_cubin_is_elf(bytes, length))
        return check_cubin(out, bytes, length, err);
    if (length >= 4 && memcmp(bytes, FATBIN_MAGIC, 4) == 0)
        return refuse(bytes, length,
                      "a fatbin, which holds several images: take one out with cuobjdump", err);
    if (!rung_ptx_starts(text, length))
        return refuse(bytes, length, "neither PTX nor a cubin", err);
    return check_ptx(out, text, length, err);
}

bool rung_cubin_runs_on(unsigned sm, unsigned cc)
{
    return sm / 10 == cc / 10 && sm % 10 <= cc % 10;
}
