/* What the simulated device is: an architecture and an amount of memory, from the environment. */
#ifndef RUNG_SIM_SETTINGS_H
#define RUNG_SIM_SETTINGS_H

#include <stdint.h>

#include "base/error.h"

#define RUNG_SIM_NAME "rung PTX simulator (no timing)"
#define RUNG_SIM_CC_DEFAULT 121
#define RUNG_SIM_DRIVER_VERSION 13000 /* the CUDA release of PTX 9.0, the newest that is read */

struct rung_sim_target {
    unsigned cc; /* 90 for compute capability 9.0 */
    unsigned threads_per_sm, blocks_per_sm;
    unsigned shared_bytes_per_sm;
    unsigned shared_bytes_optin;    /* the most of one block */
    unsigned shared_bytes_reserved; /* of each resident block, for the system */
};

struct rung_sim_settings {
    const struct rung_sim_target *target; /* RUNG_SIM_CC, "121" or "12.1" */
    uint64_t memory_bytes;                /* RUNG_SIM_MEMORY, "8Gi"; default half of the host's */
};

/* RUNG_USAGE names a variable whose value is none of those allowed. */
enum rung_status rung_sim_settings_read(struct rung_sim_settings *out, struct rung_error *err);

#endif
