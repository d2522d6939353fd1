/* What a journal says of the machine: who ran what where, and what the card was doing. The card is
 * asked through NVML, which needs no context; where NVML is missing, its fields are null and the
 * reason is said. */
#ifndef RUNG_SWEEP_PROVENANCE_H
#define RUNG_SWEEP_PROVENANCE_H

#include <jansson.h>

/* {"node", "system", "machine", "variables": {every CUDA_*, NVIDIA_* and RUNG_* variable}}. */
json_t *rung_provenance_host(void);

/* Of the card with this UUID ("GPU-…"; "" gives null): {"driver", "clock_mhz": {"sm", "memory",
 * "sm_max"}, "temperature_c", "power_w", "power_limit_w", "throttle": [words], "persistence",
 * "ecc", "mig"}, or {"unavailable": reason}. Fields that the card does not tell are null. */
json_t *rung_provenance_card(const char *uuid);

/* The words of a mask of clock event reasons: ["idle", "power cap"]. */
json_t *rung_throttle_words(unsigned long long mask);

#endif
