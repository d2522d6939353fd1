/* NVRTC, opened at run time. It needs neither a driver nor a card. */
#ifndef RUNG_NVRTC_NVRTC_H
#define RUNG_NVRTC_NVRTC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

#define RUNG_TARGETS_MAX 64

struct rung_nvrtc;

/* Opens NVRTC: `path` (a file, or a folder that holds one) when not NULL, else the environment's
 * RUNG_NVRTC, else the folder that the set-up made beside the program, the loader's own search for
 * libnvrtc.so.13, .12, .11.2, and the CUDA toolkit's folder. RUNG_UNABLE lists what was tried, and
 * says so of a release before 11.2. Several may be open at once, 11.8 beside 12.x and 13.x: each is
 * found by its own file, and none sees the symbols of another. */
enum rung_status rung_nvrtc_open(struct rung_nvrtc **out, const char *path, struct rung_error *err);
void rung_nvrtc_close(struct rung_nvrtc *nvrtc);

const char *rung_nvrtc_path(const struct rung_nvrtc *nvrtc);
const char *rung_nvrtc_version(const struct rung_nvrtc *nvrtc); /* "13.0" */
const char *rung_nvrtc_build(const struct rung_nvrtc *nvrtc);   /* "CL-36424714", "" if unknown */

/* The targets it supports, ascending, as numbers: 75, 80, ... */
size_t rung_nvrtc_targets(const struct rung_nvrtc *nvrtc, unsigned targets[RUNG_TARGETS_MAX]);

/* An option that spares NVRTC its built-in declarations of textures, surfaces and the device
 * runtime: a kernel that uses none of them comes out byte for byte the same, a fifth sooner. NULL
 * where this release (before 12.4) has none. */
const char *rung_nvrtc_lean_option(const struct rung_nvrtc *nvrtc);

/* One compilation. `target` is "sm_90" (PTX and cubin) or "compute_90" (PTX only). NVRTC gets the
 * target, --std=c++17, and then the job's own options. */
struct rung_compile_job {
    const char *source;
    const char *name; /* of the program, in messages: "reduce_v1_b256_const.cu" */
    const char *target;
    const char *const *options; /* further options in order; may be NULL */
    size_t n_options;
};

struct rung_compiled {
    char *ptx; /* NUL-terminated */
    size_t ptx_length;
    unsigned char *cubin; /* NULL for a compute_ target */
    size_t cubin_length;
    char *log; /* "" when the compiler said nothing */
    double compile_ms;
    bool from_cache;
    char key[13]; /* the first digits of the name in the cache; "" without a cache */
};

/* Compiles. RUNG_COMPILE carries the compiler's log, the options, version and path of NVRTC; the
 * whole log, however long, is then out->log. RUNG_UNABLE lists the targets where this NVRTC lacks
 * the one asked for, and says where its built-ins must stand when it has lost them; RUNG_USAGE is a
 * word that is no target at all. Thread-safe, and from 12.x on parallel: 11.8 compiles one at a
 * time. Release `out` in every case. */
enum rung_status rung_nvrtc_compile(struct rung_compiled *out, const struct rung_nvrtc *nvrtc,
                                    const struct rung_compile_job *job, struct rung_error *err);
void rung_compiled_release(struct rung_compiled *compiled);

#endif
