/* The drop-in library: the simulator under the names of libcuda.so.1, for programs that know
 * nothing of this project. What the host's own table has is answered by the functions of
 * sim/driver_state.h; the calls that only other programs make are here. */
#ifndef RUNG_SIM_DROPIN_DROPIN_H
#define RUNG_SIM_DROPIN_DROPIN_H

#include "sim/driver_state.h"

CUresult dropin_unsupported(void); /* 801 */
CUresult dropin_no_peer(void);     /* 217: there is one device */
CUresult dropin_nothing(void);     /* 0 */
/* First versions with 32-bit addresses: 801, since simulated addresses have 64 bits. */
CUresult dropin_too_narrow(void);

CUresult dropin_cuGetProcAddress(const char *symbol, void **function, int version, cuuint64_t flags,
                                 CUdriverProcAddressQueryResult *status);

/* devices and contexts: device.c, context.c */
CUresult dropin_cuDeviceTotalMem_narrow(unsigned int *bytes, CUdevice device);
CUresult dropin_cuMemGetInfo_narrow(unsigned int *free_bytes, unsigned int *total_bytes);
CUresult dropin_cuDeviceComputeCapability(int *major, int *minor, CUdevice device);
CUresult dropin_cuDeviceGetProperties(CUdevprop *properties, CUdevice device);
CUresult dropin_cuDeviceGetByPCIBusId(CUdevice *device, const char *id);
CUresult dropin_cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer);
CUresult dropin_cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attribute, CUdevice from,
                                        CUdevice to);
CUresult dropin_cuDeviceGetExecAffinitySupport(int *value, CUexecAffinityType type,
                                               CUdevice device);
CUresult dropin_cuDevicePrimaryCtxReset(CUdevice device);
CUresult dropin_cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned int flags);
CUresult dropin_cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active);
CUresult dropin_cuCtxCreate(CUcontext *context, unsigned int flags, CUdevice device);
CUresult dropin_cuCtxDestroy(CUcontext context);
CUresult dropin_cuCtxAttach(CUcontext *context, unsigned int flags);
CUresult dropin_cuCtxDetach(CUcontext context);
CUresult dropin_cuCtxPushCurrent(CUcontext context);
CUresult dropin_cuCtxPopCurrent(CUcontext *context);
CUresult dropin_cuCtxGetDevice_v2(CUdevice *device, CUcontext context);
CUresult dropin_cuCtxSynchronize_v2(CUcontext context);
CUresult dropin_cuCtxGetFlags(unsigned int *flags);
CUresult dropin_cuCtxSetFlags(unsigned int flags);
CUresult dropin_cuCtxGetId(CUcontext context, unsigned long long *id);
CUresult dropin_cuCtxSetLimit(CUlimit limit, size_t value);
CUresult dropin_cuCtxGetLimit(size_t *value, CUlimit limit);
CUresult dropin_cuCtxGetCacheConfig(CUfunc_cache *config);
CUresult dropin_cuCtxSetCacheConfig(CUfunc_cache config);
CUresult dropin_cuCtxGetSharedMemConfig(CUsharedconfig *config);
CUresult dropin_cuCtxSetSharedMemConfig(CUsharedconfig config);
CUresult dropin_cuCtxGetApiVersion(CUcontext context, unsigned int *version);
CUresult dropin_cuCtxGetStreamPriorityRange(int *least, int *greatest);

/* modules, functions and launches: module.c */
CUresult dropin_load_file(CUmodule *module, const char *path, unsigned int n_options,
                          CUjit_option *options, void **values);
CUresult dropin_same_handle(void **out, void *handle); /* a library is its module, and so on */
CUresult dropin_cuModuleGetGlobal(CUdeviceptr *pointer, size_t *bytes, CUmodule module,
                                  const char *name);
CUresult dropin_cuModuleGetLoadingMode(CUmoduleLoadingMode *mode);
CUresult dropin_cuModuleGetFunctionCount(unsigned int *count, CUmodule module);
CUresult dropin_cuModuleEnumerateFunctions(CUfunction *functions, unsigned int count,
                                           CUmodule module);
CUresult dropin_cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value);
CUresult dropin_cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config);
CUresult dropin_cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig config);
CUresult dropin_cuFuncGetName(const char **name, CUfunction function);
CUresult dropin_cuFuncGetModule(CUmodule *module, CUfunction function);
CUresult dropin_cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset,
                                   size_t *bytes);
CUresult dropin_cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction function);
CUresult dropin_cuFuncLoad(CUfunction function);
CUresult dropin_cuOccupancyMaxPotentialBlockSize(int *grid_min, int *block_threads,
                                                 CUfunction function, CUoccupancyB2DSize dynamic_of,
                                                 size_t dynamic_bytes, int block_limit);
CUresult dropin_cuOccupancyAvailableDynamicSMemPerBlock(size_t *dynamic_bytes, CUfunction function,
                                                        int blocks, int block_threads);
CUresult dropin_cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **params,
                                 void **extra);
CUresult dropin_cuLaunchCooperativeKernel(CUfunction function, unsigned int grid_x,
                                          unsigned int grid_y, unsigned int grid_z,
                                          unsigned int block_x, unsigned int block_y,
                                          unsigned int block_z, unsigned int shared_bytes,
                                          CUstream stream, void **params);

/* launches of before CUDA 4.0: legacy.c */
CUresult dropin_cuFuncSetBlockShape(CUfunction function, int x, int y, int z);
CUresult dropin_cuFuncSetSharedSize(CUfunction function, unsigned int bytes);
CUresult dropin_cuParamSetSize(CUfunction function, unsigned int bytes);
CUresult dropin_cuParamSetv(CUfunction function, int offset, const void *value, size_t bytes);
CUresult dropin_launch_legacy(CUfunction function, int width, int height, CUstream stream);

/* memory: memory.c */
CUresult dropin_cuMemAllocPitch(CUdeviceptr *pointer, size_t *pitch, size_t width, size_t height,
                                unsigned int element_bytes);
CUresult dropin_cuMemHostGetFlags(unsigned int *flags, void *host);
CUresult dropin_cuMemHostRegister(void *host, size_t bytes, unsigned int flags);
CUresult dropin_cuMemHostUnregister(void *host);
CUresult dropin_cuMemGetAddressRange(CUdeviceptr *base, size_t *bytes, CUdeviceptr pointer);
CUresult dropin_cuPointerGetAttribute(void *data, CUpointer_attribute attribute,
                                      CUdeviceptr pointer);
CUresult dropin_cuPointerGetAttributes(unsigned int count, CUpointer_attribute *attributes,
                                       void **data, CUdeviceptr pointer);
/* Either address may be the host's: whatever is no device address. */
CUresult dropin_cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream);
CUresult dropin_cuMemcpy2DAsync(const CUDA_MEMCPY2D *copy, CUstream stream);
CUresult dropin_set_rows(CUdeviceptr to, size_t pitch, unsigned int value, unsigned int width,
                         size_t columns, size_t rows, CUstream stream);

/* streams and graphs: stream.c */
CUresult dropin_cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority);
CUresult dropin_cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags);
CUresult dropin_cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void *data,
                                    unsigned int flags);
CUresult dropin_cuStreamGetPriority(CUstream stream, int *priority);
CUresult dropin_cuStreamGetFlags(CUstream stream, unsigned int *flags);
CUresult dropin_cuStreamGetId(CUstream stream, unsigned long long *id);
CUresult dropin_cuStreamGetCtx(CUstream stream, CUcontext *context);
CUresult dropin_cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status);
CUresult dropin_cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode);
CUresult dropin_cuGraphUpload(CUgraphExec graph, CUstream stream);
CUresult dropin_cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data);

#endif
