/* A folder of images being written, and the lines of its manifest in memory meanwhile. */
#define _GNU_SOURCE
#include "image/writer.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <sha2.h>

#include "base/file.h"

struct line {
    char digest[SHA256_DIGEST_STRING_LENGTH];
    char *path;
};

struct rung_image_writer {
    char *folder;
    int lock; /* the folder itself, locked while this writer lives; -1: not open */
    struct line *lines;
    size_t count, capacity;
};

static enum rung_status out_of_memory(struct rung_error *err)
{
    return rung_fail(err, RUNG_MEMORY, "out of memory");
}

static struct line *find(struct rung_image_writer *writer, const char *path)
{
    for (size_t i = 0; i < writer->count; i++)
        if (strcmp(writer->lines[i].path, path) == 0)
            return &writer->lines[i];
    return NULL;
}

static enum rung_status set_line(struct rung_image_writer *writer, const char *path,
                                 const char *digest, struct rung_error *err)
{
    struct line *line = find(writer, path);
    if (!line && writer->count == writer->capacity) {
        size_t capacity = writer->capacity ? 2 * writer->capacity : 128;
        struct line *lines = realloc(writer->lines, capacity * sizeof *lines);
        if (!lines)
            return out_of_memory(err);
        writer->lines = lines;
        writer->capacity = capacity;
    }
    if (!line) {
        line = &writer->lines[writer->count];
        line->path = strdup(path);
        if (!line->path)
            return out_of_memory(err);
        writer->count++;
    }
    snprintf(line->digest, sizeof line->digest, "%s", digest);
    return RUNG_OK;
}

/* Whether `path` is "sm_…/<symbol>.…". */
static bool is_image_of(const char *path, const char *symbol)
{
    const char *slash = strchr(path, '/');
    size_t n = strlen(symbol);
    return strncmp(path, "sm_", 3) == 0 && slash && strncmp(slash + 1, symbol, n) == 0 &&
           slash[1 + n] == '.';
}

static void strike_images(struct rung_image_writer *writer, const char *symbol)
{
    size_t kept = 0;
    for (size_t i = 0; i < writer->count; i++)
        if (is_image_of(writer->lines[i].path, symbol))
            free(writer->lines[i].path);
        else
            writer->lines[kept++] = writer->lines[i];
    writer->count = kept;
}

/* Lines that are not ours to read (comments, and what someone else wrote) are left out. */
static enum rung_status read_manifest(struct rung_image_writer *writer, char *text,
                                      struct rung_error *err)
{
    enum rung_status status = RUNG_OK;
    for (char *line = strtok(text, "\n"); line && status == RUNG_OK; line = strtok(NULL, "\n")) {
        size_t digits = strspn(line, "0123456789abcdef");
        if (digits != SHA256_DIGEST_STRING_LENGTH - 1 || strncmp(line + digits, "  ", 2) != 0)
            continue;
        line[digits] = '\0';
        status = set_line(writer, line + digits + 2, line, err);
    }
    return status;
}

enum rung_status rung_image_writer_open(struct rung_image_writer **out, const char *folder,
                                        struct rung_error *err)
{
    *out = NULL;
    enum rung_status status = rung_folder_make(folder, err);
    if (status != RUNG_OK)
        return status;
    struct rung_image_writer *writer = calloc(1, sizeof *writer);
    char *path = rung_path_join(folder, "MANIFEST"), *text = NULL;
    size_t length;
    if (writer) {
        writer->folder = strdup(folder);
        writer->lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    if (!writer || !writer->folder || !path)
        status = out_of_memory(err);
    else if (writer->lock >= 0)
        flock(writer->lock,
              LOCK_EX); /* where locks do not work, one writer at a time is on trust */
    if (status == RUNG_OK && rung_file_exists(path))
        status = rung_file_read(&text, &length, path, err);
    if (text)
        status = read_manifest(writer, text, err);
    free(text);
    free(path);
    if (status != RUNG_OK) {
        rung_image_writer_close(writer);
        return status;
    }
    *out = writer;
    return RUNG_OK;
}

static bool holds(const char *path, const void *bytes, size_t length)
{
    char *old = NULL;
    size_t old_length;
    bool same = rung_file_exists(path) &&
                rung_file_read(&old, &old_length, path, NULL) == RUNG_OK && old_length == length &&
                memcmp(old, bytes, length) == 0;
    free(old);
    return same;
}

static enum rung_status write_file(struct rung_image_writer *writer, const char *name,
                                   const void *bytes, size_t length, struct rung_error *err)
{
    char digest[SHA256_DIGEST_STRING_LENGTH];
    char *path = rung_path_join(writer->folder, name);
    if (!path)
        return out_of_memory(err);
    enum rung_status status =
        holds(path, bytes, length) ? RUNG_OK : rung_file_write_unsynced(path, bytes, length, err);
    free(path);
    if (status != RUNG_OK)
        return status;
    SHA256Data(bytes, length, digest);
    return set_line(writer, name, digest, err);
}

static enum rung_status put_source(struct rung_image_writer *writer, const char *symbol,
                                   const char *source, struct rung_error *err)
{
    char name[RUNG_ID_SIZE + 32], digest[SHA256_DIGEST_STRING_LENGTH];
    snprintf(name, sizeof name, "cu/%s.cu", symbol);
    SHA256Data((const uint8_t *)source, strlen(source), digest);
    const struct line *old = find(writer, name);
    if (!old || strcmp(old->digest, digest) != 0)
        strike_images(writer, symbol);
    return write_file(writer, name, source, strlen(source), err);
}

enum rung_status rung_image_writer_put(struct rung_image_writer *writer, const char *symbol,
                                       const struct rung_image *image, struct rung_error *err)
{
    char name[RUNG_ID_SIZE + 32];
    enum rung_status status = put_source(writer, symbol, image->source, err);
    if (status != RUNG_OK)
        return status;
    snprintf(name, sizeof name, "sm_%u/%s.ptx", image->ptx_target, symbol);
    status = write_file(writer, name, image->ptx, image->ptx_length, err);
    if (status != RUNG_OK || !image->cubin)
        return status;
    snprintf(name, sizeof name, "sm_%u/%s.cubin", image->ptx_target, symbol);
    return write_file(writer, name, image->cubin, image->cubin_length, err);
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct line *)a)->path, ((const struct line *)b)->path);
}

enum rung_status rung_image_writer_finish(struct rung_image_writer *writer, const char *comment,
                                          struct rung_error *err)
{
    struct rung_text text = {0};
    rung_text_format(&text, "# %s\n", comment);
    if (writer->count)
        qsort(writer->lines, writer->count, sizeof writer->lines[0], by_path);
    for (size_t i = 0; i < writer->count; i++)
        rung_text_format(&text, "%s  %s\n", writer->lines[i].digest, writer->lines[i].path);
    char *path = rung_path_join(writer->folder, "MANIFEST");
    enum rung_status status = path && rung_text_ok(&text) ? RUNG_OK : out_of_memory(err);
    if (status == RUNG_OK && !holds(path, text.data, text.length))
        status = rung_file_write(path, text.data, text.length, err);
    free(path);
    rung_text_release(&text);
    return status;
}

void rung_image_writer_close(struct rung_image_writer *writer)
{
    if (!writer)
        return;
    for (size_t i = 0; i < writer->count; i++)
        free(writer->lines[i].path);
    if (writer->lock >= 0)
        close(writer->lock);
    free(writer->lines);
    free(writer->folder);
    free(writer);
}
