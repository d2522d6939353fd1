/* Owns the measurement of the read ceiling. */
#define _GNU_SOURCE
#include "bench/ceiling.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/module.h"
#include "bench/read_kernel.h"
#include "bench/stats.h"

#define SAMPLES 15
#define WARM_UPS 3
#define BLOCKS_PER_SM 16 /* more than an SM holds at once: they even out what the SMs differ by */
#define CACHES 64 /* a buffer so many times the L2: what stays cached is 2 % of it at most */
#define BYTES_LEAST ((uint64_t)64 << 20)
#define BYTES_MOST ((uint64_t)4 << 30)

static enum rung_status copy_ptx(struct rung_image *out, struct rung_error *err)
{
    out->ptx = strdup(rung_read_ptx);
    if (!out->ptx)
        return rung_fail(err, RUNG_MEMORY, "out of memory");
    out->ptx_length = strlen(out->ptx);
    out->ptx_target = 75;
    snprintf(out->where, sizeof out->where, "the program");
    return RUNG_OK;
}

/* Compiled for the card where that is possible; a compiler that cannot is no reason to give up. */
static enum rung_status get_image(struct rung_image *out, const struct rung_device *device,
                                  const struct rung_image_source *from, struct rung_error *err)
{
    char target[24];
    snprintf(target, sizeof target, "sm_%u", device->cc);
    const struct rung_compile_job job = {
        .source = rung_read_cu, .name = "rung_read.cu", .target = target};
    struct rung_compiled compiled = {0};
    struct rung_error ignored = {0};
    if (!from->nvrtc ||
        rung_cached_compile(&compiled, from->cache, from->nvrtc, &job, &ignored) != RUNG_OK) {
        rung_compiled_release(&compiled); /* the compiler's log */
        return copy_ptx(out, err);
    }
    *out = (struct rung_image){
        .ptx = compiled.ptx,
        .ptx_length = compiled.ptx_length,
        .cubin = compiled.cubin,
        .cubin_length = compiled.cubin_length,
        .ptx_target = device->cc,
        .cubin_target = device->cc,
    };
    compiled.ptx = NULL; /* handed over */
    compiled.cubin = NULL;
    rung_compiled_release(&compiled);
    return RUNG_OK;
}

struct reading {
    const struct rung_device *device;
    struct rung_module kernel;
    CUdeviceptr buffer, out;
    uint64_t bytes;
    unsigned blocks;
    CUevent begin, end;
};

static enum rung_status open_reading(struct reading *reading, struct rung_error *err)
{
    const struct rung_device *device = reading->device;
    const struct rung_driver *driver = &device->driver;
    size_t available = 0, total = 0;
    enum rung_status status = RUNG_OK;
    RUNG_CU(driver, done, cuMemGetInfo, &available, &total);
    uint64_t bytes = CACHES * device->l2_bytes;
    bytes = bytes < BYTES_LEAST ? BYTES_LEAST : bytes > BYTES_MOST ? BYTES_MOST : bytes;
    bytes = bytes > available / 2 ? available / 2 : bytes;
    reading->bytes = bytes / 16 * 16;
    if (reading->bytes < 2 * device->l2_bytes || reading->bytes == 0)
        return rung_fail(err, RUNG_UNABLE,
                         "too little memory is free for the read ceiling: %.0f MiB",
                         (double)available / 1048576);
    RUNG_CU(driver, done, cuMemAlloc, &reading->buffer, reading->bytes);
    RUNG_CU(driver, done, cuMemsetD8, reading->buffer, 0, reading->bytes);
    RUNG_CU(driver, done, cuMemAlloc, &reading->out, sizeof(unsigned int));
    RUNG_CU(driver, done, cuEventCreate, &reading->begin, CU_EVENT_DEFAULT);
    RUNG_CU(driver, done, cuEventCreate, &reading->end, CU_EVENT_DEFAULT);
    reading->blocks = BLOCKS_PER_SM * (unsigned)device->sm_count;
done:
    return status;
}

static void close_reading(struct reading *reading)
{
    const struct rung_driver *driver = &reading->device->driver;
    if (reading->end)
        driver->cuEventDestroy(reading->end);
    if (reading->begin)
        driver->cuEventDestroy(reading->begin);
    if (reading->out)
        driver->cuMemFree(reading->out);
    if (reading->buffer)
        driver->cuMemFree(reading->buffer);
    rung_module_release(&reading->kernel);
}

static enum rung_status read_once(double *ms, struct reading *reading, struct rung_error *err)
{
    const struct rung_device *device = reading->device;
    const struct rung_driver *driver = &device->driver;
    unsigned long long n = reading->bytes / 16;
    void *params[] = {&reading->buffer, &reading->out, &n};
    float elapsed = 0;
    enum rung_status status = RUNG_OK;
    RUNG_CU(driver, done, cuEventRecord, reading->begin, device->stream);
    RUNG_CU(driver, done, cuLaunchKernel, reading->kernel.function, reading->blocks, 1, 1,
            RUNG_READ_KERNEL_BLOCK, 1, 1, 0, device->stream, params, NULL);
    RUNG_CU(driver, done, cuEventRecord, reading->end, device->stream);
    RUNG_CU(driver, done, cuEventSynchronize, reading->end);
    RUNG_CU(driver, done, cuEventElapsedTime, &elapsed, reading->begin, reading->end);
    *ms = (double)elapsed;
done:
    return status;
}

static enum rung_status sample(struct rung_ceiling *out, struct reading *reading,
                               struct rung_error *err)
{
    double ms[SAMPLES] = {0};
    enum rung_status status = RUNG_OK;
    for (int i = -WARM_UPS; status == RUNG_OK && i < SAMPLES; i++)
        status = read_once(&ms[i < 0 ? 0 : i], reading, err);
    if (status != RUNG_OK)
        return status;
    rung_stats_sort(ms, SAMPLES);
    double median = rung_stats_quantile(ms, SAMPLES, 0.5);
    if (!(median > 0))
        return rung_fail(err, RUNG_UNABLE, "the read kernel took no measurable time");
    *out = (struct rung_ceiling){.gb_per_s = (double)reading->bytes / median / 1e6,
                                 .bytes = reading->bytes,
                                 .samples = SAMPLES};
    return RUNG_OK;
}

enum rung_status rung_ceiling_measure(struct rung_ceiling *out, const struct rung_device *device,
                                      const struct rung_image_source *from, struct rung_error *err)
{
    *out = (struct rung_ceiling){.gb_per_s = NAN};
    if (device->driver.kind == RUNG_DRIVER_SIM)
        return rung_fail(err, RUNG_UNABLE, "the simulator has no read ceiling");
    struct reading reading = {.device = device};
    struct rung_image image = {0};
    enum rung_status status = get_image(&image, device, from, err);
    if (status == RUNG_OK)
        status = rung_module_load(&reading.kernel, device, &image, RUNG_IMAGE_AUTO,
                                  RUNG_READ_KERNEL_SYMBOL, err);
    if (status == RUNG_OK)
        status = open_reading(&reading, err);
    if (status == RUNG_OK)
        status = sample(out, &reading, err);
    close_reading(&reading);
    rung_image_release(&image);
    return status;
}
