// Kernels whose modulo is known, for both code generators of NVRTC (test_inspect_forms.c).
// Before each kernel: its name, then verdict and number for targets below sm_100 (NVVM 7) and from
// there on (NVVM 20 and later). Figures of unrolling were counted by hand in the PTX of NVRTC 13.0.

#define TREE_HEAD(T)                                                                               \
    __shared__ T p[256];                                                                           \
    unsigned int tid = threadIdx.x;                                                                \
    unsigned long long i = (unsigned long long)blockIdx.x * 256 + tid;                             \
    p[tid] = i < n ? in[i] : T(0);                                                                 \
    __syncthreads();
#define TREE_TAIL                                                                                  \
    if (tid == 0)                                                                                  \
        out[blockIdx.x] = p[0];
#define TREE(name, T, pragma, loop, ...)                                                           \
    extern "C" __global__ void name(const T *in, T *out, unsigned long long n, unsigned step)      \
    {                                                                                              \
        TREE_HEAD(T)                                                                               \
        pragma for (loop)                                                                          \
        {                                                                                          \
            __VA_ARGS__                                                                            \
            __syncthreads();                                                                       \
        }                                                                                          \
        TREE_TAIL                                                                                  \
    }
#define CONST unsigned s = 1; s < 256; s *= 2
#define RUNTIME unsigned s = 1; s < blockDim.x; s *= 2
#define UNROLL(n) _Pragma(#n)

// The ladder: version 1 in every spelling, versions 2 and 3.
//= v1_const mask 8 mask 8
TREE(v1_const, float, , CONST, if (tid % (2 * s) == 0) p[tid] += p[tid + s];)
//= v1_const_f64 mask 8 mask 8
TREE(v1_const_f64, double, , CONST, if (tid % (2 * s) == 0) p[tid] += p[tid + s];)
//= v1_const_i32 mask 8 mask 8
TREE(v1_const_i32, int, , CONST, if (tid % (2 * s) == 0) p[tid] += p[tid + s];)
//= v1_const_unroll1 divide 1 mask 1
TREE(v1_const_unroll1, float, UNROLL(unroll 1), CONST, if (tid % (2 * s) == 0) p[tid] += p[tid + s];)
//= v1_const_unroll4 divide 4 mask 4
TREE(v1_const_unroll4, float, UNROLL(unroll 4), CONST, if (tid % (2 * s) == 0) p[tid] += p[tid + s];)
//= v1_const_unroll8 mask 8 mask 8
TREE(v1_const_unroll8, float, UNROLL(unroll 8), CONST, if (tid % (2 * s) == 0) p[tid] += p[tid + s];)
//= v1_runtime divide 1 mask 1
TREE(v1_runtime, float, , RUNTIME, if (tid % (2 * s) == 0) p[tid] += p[tid + s];)
//= v1_runtime_unroll4 divide 4 mask 4
TREE(v1_runtime_unroll4, float, UNROLL(unroll 4), RUNTIME, if (tid % (2 * s) == 0) p[tid] += p[tid + s];)
//= v1_runtime_unroll8 divide 8 mask 8
TREE(v1_runtime_unroll8, float, UNROLL(unroll 8), RUNTIME, if (tid % (2 * s) == 0) p[tid] += p[tid + s];)
//= v1_mask_const mask 8 mask 8
TREE(v1_mask_const, float, , CONST, if ((tid & (2 * s - 1)) == 0) p[tid] += p[tid + s];)
//= v1_mask_runtime mask 1 mask 1
TREE(v1_mask_runtime, float, , RUNTIME, if ((tid & (2 * s - 1)) == 0) p[tid] += p[tid + s];)
//= v1_shift_const mask 8 mask 8
TREE(v1_shift_const, float, , unsigned j = 0; (1u << j) < 256; ++j,
     if (tid % (2u << j) == 0) p[tid] += p[tid + (1u << j)];)
//= v1_shift_runtime mask 1 mask 1
TREE(v1_shift_runtime, float, , unsigned j = 0; (1u << j) < blockDim.x; ++j,
     if (tid % (2u << j) == 0) p[tid] += p[tid + (1u << j)];)
//= v1_opaque divide 1 divide 1
TREE(v1_opaque, float, UNROLL(unroll 1), unsigned s = 1; s < blockDim.x; s *= step,
     if (tid % (step * s) == 0) p[tid] += p[tid + s];)
//= v1_signed mask 8 mask 8
TREE(v1_signed, float, , int s = 1; s < 256; s *= 2,
     if ((int)threadIdx.x % (2 * s) == 0) p[tid] += p[tid + s];)
//= v1_signed_runtime divide 1 mask 1
TREE(v1_signed_runtime, float, , int s = 1; s < (int)blockDim.x; s *= 2,
     if ((int)threadIdx.x % (2 * s) == 0) p[tid] += p[tid + s];)
//= v1_with_bound mask 8 mask 8
TREE(v1_with_bound, float, , CONST, if (tid % (2 * s) == 0 && i + s < n) p[tid] += p[tid + s];)
//= v2_const none 0 none 0
TREE(v2_const, float, , CONST, unsigned q = 2 * s * tid; if (q < 256) p[q] += p[q + s];)
//= v2_runtime none 0 none 0
TREE(v2_runtime, float, , RUNTIME, unsigned q = 2 * s * tid; if (q < blockDim.x) p[q] += p[q + s];)
//= v3_const none 0 none 0
TREE(v3_const, float, , unsigned s = 128; s > 0; s >>= 1, if (tid < s) p[tid] += p[tid + s];)
//= v3_runtime none 0 none 0
TREE(v3_runtime, float, , unsigned s = blockDim.x / 2; s > 0; s >>= 1, if (tid < s) p[tid] += p[tid + s];)

// Not reductions, and traps.
#define KERNEL(name, ...) extern "C" __global__ void name(__VA_ARGS__)
#define LOAD                                                                                       \
    __shared__ float w[1024];                                                                      \
    unsigned tid = threadIdx.x;                                                                    \
    w[tid] = in[tid];                                                                              \
    __syncthreads();
#define STORE                                                                                      \
    __syncthreads();                                                                               \
    out[tid] = w[tid];

//= shuffle none 0 none 0
KERNEL(shuffle, const float *in, float *out)
{
    __shared__ float w[32];
    unsigned tid = threadIdx.x, lane = tid & 31;
    float x = in[tid];
    for (int o = 16; o; o >>= 1)
        x += __shfl_down_sync(~0u, x, o);
    if (lane == 0)
        w[tid >> 5] = x;
    __syncthreads();
    if (tid < 32) {
        x = tid < blockDim.x / 32 ? w[lane] : 0;
        for (int o = 16; o; o >>= 1)
            x += __shfl_down_sync(~0u, x, o);
        if (tid == 0)
            *out = x;
    }
}
//= lane_atomic none 0 none 0
KERNEL(lane_atomic, const float *in, float *out)
{
    float x = in[threadIdx.x];
    for (int o = 16; o; o >>= 1)
        x += __shfl_down_sync(~0u, x, o);
    if ((threadIdx.x & 31) == 0)
        atomicAdd(out, x);
}
//= lane_scan none 0 none 0
KERNEL(lane_scan, const float *in, float *out)
{
    LOAD
    unsigned lane = tid & 31;
    for (unsigned s = 1; s < 32; s *= 2) {
        float x = w[tid];
        if (lane >= s)
            x += w[tid - s];
        __syncthreads();
        w[tid] = x;
        __syncthreads();
    }
    STORE
}
//= float_division none 0 none 0
KERNEL(float_division, const float *in, float *out)
{
    LOAD
    if (w[tid] / in[tid + 1] > 0.5f)
        w[tid] += w[255 - tid];
    STORE
}
//= float_of_index none 0 none 0
KERNEL(float_of_index, const float *in, float *out, int m)
{
    LOAD
    if ((int)(1.0f / (float)(m + (int)tid) * 8.0f) > 1)
        w[tid] += w[255 - tid];
    STORE
}
//= by_three multiply 1 multiply 1
KERNEL(by_three, const float *in, float *out)
{
    LOAD
    if (tid % 3 == 0)
        w[tid] += w[tid + 1];
    STORE
}
//= by_three_signed multiply 1 multiply 1
KERNEL(by_three_signed, const float *in, float *out)
{
    LOAD
    if ((int)threadIdx.x % 3 == 1)
        w[tid] += w[tid + 1];
    STORE
}
//= by_six multiply 1 multiply 1
KERNEL(by_six, const float *in, float *out)
{
    LOAD
    if ((tid + 6 * blockIdx.x) % 6 == 0)
        w[tid] += w[tid + 1];
    STORE
}
//= address_by_seven multiply 1 multiply 1
KERNEL(address_by_seven, const float *in, float *out)
{
    unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
    out[i / 7] = in[i % 7];
}
//= strides none 0 none 0
KERNEL(strides, const float *in, float *out)
{
    LOAD
    if (tid * 12 + blockIdx.x * 1000 < 5000)
        w[tid] += in[tid * 33 + 5 + blockIdx.x * 100000];
    STORE
}
//= signed_divisor divide 1 divide 1
KERNEL(signed_divisor, const float *in, float *out, int m)
{
    LOAD
    if ((int)threadIdx.x % m == 0)
        w[tid] += w[tid + 1];
    STORE
}
//= long_divisor divide 2 divide 2
KERNEL(long_divisor, const float *in, float *out, unsigned long long m)
{
    LOAD
    if ((tid + blockIdx.x * 256ull) % m == 0)
        w[tid] += w[tid + 1];
    STORE
}
//= short_divisor divide 1 divide 1
KERNEL(short_divisor, const float *in, float *out, unsigned short m)
{
    LOAD
    if ((unsigned short)threadIdx.x % m == 0)
        w[tid] += w[tid + 1];
    STORE
}
//= early_return divide 1 divide 1
KERNEL(early_return, const float *in, float *out, unsigned m)
{
    unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i % m)
        return;
    out[i] += in[i];
}
//= address_divisor divide 1 divide 1
KERNEL(address_divisor, const float *in, float *out, unsigned m)
{
    unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
    out[i % m] += in[i / m];
}
//= block_divisor none 0 none 0
KERNEL(block_divisor, const float *in, float *out, unsigned m)
{
    LOAD
    if (blockIdx.x % m == 0)
        w[tid] += w[tid + 1];
    STORE
}
//= negative_index mask 1 mask 1
KERNEL(negative_index, const float *in, float *out)
{
    LOAD
    if (((int)threadIdx.x - 7) % 16 == 1)
        w[tid] += w[tid + 1];
    STORE
}
//= mask_of_bits mask 1 mask 1
KERNEL(mask_of_bits, const float *in, float *out, unsigned j)
{
    LOAD
    if ((tid & ((1u << j) - 1)) == 0)
        w[tid] += w[tid + 1];
    STORE
}
//= butterfly none 0 none 0
KERNEL(butterfly, const float *in, float *out, unsigned s)
{
    LOAD
    if ((tid & s) == 0)
        w[tid] += w[tid ^ s];
    STORE
}
//= second_dimension mask 8 mask 8
KERNEL(second_dimension, const float *in, float *out)
{
    __shared__ float w[256];
    unsigned y = threadIdx.y;
    w[y] = in[y];
    __syncthreads();
    for (unsigned s = 1; s < 256; s *= 2) {
        if (y % (2 * s) == 0)
            w[y] += w[y + s];
        __syncthreads();
    }
    out[y] = w[y];
}
//= in_global_memory mask 1 mask 1
KERNEL(in_global_memory, float *data, unsigned n)
{
    unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i + 2048 < n && i % 4096 == 0)
        data[i] += data[i + 2048];
}
//= both mixed 0 mixed 0
KERNEL(both, const float *in, float *out, unsigned m)
{
    LOAD
    if (tid % 8 == 0)
        w[tid] += w[tid + 4];
    __syncthreads();
    if (tid % m == 0)
        w[tid] += w[tid + 1];
    STORE
}
//= grid_stride none 0 none 0
KERNEL(grid_stride, const float *in, float *out, unsigned n)
{
    for (unsigned i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += gridDim.x * blockDim.x)
        out[i] += in[i];
}
//= histogram none 0 none 0
KERNEL(histogram, const unsigned *in, unsigned *out, unsigned n)
{
    unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n)
        atomicAdd(out + (in[i] & 63), 1);
}
//= empty none 0 none 0
KERNEL(empty)
{
}
