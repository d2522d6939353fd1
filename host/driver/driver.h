/* The Driver API as a value. Everything that runs a kernel goes through a `struct rung_driver`;
 * the card and the simulator are two values of it, and so is the failure injector of the tests. */
#ifndef RUNG_DRIVER_DRIVER_H
#define RUNG_DRIVER_DRIVER_H

#include <cudaTypedefs.h>

#include "base/error.h"

struct rung_sim_control; /* sim/sim.h */

/* The simulator's drop-in library hands its control out under this name, to whoever was built with
 * the same version of struct rung_sim_control and of what it passes. */
#define RUNG_SIM_CONTROL_SYMBOL "rungSimControl"
#define RUNG_SIM_EXPLAIN_SYMBOL "rungSimExplain"
#define RUNG_SIM_CONTROL_VERSION 1

enum rung_driver_kind { RUNG_DRIVER_CUDA, RUNG_DRIVER_SIM };

struct rung_driver {
    enum rung_driver_kind kind;
    char path[512]; /* the library that was opened; "(built in)" for the simulator */
    void *handle;   /* of dlopen, NULL for the simulator */
    /* What only the simulator can do: counters, checks, schedules, observers. NULL on a card. */
    const struct rung_sim_control *sim;
    /* In one line why a kernel failed last, "" if none did: the code alone does not say which line,
     * block and address. NULL on a card, which does not know either. */
    void (*explain)(char text[256]);
#define CU_FN(name, abi, kind, parameters, arguments) PFN_##name##_v##abi name;
#include "driver/driver_api.def"
#undef CU_FN
};

/* Opens libcuda.so.1 (or `path`, when not NULL) and fills the table through cuGetProcAddress, each
 * function at the version of its row. Does not call cuInit. RUNG_UNABLE says what was looked for,
 * which file was found, and for the toolkit's link stub that it is one. When the library is the
 * simulator's drop-in, the kind is RUNG_DRIVER_SIM: its times are none. */
enum rung_status rung_driver_open_cuda(struct rung_driver *out, const char *path,
                                       struct rung_error *err);

/* The simulator of this process. Never fails; nothing to close. */
void rung_driver_open_sim(struct rung_driver *out);

void rung_driver_close(struct rung_driver *driver);

/* "CUDA_ERROR_INVALID_IMAGE", from a table of our own: the driver's answer is asked only for codes
 * that the table lacks, and never trusted to be a string (the link stub leaves it NULL). */
const char *rung_cu_error_name(const struct rung_driver *driver, CUresult code);

/* What the code means, in a few words that need no driver. Never NULL. */
const char *rung_cu_error_text(const struct rung_driver *driver, CUresult code);

/* Records "<call>: <name> (<code>), <what it means>", followed by what this machine has to say
 * about it (variables, versions) and by a hint where there is one; returns RUNG_DRIVER. */
enum rung_status rung_driver_fail(struct rung_error *err, const struct rung_driver *driver,
                                  CUresult code, const char *call);

/* Calls one driver function; on failure records it and jumps to `label`. `status` must be a local
 * of that name. The only macro that jumps: it shows its label. */
#define RUNG_CU(driver, label, function, ...)                                                      \
    do {                                                                                           \
        CUresult rung_code_ = (driver)->function(__VA_ARGS__);                                     \
        if (rung_code_ != CUDA_SUCCESS) {                                                          \
            status = rung_driver_fail(err, (driver), rung_code_, #function);                       \
            goto label;                                                                            \
        }                                                                                          \
    } while (0)

#endif
