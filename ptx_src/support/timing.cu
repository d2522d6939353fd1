// What measuring needs beside the ladder: a kernel that holds the stream until the host has queued
// all of a sample, one that reads a buffer (to flush L2), and one that stamps the clocks of an SM.
// Header-free; generated/support/timing.ptx is made from it for the oldest target.

static __device__ unsigned long long now_ns()
{
    unsigned long long ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

// One thread. Ends when the host sets *release, or by itself after limit_ns: then *gave_up is set
// and the sample is void. Both words are host memory mapped into the device.
extern "C" __global__ void rung_hold(const volatile unsigned *release, volatile unsigned *gave_up,
                                     unsigned long long limit_ns)
{
    const unsigned long long begin = now_ns();
    while (*release == 0) {
        if (now_ns() - begin > limit_ns) {
            *gave_up = 1;
            break;
        }
    }
}

// Reads n 16-byte words, eight independent loads a thread in flight. The store never happens with
// the buffer's contents (all bytes 0); the compiler cannot know.
extern "C" __global__ void __launch_bounds__(512)
    rung_read(const uint4 *data, unsigned long long n, unsigned *sink)
{
    const unsigned long long stride = (unsigned long long)gridDim.x * blockDim.x;
    unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    unsigned seen = 0;
    for (; i + 7 * stride < n; i += 8 * stride) {
        uint4 words[8];
#pragma unroll
        for (int k = 0; k < 8; k++)
            words[k] = data[i + k * stride];
#pragma unroll
        for (int k = 0; k < 8; k++)
            seen |= words[k].x | words[k].y | words[k].z | words[k].w;
    }
    for (; i < n; i += stride) {
        const uint4 word = data[i];
        seen |= word.x | word.y | word.z | word.w;
    }
    if (seen)
        *sink = seen;
}

// Blocks of one thread, enough of them that SM 0 gets one: it writes its cycle counter, the global
// timer and then the sequence number, by which the host knows that the two are of this launch.
extern "C" __global__ void rung_stamp(volatile unsigned long long *out, unsigned long long sequence)
{
    unsigned sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    if (sm == 0) {
        out[0] = clock64();
        out[1] = now_ns();
        __threadfence_system();
        out[2] = sequence;
    }
}
