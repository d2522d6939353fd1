/* The compile cache: where it lives, what names an entry, and compiling through it. */
#define _GNU_SOURCE
#include "nvrtc/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "nvrtc/entry.h"

#define TAG                                                                                        \
    "Signature: 8a477f597d28d172789f06886806bc55\n"                                                \
    "# This folder is the compile cache of rung; `rung cache clear` empties it.\n"                 \
    "# For information about cache directory tags see https://bford.info/cachedir/\n"

#define LIMIT_DEFAULT ((uint64_t)1 << 30)

/* The caller frees it; NULL when the environment names no place. */
static char *choose_folder(const char *folder)
{
    const char *own = getenv("RUNG_CACHE_DIR");
    const char *caches = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    if (folder)
        return strdup(folder);
    if (own && own[0])
        return strdup(own);
    if (caches && caches[0] == '/') /* a relative one is to be ignored, its standard says */
        return rung_path_join(caches, "rung");
    if (home && home[0])
        return rung_path_join(home, ".cache/rung");
    return NULL;
}

/* Makes the folder for this user alone, with the tag by which backups leave it out. */
static enum rung_status prepare(const char *folder, struct rung_error *err)
{
    struct stat info;
    if (stat(folder, &info) == 0 && S_ISDIR(info.st_mode))
        return RUNG_OK;
    char *parent = strdup(folder);
    if (!parent)
        return rung_fail(err, RUNG_MEMORY, "out of memory");
    char *slash = strrchr(parent, '/');
    if (slash && slash != parent)
        *slash = '\0';
    enum rung_status status = slash && slash != parent ? rung_folder_make(parent, err) : RUNG_OK;
    free(parent);
    if (status == RUNG_OK && mkdir(folder, 0700) != 0 && errno != EEXIST)
        status = rung_fail(err, RUNG_IO, "cannot make folder %s: %s", folder, strerror(errno));
    return status;
}

static void tag(const char *folder)
{
    char *path = rung_path_join(folder, "CACHEDIR.TAG");
    if (path && !rung_file_exists(path))
        rung_file_write(path, TAG, sizeof TAG - 1, NULL); /* entries are found without it */
    free(path);
}

void rung_cache_open(struct rung_cache **out, const char *folder, char why[256])
{
    struct rung_error err = {0};
    *out = NULL;
    why[0] = '\0';
    struct rung_cache *cache = calloc(1, sizeof *cache);
    char *place = choose_folder(folder);
    size_t length = place ? strlen(place) : 0;
    while (length > 1 && place[length - 1] == '/')
        place[--length] = '\0';
    if (!cache || !place || !place[0]) {
        snprintf(why, 256, "%s",
                 place || !cache ? "out of memory"
                                 : "none of RUNG_CACHE_DIR, XDG_CACHE_HOME and HOME is set");
    } else if (prepare(place, &err) != RUNG_OK) {
        snprintf(why, 256, "%.240s", err.text);
    } else if (access(place, R_OK | X_OK) != 0) {
        snprintf(why, 256, "cannot read %s: %s", place, strerror(errno));
    } else {
        cache->folder = place;
        pthread_mutex_init(&cache->lock, NULL);
        *out = cache;
        if (access(place, W_OK) == 0)
            tag(place);
        else
            snprintf(why, 256, "%s cannot be written, only read: %s", place, strerror(errno));
        return;
    }
    free(place);
    free(cache);
}

uint64_t rung_cache_limit(void)
{
    const char *text = getenv("RUNG_CACHE_LIMIT");
    char *end = NULL;
    unsigned long long mebibytes = text && text[0] ? strtoull(text, &end, 10) : 0;
    return end && *end == '\0' && mebibytes < UINT64_MAX >> 20 ? mebibytes << 20 : LIMIT_DEFAULT;
}

void rung_cache_close(struct rung_cache *cache)
{
    if (!cache)
        return;
    if (cache->stored) /* only then can it have outgrown its limit */
        rung_cache_prune(NULL, cache, rung_cache_limit(), NULL);
    pthread_mutex_destroy(&cache->lock);
    free(cache->folder);
    free(cache);
}

const char *rung_cache_folder(const struct rung_cache *cache)
{
    return cache ? cache->folder : NULL;
}

const char *rung_cache_trouble(struct rung_cache *cache)
{
    if (!cache)
        return NULL;
    pthread_mutex_lock(&cache->lock);
    bool any = cache->trouble[0] != '\0';
    pthread_mutex_unlock(&cache->lock);
    return any ? cache->trouble : NULL;
}

void rung_cache_key(char key[RUNG_HASH_HEX], const struct rung_nvrtc *nvrtc,
                    const struct rung_compile_job *job)
{
    struct rung_hash hash;
    rung_hash_begin(&hash);
    rung_hash_string(&hash, RUNG_CACHE_FORMAT);
    rung_hash_string(&hash, rung_nvrtc_version(nvrtc));
    /* Without a build number the file is all that tells one build from another. */
    const char *build = rung_nvrtc_build(nvrtc);
    rung_hash_string(&hash, build[0] ? build : rung_nvrtc_path(nvrtc));
    rung_hash_string(&hash, job->name);
    rung_hash_string(&hash, job->target);
    for (size_t i = 0; i < job->n_options; i++)
        rung_hash_string(&hash, job->options[i]);
    rung_hash_field(&hash, &job->n_options, sizeof job->n_options);
    rung_hash_string(&hash, job->source);
    rung_hash_end(&hash, key);
}

/* A compilation that could not be stored is as good as one that was. The first reason is kept. */
static void store(struct rung_cache *cache, const char *path, const char *key,
                  const struct rung_compiled *compiled)
{
    struct rung_error err = {0};
    enum rung_status status = rung_entry_write(path, key, compiled, &err);
    pthread_mutex_lock(&cache->lock);
    if (status == RUNG_OK)
        cache->stored = true;
    else if (!cache->trouble[0])
        snprintf(cache->trouble, sizeof cache->trouble, "%.255s", err.text);
    pthread_mutex_unlock(&cache->lock);
}

enum rung_status rung_cached_compile(struct rung_compiled *out, struct rung_cache *cache,
                                     const struct rung_nvrtc *nvrtc,
                                     const struct rung_compile_job *job, struct rung_error *err)
{
    if (!cache)
        return rung_nvrtc_compile(out, nvrtc, job, err);
    *out = (struct rung_compiled){0};
    char key[RUNG_HASH_HEX];
    rung_cache_key(key, nvrtc, job);
    char *path = rung_entry_path(cache->folder, key);
    if (!path)
        return rung_fail(err, RUNG_MEMORY, "out of memory");
    enum rung_status status = rung_entry_read(out, path, key);
    if (status == RUNG_OK) {
        utimensat(AT_FDCWD, path, NULL, 0); /* pruning removes what was not used for longest */
    } else {
        status = rung_nvrtc_compile(out, nvrtc, job, err);
        if (status == RUNG_OK)
            store(cache, path, key, out);
    }
    snprintf(out->key, sizeof out->key, "%.12s", key);
    free(path);
    return status;
}
