// What librung is measured beside: the sums of the CUDA toolkit's own libraries, behind plain
// functions. Built by sum.sh with nvcc, loaded by bench_sum.
#include <cub/device/device_reduce.cuh>
#include <cub/version.cuh>
#include <thrust/execution_policy.h>
#include <thrust/reduce.h>

#define PEER extern "C" __attribute__((visibility("default")))

// 300001 for 3.0.1.
PEER int peer_version()
{
    return CUB_VERSION;
}

// As cub::DeviceReduce::Sum; with `memory` NULL it sets *bytes and does nothing else.
PEER int peer_sum_f32(void *memory, size_t *bytes, const float *x, float *out, long long n,
                      cudaStream_t stream)
{
    return (int)cub::DeviceReduce::Sum(memory, *bytes, x, out, n, stream);
}

PEER float peer_value_f32(const float *x, long long n, cudaStream_t stream)
{
    return thrust::reduce(thrust::cuda::par.on(stream), x, x + n);
}
