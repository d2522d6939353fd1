/* Files: the only place that makes POSIX file calls for whole-file work. */
#ifndef RUNG_BASE_FILE_H
#define RUNG_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Reads a whole file, "-" meaning standard input. `*data` has a NUL after `*length` bytes and is
 * freed by the caller with free(). RUNG_IO names the path and the reason; a folder, or a file over
 * 1 GiB, is refused. */
enum rung_status rung_file_read(char **data, size_t *length, const char *path,
                                struct rung_error *err);

/* Replaces a file so that a reader sees the old bytes or the new ones, never a part: a temporary
 * name in the same folder, fsync, rename. Missing folders above it are made. */
enum rung_status rung_file_write(const char *path, const void *data, size_t length,
                                 struct rung_error *err);

/* The same without waiting for the disk: after a power failure the file may be torn. For files whose
 * readers verify them. */
enum rung_status rung_file_write_unsynced(const char *path, const void *data, size_t length,
                                          struct rung_error *err);

/* Makes a folder and the missing ones above it, mode 0777 less the umask. */
enum rung_status rung_folder_make(const char *path, struct rung_error *err);

bool rung_file_exists(const char *path);

/* `folder`/`name`; the caller frees it. NULL when out of memory. */
char *rung_path_join(const char *folder, const char *name);

/* The folder that holds this program, from the kernel; the caller frees it. NULL if unknown. */
char *rung_program_folder(void);

#endif
