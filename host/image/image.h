/* Images: what a driver is given to load, and where it comes from. For one configuration and one
 * device the places are tried in order: the folders of images made ahead of time
 * (RUNG_IMAGE_PATH, then those installed or built beside the program), the compile cache, NVRTC. */
#ifndef RUNG_IMAGE_IMAGE_H
#define RUNG_IMAGE_IMAGE_H

#include <stdbool.h>

#include "config/config.h"
#include "gen/template.h"
#include "nvrtc/cache.h"

enum rung_image_kind { RUNG_IMAGE_AUTO, RUNG_IMAGE_CUBIN, RUNG_IMAGE_PTX };

enum rung_image_origin { RUNG_ORIGIN_AHEAD, RUNG_ORIGIN_CACHE, RUNG_ORIGIN_NVRTC };

struct rung_image {
    char *source; /* that it belongs to, NUL-terminated */
    char *ptx;    /* NUL-terminated; always there */
    size_t ptx_length;
    unsigned char *cubin; /* NULL when there is none */
    size_t cubin_length;
    unsigned ptx_target;   /* 75 for sm_75: from the PTX's own .target */
    unsigned cubin_target; /* from the cubin's ELF header, 0 without one */
    enum rung_image_origin origin;
    char where[512]; /* file, cache key or NVRTC version, for the reader */
    double compile_ms;
};
void rung_image_release(struct rung_image *image);

struct rung_image_source {
    const struct rung_ladder *ladder;
    struct rung_nvrtc *nvrtc; /* may be NULL */
    const char *nvrtc_why;    /* why it is NULL */
    struct rung_cache *cache; /* may be NULL */
    bool ptx_only;     /* PTX is what the device executes (the simulator): no cubin is made */
    bool compile_only; /* folders are not looked at: this NVRTC makes every image */
};

/* Finds or makes the images of `n` configurations for `target` (75, 90, ...), compiling in
 * parallel. images[i], statuses[i] and errors[i] tell of configuration i; release every image. The
 * result is the first failure, or RUNG_OK.
 *
 * An image made ahead of time for this very target comes first, if its cubin is there or PTX is
 * enough. Then NVRTC, through the cache: for the target, or as PTX for the newest target before it
 * that this NVRTC has. Without NVRTC, what a folder has for an older target: so PTX for sm_75
 * serves a machine that has only a driver. */
enum rung_status rung_images_get(struct rung_image *images, enum rung_status *statuses,
                                 struct rung_error *errors, const struct rung_image_source *from,
                                 const struct rung_config *configs, size_t n, unsigned target);

/* Looks at bytes before a driver sees them. RUNG_USAGE says what they are instead of PTX or a
 * whole cubin, with the first 16 bytes. Never reads outside the bytes. */
struct rung_image_facts {
    bool is_ptx;
    unsigned target;      /* sm number */
    char target_word[16]; /* "sm_90a" */
    unsigned ptx_version; /* 90 for .version 9.0; 0 for a cubin */
};
enum rung_status rung_image_check(struct rung_image_facts *out, const void *bytes, size_t length,
                                  struct rung_error *err);

/* Whether a cubin for `sm` runs on a card of compute capability `cc` (both 90 for 9.0): the same
 * major, the same or a lower minor. */
bool rung_cubin_runs_on(unsigned sm, unsigned cc);

#endif
