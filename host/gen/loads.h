/* How often the loads of a launch add. Used inside host/gen only. */
#ifndef RUNG_GEN_LOADS_H
#define RUNG_GEN_LOADS_H

#include "gen/kernel.h"

/* The additions on load of `grid` blocks over n elements, exactly: each load that adds, of each
 * thread, whose index is below n. In time that depends on neither n nor grid. */
enum rung_status rung_loads_count(uint64_t *out, struct rung_kernel *kernel, uint64_t n,
                                  uint64_t grid, struct rung_error *err);

/* floor(first / m) + floor((first + step) / m) + … over `count` terms. */
uint64_t rung_floor_sum(uint64_t count, uint64_t m, uint64_t step, uint64_t first);

#endif
