/* Devices, as far as only other programs ask for them, and the answers that serve many calls. */
#include <limits.h>
#include <string.h>

#include "sim/dropin/dropin.h"

CUresult dropin_unsupported(void)
{
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult dropin_no_peer(void)
{
    return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
}

CUresult dropin_nothing(void)
{
    return CUDA_SUCCESS;
}

CUresult dropin_too_narrow(void)
{
    return CUDA_ERROR_NOT_SUPPORTED;
}

static unsigned int narrow(size_t value)
{
    return value > UINT_MAX ? UINT_MAX : (unsigned int)value;
}

CUresult dropin_cuDeviceTotalMem_narrow(unsigned int *bytes, CUdevice device)
{
    size_t all = 0;
    if (!bytes)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult code = rung_sim_cuDeviceTotalMem(&all, device);
    *bytes = narrow(all);
    return code;
}

CUresult dropin_cuMemGetInfo_narrow(unsigned int *free_bytes, unsigned int *total_bytes)
{
    size_t available = 0, total = 0;
    if (!free_bytes || !total_bytes)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult code = rung_sim_cuMemGetInfo(&available, &total);
    *free_bytes = narrow(available);
    *total_bytes = narrow(total);
    return code;
}

static int attribute(CUdevice_attribute which)
{
    int value = 0;
    rung_sim_cuDeviceGetAttribute(&value, which, 0);
    return value;
}

CUresult dropin_cuDeviceComputeCapability(int *major, int *minor, CUdevice device)
{
    if (!major || !minor)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult code = rung_sim_leave(rung_sim_enter_device(device, major));
    if (code == CUDA_SUCCESS) {
        *major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
        *minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    }
    return code;
}

CUresult dropin_cuDeviceGetProperties(CUdevprop *properties, CUdevice device)
{
    CUresult code = rung_sim_leave(rung_sim_enter_device(device, properties));
    if (code != CUDA_SUCCESS)
        return code;
    *properties = (CUdevprop){
        .maxThreadsPerBlock = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
        .maxThreadsDim = {attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X),
                          attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y),
                          attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)},
        .maxGridSize = {attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X),
                          attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y),
                          attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z) },
        .sharedMemPerBlock = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK),
        .totalConstantMemory = attribute(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY),
        .SIMDWidth = attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE),
        .memPitch = attribute(CU_DEVICE_ATTRIBUTE_MAX_PITCH),
        .regsPerBlock = attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK),
        .textureAlign = attribute(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT),
    };
    return CUDA_SUCCESS;
}

CUresult dropin_cuDeviceGetByPCIBusId(CUdevice *device, const char *id)
{
    char own[16] = "";
    CUresult code = rung_sim_cuDeviceGetPCIBusId(own, (int)sizeof own, 0);
    if (code != CUDA_SUCCESS)
        return code;
    if (!device || !id)
        return CUDA_ERROR_INVALID_VALUE;
    if (strcmp(id, own) != 0 && strcmp(id, own + strlen("0000:")) != 0)
        return CUDA_ERROR_INVALID_DEVICE;
    *device = 0;
    return CUDA_SUCCESS;
}

CUresult dropin_cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
    CUresult code = rung_sim_leave(rung_sim_enter_device(device, can));
    if (code != CUDA_SUCCESS)
        return code;
    if (peer != 0)
        return CUDA_ERROR_INVALID_DEVICE;
    *can = 0; /* a device is no peer of itself */
    return CUDA_SUCCESS;
}

/* There is no pair of devices to ask about. */
CUresult dropin_cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attribute, CUdevice from,
                                        CUdevice to)
{
    (void)attribute, (void)to;
    CUresult code = rung_sim_leave(rung_sim_enter_device(from, value));
    return code == CUDA_SUCCESS ? CUDA_ERROR_INVALID_DEVICE : code;
}

CUresult dropin_cuDeviceGetExecAffinitySupport(int *value, CUexecAffinityType type, CUdevice device)
{
    (void)type;
    CUresult code = rung_sim_leave(rung_sim_enter_device(device, value));
    if (code == CUDA_SUCCESS)
        *value = 0;
    return code;
}
