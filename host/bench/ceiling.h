/* The read ceiling of a card: the rate at which a kernel that only reads gets through far more
 * bytes than the caches hold. Every rate stands beside it, measured in the same run, because cards
 * and drivers differ by several per cent from each other and from their data sheets. */
#ifndef RUNG_BENCH_CEILING_H
#define RUNG_BENCH_CEILING_H

#include "bench/device.h"
#include "image/image.h"

struct rung_ceiling {
    double gb_per_s; /* 10^9 bytes a second, of the median; NAN where not measured */
    uint64_t bytes;  /* read by one sample */
    size_t samples;
};

/* Compiles the read kernel for the device with `from->nvrtc` (through `from->cache`), else takes
 * the PTX that is part of the program. RUNG_UNABLE on the simulator. */
enum rung_status rung_ceiling_measure(struct rung_ceiling *out, const struct rung_device *device,
                                      const struct rung_image_source *from, struct rung_error *err);

#endif
