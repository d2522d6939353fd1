/* What the driver makes of PTX: the SASS that really runs when PTX is loaded. */
#ifndef RUNG_DRIVER_LINK_H
#define RUNG_DRIVER_LINK_H

#include <stddef.h>

#include "driver/driver.h"

/* Assembles PTX for the device of the current context as cuModuleLoadData would, and hands over the
 * cubin in place of loading it; `*cubin` is freed with free(). `name` stands in the driver's
 * messages. RUNG_DRIVER carries the driver's log; RUNG_UNABLE where the driver has no linker, as
 * the simulator. */
enum rung_status rung_driver_link(unsigned char **cubin, size_t *length,
                                  const struct rung_driver *driver, const char *ptx,
                                  size_t ptx_length, const char *name, struct rung_error *err);

#endif
