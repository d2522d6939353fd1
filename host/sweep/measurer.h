/* What answers in the worker process of a sweep (sweep.h has the requests): the device, the
 * compiler, the inputs, and the kernels that are being measured. */
#ifndef RUNG_SWEEP_MEASURER_H
#define RUNG_SWEEP_MEASURER_H

#include <stdbool.h>
#include <stdint.h>

#include "sweep/worker.h"

struct rung_driver;   /* driver/driver.h */
struct rung_measurer; /* lives in the worker */

/* What the parent knows before it forks. Strings are borrowed, and NULL where not given. */
struct rung_measurer_spec {
    const char *device, *driver_path, *nvrtc_path;
    bool check;                       /* the simulator's checks */
    uint64_t seed;                    /* of the data */
    bool counters;                    /* hardware counters, where they can be had */
    const struct rung_driver *driver; /* a table in place of `device` (tests); else NULL */
    struct rung_measurer *measurer;   /* made by the first request; NULL before */
};

/* A rung_worker_fn; its context is a struct rung_measurer_spec. */
json_t *rung_measurer_answer(void *context, const json_t *request);

#endif
