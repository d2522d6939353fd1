/* What was made for the cells of a sweep: every image once, in parallel, before the first launch,
 * and of each what a reader needs to know that two rows ran the same code. */
#ifndef RUNG_SWEEP_MADE_H
#define RUNG_SWEEP_MADE_H

#include <jansson.h>

#include "base/hash.h"
#include "image/image.h"

struct rung_made_image {
    struct rung_config config;
    unsigned target;
    bool built;
    char source_sha256[RUNG_HASH_HEX]; /* of the CUDA source */
    char ptx_sha256[RUNG_HASH_HEX];
    char cubin_sha256[RUNG_HASH_HEX]; /* "" without a cubin */
    double compile_ms;                /* 0 where it was not compiled now */
    enum rung_image_origin origin;
};

struct rung_made {
    struct rung_made_image *images;
    size_t n, room;
};

/* Puts an image on the list, once. Without memory it is left out, and then made when it is needed.
 */
void rung_made_want(struct rung_made *made, const struct rung_config *config, unsigned target);

/* Makes all that were wanted, so that the cache has them. What fails is told again, with its
 * reason, when the image is loaded. */
void rung_made_build(struct rung_made *made, const struct rung_image_source *from);

/* {"source_sha256", "ptx_sha256", "cubin_sha256", "image_from", "compile_ms"}; nulls for what could
 * not be made. */
json_t *rung_made_json(struct rung_made *made, const struct rung_image_source *from,
                       const struct rung_config *config, unsigned target);

#endif
