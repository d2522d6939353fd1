/* The exported names of libcuda.so.1, old and new, and cuGetProcAddress over the same list. */
#define __CUDA_API_VERSION_INTERNAL /* cuda.h then declares every version under its own name */
#include <string.h>

#include "sim/dropin/dropin.h"
#include "sim/dropin/unsupported.h"

#define VISIBLE                                                                                    \
    __attribute__((visibility("default"))) /* everything else of this library is hidden */

/* cudaProfiler.h, which would declare these, comes in a package of its own. */
CUresult CUDAAPI cuProfilerStart(void);
CUresult CUDAAPI cuProfilerStop(void);

#define EXPORT(symbol, name, abi, parameters, function, arguments)                                 \
    VISIBLE CUresult CUDAAPI symbol parameters                                                     \
    {                                                                                              \
        return function arguments;                                                                 \
    }
#define ALIAS(symbol, of) VISIBLE extern __typeof__(of) symbol __attribute__((alias(#of)));
#include "sim/dropin/exports.def"
#undef EXPORT
#undef ALIAS

struct export
{
    const char *name;
    int abi;
    void (*function)(void);
};

/* Rows of one name stand together, oldest first. */
static const struct export exports[] = {
#define EXPORT(symbol, name, abi, parameters, function, arguments)                                 \
    {#name, abi, (void (*)(void))symbol},
#define ALIAS(symbol, of)
#include "sim/dropin/exports.def"
#undef EXPORT
#undef ALIAS
};

#define N_EXPORTS (sizeof exports / sizeof exports[0])

/* The newest function of that name that is not newer than `version`. */
static void (*find(const char *name, int version, bool *known))(void)
{
    void (*found)(void) = dropin_find_unsupported(name, version, known);
    for (size_t i = 0; i < N_EXPORTS; i++) {
        if (strcmp(exports[i].name, name) != 0)
            continue;
        *known = true;
        if (exports[i].abi <= version)
            found = exports[i].function;
    }
    return found;
}

CUresult dropin_cuGetProcAddress(const char *symbol, void **function, int version, cuuint64_t flags,
                                 CUdriverProcAddressQueryResult *status)
{
    bool known = false;
    if (!symbol || !function || flags > CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)
        return CUDA_ERROR_INVALID_VALUE;
    void (*found)(void) = find(symbol, version, &known);
    memcpy(function, &found, sizeof *function);
    if (status)
        *status = found   ? CU_GET_PROC_ADDRESS_SUCCESS
                  : known ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                          : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    /* With a status to tell it, a missing name is a success; without, it is an error. */
    return found || status ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

/* What only a simulator can be asked (sim/sim.h), for a host that was built with it. */
VISIBLE const struct rung_sim_control *rungSimControl(int version);
VISIBLE void rungSimExplain(char text[256]);

const struct rung_sim_control *rungSimControl(int version)
{
    struct rung_driver driver;
    rung_driver_open_sim(&driver);
    return version == RUNG_SIM_CONTROL_VERSION ? driver.sim : NULL;
}

void rungSimExplain(char text[256])
{
    struct rung_driver driver;
    rung_driver_open_sim(&driver);
    driver.explain(text);
}

/* The counts alone, for programs that look for them by name. */
VISIBLE void rungSimReset(void);
VISIBLE void rungSimCounters(struct rung_sim_counters *out);
VISIBLE uint64_t rungSimFindings(struct rung_sim_finding *out, uint64_t room);
VISIBLE uint64_t rungSimLiveHandles(void);

void rungSimReset(void)
{
    rungSimControl(RUNG_SIM_CONTROL_VERSION)->reset();
}

void rungSimCounters(struct rung_sim_counters *out)
{
    rungSimControl(RUNG_SIM_CONTROL_VERSION)->read_counters(out);
}

uint64_t rungSimFindings(struct rung_sim_finding *out, uint64_t room)
{
    return rungSimControl(RUNG_SIM_CONTROL_VERSION)->read_findings(out, room);
}

uint64_t rungSimLiveHandles(void)
{
    return rungSimControl(RUNG_SIM_CONTROL_VERSION)->live_handles();
}
