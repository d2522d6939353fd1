/* Opening a handle over a driver table that the caller made, for this program and its tests. */
#ifndef RUNG_SUM_OPEN_H
#define RUNG_SUM_OPEN_H

#include "driver/driver.h"
#include "sum/rung.h"

/* As rung_sum_open; takes the table over, on failure too, and NULL means the machine's driver. */
enum rung_sum_code rung_sum_open_with(struct rung_sum **out, const struct rung_driver *driver,
                                      enum rung_sum_element element, CUstream stream);

#endif
