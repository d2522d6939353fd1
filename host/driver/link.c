/* The driver's linker, given one PTX. */
#include "driver/link.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LOG_BYTES 16384

static bool has_linker(const struct rung_driver *driver)
{
    return driver->cuLinkCreate && driver->cuLinkAddData && driver->cuLinkComplete &&
           driver->cuLinkDestroy;
}

/* `ptx` ends in a NUL, for the driver reads up to one; `log` has LOG_BYTES zero bytes. */
static enum rung_status link_one(unsigned char **cubin, size_t *length,
                                 const struct rung_driver *driver, char *ptx, size_t ptx_length,
                                 const char *name, char *log, struct rung_error *err)
{
    enum rung_status status = RUNG_OK;
    CUlinkState link = NULL;
    void *image = NULL; /* the link's own, until it is destroyed */
    size_t image_length = 0;
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)(LOG_BYTES - 1)};
    RUNG_CU(driver, done, cuLinkCreate, 2, options, values, &link);
    RUNG_CU(driver, done, cuLinkAddData, link, CU_JIT_INPUT_PTX, ptx, ptx_length + 1, name, 0, NULL,
            NULL);
    RUNG_CU(driver, done, cuLinkComplete, link, &image, &image_length);
    unsigned char *result = malloc(image_length ? image_length : 1);
    if (!result) {
        status = rung_fail(err, RUNG_MEMORY, "out of memory");
        goto done;
    }
    memcpy(result, image, image_length);
    *length = image_length;
    *cubin = result;
done:
    if (link)
        driver->cuLinkDestroy(link);
    return status;
}

enum rung_status rung_driver_link(unsigned char **cubin, size_t *length,
                                  const struct rung_driver *driver, const char *ptx,
                                  size_t ptx_length, const char *name, struct rung_error *err)
{
    if (!has_linker(driver))
        return rung_fail(err, RUNG_UNABLE, "%s has no linker to ask what it makes of PTX",
                         driver->path);
    char *log = calloc(1, LOG_BYTES);
    char *copy = calloc(1, ptx_length + 1);
    struct rung_error refused = {0};
    enum rung_status status = RUNG_OK;
    if (!log || !copy)
        status = rung_fail(&refused, RUNG_MEMORY, "out of memory");
    if (status == RUNG_OK) {
        memcpy(copy, ptx, ptx_length);
        status = link_one(cubin, length, driver, copy, ptx_length, name, log, &refused);
    }
    if (status != RUNG_OK)
        rung_fail_native(err, status, refused.native, "%s: %s%s%s", name, refused.text,
                         log && log[0] ? "\n" : "", log ? log : "");
    free(log);
    free(copy);
    return status;
}
