/* PTX for the oldest driver that takes its target. */
#ifndef RUNG_IMAGE_PORTABLE_H
#define RUNG_IMAGE_PORTABLE_H

#include "image/image.h"

enum rung_proof {
    RUNG_PROOF_NONE,  /* there is no ptxas, or it cannot judge this target */
    RUNG_PROOF_PTXAS, /* ptxas assembled the lowered text */
    RUNG_PROOF_RAISED /* ptxas refused the table's floor; what it took stands */
};

/* Lowers the `.version` of an image's PTX to the oldest that its target and instructions need, and
 * drops its cubin, which binds it to newer drivers. With `ptxas` (a path, or NULL) the result has
 * been assembled, and stands higher where that was needed. A text that needs its own version is
 * left as it is. */
enum rung_status rung_image_make_portable(struct rung_image *image, enum rung_proof *proof,
                                          const char *ptxas, struct rung_error *err);

#endif
