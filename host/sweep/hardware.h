/* The card's own counters for one launch, through CUPTI's range profiler, opened at run time. Where
 * there is no CUPTI, or the driver gives counters to administrators only, the reason is said. */
#ifndef RUNG_SWEEP_HARDWARE_H
#define RUNG_SWEEP_HARDWARE_H

#include <jansson.h>

#include "bench/device.h"

struct rung_hardware; /* NULL before the first read */

/* Opens CUPTI (RUNG_CUPTI names a library; else the loader's search and the CUDA toolkit's folders)
 * for this device and its context. RUNG_UNABLE with the reason. */
enum rung_status rung_hardware_open(struct rung_hardware **out, const struct rung_device *device,
                                    struct rung_error *err);
void rung_hardware_close(struct rung_hardware *hardware); /* NULL is accepted */

/* Runs `launch`, which must launch at least one kernel on the device's stream and wait, with the
 * counters on; CUPTI repeats each launch as often as it needs. The object has one number for each
 * row of hardware.def, totals of the first launch. Nothing of the profiler is left on afterwards.
 */
enum rung_status rung_hardware_read(json_t **out, struct rung_hardware *hardware,
                                    enum rung_status (*launch)(void *context,
                                                               struct rung_error *err),
                                    void *context, struct rung_error *err);

#endif
