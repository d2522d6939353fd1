/* Which of the images fits a card. */
#include "sum/images.h"

const unsigned char *rung_sum_cubin(const struct rung_sum_image *images, size_t count,
                                    enum rung_sum_element element, unsigned cc)
{
    const struct rung_sum_image *best = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct rung_sum_image *image = &images[i];
        if (image->element == element && image->target / 10 == cc / 10 && image->target <= cc &&
            (!best || image->target > best->target))
            best = image;
    }
    return best ? best->cubin : NULL;
}
