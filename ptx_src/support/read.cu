// The kernel that measures the read ceiling: 16-byte loads, four in flight a thread, 2048 threads
// an SM, in whole tiles as librung reads them. Of a buffer of zeros it stores nothing; the compiler
// cannot know that. n counts 16-byte words. Header-free; generated/support/read.ptx is made from
// it.
enum : unsigned { threads = 512, loads = 4 };

extern "C" __global__ void __launch_bounds__(threads, 4)
    rung_read(const uint4 *in, unsigned *out, unsigned long long n)
{
    const unsigned long long step = (unsigned long long)gridDim.x * threads * loads;
    unsigned long long i = (unsigned long long)blockIdx.x * threads * loads + threadIdx.x;
    unsigned seen = 0;
    // Kept as it is: unrolled further the loads of a round wait for registers.
#pragma unroll 1
    for (; i + (loads - 1) * threads < n; i += step) {
        uint4 v[loads];
#pragma unroll
        for (unsigned k = 0; k < loads; k++)
            v[k] = in[i + k * threads];
#pragma unroll
        for (unsigned k = 0; k < loads; k++)
            seen |= v[k].x | v[k].y | v[k].z | v[k].w;
    }
    for (unsigned k = 0; k < loads && i + k * threads < n; k++) // of the tile that is not whole
        seen |= in[i + k * threads].x | in[i + k * threads].y | in[i + k * threads].z |
                in[i + k * threads].w;
    if (seen)
        *out = seen;
}
