/* The host's facts, and the card's through NVML opened at run time. The declarations are the few of
 * nvml.h that are used here; their ABI has been the same since the driver of CUDA 11. */
#define _GNU_SOURCE
#include "sweep/provenance.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

extern char **environ;

static json_t *variables(void)
{
    static const char *const prefixes[] = {"CUDA_", "NVIDIA_", "RUNG_"};
    json_t *object = json_object();
    for (char **entry = environ; *entry; entry++) {
        const char *equals = strchr(*entry, '=');
        for (size_t i = 0; equals && i < sizeof prefixes / sizeof *prefixes; i++) {
            char name[256];
            if (strncmp(*entry, prefixes[i], strlen(prefixes[i])) != 0)
                continue;
            snprintf(name, sizeof name, "%.*s", (int)(equals - *entry), *entry);
            json_object_set_new(object, name, json_string(equals + 1));
        }
    }
    return object;
}

json_t *rung_provenance_host(void)
{
    struct utsname names;
    if (uname(&names) != 0)
        return json_pack("{s:n, s:n, s:n, s:o}", "node", "system", "machine", "variables",
                         variables());
    char system[sizeof names.sysname + sizeof names.release + 2];
    snprintf(system, sizeof system, "%s %s", names.sysname, names.release);
    return json_pack("{s:s, s:s, s:s, s:o}", "node", names.nodename, "system", system, "machine",
                     names.machine, "variables", variables());
}

json_t *rung_throttle_words(unsigned long long mask)
{
    static const struct {
        unsigned long long bit;
        const char *word;
    } reasons[] = {
  /* nvmlClocksEventReason… */
        {0x1,   "idle"              },
        {0x2,   "application clocks"},
        {0x4,   "power cap"         },
        {0x8,   "hardware slowdown" },
        {0x10,  "sync boost"        },
        {0x20,  "thermal, software" },
        {0x40,  "thermal, hardware" },
        {0x80,  "power brake"       },
        {0x100, "display clocks"    },
    };
    json_t *words = json_array();
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (mask & reasons[i].bit)
            json_array_append_new(words, json_string(reasons[i].word));
    return words;
}

typedef struct nvml_device *nvml_device; /* opaque, as nvmlDevice_t */

#define NVML_SUCCESS 0
#define NVML_CLOCK_SM 1
#define NVML_CLOCK_MEM 2
#define NVML_TEMPERATURE_GPU 0

struct nvml {
    void *library;
    int (*init)(void);
    int (*shutdown)(void);
    int (*by_uuid)(const char *uuid, nvml_device *device);
    int (*driver)(char *version, unsigned length);
    int (*clock)(nvml_device device, int type, unsigned *mhz);
    int (*max_clock)(nvml_device device, int type, unsigned *mhz);
    int (*temperature)(nvml_device device, int sensor, unsigned *celsius);
    int (*power)(nvml_device device, unsigned *milliwatts);
    int (*power_limit)(nvml_device device, unsigned *milliwatts);
    int (*reasons)(nvml_device device, unsigned long long *mask);
    int (*persistence)(nvml_device device, int *on);
    int (*ecc)(nvml_device device, int *current, int *pending);
    int (*mig)(nvml_device device, unsigned *current, unsigned *pending);
};

/* A function of the library. Copied bytewise: C has no cast from object to function pointers. */
static void find(void *library, const char *name, void *function, size_t size)
{
    void *address = dlsym(library, name);
    if (address)
        memcpy(function, &address, size);
}

#define FIND(name, field) find(nvml->library, name, &nvml->field, sizeof nvml->field)

static const char *nvml_open(struct nvml *nvml)
{
    nvml->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!nvml->library)
        return "there is no libnvidia-ml.so.1";
    FIND("nvmlInit_v2", init);
    FIND("nvmlShutdown", shutdown);
    FIND("nvmlDeviceGetHandleByUUID", by_uuid);
    FIND("nvmlSystemGetDriverVersion", driver);
    FIND("nvmlDeviceGetClockInfo", clock);
    FIND("nvmlDeviceGetMaxClockInfo", max_clock);
    FIND("nvmlDeviceGetTemperature", temperature);
    FIND("nvmlDeviceGetPowerUsage", power);
    FIND("nvmlDeviceGetEnforcedPowerLimit", power_limit);
    FIND("nvmlDeviceGetCurrentClocksEventReasons", reasons); /* since driver 535 */
    if (!nvml->reasons)
        FIND("nvmlDeviceGetCurrentClocksThrottleReasons", reasons);
    FIND("nvmlDeviceGetPersistenceMode", persistence);
    FIND("nvmlDeviceGetEccMode", ecc);
    FIND("nvmlDeviceGetMigMode", mig);
    if (!nvml->init || !nvml->shutdown || !nvml->by_uuid)
        return "libnvidia-ml.so.1 lacks nvmlInit_v2 and its like";
    if (nvml->init() != NVML_SUCCESS) {
        nvml->shutdown = NULL;
        return "NVML does not start: is the driver loaded?";
    }
    return NULL;
}

static void nvml_close(struct nvml *nvml)
{
    if (nvml->shutdown)
        nvml->shutdown();
    if (nvml->library)
        dlclose(nvml->library);
}

static json_t *number(int code, double value)
{
    return code == NVML_SUCCESS ? json_real(value) : json_null();
}

static json_t *clock_of(const struct nvml *nvml, nvml_device device, int type, int largest)
{
    unsigned mhz = 0;
    int (*ask)(nvml_device, int, unsigned *) = largest ? nvml->max_clock : nvml->clock;
    int code = ask ? ask(device, type, &mhz) : -1; /* before its result is read */
    return number(code, mhz);
}

static json_t *flag(int code, int on)
{
    return code == NVML_SUCCESS ? json_boolean(on) : json_null();
}

static json_t *ask_card(const struct nvml *nvml, nvml_device device)
{
    char driver[96] = "";
    unsigned celsius = 0, milliwatts = 0, limit = 0, mig = 0, mig_pending = 0;
    int persistence = 0, ecc = 0, ecc_pending = 0;
    unsigned long long mask = 0;
    if (nvml->driver)
        nvml->driver(driver, sizeof driver);
    int celsius_code =
        nvml->temperature ? nvml->temperature(device, NVML_TEMPERATURE_GPU, &celsius) : -1;
    int power_code = nvml->power ? nvml->power(device, &milliwatts) : -1;
    int limit_code = nvml->power_limit ? nvml->power_limit(device, &limit) : -1;
    int mask_code = nvml->reasons ? nvml->reasons(device, &mask) : -1;
    int persistence_code = nvml->persistence ? nvml->persistence(device, &persistence) : -1;
    int ecc_code = nvml->ecc ? nvml->ecc(device, &ecc, &ecc_pending) : -1;
    int mig_code = nvml->mig ? nvml->mig(device, &mig, &mig_pending) : -1;
    return json_pack("{s:s, s:{s:o, s:o, s:o}, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "driver",
                     driver, "clock_mhz", "sm", clock_of(nvml, device, NVML_CLOCK_SM, 0), "memory",
                     clock_of(nvml, device, NVML_CLOCK_MEM, 0), "sm_max",
                     clock_of(nvml, device, NVML_CLOCK_SM, 1), "temperature_c",
                     number(celsius_code, celsius), "power_w", number(power_code, milliwatts / 1e3),
                     "power_limit_w", number(limit_code, limit / 1e3), "throttle",
                     mask_code == NVML_SUCCESS ? rung_throttle_words(mask) : json_null(),
                     "persistence", flag(persistence_code, persistence), "ecc", flag(ecc_code, ecc),
                     "mig", flag(mig_code, (int)mig));
}

json_t *rung_provenance_card(const char *uuid)
{
    if (!uuid || !uuid[0])
        return json_null();
    struct nvml nvml = {0};
    nvml_device device = NULL;
    json_t *card = NULL;
    const char *why = nvml_open(&nvml);
    if (!why && nvml.by_uuid(uuid, &device) != NVML_SUCCESS)
        why = "NVML does not know this card";
    card = why ? json_pack("{s:s}", "unavailable", why) : ask_card(&nvml, device);
    nvml_close(&nvml);
    return card;
}
