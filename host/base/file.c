/* Whole-file reading and atomic replacement. */
#define _GNU_SOURCE
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

#define READ_LIMIT ((size_t)1 << 30)

static enum rung_status io_error(struct rung_error *err, const char *doing, const char *path)
{
    return rung_fail(err, RUNG_IO, "%s %s: %s", doing, path, strerror(errno));
}

static enum rung_status read_all(struct rung_text *text, int fd, const char *path,
                                 struct rung_error *err)
{
    ssize_t got;
    while ((got = rung_text_read(text, fd)) > 0)
        if (text->length > READ_LIMIT)
            return rung_fail(err, RUNG_IO, "cannot read %s: larger than 1 GiB", path);
    if (!rung_text_ok(text))
        return rung_fail(err, RUNG_MEMORY, "out of memory reading %s", path);
    return got == 0 ? RUNG_OK : io_error(err, "cannot read", path);
}

enum rung_status rung_file_read(char **data, size_t *length, const char *path,
                                struct rung_error *err)
{
    bool standard_input = strcmp(path, "-") == 0;
    int fd = standard_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return io_error(err, "cannot open", path);
    struct rung_text text = {0};
    enum rung_status status = read_all(&text, fd, path, err);
    if (!standard_input)
        close(fd);
    size_t total = text.length;
    char *bytes = status == RUNG_OK ? rung_text_take(&text) : NULL;
    rung_text_release(&text);
    if (status != RUNG_OK)
        return status;
    if (!bytes)
        return rung_fail(err, RUNG_MEMORY, "out of memory reading %s", path);
    *data = bytes;
    *length = total;
    return RUNG_OK;
}

static enum rung_status write_all(int fd, const char *data, size_t length)
{
    while (length > 0) {
        ssize_t put = write(fd, data, length);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return RUNG_IO;
        data += put;
        length -= (size_t)put;
    }
    return RUNG_OK;
}

enum rung_status rung_folder_make(const char *path, struct rung_error *err)
{
    if (!*path)
        return rung_fail(err, RUNG_USAGE, "'' is no folder: an empty name");
    char *copy = strdup(path);
    if (!copy)
        return rung_fail(err, RUNG_MEMORY, "out of memory");
    enum rung_status status = RUNG_OK;
    for (char *slash = copy + 1; status == RUNG_OK; slash++) {
        slash = strchrnul(slash, '/');
        char kept = *slash;
        *slash = '\0';
        if (mkdir(copy, 0777) != 0 && errno != EEXIST)
            status = io_error(err, "cannot make folder", copy);
        *slash = kept;
        if (!kept)
            break;
    }
    struct stat info;
    if (status == RUNG_OK && (stat(path, &info) != 0 || !S_ISDIR(info.st_mode)))
        status = rung_fail(err, RUNG_IO, "%s is not a folder", path);
    free(copy);
    return status;
}

static enum rung_status make_parent(const char *path, struct rung_error *err)
{
    const char *slash = strrchr(path, '/');
    if (!slash || slash == path)
        return RUNG_OK;
    char *parent = strndup(path, (size_t)(slash - path));
    if (!parent)
        return rung_fail(err, RUNG_MEMORY, "out of memory");
    enum rung_status status = rung_folder_make(parent, err);
    free(parent);
    return status;
}

static enum rung_status replace(const char *path, const void *data, size_t length, bool synced,
                                struct rung_error *err)
{
    enum rung_status status = make_parent(path, err);
    if (status != RUNG_OK)
        return status;
    static atomic_uint serial; /* two threads of one process never share a temporary name */
    struct rung_text name = {0};
    rung_text_format(&name, "%s.%ld-%u.tmp", path, (long)getpid(), atomic_fetch_add(&serial, 1));
    char *temporary = rung_text_take(&name);
    if (!temporary)
        return rung_fail(err, RUNG_MEMORY, "out of memory");
    int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) {
        status = io_error(err, "cannot write", path);
        free(temporary);
        return status;
    }
    if (write_all(fd, data, length) != RUNG_OK || (synced && fsync(fd) != 0))
        status = io_error(err, "cannot write", path);
    if (close(fd) != 0 && status == RUNG_OK)
        status = io_error(err, "cannot write", path);
    if (status == RUNG_OK && rename(temporary, path) != 0)
        status = io_error(err, "cannot rename onto", path);
    if (status != RUNG_OK)
        unlink(temporary);
    free(temporary);
    return status;
}

enum rung_status rung_file_write(const char *path, const void *data, size_t length,
                                 struct rung_error *err)
{
    return replace(path, data, length, true, err);
}

enum rung_status rung_file_write_unsynced(const char *path, const void *data, size_t length,
                                          struct rung_error *err)
{
    return replace(path, data, length, false, err);
}

bool rung_file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

char *rung_path_join(const char *folder, const char *name)
{
    struct rung_text text = {0};
    rung_text_format(&text, "%s/%s", folder, name);
    return rung_text_take(&text);
}

char *rung_program_folder(void)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0)
        return NULL;
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    return slash ? strndup(path, (size_t)(slash - path)) : NULL;
}
