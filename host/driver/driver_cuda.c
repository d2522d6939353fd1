/* The driver table over a real libcuda.so.1: opening the library, finding every function at the
 * version of its row, and saying what is wrong when there is none. */
#define _GNU_SOURCE /* dlinfo: which file was opened */
#include "driver/driver.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum row_kind { USE, RELEASE, EXTRA };

struct row {
    const char *name;
    int abi;
    enum row_kind kind;
    size_t offset; /* of the field in struct rung_driver */
};

static const struct row rows[] = {
#define CU_FN(name, abi, kind, parameters, arguments)                                              \
    {#name, abi, kind, offsetof(struct rung_driver, name)},
#include "driver/driver_api.def"
#undef CU_FN
};

/* cuGetProcAddress as this library has it: the one with a status, or the first one. */
struct finder {
    PFN_cuGetProcAddress_v12000 with_status;
    PFN_cuGetProcAddress_v11030 plain;
};

/* Object pointers become function pointers by their bytes, as POSIX has it for dlsym. */
#define ASSIGN_FUNCTION(to, pointer) memcpy(&(to), &(pointer), sizeof(pointer))

static struct finder find_finder(void *library)
{
    struct finder finder = {0};
    void *with_status = dlsym(library, "cuGetProcAddress_v2");
    void *plain = dlsym(library, "cuGetProcAddress");
    ASSIGN_FUNCTION(finder.with_status, with_status);
    ASSIGN_FUNCTION(finder.plain, plain);
    return finder;
}

/* NULL when the library does not have it at that version. The return code alone does not tell:
 * a name that is unknown is "success" with a status and a NULL pointer. */
static void *find_function(const struct finder *finder, const char *name, int abi, CUresult *code)
{
    void *pointer = NULL;
    if (finder->with_status) {
        CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SUCCESS;
        *code = finder->with_status(name, &pointer, abi, CU_GET_PROC_ADDRESS_DEFAULT, &found);
        if (found != CU_GET_PROC_ADDRESS_SUCCESS)
            return NULL;
    } else {
        *code = finder->plain(name, &pointer, abi, CU_GET_PROC_ADDRESS_DEFAULT);
    }
    return *code == CUDA_SUCCESS ? pointer : NULL;
}

/* A library that is our simulator under the driver's name is treated as the simulator. */
static enum rung_status recognise_simulator(struct rung_driver *driver, struct rung_error *err)
{
    const struct rung_sim_control *(*control)(int version) = NULL;
    void *symbol = dlsym(driver->handle, RUNG_SIM_CONTROL_SYMBOL);
    if (!symbol)
        return RUNG_OK;
    ASSIGN_FUNCTION(control, symbol);
    driver->kind = RUNG_DRIVER_SIM;
    driver->sim = control(RUNG_SIM_CONTROL_VERSION);
    void *explain = dlsym(driver->handle, RUNG_SIM_EXPLAIN_SYMBOL);
    ASSIGN_FUNCTION(driver->explain, explain);
    if (!driver->sim)
        return rung_fail(err, RUNG_UNABLE, "%s is the simulator of another version of this program",
                         driver->path);
    return RUNG_OK;
}

static void record_path(struct rung_driver *driver, const char *asked)
{
    struct link_map *map = NULL;
    const char *path = asked;
    if (dlinfo(driver->handle, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name[0])
        path = map->l_name;
    snprintf(driver->path, sizeof driver->path, "%s", path);
}

static enum rung_status refuse_stub(const struct rung_driver *driver, struct rung_error *err)
{
    return rung_fail_native(err, RUNG_UNABLE, CUDA_ERROR_STUB_LIBRARY,
                            "%s is the CUDA toolkit's link stub, not a driver; remove its folder "
                            "from LD_LIBRARY_PATH, or install the NVIDIA driver",
                            driver->path);
}

static enum rung_status fill(struct rung_driver *driver, struct rung_error *err)
{
    struct finder finder = find_finder(driver->handle);
    if (!finder.with_status && !finder.plain)
        return rung_fail(err, RUNG_UNABLE,
                         "%s has no cuGetProcAddress: not a CUDA driver, or one older than "
                         "CUDA 11.3, which is the oldest that is served",
                         driver->path);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CUresult code = CUDA_SUCCESS;
        void *pointer = find_function(&finder, rows[i].name, rows[i].abi, &code);
        if (code == CUDA_ERROR_STUB_LIBRARY)
            return refuse_stub(driver, err);
        if (!pointer && rows[i].kind != EXTRA)
            return rung_fail(err, RUNG_UNABLE,
                             "%s lacks %s of CUDA %d.%d: the driver is too old (or not a CUDA "
                             "driver)",
                             driver->path, rows[i].name, rows[i].abi / 1000,
                             rows[i].abi % 1000 / 10);
        memcpy((char *)driver + rows[i].offset, &pointer, sizeof pointer);
    }
    return RUNG_OK;
}

enum rung_status rung_driver_open_cuda(struct rung_driver *out, const char *path,
                                       struct rung_error *err)
{
    const char *file = path ? path : "libcuda.so.1";
    struct rung_driver driver = {.kind = RUNG_DRIVER_CUDA};
    driver.handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!driver.handle)
        return rung_fail(err, RUNG_UNABLE, "no CUDA driver: %s", dlerror());
    record_path(&driver, file);
    enum rung_status status = fill(&driver, err);
    if (status == RUNG_OK)
        status = recognise_simulator(&driver, err);
    if (status == RUNG_OK) {
        *out = driver;
        driver = (struct rung_driver){0};
    }
    rung_driver_close(&driver);
    return status;
}

void rung_driver_close(struct rung_driver *driver)
{
    if (driver->handle)
        dlclose(driver->handle);
    *driver = (struct rung_driver){0};
}
