"""NVIDIA's cuda-bindings on the simulator: load PTX with logs, launch, read back, and see the
driver's own code for an image that it cannot take."""
import ctypes
import pathlib
import sys

try:
    from cuda.bindings import driver as cu
except ImportError as reason:
    print("skipped:", reason)
    sys.exit(77)


def check(result):
    code, *values = result
    if code != cu.CUresult.CUDA_SUCCESS:
        raise RuntimeError(f"{code} {cu.cuGetErrorName(code)}")
    return values[0] if len(values) == 1 else values


N = 1000
ptx = (pathlib.Path(__file__).parent / "scale.ptx").read_bytes() + b"\0"
check(cu.cuInit(0))
device = check(cu.cuDeviceGet(0))
name = check(cu.cuDeviceGetName(128, device)).rstrip(b"\0").decode()
assert "PTX simulator" in name, name
context = check(cu.cuDevicePrimaryCtxRetain(device))
check(cu.cuCtxSetCurrent(context))
module = check(cu.cuModuleLoadData(ptx))
kernel = check(cu.cuModuleGetFunction(module, b"scale"))
most = check(cu.cuFuncGetAttribute(cu.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                                   kernel))
assert most == 1024, most

host = (ctypes.c_float * N)(*range(N))
size = ctypes.sizeof(host)
memory = check(cu.cuMemAlloc(size))
stream = check(cu.cuStreamCreate(cu.CUstream_flags.CU_STREAM_NON_BLOCKING))
check(cu.cuMemcpyHtoDAsync(memory, ctypes.addressof(host), size, stream))
arguments = ((int(memory), 2.5, N), (ctypes.c_void_p, ctypes.c_float, ctypes.c_uint32))
check(cu.cuLaunchKernel(kernel, (N + 127) // 128, 1, 1, 128, 1, 1, 0, stream, arguments, 0))
ctypes.memset(host, 0, size)
check(cu.cuMemcpyDtoHAsync(ctypes.addressof(host), memory, size, stream))
check(cu.cuStreamSynchronize(stream))
assert list(host) == [2.5 * i for i in range(N)]

code, _ = cu.cuModuleLoadData(b"\x7fELF not a kernel\0")
assert code == cu.CUresult.CUDA_ERROR_NO_BINARY_FOR_GPU, code
code, name = cu.cuGetErrorName(code)
assert name == b"CUDA_ERROR_NO_BINARY_FOR_GPU", name

check(cu.cuStreamDestroy(stream))
check(cu.cuMemFree(memory))
check(cu.cuModuleUnload(module))
check(cu.cuDevicePrimaryCtxRelease(device))
print("cuda-bindings: ok")
