// The kernel that measures the read ceiling: it reads as librung does, 16-byte loads, eight in
// flight a thread, in whole tiles, a row of them a block. Of a buffer of zeros it stores nothing;
// the compiler cannot know that. n counts 16-byte words. Header-free; generated/support/read.ptx is
// made from it.
enum : unsigned { threads = 512, loads = 8 };

static __device__ unsigned bits(const uint4 &v)
{
    return v.x | v.y | v.z | v.w;
}

extern "C" __global__ void __launch_bounds__(threads, 2)
    rung_read(const uint4 *in, unsigned *out, unsigned long long n)
{
    const unsigned stride = gridDim.x * threads, tile = threads * loads;
    const unsigned long long rounds = n / ((unsigned long long)gridDim.x * tile);
    const uint4 *at = in + blockIdx.x * rounds * tile + threadIdx.x;
    unsigned seen = 0;
    // Kept as it is: unrolled further the loads of a round wait for registers.
#pragma unroll 1
    for (unsigned long long round = 0; round < rounds; round++, at += tile) {
        uint4 v[loads];
#pragma unroll
        for (unsigned k = 0; k < loads; k++)
            v[k] = at[k * threads];
#pragma unroll
        for (unsigned k = 0; k < loads; k++)
            seen |= bits(v[k]);
    }
    unsigned long long i = rounds * gridDim.x * tile + blockIdx.x * threads + threadIdx.x;
    for (; i < n; i += stride)
        seen |= bits(in[i]);
    if (seen)
        *out = seen;
}
