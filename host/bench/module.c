/* Owns the loading of a module: the choice between cubin and PTX, and the driver's log. */
#define _POSIX_C_SOURCE 200809L
#include "bench/module.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "image/ptx_text.h"

#define LOG_BYTES 16384

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Which bytes to load; NULL with `err` filled where the kind asked for cannot be had. */
static const void *choose(enum rung_image_kind *kind, size_t *length,
                          const struct rung_device *device, const struct rung_image *image,
                          struct rung_error *err)
{
    bool sim = device->driver.kind == RUNG_DRIVER_SIM;
    bool runs = image->cubin && !sim && rung_cubin_runs_on(image->cubin_target, device->cc);
    if (*kind == RUNG_IMAGE_AUTO)
        *kind = runs ? RUNG_IMAGE_CUBIN : RUNG_IMAGE_PTX;
    if (*kind == RUNG_IMAGE_PTX) {
        *length = image->ptx_length;
        if (!image->ptx)
            rung_fail(err, RUNG_UNABLE, "there is no PTX of this configuration");
        return image->ptx;
    }
    *length = image->cubin_length;
    if (runs)
        return image->cubin;
    if (sim)
        rung_fail(err, RUNG_UNABLE, "--image cubin: the simulator executes PTX only");
    else if (!image->cubin)
        rung_fail(err, RUNG_UNABLE, "--image cubin: there is only PTX, from %s", image->where);
    else
        rung_fail(err, RUNG_UNABLE,
                  "--image cubin: it is for sm_%u and the device is sm_%u; a cubin runs on the "
                  "same major and the same or a higher minor",
                  image->cubin_target, device->cc);
    return NULL;
}

/* PTX compiles for its own target and everything newer. */
static enum rung_status look(const struct rung_device *device, const void *bytes, size_t length,
                             struct rung_error *err)
{
    struct rung_image_facts facts;
    enum rung_status status = rung_image_check(&facts, bytes, length, err);
    if (status == RUNG_OK && facts.is_ptx && facts.target > device->cc)
        status = rung_fail(err, RUNG_UNABLE,
                           "PTX for %s cannot run on sm_%u: its target is above the device",
                           facts.target_word, device->cc);
    return status;
}

static enum rung_status refused(const struct rung_device *device, CUresult code, const char *symbol,
                                const char *log, struct rung_error *err)
{
    const char *name = rung_cu_error_name(&device->driver, code);
    size_t length = strlen(log);
    while (length > 0 && (log[length - 1] == '\n' || log[length - 1] == ' '))
        length--;
    return rung_fail_native(err, RUNG_DRIVER, (int)code, "cuModuleLoadDataEx of %s: %s (%d)%s%.*s",
                            symbol, name, (int)code, length ? "\n" : "; the driver's log is empty",
                            (int)length, log);
}

/* The driver's own refusal goes to `err`, unless it is that the PTX is too new and `too_new` is
 * there to say so. */
static enum rung_status load_module(struct rung_module *kernel, bool *too_new, const void *bytes,
                                    const char *symbol, struct rung_error *err)
{
    struct {
        char info[LOG_BYTES], error[LOG_BYTES];
    } *logs = calloc(1, sizeof *logs);
    if (!logs)
        return rung_fail(err, RUNG_MEMORY, "no memory for the driver's log");
    CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    /* Sizes stand in the pointer itself: that is how the Driver API passes integers here. */
    void *values[] = {logs->info, (void *)(uintptr_t)LOG_BYTES, logs->error,
                      (void *)(uintptr_t)LOG_BYTES};
    double begin = now_ms();
    CUresult code =
        kernel->device->driver.cuModuleLoadDataEx(&kernel->module, bytes, 4, options, values);
    kernel->load_ms = now_ms() - begin;
    logs->info[LOG_BYTES - 1] = logs->error[LOG_BYTES - 1] = '\0';
    enum rung_status status = code == CUDA_SUCCESS ? RUNG_OK : RUNG_DRIVER;
    if (code != CUDA_SUCCESS)
        kernel->module = NULL;
    if (too_new)
        *too_new = code == CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    if (code != CUDA_SUCCESS && !(too_new && *too_new))
        status =
            refused(kernel->device, code, symbol, logs->error[0] ? logs->error : logs->info, err);
    free(logs);
    return status;
}

/* A driver older than the compiler refuses PTX by its version alone; most of it needs only what its
 * target needs. */
static enum rung_status load_lowered(struct rung_module *kernel, const char *ptx, size_t length,
                                     const char *symbol, struct rung_error *err)
{
    unsigned takes = rung_ptx_of_driver(kernel->device->driver_version);
    unsigned needs = rung_ptx_floor(ptx, length);
    char *lowered = NULL;
    size_t lowered_length;
    if (takes == 0 || needs == 0 || needs > takes)
        return load_module(kernel, NULL, ptx, symbol, err); /* again, for the driver's words */
    enum rung_status status =
        rung_ptx_with_version(&lowered, &lowered_length, ptx, length, takes, err);
    if (status == RUNG_OK)
        status = load_module(kernel, NULL, lowered, symbol, err);
    if (status == RUNG_OK)
        kernel->lowered_to = takes;
    free(lowered);
    return status;
}

static enum rung_status ask(struct rung_module *kernel, struct rung_error *err)
{
    int ptx = 0, sass = 0;
    const struct {
        CUfunction_attribute attribute;
        int *to;
    } wanted[] = {
        {CU_FUNC_ATTRIBUTE_NUM_REGS,              &kernel->registers   },
        {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,     &kernel->shared_bytes},
        {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &kernel->max_threads },
        {CU_FUNC_ATTRIBUTE_PTX_VERSION,           &ptx                 },
        {CU_FUNC_ATTRIBUTE_BINARY_VERSION,        &sass                },
    };
    enum rung_status status = RUNG_OK;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        RUNG_CU(&kernel->device->driver, done, cuFuncGetAttribute, wanted[i].to,
                wanted[i].attribute, kernel->function);
    if (ptx > 0)
        kernel->ptx_target = (unsigned)ptx;
    if (kernel->device->driver.kind == RUNG_DRIVER_CUDA)
        kernel->sass_target = (unsigned)sass;
    else
        kernel->registers = -1; /* virtual registers of PTX are not those of a card */
done:
    return status;
}

static enum rung_status find_function(struct rung_module *kernel, const char *symbol,
                                      struct rung_error *err)
{
    const struct rung_driver *driver = &kernel->device->driver;
    CUresult code = driver->cuModuleGetFunction(&kernel->function, kernel->module, symbol);
    if (code == CUDA_ERROR_NOT_FOUND)
        return rung_fail_native(err, RUNG_DRIVER, (int)code,
                                "the image has no kernel '%s': it is of another configuration",
                                symbol);
    return code == CUDA_SUCCESS ? RUNG_OK
                                : rung_driver_fail(err, driver, code, "cuModuleGetFunction");
}

static enum rung_status load_kind(struct rung_module *out, const struct rung_device *device,
                                  const struct rung_image *image, enum rung_image_kind kind,
                                  const char *symbol, struct rung_error *err)
{
    struct rung_module kernel = {.device = device, .ptx_target = image->ptx_target};
    *out = (struct rung_module){0};
    size_t length = 0;
    const void *bytes = choose(&kind, &length, device, image, err);
    if (!bytes)
        return err ? err->status : RUNG_UNABLE;
    snprintf(kernel.image, sizeof kernel.image, "%s", kind == RUNG_IMAGE_CUBIN ? "cubin" : "ptx");
    enum rung_status status = look(device, bytes, length, err);
    bool too_new = false;
    if (status == RUNG_OK)
        status = load_module(&kernel, kind == RUNG_IMAGE_PTX ? &too_new : NULL, bytes, symbol, err);
    if (too_new)
        status = load_lowered(&kernel, bytes, length, symbol, err);
    if (status == RUNG_OK)
        status = find_function(&kernel, symbol, err);
    if (status == RUNG_OK)
        status = ask(&kernel, err);
    if (status == RUNG_OK)
        *out = kernel;
    else
        rung_module_release(&kernel);
    return status;
}

/* A driver that has no use for the cubin after all (it is older than the compiler, or executes PTX
 * only) still has the PTX. */
enum rung_status rung_module_load(struct rung_module *out, const struct rung_device *device,
                                  const struct rung_image *image, enum rung_image_kind kind,
                                  const char *symbol, struct rung_error *err)
{
    struct rung_error cubin = {0};
    if (kind != RUNG_IMAGE_AUTO)
        return load_kind(out, device, image, kind, symbol, err);
    enum rung_status status = load_kind(out, device, image, kind, symbol, &cubin);
    bool unusable =
        cubin.native == CUDA_ERROR_NO_BINARY_FOR_GPU || cubin.native == CUDA_ERROR_INVALID_IMAGE;
    if (unusable && image->cubin && image->ptx)
        return load_kind(out, device, image, RUNG_IMAGE_PTX, symbol, err);
    return status == RUNG_OK ? status
                             : rung_fail_native(err, status, cubin.native, "%s", cubin.text);
}

void rung_module_release(struct rung_module *kernel)
{
    if (kernel->module)
        kernel->device->driver.cuModuleUnload(kernel->module);
    *kernel = (struct rung_module){0};
}
