"""NVIDIA's cuda.core on the simulator: streams, libraries and kernels as its own objects."""
import ctypes
import pathlib
import sys

try:
    from cuda.bindings import driver as cu
    from cuda.core import Device, LaunchConfig, ObjectCode, launch
except ImportError as reason:
    print("skipped:", reason)
    sys.exit(77)

N = 1000
device = Device(0)
device.set_current()
assert "PTX simulator" in device.name, device.name
stream = device.create_stream()
code = ObjectCode.from_ptx((pathlib.Path(__file__).parent / "scale.ptx").read_bytes())
kernel = code.get_kernel("scale")
assert kernel.num_arguments == 3, kernel.num_arguments

host = (ctypes.c_float * N)(*range(N))
size = ctypes.sizeof(host)
_, memory = cu.cuMemAlloc(size)
cu.cuMemcpyHtoD(memory, ctypes.addressof(host), size)
launch(stream, LaunchConfig(grid=8, block=128), kernel,
       int(memory), ctypes.c_float(3.0), ctypes.c_uint32(N))
stream.sync()
ctypes.memset(host, 0, size)
cu.cuMemcpyDtoH(ctypes.addressof(host), memory, size)
assert list(host) == [3.0 * i for i in range(N)]
cu.cuMemFree(memory)
print("cuda.core: ok")
