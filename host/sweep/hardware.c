/* Drives CUPTI's range profiler: configuration once, then one session for each launch that is read.
 */
#define _GNU_SOURCE
#include "sweep/hardware.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "sweep/cupti.h"

#define RANGES_MAX 16 /* launches that a session has room for; the first is read */

static const char *metrics[] = {
#define COUNTER(key, metric) metric,
#include "sweep/hardware.def"
#undef COUNTER
};
static const char *const keys[] = {
#define COUNTER(key, metric) #key,
#include "sweep/hardware.def"
#undef COUNTER
};
#define N_METRICS (sizeof metrics / sizeof *metrics)

/* Every function takes one pointer to its structure. */
enum call {
    INITIALIZE,
    DEINITIALIZE,
    CHIP_NAME,
    AVAILABILITY,
    HOST_INITIALIZE,
    HOST_DEINITIALIZE,
    ADD_METRICS,
    CONFIG_SIZE,
    CONFIG,
    EVALUATE,
    ENABLE,
    DISABLE,
    START,
    STOP,
    DECODE,
    DATA_SIZE,
    DATA_INITIALIZE,
    SET_CONFIG,
    DATA_INFO,
    N_CALLS
};

static const char *const names[N_CALLS] = {
    [INITIALIZE] = "cuptiProfilerInitialize",
    [DEINITIALIZE] = "cuptiProfilerDeInitialize",
    [CHIP_NAME] = "cuptiDeviceGetChipName",
    [AVAILABILITY] = "cuptiProfilerGetCounterAvailability",
    [HOST_INITIALIZE] = "cuptiProfilerHostInitialize",
    [HOST_DEINITIALIZE] = "cuptiProfilerHostDeinitialize",
    [ADD_METRICS] = "cuptiProfilerHostConfigAddMetrics",
    [CONFIG_SIZE] = "cuptiProfilerHostGetConfigImageSize",
    [CONFIG] = "cuptiProfilerHostGetConfigImage",
    [EVALUATE] = "cuptiProfilerHostEvaluateToGpuValues",
    [ENABLE] = "cuptiRangeProfilerEnable",
    [DISABLE] = "cuptiRangeProfilerDisable",
    [START] = "cuptiRangeProfilerStart",
    [STOP] = "cuptiRangeProfilerStop",
    [DECODE] = "cuptiRangeProfilerDecodeData",
    [DATA_SIZE] = "cuptiRangeProfilerGetCounterDataSize",
    [DATA_INITIALIZE] = "cuptiRangeProfilerCounterDataImageInitialize",
    [SET_CONFIG] = "cuptiRangeProfilerSetConfig",
    [DATA_INFO] = "cuptiRangeProfilerGetCounterDataInfo",
};

typedef int cupti_function(void *parameters);

struct rung_hardware {
    const struct rung_device *device;
    void *library; /* never closed: CUPTI leaves threads and hooks behind */
    cupti_function *calls[N_CALLS];
    int (*result_string)(int code, const char **text);
    bool initialised;
    uint8_t *availability, *config;
    size_t config_size;
    void *host;
};

static enum rung_status failed(const struct rung_hardware *hardware, enum call call, int code,
                               struct rung_error *err)
{
    const char *text = NULL;
    if (code == CUPTI_NO_PRIVILEGES || code == CUPTI_NO_PRIVILEGES_VIRTUAL)
        return rung_fail_native(err, RUNG_UNABLE, code,
                                "the driver gives counters to administrators only (see "
                                "NVreg_RestrictProfilingToAdminUsers)");
    if (hardware->result_string)
        hardware->result_string(code, &text);
    return rung_fail_native(err, RUNG_UNABLE, code, "%s: %s (%d)", names[call],
                            text ? text : "CUPTI error", code);
}

static enum rung_status do_call(struct rung_hardware *hardware, enum call call, void *parameters,
                                struct rung_error *err)
{
    int code = hardware->calls[call](parameters);
    return code == CUPTI_OK ? RUNG_OK : failed(hardware, call, code, err);
}

static void *open_library(void)
{
    static const char *const places[] = {"libcupti.so.13",
                                         "libcupti.so.12",
                                         "libcupti.so",
                                         "/usr/local/cuda/lib64/libcupti.so",
                                         "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so",
                                         NULL};
    const char *asked = getenv("RUNG_CUPTI");
    if (asked && asked[0])
        return dlopen(asked, RTLD_NOW | RTLD_LOCAL);
    char *folder = rung_program_folder();
    char *beside = folder ? rung_path_join(folder, "cuda/nvidia/cu13/lib/libcupti.so.13") : NULL;
    void *library = beside ? dlopen(beside, RTLD_NOW | RTLD_LOCAL) : NULL;
    free(beside);
    free(folder);
    for (size_t i = 0; places[i] && !library; i++)
        library = dlopen(places[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

static enum rung_status find_functions(struct rung_hardware *hardware, struct rung_error *err)
{
    hardware->library = open_library();
    if (!hardware->library)
        return rung_fail(err, RUNG_UNABLE, "no CUPTI: %s", dlerror());
    for (size_t i = 0; i < N_CALLS; i++) {
        void *address = dlsym(hardware->library, names[i]);
        if (!address)
            return rung_fail(err, RUNG_UNABLE,
                             "this CUPTI has no %s: one of CUDA 12.6 or later is needed", names[i]);
        memcpy(&hardware->calls[i], &address, sizeof address);
    }
    void *address = dlsym(hardware->library, "cuptiGetResultString");
    memcpy(&hardware->result_string, &address, sizeof address);
    return RUNG_OK;
}

static enum rung_status read_availability(struct rung_hardware *hardware, struct rung_error *err)
{
    struct cupti_availability parameters = {.size = CUPTI_SIZE(cupti_availability, image),
                                            .context = hardware->device->context};
    enum rung_status status = do_call(hardware, AVAILABILITY, &parameters, err);
    if (status != RUNG_OK)
        return status;
    hardware->availability = calloc(parameters.image_size + 1, 1);
    if (!hardware->availability)
        return rung_fail(err, RUNG_MEMORY, "out of memory");
    parameters.image = hardware->availability;
    return do_call(hardware, AVAILABILITY, &parameters, err);
}

/* The host object knows the chip's counters and makes the configuration that collects ours. */
static enum rung_status make_config(struct rung_hardware *hardware, struct rung_error *err)
{
    struct cupti_chip chip = {.size = CUPTI_SIZE(cupti_chip, name),
                              .device = (size_t)hardware->device->ordinal};
    struct cupti_host host = {.size = CUPTI_SIZE(cupti_host, host),
                              .kind = CUPTI_RANGE_PROFILER,
                              .availability = hardware->availability};
    enum rung_status status = do_call(hardware, CHIP_NAME, &chip, err);
    host.chip = chip.name;
    if (status == RUNG_OK)
        status = do_call(hardware, HOST_INITIALIZE, &host, err);
    if (status != RUNG_OK)
        return status;
    hardware->host = host.host;
    struct cupti_metrics add = {.size = CUPTI_SIZE(cupti_metrics, n),
                                .host = hardware->host,
                                .names = metrics,
                                .n = N_METRICS};
    struct cupti_config_size size = {.size = CUPTI_SIZE(cupti_config_size, image_size),
                                     .host = hardware->host};
    status = do_call(hardware, ADD_METRICS, &add, err);
    if (status == RUNG_OK)
        status = do_call(hardware, CONFIG_SIZE, &size, err);
    if (status != RUNG_OK)
        return status;
    hardware->config_size = size.image_size;
    hardware->config = calloc(size.image_size + 1, 1);
    if (!hardware->config)
        return rung_fail(err, RUNG_MEMORY, "out of memory");
    struct cupti_config config = {.size = CUPTI_SIZE(cupti_config, image),
                                  .host = hardware->host,
                                  .image_size = hardware->config_size,
                                  .image = hardware->config};
    return do_call(hardware, CONFIG, &config, err);
}

enum rung_status rung_hardware_open(struct rung_hardware **out, const struct rung_device *device,
                                    struct rung_error *err)
{
    struct rung_hardware *hardware = calloc(1, sizeof *hardware);
    struct cupti_bare bare = {.size = CUPTI_SIZE(cupti_bare, priv)};
    *out = NULL;
    if (!hardware)
        return rung_fail(err, RUNG_MEMORY, "out of memory");
    hardware->device = device;
    enum rung_status status = find_functions(hardware, err);
    if (status == RUNG_OK)
        status = do_call(hardware, INITIALIZE, &bare, err);
    hardware->initialised = status == RUNG_OK;
    if (status == RUNG_OK)
        status = read_availability(hardware, err);
    if (status == RUNG_OK)
        status = make_config(hardware, err);
    if (status == RUNG_OK)
        *out = hardware;
    else
        rung_hardware_close(hardware);
    return status;
}

void rung_hardware_close(struct rung_hardware *hardware)
{
    if (!hardware)
        return;
    struct cupti_host_end end = {.size = CUPTI_SIZE(cupti_host_end, host), .host = hardware->host};
    struct cupti_bare bare = {.size = CUPTI_SIZE(cupti_bare, priv)};
    if (hardware->host)
        hardware->calls[HOST_DEINITIALIZE](&end);
    if (hardware->initialised)
        hardware->calls[DEINITIALIZE](&bare);
    free(hardware->availability);
    free(hardware->config);
    free(hardware);
}

/* One session; its counters end in `*data`, which the caller frees, on failure too. */
static enum rung_status collect(uint8_t **data, size_t *data_size, struct rung_hardware *hardware,
                                void *profiler,
                                enum rung_status (*launch)(void *context, struct rung_error *err),
                                void *context, struct rung_error *err)
{
    struct cupti_data_size size = {.size = CUPTI_SIZE(cupti_data_size, data_size),
                                   .profiler = profiler,
                                   .names = metrics,
                                   .n = N_METRICS,
                                   .ranges = RANGES_MAX,
                                   .nodes = RANGES_MAX};
    enum rung_status status = do_call(hardware, DATA_SIZE, &size, err);
    if (status != RUNG_OK)
        return status;
    *data_size = size.data_size;
    *data = calloc(size.data_size + 1, 1);
    if (!*data)
        return rung_fail(err, RUNG_MEMORY, "out of memory");
    struct cupti_data image = {.size = CUPTI_SIZE(cupti_data, data),
                               .profiler = profiler,
                               .data_size = *data_size,
                               .data = *data};
    struct cupti_set set = {.size = CUPTI_SIZE(cupti_set, nesting),
                            .profiler = profiler,
                            .config_size = hardware->config_size,
                            .config = hardware->config,
                            .data_size = *data_size,
                            .data = *data,
                            .range = CUPTI_AUTO_RANGE,
                            .replay = CUPTI_KERNEL_REPLAY,
                            .ranges = RANGES_MAX,
                            .nesting_levels = 1,
                            .nesting_least = 1};
    struct cupti_profiler start = {.size = CUPTI_SIZE(cupti_profiler, profiler),
                                   .profiler = profiler};
    struct cupti_stop stop = {.size = CUPTI_SIZE(cupti_stop, all_submitted), .profiler = profiler};
    struct cupti_decode decode = {.size = CUPTI_SIZE(cupti_decode, dropped), .profiler = profiler};
    status = do_call(hardware, DATA_INITIALIZE, &image, err);
    if (status == RUNG_OK)
        status = do_call(hardware, SET_CONFIG, &set, err);
    if (status == RUNG_OK)
        status = do_call(hardware, START, &start, err);
    if (status != RUNG_OK)
        return status;
    status = launch(context, err);
    enum rung_status stopped = do_call(hardware, STOP, &stop, status == RUNG_OK ? err : NULL);
    if (status == RUNG_OK)
        status = stopped;
    return status == RUNG_OK ? do_call(hardware, DECODE, &decode, err) : status;
}

static enum rung_status evaluate(json_t **out, struct rung_hardware *hardware, const uint8_t *data,
                                 size_t data_size, struct rung_error *err)
{
    double values[N_METRICS] = {0};
    struct cupti_info info = {
        .size = CUPTI_SIZE(cupti_info, ranges), .data = data, .data_size = data_size};
    struct cupti_values parameters = {.size = CUPTI_SIZE(cupti_values, values),
                                      .host = hardware->host,
                                      .data = data,
                                      .data_size = data_size,
                                      .names = metrics,
                                      .n = N_METRICS,
                                      .values = values};
    enum rung_status status = do_call(hardware, DATA_INFO, &info, err);
    if (status == RUNG_OK && info.ranges == 0)
        status = rung_fail(err, RUNG_UNABLE, "CUPTI saw no launch");
    if (status == RUNG_OK)
        status = do_call(hardware, EVALUATE, &parameters, err);
    if (status != RUNG_OK)
        return status;
    json_t *object = json_object();
    for (size_t i = 0; i < N_METRICS; i++)
        json_object_set_new(object, keys[i],
                            isfinite(values[i]) ? json_integer((json_int_t)llround(values[i]))
                                                : json_null());
    *out = object;
    return RUNG_OK;
}

enum rung_status rung_hardware_read(json_t **out, struct rung_hardware *hardware,
                                    enum rung_status (*launch)(void *context,
                                                               struct rung_error *err),
                                    void *context, struct rung_error *err)
{
    uint8_t *data = NULL;
    size_t data_size = 0;
    struct cupti_enable enable = {.size = CUPTI_SIZE(cupti_enable, profiler),
                                  .context = hardware->device->context};
    enum rung_status status = do_call(hardware, ENABLE, &enable, err);
    if (status != RUNG_OK)
        return status;
    status = collect(&data, &data_size, hardware, enable.profiler, launch, context, err);
    struct cupti_profiler disable = {.size = CUPTI_SIZE(cupti_profiler, profiler),
                                     .profiler = enable.profiler};
    enum rung_status disabled =
        do_call(hardware, DISABLE, &disable, status == RUNG_OK ? err : NULL);
    if (status == RUNG_OK)
        status = disabled;
    if (status == RUNG_OK)
        status = evaluate(out, hardware, data, data_size, err);
    free(data);
    return status;
}
