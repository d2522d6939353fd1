/* The simulated device and its contexts: initialisation, attributes, names of errors. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/driver_state.h"

CUresult rung_sim_cuInit(unsigned int flags)
{
    struct rung_sim_process *process = &rung_sim_process;
    if (flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    rung_sim_lock();
    /* A process without contexts may be given another device. */
    CUresult code = CUDA_SUCCESS;
    if (rung_sim_objects_live(RUNG_SIM_HANDLE_CONTEXT) == 0) {
        struct rung_sim_settings settings;
        if (rung_sim_settings_read(&settings, NULL) == RUNG_OK) {
            process->settings = settings;
            process->initialised = true;
        } else {
            process->initialised = false;
            code = CUDA_ERROR_INVALID_VALUE;
        }
    }
    return rung_sim_leave(code);
}

CUresult rung_sim_cuDriverGetVersion(int *version)
{
    if (!version)
        return CUDA_ERROR_INVALID_VALUE;
    *version = RUNG_SIM_DRIVER_VERSION;
    return CUDA_SUCCESS;
}

CUresult rung_sim_cuGetErrorName(CUresult code, const char **name)
{
    if (!name)
        return CUDA_ERROR_INVALID_VALUE;
    *name = rung_cu_error_name(NULL, code);
    if (strncmp(*name, "CUDA_", 5) == 0)
        return CUDA_SUCCESS;
    *name = NULL;
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult rung_sim_cuGetErrorString(CUresult code, const char **text)
{
    const char *name = NULL;
    if (!text)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult known = rung_sim_cuGetErrorName(code, &name);
    *text = known == CUDA_SUCCESS ? rung_cu_error_text(NULL, code) : NULL;
    return known;
}

CUresult rung_sim_cuDeviceGetCount(int *count)
{
    CUresult code = rung_sim_enter_driver();
    if (code == CUDA_SUCCESS && !count)
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS)
        *count = 1;
    return rung_sim_leave(code);
}

CUresult rung_sim_cuDeviceGet(CUdevice_v1 *device, int ordinal)
{
    CUresult code = rung_sim_enter_driver();
    if (code == CUDA_SUCCESS && !device)
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS && ordinal != 0)
        code = CUDA_ERROR_INVALID_DEVICE;
    if (code == CUDA_SUCCESS)
        *device = 0;
    return rung_sim_leave(code);
}

CUresult rung_sim_enter_device(CUdevice device, const void *out)
{
    CUresult code = rung_sim_enter_driver();
    if (code == CUDA_SUCCESS && !out)
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS && device != 0)
        code = CUDA_ERROR_INVALID_DEVICE;
    return code;
}

CUresult rung_sim_cuDeviceGetName(char *name, int size, CUdevice_v1 device)
{
    CUresult code = rung_sim_enter_device(device, name);
    if (code == CUDA_SUCCESS && size <= 0)
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS)
        snprintf(name, (size_t)size, "%s", RUNG_SIM_NAME);
    return rung_sim_leave(code);
}

CUresult rung_sim_cuDeviceGetUuid(CUuuid *uuid, CUdevice_v1 device)
{
    static const char bytes[16] = "rung simulator";
    CUresult code = rung_sim_enter_device(device, uuid);
    if (code == CUDA_SUCCESS)
        memcpy(uuid->bytes, bytes, sizeof uuid->bytes);
    return rung_sim_leave(code);
}

CUresult rung_sim_cuDeviceGetPCIBusId(char *id, int size, CUdevice_v1 device)
{
    CUresult code = rung_sim_enter_device(device, id);
    if (code == CUDA_SUCCESS && size < 13)
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS)
        snprintf(id, (size_t)size, "0000:00:00.0");
    return rung_sim_leave(code);
}

CUresult rung_sim_cuDeviceTotalMem(size_t *bytes, CUdevice_v1 device)
{
    CUresult code = rung_sim_enter_device(device, bytes);
    if (code == CUDA_SUCCESS)
        *bytes = rung_sim_process.settings.memory_bytes;
    return rung_sim_leave(code);
}

static int attribute_of(const struct rung_sim_target *target, int attribute)
{
    switch (attribute) {
#define SIM_ATTRIBUTE(number, value, name)                                                         \
    case number:                                                                                   \
        return value;
#include "sim/attributes.def"
#undef SIM_ATTRIBUTE
    default:
        return 0;
    }
}

CUresult rung_sim_cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice_v1 device)
{
    CUresult code = rung_sim_enter_device(device, value);
    if (code == CUDA_SUCCESS && ((int)attribute < 1 || (int)attribute >= CU_DEVICE_ATTRIBUTE_MAX))
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS)
        *value = attribute_of(rung_sim_process.settings.target, (int)attribute);
    return rung_sim_leave(code);
}

CUresult rung_sim_cuMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    struct rung_sim_context *context;
    CUresult code = rung_sim_enter(&context);
    if (code == CUDA_SUCCESS && (!free_bytes || !total_bytes))
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS) {
        *total_bytes = rung_sim_process.settings.memory_bytes;
        *free_bytes = *total_bytes - rung_sim_process.memory_used;
    }
    return rung_sim_leave(code);
}
