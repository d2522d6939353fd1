/* Writes journals: the lock, the single write of a line, and when the disk is asked to keep it. */
#define _GNU_SOURCE
#include "sweep/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

static enum rung_status take_lock(int fd, const char *path, struct rung_error *err)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_SETLK, &lock) == 0)
        return RUNG_OK;
    int reason = errno;
    if (reason == EACCES || reason == EAGAIN) {
        struct flock holder = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        long pid = fcntl(fd, F_GETLK, &holder) == 0 ? (long)holder.l_pid : 0;
        return rung_fail(
            err, RUNG_USAGE,
            "%s is being written by another sweep (process %ld); give each its own file", path,
            pid);
    }
    return rung_fail(err, RUNG_IO, "%s: no lock: %s", path, strerror(reason));
}

/* Reads the file through the descriptor that holds the lock: closing another one of the same file
 * would release it. */
static enum rung_status read_all(struct rung_text *out, int fd, const char *path,
                                 struct rung_error *err)
{
    ssize_t got;
    while ((got = rung_text_read(out, fd)) > 0)
        continue;
    if (!rung_text_ok(out))
        return rung_fail(err, RUNG_MEMORY, "no memory to read %s", path);
    return got == 0 ? RUNG_OK : rung_fail(err, RUNG_IO, "%s: %s", path, strerror(errno));
}

enum rung_status rung_journal_open(struct rung_journal *out, struct rung_results *found,
                                   const char *path, struct rung_error *err)
{
    struct rung_journal journal = {.fd = -1, .path = strdup(path)};
    struct rung_text text = {0};
    struct stat facts;
    enum rung_status status = RUNG_OK;
    if (!journal.path) {
        status = rung_fail(err, RUNG_MEMORY, "out of memory");
        goto done;
    }
    journal.fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (journal.fd < 0 || fstat(journal.fd, &facts) != 0) {
        status = rung_fail(err, RUNG_IO, "%s cannot be written: %s", path, strerror(errno));
        goto done;
    }
    if (!S_ISREG(facts.st_mode)) {
        status = rung_fail(err, RUNG_IO, "%s is not a regular file: a journal is read back", path);
        goto done;
    }
    if ((status = take_lock(journal.fd, path, err)) != RUNG_OK ||
        (status = read_all(&text, journal.fd, path, err)) != RUNG_OK)
        goto done;
    status = rung_results_read(found, rung_text_string(&text), text.length, path, err);
    journal.torn = text.length && text.data[text.length - 1] != '\n';
done:
    rung_text_release(&text);
    if (status != RUNG_OK) {
        if (journal.fd >= 0)
            close(journal.fd);
        free(journal.path);
        return status;
    }
    *out = journal;
    return RUNG_OK;
}

static enum rung_status write_all(struct rung_journal *journal, const char *bytes, size_t length,
                                  struct rung_error *err)
{
    size_t done = 0;
    while (done < length) {
        ssize_t wrote = write(journal->fd, bytes + done, length - done);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0) {
            journal->torn |= done > 0;
            return rung_fail(err, RUNG_IO, "%s: %s; the rows so far are kept", journal->path,
                             strerror(errno));
        }
        done += (size_t)wrote;
    }
    journal->torn = false;
    return RUNG_OK;
}

static enum rung_status sync_now(struct rung_journal *journal, struct rung_error *err)
{
    clock_gettime(CLOCK_MONOTONIC, &journal->synced);
    if (fdatasync(journal->fd) != 0 && errno != EINVAL && errno != EROFS)
        return rung_fail(err, RUNG_IO, "%s: %s", journal->path, strerror(errno));
    return RUNG_OK;
}

enum rung_status rung_journal_append(struct rung_journal *journal, json_t *record,
                                     struct rung_error *err)
{
    char *line = record ? json_dumps(record, JSON_COMPACT) : NULL;
    json_decref(record);
    struct rung_text text = {0};
    if (line) {
        if (journal->torn) /* what a kill left half written becomes a line of its own */
            rung_text_append(&text, "\n");
        rung_text_append(&text, line);
        rung_text_append(&text, "\n");
    }
    free(line);
    enum rung_status status =
        text.length && rung_text_ok(&text)
            ? write_all(journal, text.data, text.length, err)
            : rung_fail(err, RUNG_MEMORY, "no memory for a line of %s", journal->path);
    rung_text_release(&text);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (status == RUNG_OK && now.tv_sec > journal->synced.tv_sec)
        status = sync_now(journal, err);
    return status;
}

enum rung_status rung_journal_append_row(struct rung_journal *journal, const struct rung_row *row,
                                         struct rung_error *err)
{
    json_t *object = rung_row_to_json(row);
    if (object && json_object_set_new(object, "record", json_string("row")) != 0) {
        json_decref(object);
        object = NULL;
    }
    return rung_journal_append(journal, object, err);
}

enum rung_status rung_journal_close(struct rung_journal *journal, struct rung_error *err)
{
    if (!journal->path)
        return RUNG_OK;
    enum rung_status status = sync_now(journal, err);
    if (close(journal->fd) != 0 && status == RUNG_OK)
        status = rung_fail(err, RUNG_IO, "%s: %s", journal->path, strerror(errno));
    free(journal->path);
    *journal = (struct rung_journal){.fd = -1};
    return status;
}
