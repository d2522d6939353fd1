/* Code for single targets that this build of librung carries beside its PTX
 * (-DRUNG_TARGETS="80;90"): it spares the driver a quarter of a second of compilation where a
 * process is the first. */
#ifndef RUNG_SUM_IMAGES_H
#define RUNG_SUM_IMAGES_H

#include <stddef.h>

#include "sum/rung.h"

struct rung_sum_image {
    enum rung_sum_element element;
    unsigned target; /* 90 for sm_90 */
    const unsigned char *cubin;
};

/* Written by tools/cmake/SumImages.cmake. */
extern const struct rung_sum_image rung_sum_images[];
extern const size_t rung_sum_image_count;

/* The one of the newest target that runs on compute capability `cc` (90 for 9.0): of the same
 * major, and no later a minor. NULL where there is none. */
const unsigned char *rung_sum_cubin(const struct rung_sum_image *images, size_t count,
                                    enum rung_sum_element element, unsigned cc);

#endif
