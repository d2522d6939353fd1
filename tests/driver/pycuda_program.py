"""PyCUDA on the simulator: contexts of its own, memory, a module from PTX, events."""
import pathlib
import sys

try:
    import numpy
    import pycuda.driver as cuda
except ImportError as reason:
    print("skipped:", reason)
    sys.exit(77)

N = 1000
cuda.init()
assert cuda.Device.count() == 1
device = cuda.Device(0)
assert "PTX simulator" in device.name(), device.name()
context = device.make_context()
try:
    source = (pathlib.Path(__file__).parent / "scale.ptx").read_bytes()
    module = cuda.module_from_buffer(source)
    scale = module.get_function("scale")
    assert scale.shared_size_bytes == 0 and scale.max_threads_per_block == 1024
    host = numpy.arange(N, dtype=numpy.float32)
    memory = cuda.to_device(host)
    begin, end = cuda.Event(), cuda.Event()
    begin.record()
    scale(memory, numpy.float32(0.5), numpy.uint32(N), block=(128, 1, 1), grid=(8, 1))
    end.record()
    end.synchronize()
    assert begin.time_till(end) > 0
    result = cuda.from_device(memory, host.shape, host.dtype)
    assert (result == host / 2).all()
    memory.free()
    try:
        scale(numpy.uint64(0), numpy.float32(1), numpy.uint32(1), block=(2048, 1, 1), grid=(1, 1))
        raise AssertionError("2048 threads were launched")
    except cuda.LogicError as refused:
        assert "invalid" in str(refused).lower() or "argument" in str(refused), refused
finally:
    context.pop()
    context.detach()
print("pycuda: ok")
