/* One entry of the compile cache as a file. Shared by the files of the cache; nobody else includes
 * it. */
#ifndef RUNG_NVRTC_ENTRY_H
#define RUNG_NVRTC_ENTRY_H

#include <pthread.h>

#include "base/hash.h"
#include "nvrtc/cache.h"

/* Changes with the layout of an entry and with what goes into a key. */
#define RUNG_CACHE_FORMAT "rungimg1"

struct rung_cache {
    char *folder;
    pthread_mutex_t lock; /* over the two below */
    bool stored;          /* this process added an entry */
    char trouble[256];
};

/* "<folder>/ab/cdef…" of a key; the caller frees it. NULL when out of memory. */
char *rung_entry_path(const char *folder, const char *key);

/* Reads and verifies an entry. Not RUNG_OK: there is none, or it is damaged. */
enum rung_status rung_entry_read(struct rung_compiled *out, const char *path, const char *key);

/* Writes an entry so that a reader sees all of it or none. Not synchronised to the disk: after a
 * power failure a torn entry does not verify, and is a miss. */
enum rung_status rung_entry_write(const char *path, const char *key,
                                  const struct rung_compiled *compiled, struct rung_error *err);

#endif
