/* Finding and believing images that were made ahead of time. */
#define _GNU_SOURCE
#include "image/folder.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <sha2.h>

#include "base/file.h"
#include "cubin/elf.h"

static int descending(const void *a, const void *b)
{
    unsigned left = *(const unsigned *)a, right = *(const unsigned *)b;
    return (left < right) - (left > right);
}

static void list_targets(struct rung_image_folder *folder)
{
    DIR *directory = opendir(folder->path);
    struct dirent *found;
    while (directory && (found = readdir(directory))) {
        unsigned target;
        char end;
        if (sscanf(found->d_name, "sm_%3u%c", &target, &end) == 1 &&
            folder->n_targets < RUNG_FOLDER_TARGETS_MAX)
            folder->targets[folder->n_targets++] = target;
    }
    if (directory)
        closedir(directory);
    if (folder->n_targets)
        qsort(folder->targets, folder->n_targets, sizeof folder->targets[0], descending);
}

/* Takes over `path`, which may be NULL when memory ran out. */
static enum rung_status add_folder(struct rung_image_folders *folders, char *path,
                                   struct rung_error *err)
{
    struct stat info;
    if (!path)
        return rung_fail(err, RUNG_MEMORY, "out of memory");
    char *plain = realpath(path, NULL); /* without "bin/..": it is shown to people */
    if (plain) {
        free(path);
        path = plain;
    }
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode) || folders->count == RUNG_FOLDERS_MAX) {
        free(path);
        return RUNG_OK;
    }
    struct rung_image_folder *folder = &folders->list[folders->count++];
    *folder = (struct rung_image_folder){.path = path};
    list_targets(folder);
    char *manifest = rung_path_join(path, "MANIFEST");
    size_t length;
    if (manifest)
        rung_file_read(&folder->manifest, &length, manifest, NULL); /* need not be there */
    free(manifest);
    return RUNG_OK;
}

static enum rung_status add_listed(struct rung_image_folders *folders, const char *list,
                                   struct rung_error *err)
{
    enum rung_status status = RUNG_OK;
    while (list && *list && status == RUNG_OK) {
        size_t length = strcspn(list, ":");
        if (length)
            status = add_folder(folders, strndup(list, length), err);
        list += length + (list[length] == ':');
    }
    return status;
}

enum rung_status rung_image_folders_open(struct rung_image_folders *out, struct rung_error *err)
{
    *out = (struct rung_image_folders){0};
    enum rung_status status = add_listed(out, getenv("RUNG_IMAGE_PATH"), err);
    char *program = rung_program_folder();
    if (status == RUNG_OK && program)
        status = add_folder(out, rung_path_join(program, "../share/rung/images"), err);
    if (status == RUNG_OK && program)
        status = add_folder(out, rung_path_join(program, "share/rung/images"), err);
    free(program);
    if (status != RUNG_OK)
        rung_image_folders_close(out);
    return status;
}

void rung_image_folders_close(struct rung_image_folders *folders)
{
    for (size_t i = 0; i < folders->count; i++) {
        free(folders->list[i].path);
        free(folders->list[i].manifest);
    }
    *folders = (struct rung_image_folders){0};
}

void rung_manifest_line(struct rung_text *manifest, const char *path, const void *bytes,
                        size_t length)
{
    char digest[SHA256_DIGEST_STRING_LENGTH];
    SHA256Data(bytes, length, digest);
    rung_text_format(manifest, "%s  %s\n", digest, path);
}

/* Whether the manifest lets these bytes pass for that file. */
static bool vouched(const char *manifest, const char *path, const void *bytes, size_t length)
{
    if (!manifest)
        return true;
    struct rung_text line = {0};
    rung_manifest_line(&line, path, bytes, length);
    const char *at = rung_text_ok(&line) ? strstr(manifest, line.data) : NULL;
    bool whole = at && (at == manifest || at[-1] == '\n');
    rung_text_release(&line);
    return whole;
}

/* Reads <folder>/<name>; NULL if it is not there, and when the manifest is against it. */
static char *read_vouched(const struct rung_image_folder *folder, const char *name, size_t *length,
                          bool *stale)
{
    char *data = NULL;
    char *path = rung_path_join(folder->path, name);
    if (path && rung_file_read(&data, length, path, NULL) == RUNG_OK &&
        !vouched(folder->manifest, name, data, *length)) {
        *stale = true;
        free(data);
        data = NULL;
    }
    free(path);
    return data;
}

static void take_cubin(struct rung_image *image, const struct rung_image_folder *folder,
                       const char *symbol, unsigned target, bool *stale)
{
    char name[RUNG_ID_SIZE + 32];
    struct rung_image_facts facts;
    snprintf(name, sizeof name, "sm_%u/%s.cubin", target, symbol);
    char *cubin = read_vouched(folder, name, &image->cubin_length, stale);
    if (cubin &&
        (rung_image_check(&facts, cubin, image->cubin_length, NULL) != RUNG_OK || facts.is_ptx)) {
        *stale = true;
        free(cubin);
        cubin = NULL;
    }
    image->cubin = (unsigned char *)cubin;
    if (cubin)
        image->cubin_target = facts.target;
    else
        image->cubin_length = 0;
}

enum rung_status rung_image_folder_get(struct rung_image *out,
                                       const struct rung_image_folder *folder, const char *symbol,
                                       unsigned target, const struct rung_text *source, bool *stale)
{
    struct rung_image image = {.origin = RUNG_ORIGIN_AHEAD};
    struct rung_image_facts facts;
    bool ignored = false;
    char name[RUNG_ID_SIZE + 32];
    snprintf(name, sizeof name, "sm_%u/%s.ptx", target, symbol);
    image.ptx = read_vouched(folder, name, &image.ptx_length, &ignored);
    if (image.ptx) {
        char cu[RUNG_ID_SIZE + 32];
        snprintf(cu, sizeof cu, "cu/%s.cu", symbol);
        ignored = !vouched(folder->manifest, cu, rung_text_string(source), source->length) ||
                  rung_image_check(&facts, image.ptx, image.ptx_length, NULL) != RUNG_OK ||
                  !facts.is_ptx;
    }
    if (stale)
        *stale = ignored;
    if (!image.ptx || ignored) {
        free(image.ptx);
        return RUNG_UNABLE;
    }
    image.ptx_target = facts.target;
    take_cubin(&image, folder, symbol, target, &ignored);
    if (stale)
        *stale = ignored;
    snprintf(image.where, sizeof image.where, "%.380s/%s", folder->path, name);
    *out = image;
    return RUNG_OK;
}
