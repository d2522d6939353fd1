/* Looking through the whole cache: how much is in it, and removing what was not used for longest.
 * Other processes read and write meanwhile: a file that vanishes is nobody's failure. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "nvrtc/entry.h"

#define TEMPORARY_AGE_S 600 /* an unfinished file this old has lost its writer */

struct item {
    char *path;
    char key[RUNG_HASH_HEX]; /* "" for a writer's temporary file */
    uint64_t bytes;
    struct timespec used;
};

struct items {
    struct item *list;
    size_t count, capacity;
};

static void items_release(struct items *items)
{
    for (size_t i = 0; i < items->count; i++)
        free(items->list[i].path);
    free(items->list);
}

static bool is_hexadecimal(const char *name, size_t digits)
{
    return strspn(name, "0123456789abcdef") >= digits;
}

static enum rung_status add(struct items *items, const char *folder, const char *prefix,
                            const char *name, struct rung_error *err)
{
    struct rung_text path = {0};
    rung_text_format(&path, "%s/%s/%s", folder, prefix, name);
    struct stat info;
    if (!rung_text_ok(&path))
        return rung_fail(err, RUNG_MEMORY, "out of memory");
    if (lstat(path.data, &info) != 0 || !S_ISREG(info.st_mode)) {
        rung_text_release(&path);
        return RUNG_OK;
    }
    if (items->count == items->capacity) {
        size_t capacity = items->capacity ? 2 * items->capacity : 64;
        struct item *list = realloc(items->list, capacity * sizeof *list);
        if (!list) {
            rung_text_release(&path);
            return rung_fail(err, RUNG_MEMORY, "out of memory");
        }
        items->list = list;
        items->capacity = capacity;
    }
    struct item *item = &items->list[items->count++];
    *item = (struct item){.bytes = (uint64_t)info.st_size, .used = info.st_mtim};
    if (strlen(name) == RUNG_HASH_HEX - 3)
        snprintf(item->key, sizeof item->key, "%.2s%.62s", prefix, name);
    item->path = rung_text_take(&path);
    return RUNG_OK;
}

/* Only names that an entry or its temporary file can have: nothing else in the folder is ours. */
static bool is_ours(const char *name)
{
    size_t digits = RUNG_HASH_HEX - 3;
    size_t length = strlen(name);
    if (length < digits || !is_hexadecimal(name, digits))
        return false;
    return length == digits ||
           (name[digits] == '.' && length > 4 && strcmp(name + length - 4, ".tmp") == 0);
}

static enum rung_status collect_prefix(struct items *items, const char *folder, const char *prefix,
                                       struct rung_error *err)
{
    struct rung_text path = {0};
    rung_text_format(&path, "%s/%s", folder, prefix);
    DIR *directory = rung_text_ok(&path) ? opendir(path.data) : NULL;
    rung_text_release(&path);
    enum rung_status status = RUNG_OK;
    struct dirent *found;
    while (directory && status == RUNG_OK && (found = readdir(directory)))
        if (is_ours(found->d_name))
            status = add(items, folder, prefix, found->d_name, err);
    if (directory)
        closedir(directory);
    return status;
}

static enum rung_status collect(struct items *items, const char *folder, struct rung_error *err)
{
    DIR *directory = opendir(folder);
    if (!directory)
        return rung_fail(err, RUNG_IO, "cannot read %s: %s", folder, strerror(errno));
    enum rung_status status = RUNG_OK;
    struct dirent *found;
    while (status == RUNG_OK && (found = readdir(directory)))
        if (strlen(found->d_name) == 2 && is_hexadecimal(found->d_name, 2))
            status = collect_prefix(items, folder, found->d_name, err);
    closedir(directory);
    return status;
}

static bool is_damaged(const struct item *item)
{
    struct rung_compiled compiled = {0};
    bool damaged = rung_entry_read(&compiled, item->path, item->key) != RUNG_OK;
    rung_compiled_release(&compiled);
    return damaged;
}

enum rung_status rung_cache_inspect(struct rung_cache_usage *out, const struct rung_cache *cache,
                                    struct rung_error *err)
{
    *out = (struct rung_cache_usage){0};
    struct items items = {0};
    enum rung_status status = cache ? collect(&items, cache->folder, err) : RUNG_OK;
    for (size_t i = 0; i < items.count; i++) {
        const struct item *item = &items.list[i];
        out->bytes += item->bytes;
        if (!item->key[0])
            continue;
        out->entries++;
        out->damaged += is_damaged(item);
    }
    items_release(&items);
    return status;
}

static int by_use(const void *left, const void *right)
{
    const struct timespec *a = &((const struct item *)left)->used;
    const struct timespec *b = &((const struct item *)right)->used;
    if (a->tv_sec != b->tv_sec)
        return a->tv_sec < b->tv_sec ? -1 : 1;
    return (a->tv_nsec > b->tv_nsec) - (a->tv_nsec < b->tv_nsec);
}

static bool abandoned(const struct item *item)
{
    return !item->key[0] && item->used.tv_sec + TEMPORARY_AGE_S < time(NULL);
}

enum rung_status rung_cache_prune(struct rung_cache_usage *removed, struct rung_cache *cache,
                                  uint64_t bytes, struct rung_error *err)
{
    struct rung_cache_usage gone = {0};
    struct items items = {0};
    enum rung_status status = cache ? collect(&items, cache->folder, err) : RUNG_OK;
    uint64_t total = 0;
    for (size_t i = 0; i < items.count; i++)
        total += items.list[i].bytes;
    if (items.count)
        qsort(items.list, items.count, sizeof items.list[0], by_use);
    for (size_t i = 0; status == RUNG_OK && i < items.count; i++) {
        const struct item *item = &items.list[i];
        if (!abandoned(item) && total <= bytes)
            continue;
        if (unlink(item->path) != 0) {
            if (errno != ENOENT)
                status =
                    rung_fail(err, RUNG_IO, "cannot remove %s: %s", item->path, strerror(errno));
            continue;
        }
        total -= item->bytes;
        gone.entries += item->key[0] != '\0';
        gone.bytes += item->bytes;
    }
    items_release(&items);
    if (removed)
        *removed = gone;
    return status;
}

enum rung_status rung_cache_drop_damaged(struct rung_cache_usage *removed, struct rung_cache *cache,
                                         struct rung_error *err)
{
    struct items items = {0};
    enum rung_status status = cache ? collect(&items, cache->folder, err) : RUNG_OK;
    for (size_t i = 0; status == RUNG_OK && i < items.count; i++) {
        const struct item *item = &items.list[i];
        if (!item->key[0] || !is_damaged(item))
            continue;
        if (unlink(item->path) == 0) {
            removed->entries++;
            removed->bytes += item->bytes;
        } else if (errno != ENOENT) {
            status = rung_fail(err, RUNG_IO, "cannot remove %s: %s", item->path, strerror(errno));
        }
    }
    items_release(&items);
    return status;
}
