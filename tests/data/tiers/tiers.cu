// One kernel for each tier of instructions that the simulator executes beyond the ladder's own:
// atomics, the last warp as of 2007 and as of today, shuffles, vectors, fences, votes, matches,
// barriers that count, early returns. Each sums n ones into o[0], or counts them.
// tiers_sm<NN>.ptx is this file by `nvcc -ptx -arch=compute_<NN>`, CUDA 13.0.
typedef unsigned long long u64;
constexpr unsigned block = 256;

__device__ unsigned ticket;
__device__ float partials[64];

extern "C" {

__global__ void t_atomic(const float *x, float *o, u64 n)
{
    const u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(o, x[i]);
}

// Volatile, without __syncwarp: lanes of one warp are not ordered. Must be reported.
__global__ void t_last_warp_2007(const float *x, float *o, u64 n)
{
    __shared__ float t[block];
    const unsigned tid = threadIdx.x;
    const u64 i = blockIdx.x * (u64)block + tid;
    t[tid] = i < n ? x[i] : 0;
    __syncthreads();
    for (int s = block / 2; s > 32; s >>= 1) {
        if (tid < s)
            t[tid] += t[tid + s];
        __syncthreads();
    }
    if (tid < 32) {
        volatile float *v = t;
        v[tid] += v[tid + 32];
        v[tid] += v[tid + 16];
        v[tid] += v[tid + 8];
        v[tid] += v[tid + 4];
        v[tid] += v[tid + 2];
        v[tid] += v[tid + 1];
    }
    if (tid == 0)
        atomicAdd(o, t[0]);
}

__global__ void t_last_warp(const float *x, float *o, u64 n)
{
    __shared__ float t[block];
    const unsigned tid = threadIdx.x;
    const u64 i = blockIdx.x * (u64)block + tid;
    t[tid] = i < n ? x[i] : 0;
    __syncthreads();
    for (int s = block / 2; s > 32; s >>= 1) {
        if (tid < s)
            t[tid] += t[tid + s];
        __syncthreads();
    }
    if (tid < 32) {
        float v = t[tid];
        for (int s = 32; s; s >>= 1) {
            v += t[tid + s];
            __syncwarp();
            t[tid] = v;
            __syncwarp();
        }
    }
    if (tid == 0)
        atomicAdd(o, t[0]);
}

__global__ void t_two_level(const float *x, float *o, u64 n)
{
    __shared__ float w[32];
    const unsigned tid = threadIdx.x;
    const u64 i = blockIdx.x * (u64)blockDim.x + tid;
    float v = i < n ? x[i] : 0;
    for (int d = 16; d; d >>= 1)
        v += __shfl_down_sync(~0u, v, d);
    if (tid % 32 == 0)
        w[tid / 32] = v;
    __syncthreads();
    if (tid < 32) {
        v = tid < (blockDim.x + 31) / 32 ? w[tid] : 0;
        for (int d = 16; d; d >>= 1)
            v += __shfl_down_sync(~0u, v, d);
        if (!tid)
            atomicAdd(o, v);
    }
}

__global__ void t_butterfly(const float *x, float *o, u64 n)
{
    const u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x;
    double v = i < n ? x[i] : 0;
    for (int m = 16; m; m >>= 1)
        v += __shfl_xor_sync(~0u, v, m);
    if (threadIdx.x % 32 == 0)
        atomicAdd(o, (float)v);
}

__global__ void t_vectors(const float *x, float *o, u64 n)
{
    const u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x, all = gridDim.x * (u64)blockDim.x;
    float s = 0;
    for (u64 k = i; k < n / 4; k += all) {
        const float4 f = ((const float4 *)x)[k];
        s += f.x + f.y + f.z + f.w;
    }
    for (u64 k = n / 4 * 4 + i; k < n; k += all)
        s += __ldcg(x + k);
    atomicAdd(o, s);
}

__global__ void t_last_block(const float *x, float *o, u64 n)
{
    __shared__ float t[block];
    __shared__ bool last;
    const unsigned tid = threadIdx.x;
    const u64 i = blockIdx.x * (u64)block + tid;
    t[tid] = i < n ? x[i] : 0;
    __syncthreads();
    for (int s = block / 2; s; s >>= 1) {
        if (tid < s)
            t[tid] += t[tid + s];
        __syncthreads();
    }
    if (tid == 0) {
        partials[blockIdx.x] = t[0];
        __threadfence();
        last = atomicInc(&ticket, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) {
        __threadfence();
        float s = 0;
        for (unsigned k = tid; k < gridDim.x; k += block)
            s += ((volatile float *)partials)[k];
        t[tid] = s;
        __syncthreads();
        for (int q = block / 2; q; q >>= 1) {
            if (tid < q)
                t[tid] += t[tid + q];
            __syncthreads();
        }
        if (!tid)
            o[0] = t[0];
    }
}

__global__ void t_ballot(const float *x, float *o, u64 n)
{
    const u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x;
    const unsigned b = __ballot_sync(~0u, i < n && x[i] > 0);
    if (threadIdx.x % 32 == 0)
        atomicAdd(o, (float)__popc(b));
}

__global__ void t_match(const float *x, float *o, u64 n)
{
    const unsigned m = __match_any_sync(~0u, threadIdx.x & 3), leader = __ffs(m) - 1;
    const u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x;
    if ((threadIdx.x & 31) == leader && i / 32 * 32 + 32 <= n)
        atomicAdd(o, (float)__popc(m));
    if (i == n - 1)
        atomicAdd(o, x[i]);
}

__global__ void t_aggregate(const float *x, float *o, u64 n)
{
    const u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x;
    if (i < n) {
        const unsigned m = __activemask();
        if ((threadIdx.x & 31) == __ffs(m) - 1)
            atomicAdd(o, (float)__popc(m));
    }
}

__global__ void t_counting_barrier(const float *x, float *o, u64 n)
{
    const u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x;
    const int count = __syncthreads_count(i < n);
    const int all = __syncthreads_and(i < n + blockDim.x), any = __syncthreads_or(i < n);
    if (threadIdx.x == 0 && all && any)
        atomicAdd(o, (float)count);
}

__global__ void t_early_return(const float *x, float *o, u64 n)
{
    __shared__ float s;
    const u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if (threadIdx.x == 0)
        s = 0;
    __syncthreads();
    atomicAdd(&s, x[i]);
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(o, s);
}

__global__ void t_compensated(const float *x, float *o, u64 n)
{
    if (threadIdx.x || blockIdx.x)
        return;
    float s = 0, c = 0;
    for (u64 i = 0; i < n; i++) {
        const float y = x[i] - c, t = s + y;
        c = (t - s) - y;
        s = t;
    }
    o[0] = s;
}

#if __CUDA_ARCH__ >= 800
__global__ void t_redux(const float *x, float *o, u64 n)
{
    const u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x;
    const int v = __reduce_add_sync(~0u, i < n ? (int)x[i] : 0);
    if (threadIdx.x % 32 == 0)
        atomicAdd(o, (float)v);
}
#endif
}
