"""The ladder's own images measured by nvbench (pip install 'cuda-bench[cu13]'), for comparison with
rung's figures: the same cubins, the same complete reduction, the same n. Used by measure.sh.

    nvbench_ladder.py IMAGES [nvbench options]     IMAGES: a folder of `rung build --target native`

Axes: version, block, bound. nvbench's cold samples follow a flush by memset with the stream held;
its batches run on warm data.
"""
import ctypes
import os
import sys

from cuda import bench

N = int(os.environ.get("LADDER_N", 16776605))
VERSIONS = [int(v) for v in os.environ.get("LADDER_VERSIONS", "1,2,3,4").split(",")]
BLOCKS = [int(b) for b in os.environ.get("LADDER_BLOCKS", "32,64,128,256,512,1024").split(",")]
BOUNDS = os.environ.get("LADDER_BOUNDS", "const,runtime").split(",")
ELEMENTS = {1: 1, 2: 1, 3: 1, 4: 2}  # per thread

cuda = ctypes.CDLL("libcuda.so.1")
images = None
memory = {}


def check(code, what):
    if code:
        raise RuntimeError(f"{what}: CUDA error {code}")


def allocate(name, size):
    """Device memory in nvbench's context, kept until the end."""
    if name not in memory:
        pointer = ctypes.c_uint64()
        check(cuda.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(size)), "cuMemAlloc")
        check(cuda.cuMemsetD32_v2(pointer, 0x3F800000, ctypes.c_size_t(size // 4)), "cuMemsetD32")
        memory[name] = pointer
    return memory[name]


def load(version, block, bound):
    symbol = f"reduce_v{version}_b{block}_{bound}"
    with open(os.path.join(images, symbol + ".cubin"), "rb") as file:
        cubin = file.read()
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    check(cuda.cuModuleLoadData(ctypes.byref(module), cubin), "cuModuleLoadData")
    check(cuda.cuModuleGetFunction(ctypes.byref(function), module, symbol.encode()),
          "cuModuleGetFunction")
    return function


def launches(block, version, source):
    """The passes from N floats to one: blocks and packed arguments of each."""
    passes, n, data, turn = [], N, source, 0
    while True:
        blocks = max(1, -(-n // (block * ELEMENTS[version])))
        out = allocate(f"partials{turn}", 4 * (N // 2 + 1))
        values = [ctypes.c_uint64(data.value), ctypes.c_uint64(out.value), ctypes.c_ulonglong(n)]
        pointers = (ctypes.c_void_p * 3)(*[ctypes.addressof(v) for v in values])
        passes.append((blocks, pointers, values))
        if blocks == 1:
            return passes
        n, data, turn = blocks, out, 1 - turn


def ladder(state):
    version, block = state.get_int64("version"), state.get_int64("block")
    function = load(version, block, state.get_string("bound"))
    passes = launches(block, version, allocate("input", 4 * N))
    state.add_element_count(N)
    state.add_global_memory_reads(4 * N)

    def run(launch):
        stream = ctypes.c_void_p(launch.get_stream().addressof())
        for blocks, pointers, _ in passes:
            cuda.cuLaunchKernel(function, blocks, 1, 1, block, 1, 1, 0, stream, pointers, None)

    state.exec(run)


if __name__ == "__main__":
    images = sys.argv[1]
    benchmark = bench.register(ladder)
    benchmark.add_int64_axis("version", VERSIONS)
    benchmark.add_int64_axis("block", BLOCKS)
    benchmark.add_string_axis("bound", BOUNDS)
    bench.run_all_benchmarks([sys.argv[0]] + sys.argv[2:])
