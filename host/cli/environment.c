/* What a document says of program, device, compiler and date. */
#define _GNU_SOURCE
#include "cli/environment.h"

#include <stdio.h>
#include <time.h>

#include "revision.h" /* made by the build */

const char *rung_git_revision(void)
{
    return RUNG_GIT_REVISION;
}

static json_t *string_or_null(const char *text)
{
    return text && text[0] ? json_string(text) : json_null();
}

/* 90 as "9.0", 121 as "12.1". */
static json_t *capability(unsigned cc)
{
    char text[16];
    snprintf(text, sizeof text, "%u.%u", cc / 10, cc % 10);
    return json_string(text);
}

/* 13000 as "13.0"; the simulator has no driver. */
static json_t *driver_version(const struct rung_device *device)
{
    char text[32];
    if (device->driver.kind != RUNG_DRIVER_CUDA)
        return json_null();
    snprintf(text, sizeof text, "%d.%d", device->driver_version / 1000,
             device->driver_version % 1000 / 10);
    return json_string(text);
}

static json_t *describe(const struct rung_device *device)
{
    if (!device)
        return json_null();
    return json_pack("{s:s, s:s, s:o, s:o, s:i, s:I}", "kind",
                     device->driver.kind == RUNG_DRIVER_CUDA ? "cuda" : "sim", "name", device->name,
                     "cc", capability(device->cc), "driver", driver_version(device), "sm_count",
                     device->sm_count, "l2_bytes", (json_int_t)device->l2_bytes);
}

json_t *rung_environment(const struct rung_device *device, const struct rung_nvrtc *nvrtc)
{
    char date[32];
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return json_pack("{s:s, s:o, s:o, s:o, s:s}", "rung", RUNG_VERSION, "git",
                     string_or_null(RUNG_GIT_REVISION), "device", describe(device), "nvrtc",
                     string_or_null(nvrtc ? rung_nvrtc_version(nvrtc) : NULL), "date", date);
}
