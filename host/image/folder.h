/* Folders of images made ahead of time: <folder>/sm_90/<symbol>.ptx and .cubin, and a MANIFEST with
 * the SHA-256 of each file and of the source cu/<symbol>.cu that it was made from, in the format of
 * sha256sum. An image that its manifest contradicts, damaged or made from another source, is not
 * used; a folder without a manifest is trusted. */
#ifndef RUNG_IMAGE_FOLDER_H
#define RUNG_IMAGE_FOLDER_H

#include "image/image.h"

#define RUNG_FOLDERS_MAX 16
#define RUNG_FOLDER_TARGETS_MAX 32

struct rung_image_folder {
    char *path;
    char *manifest;                            /* its text, NULL where there is none */
    unsigned targets[RUNG_FOLDER_TARGETS_MAX]; /* that have a folder, descending */
    size_t n_targets;
};

struct rung_image_folders {
    struct rung_image_folder list[RUNG_FOLDERS_MAX];
    size_t count;
};

/* The folders in the order in which they are tried: those of RUNG_IMAGE_PATH (separated by ':'),
 * <program>/../share/rung/images, <program>/share/rung/images. Those that do not exist are left
 * out. */
enum rung_status rung_image_folders_open(struct rung_image_folders *out, struct rung_error *err);
void rung_image_folders_close(struct rung_image_folders *folders);

/* The image of one symbol and target; `source` is what that symbol's source must be. RUNG_UNABLE:
 * this folder has none, or (in `stale`, when not NULL) one that must not be used. */
enum rung_status rung_image_folder_get(struct rung_image *out,
                                       const struct rung_image_folder *folder, const char *symbol,
                                       unsigned target, const struct rung_text *source,
                                       bool *stale);

/* The line of one file for a MANIFEST. */
void rung_manifest_line(struct rung_text *manifest, const char *path, const void *bytes,
                        size_t length);

#endif
