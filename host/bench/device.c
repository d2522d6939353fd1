/* Opening a device: driver, card, primary context, stream; released in reverse. */
#include "bench/device.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/settings.h"
#include "sim/sim.h"

static void read_uuid(char uuid[48], const struct rung_driver *driver, CUdevice handle)
{
    CUuuid raw;
    uuid[0] = '\0';
    if (!driver->cuDeviceGetUuid || driver->cuDeviceGetUuid(&raw, handle) != CUDA_SUCCESS)
        return;
    size_t used = (size_t)snprintf(uuid, 48, "GPU");
    for (size_t i = 0; i < sizeof raw.bytes; i++) {
        const char *dash = i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "";
        used += (size_t)snprintf(uuid + used, 48 - used, "%s%02x", dash, raw.bytes[i] & 0xff);
    }
}

static enum rung_status read_numbers(struct rung_device *device, struct rung_error *err)
{
    int major = 0, minor = 0, grid = 0, shared = 0, l2 = 0;
    const struct {
        CUdevice_attribute attribute;
        int *to;
    } wanted[] = {
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,    &major                        },
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,    &minor                        },
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,        &device->sm_count             },
        {CU_DEVICE_ATTRIBUTE_WARP_SIZE,                   &device->warp_size            },
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK,       &device->max_threads_per_block},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,              &grid                         },
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, &shared                       },
        {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE,               &l2                           },
    };
    enum rung_status status = RUNG_OK;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        RUNG_CU(&device->driver, done, cuDeviceGetAttribute, wanted[i].to, wanted[i].attribute,
                device->handle);
    device->cc = (unsigned)(major * 10 + minor);
    device->max_grid_x = (uint64_t)grid;
    device->shared_bytes_per_block = (uint64_t)shared;
    device->l2_bytes = (uint64_t)l2;
done:
    return status;
}

static enum rung_status describe(struct rung_device *device, struct rung_error *err)
{
    const struct rung_driver *driver = &device->driver;
    enum rung_status status = RUNG_OK;
    size_t memory = 0;
    RUNG_CU(driver, done, cuDeviceGetName, device->name, (int)sizeof device->name, device->handle);
    RUNG_CU(driver, done, cuDeviceTotalMem, &memory, device->handle);
    device->memory_bytes = memory;
    read_uuid(device->uuid, driver, device->handle);
    status = read_numbers(device, err);
done:
    return status;
}

/* cuInit and the choice of the card; the ordinal is tested against what there is. */
static enum rung_status choose(struct rung_device *device, struct rung_error *err)
{
    const struct rung_driver *driver = &device->driver;
    enum rung_status status = RUNG_OK;
    int count = 0;
    RUNG_CU(driver, done, cuInit, 0);
    RUNG_CU(driver, done, cuDriverGetVersion, &device->driver_version);
    RUNG_CU(driver, done, cuDeviceGetCount, &count);
    if (count == 0)
        return rung_driver_fail(err, driver, CUDA_ERROR_NO_DEVICE, "cuDeviceGetCount");
    if (device->ordinal >= count)
        return rung_fail(err, RUNG_UNABLE, "no device cuda:%d: the driver shows %d card%s, %s%d",
                         device->ordinal, count, count == 1 ? "" : "s",
                         count == 1 ? "cuda:" : "cuda:0 to cuda:", count - 1);
    RUNG_CU(driver, done, cuDeviceGet, &device->handle, device->ordinal);
done:
    return status;
}

enum rung_status rung_device_open_with(struct rung_device *out, const struct rung_driver *driver,
                                       int ordinal, struct rung_error *err)
{
    struct rung_device device = {.driver = *driver, .ordinal = ordinal};
    *out = (struct rung_device){0};
    enum rung_status status = choose(&device, err);
    if (status == RUNG_OK)
        status = describe(&device, err);
    if (status != RUNG_OK)
        goto cleanup;
    RUNG_CU(&device.driver, cleanup, cuDevicePrimaryCtxRetain, &device.context, device.handle);
    RUNG_CU(&device.driver, cleanup, cuCtxSetCurrent, device.context);
    RUNG_CU(&device.driver, cleanup, cuStreamCreate, &device.stream, CU_STREAM_DEFAULT);
    *out = device;
    device = (struct rung_device){0};
cleanup:
    rung_device_close(&device);
    return status;
}

void rung_device_close(struct rung_device *device)
{
    if (device->stream)
        device->driver.cuStreamDestroy(device->stream);
    if (device->context)
        device->driver.cuDevicePrimaryCtxRelease(device->handle);
    rung_driver_close(&device->driver);
    *device = (struct rung_device){0};
}

bool rung_device_checks(const struct rung_device *device)
{
    struct rung_sim_options options = {0};
    if (device->driver.sim)
        device->driver.sim->get_options(&options);
    return options.check;
}

static enum rung_status open_card(struct rung_device *out, int ordinal, const char *driver_path,
                                  struct rung_error *err)
{
    struct rung_driver driver = {0};
    enum rung_status status = rung_driver_open_cuda(&driver, driver_path, err);
    return status == RUNG_OK ? rung_device_open_with(out, &driver, ordinal, err) : status;
}

static enum rung_status open_sim(struct rung_device *out, struct rung_error *err)
{
    struct rung_driver driver;
    struct rung_sim_settings settings;
    enum rung_status status = rung_sim_settings_read(&settings, err);
    if (status != RUNG_OK) /* cuInit would refuse, too, but could not say which variable */
        return status;
    rung_driver_open_sim(&driver);
    return rung_device_open_with(out, &driver, 0, err);
}

/* The K of "cuda:K"; -1 unless it is decimal digits that fit. */
static int parse_ordinal(const char *digits)
{
    if (digits[0] == '\0' || strspn(digits, "0123456789") != strlen(digits))
        return -1;
    unsigned long value = strlen(digits) > 9 ? INT_MAX : strtoul(digits, NULL, 10);
    return value < INT_MAX ? (int)value : -1;
}

/* A failure of several lines becomes one. */
static void tell_why(char why[512], const char *text)
{
    if (!why)
        return;
    snprintf(why, 512, "%.*s", 511, text);
    for (char *c = why; *c; c++)
        if (*c == '\n')
            *c = ' ';
}

/* Of a libcuda.so.1 that is the simulator's. */
static void tell_simulator(char why[512], const struct rung_driver *driver)
{
    if (why)
        snprintf(why, 512, "%.400s is the simulator, not a driver", driver->path);
}

enum rung_status rung_device_open(struct rung_device *out, const char *word,
                                  const char *driver_path, char why[512], struct rung_error *err)
{
    *out = (struct rung_device){0};
    tell_why(why, "");
    if (strcmp(word, "sim") == 0)
        return open_sim(out, err);
    if (strcmp(word, "cuda") == 0)
        return open_card(out, 0, driver_path, err);
    if (strncmp(word, "cuda:", 5) == 0 && parse_ordinal(word + 5) >= 0)
        return open_card(out, parse_ordinal(word + 5), driver_path, err);
    if (strcmp(word, "auto") != 0)
        return rung_fail(err, RUNG_USAGE, "device '%s': use auto, cuda, cuda:K (K from 0) or sim",
                         word);
    struct rung_error no_card = {0};
    if (open_card(out, 0, driver_path, &no_card) != RUNG_OK) {
        tell_why(why, no_card.text);
        return open_sim(out, err);
    }
    if (out->driver.kind == RUNG_DRIVER_SIM)
        tell_simulator(why, &out->driver);
    return RUNG_OK;
}

static void survey_card(struct rung_card *card, const struct rung_driver *driver, int ordinal)
{
    struct rung_device device = {.driver = *driver, .ordinal = ordinal};
    if (driver->cuDeviceGet(&device.handle, ordinal) != CUDA_SUCCESS ||
        describe(&device, NULL) != RUNG_OK)
        return;
    memcpy(card->name, device.name, sizeof card->name);
    memcpy(card->uuid, device.uuid, sizeof card->uuid);
    card->cc = device.cc;
    card->sm_count = device.sm_count;
    card->memory_bytes = device.memory_bytes;
    if (driver->cuDeviceGetPCIBusId && driver->cuDeviceGetPCIBusId(card->pci, (int)sizeof card->pci,
                                                                   device.handle) != CUDA_SUCCESS)
        card->pci[0] = '\0';
}

void rung_device_survey_with(struct rung_survey *out, const struct rung_driver *driver)
{
    struct rung_error failure = {0}, *err = &failure;
    enum rung_status status = RUNG_OK;
    *out = (struct rung_survey){0};
    memcpy(out->path, driver->path, sizeof out->path);
    RUNG_CU(driver, done, cuInit, 0);
    RUNG_CU(driver, done, cuDriverGetVersion, &out->driver_version);
    if (driver->kind == RUNG_DRIVER_SIM) {
        tell_simulator(out->why, driver);
        return;
    }
    RUNG_CU(driver, done, cuDeviceGetCount, &out->n_cards);
    for (int i = 0; i < out->n_cards && i < RUNG_SURVEY_CARDS; i++)
        survey_card(&out->cards[i], driver, i);
    if (out->n_cards == 0)
        status = rung_driver_fail(err, driver, CUDA_ERROR_NO_DEVICE, "cuDeviceGetCount");
done:
    if (status != RUNG_OK)
        tell_why(out->why, failure.text);
}

void rung_device_survey(struct rung_survey *out, const char *driver_path)
{
    struct rung_error err = {0};
    struct rung_driver driver = {0};
    *out = (struct rung_survey){0};
    if (rung_driver_open_cuda(&driver, driver_path, &err) == RUNG_OK)
        rung_device_survey_with(out, &driver);
    else
        tell_why(out->why, err.text);
    rung_driver_close(&driver);
}
