/* The failure injector: a driver table over another one whose calls can be made to fail, to see
 * that the first cause is kept and that nothing stays behind.
 *
 *     for (unsigned k = 0;; k++) {
 *         struct rung_driver driver;
 *         fault_driver_make(&driver, &simulator, k, CUDA_ERROR_UNKNOWN);
 *         status = thing_under_test(&driver, &err);
 *         if (!fault_driver_fired())
 *             break;                       // it made k USE calls or fewer, and succeeded
 *         ... status, err.native, live handles ...
 *     }
 *
 * Only calls whose row in driver_api.def says USE are counted and failed: a release never fails.
 * One injector at a time, since the functions of a table carry no context. Header only: each test
 * program has its own. */
#ifndef RUNG_TESTS_SUPPORT_FAULT_DRIVER_H
#define RUNG_TESTS_SUPPORT_FAULT_DRIVER_H

#include <stdbool.h>
#include <stddef.h>

#include "driver/driver.h"
#include "sim/sim.h"

static struct {
    struct rung_driver real;
    unsigned at;    /* the USE call that fails, from 0 */
    unsigned calls; /* USE calls so far */
    CUresult code;
    const char *failed; /* the name of the one that did */
} fault_driver;

static inline bool fault_driver_counts_USE(const char *name)
{
    if (fault_driver.calls++ != fault_driver.at)
        return false;
    fault_driver.failed = name;
    return true;
}

static inline bool fault_driver_counts_RELEASE(const char *name)
{
    (void)name;
    return false;
}

static inline bool fault_driver_counts_EXTRA(const char *name)
{
    (void)name;
    return false;
}

#define CU_FN(name, abi, kind, parameters, arguments)                                              \
    static inline CUresult fault_driver_##name parameters                                          \
    {                                                                                              \
        return fault_driver_counts_##kind(#name) ? fault_driver.code                               \
                                                 : fault_driver.real.name arguments;               \
    }
#include "driver/driver_api.def"
#undef CU_FN

/* `out` passes every call to `real`, but the USE call number `at` returns `code` and does nothing.
 * An optional function that `real` lacks stays missing. */
static inline void fault_driver_make(struct rung_driver *out, const struct rung_driver *real,
                                     unsigned at, CUresult code)
{
    fault_driver.real = *real;
    fault_driver.at = at;
    fault_driver.calls = 0;
    fault_driver.code = code;
    fault_driver.failed = NULL;
    *out = *real;
#define CU_FN(name, abi, kind, parameters, arguments)                                              \
    if (real->name)                                                                                \
        out->name = fault_driver_##name;
#include "driver/driver_api.def"
#undef CU_FN
}

/* The name of the call that was made to fail, NULL if it was never reached. */
static inline const char *fault_driver_fired(void)
{
    return fault_driver.failed;
}

/* What the host has not released, on a simulator (sim/sim.h, live_handles). */
static inline unsigned long long fault_driver_live(void)
{
    return fault_driver.real.sim ? fault_driver.real.sim->live_handles() : 0;
}

#endif
