/* The "environment" of every JSON document: what a reader must know to believe the rows. */
#ifndef RUNG_CLI_ENVIRONMENT_H
#define RUNG_CLI_ENVIRONMENT_H

#include <jansson.h>

#include "bench/device.h"
#include "nvrtc/nvrtc.h"

/* {"rung", "git", "device": {"kind", "name", "cc", "driver", "sm_count", "l2_bytes"}, "nvrtc",
 * "date"}. `device` and `nvrtc` may be NULL, and are null then; "git" is null where the program was
 * not built from a checkout. The date is UTC. NULL when out of memory. */
json_t *rung_environment(const struct rung_device *device, const struct rung_nvrtc *nvrtc);

/* "v1.0-3-gabc1234-dirty" or a commit's abbreviation; "" where it is not known. */
const char *rung_git_revision(void);

#endif
