/* The compile cache on disk: content-addressed, safe against crashes and other processes. An entry
 * is found by the SHA-256 of everything that decides the bytes (source, name, target, options in
 * order, NVRTC version and build, the format's own version), its content is hashed again on
 * reading, and a damaged one is a miss. */
#ifndef RUNG_NVRTC_CACHE_H
#define RUNG_NVRTC_CACHE_H

#include <stdint.h>

#include "base/hash.h"
#include "nvrtc/nvrtc.h"

struct rung_cache; /* NULL stands for no cache everywhere below */

/* `folder` NULL: RUNG_CACHE_DIR, else rung under XDG_CACHE_HOME, else .cache/rung under HOME. An
 * unusable folder is no error: *out is NULL and `why` says so in one line. A folder that can only
 * be read serves its entries and takes none; `why` tells of that, too. */
void rung_cache_open(struct rung_cache **out, const char *folder, char why[256]);

/* Bytes that the cache may hold: RUNG_CACHE_LIMIT, in MiB, 1024 unless set. */
uint64_t rung_cache_limit(void);

/* A process that added entries prunes to the limit here. */
void rung_cache_close(struct rung_cache *cache);
const char *rung_cache_folder(const struct rung_cache *cache);

/* Why a compilation could not be stored (a full disk, say), NULL if all were. It was used all the
 * same. */
const char *rung_cache_trouble(struct rung_cache *cache);

/* The name of the entry of a compilation. */
void rung_cache_key(char key[RUNG_HASH_HEX], const struct rung_nvrtc *nvrtc,
                    const struct rung_compile_job *job);

struct rung_cache_usage {
    uint64_t entries;
    uint64_t bytes;
    uint64_t damaged;
};
enum rung_status rung_cache_inspect(struct rung_cache_usage *out, const struct rung_cache *cache,
                                    struct rung_error *err);
/* Removes the entries not used for longest until at most `bytes` are left, and what killed writers
 * left behind; 0 removes all. `removed` may be NULL. */
enum rung_status rung_cache_prune(struct rung_cache_usage *removed, struct rung_cache *cache,
                                  uint64_t bytes, struct rung_error *err);

/* Removes the entries that cannot be read; `removed` is added to. Reads every entry. */
enum rung_status rung_cache_drop_damaged(struct rung_cache_usage *removed, struct rung_cache *cache,
                                         struct rung_error *err);

/* Compiles through the cache (which may be NULL). */
enum rung_status rung_cached_compile(struct rung_compiled *out, struct rung_cache *cache,
                                     const struct rung_nvrtc *nvrtc,
                                     const struct rung_compile_job *job, struct rung_error *err);

/* Compiles many on all cores. statuses[i] and errors[i] tell of job i; the result is the first
 * status that is not RUNG_OK. Release every out[i]. */
enum rung_status rung_cached_compile_all(struct rung_compiled *out, enum rung_status *statuses,
                                         struct rung_error *errors, struct rung_cache *cache,
                                         const struct rung_nvrtc *nvrtc,
                                         const struct rung_compile_job *jobs, size_t n_jobs);

#endif
