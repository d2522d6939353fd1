/* Opening a handle over a driver table that the caller made, for this program and its tests. */
#ifndef RUNG_SUM_OPEN_H
#define RUNG_SUM_OPEN_H

#include "driver/driver.h"
#include "sum/rung.h"
#include "sum/shape.h"

/* As rung_sum_open. The table is copied, and what it stands for must outlive the handle; NULL is
 * the machine's driver. */
enum rung_sum_code rung_sum_open_with(struct rung_sum **out, const struct rung_driver *driver,
                                      enum rung_sum_element element, CUstream stream);

/* How a call would be launched; y NULL for a sum. Nothing is. */
void rung_sum_describe(struct rung_sum_shape *shape, struct rung_sum_call *call,
                       const struct rung_sum *sum, const void *x, const void *y, uint64_t n);

extern const char *const rung_sum_form_words[RUNG_SUM_FORM_COUNT]; /* "block", "narrow", ... */

#endif
