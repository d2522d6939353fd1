/* A libnvidia-ml.so.1 that knows one card, "GPU-fake", and says of it what the tests expect. What
 * it does not tell (ECC, MIG) it answers with "not supported". */
#include <string.h>

enum { SUCCESS = 0, NOT_SUPPORTED = 3, NOT_FOUND = 6 };

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetHandleByUUID(const char *uuid, void **device);
int nvmlSystemGetDriverVersion(char *version, unsigned length);
int nvmlDeviceGetClockInfo(void *device, int type, unsigned *mhz);
int nvmlDeviceGetMaxClockInfo(void *device, int type, unsigned *mhz);
int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius);
int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts);
int nvmlDeviceGetCurrentClocksEventReasons(void *device, unsigned long long *mask);
int nvmlDeviceGetEccMode(void *device, int *current, int *pending);

int nvmlInit_v2(void)
{
    return SUCCESS;
}

int nvmlShutdown(void)
{
    return SUCCESS;
}

int nvmlDeviceGetHandleByUUID(const char *uuid, void **device)
{
    static char card;
    *device = &card;
    return strcmp(uuid, "GPU-fake") == 0 ? SUCCESS : NOT_FOUND;
}

int nvmlSystemGetDriverVersion(char *version, unsigned length)
{
    if (length < 8)
        return NOT_SUPPORTED;
    strcpy(version, "580.1.2");
    return SUCCESS;
}

int nvmlDeviceGetClockInfo(void *device, int type, unsigned *mhz)
{
    (void)device;
    *mhz = type == 1 ? 1980 : type == 2 ? 3201 : 0;
    return SUCCESS;
}

int nvmlDeviceGetMaxClockInfo(void *device, int type, unsigned *mhz)
{
    (void)device;
    *mhz = type == 1 ? 2000 : 0;
    return SUCCESS;
}

int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius)
{
    (void)device;
    *celsius = 38;
    return sensor == 0 ? SUCCESS : NOT_SUPPORTED;
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts)
{
    (void)device;
    *milliwatts = 181925;
    return SUCCESS;
}

int nvmlDeviceGetCurrentClocksEventReasons(void *device, unsigned long long *mask)
{
    (void)device;
    *mask = 0x5; /* idle, power cap */
    return SUCCESS;
}

int nvmlDeviceGetEccMode(void *device, int *current, int *pending)
{
    (void)device;
    *current = *pending = 1;
    return NOT_SUPPORTED;
}
