// Written by rung-gen from ptx_src/reduce_v8.cu.in. Do not edit:
// `cmake --build build --target generate` writes it anew.
//
// v8-b256-const-f64: shuffles in the last warp.
// 256 threads per block, loop bound known, unrolled, sum of f64.
// One full block: 640 additions, 384 of them in the tree; 12 body runs, 12 serialised.

extern "C" __global__ void reduce_v8_b256_const_f64(const double *in, double *out, unsigned long long n)
{
    __shared__ double tile[256];
    const unsigned int tid = threadIdx.x;
    const unsigned long long block = blockIdx.x;
    const unsigned long long grid = gridDim.x;

    unsigned long long i = block * 256 + tid;
    double sum = i < n ? in[i] : 0.0;

    for (i += grid * 256; i < n; i += grid * 256)
        sum += in[i];

    tile[tid] = sum;
    __syncthreads();

    if (tid < 128)
        tile[tid] += tile[tid + 128];
    __syncthreads();
    if (tid < 64)
        tile[tid] += tile[tid + 64];
    __syncthreads();

    // The step of 32, where the block has it, still reads the other half from shared memory.
    if (tid < 32) {
        sum = tile[tid];
        sum += tile[tid + 32];

        sum += __shfl_down_sync(0xffffffffu, sum, 16, 32);
        sum += __shfl_down_sync(0xffffffffu, sum, 8, 32);
        sum += __shfl_down_sync(0xffffffffu, sum, 4, 32);
        sum += __shfl_down_sync(0xffffffffu, sum, 2, 32);
        sum += __shfl_down_sync(0xffffffffu, sum, 1, 32);
    }

    if (tid == 0)
        out[block] = sum;
}

// The model of this kernel, from the same directives as its text. If it counts wrongly,
// nothing here compiles.
namespace model {
enum : unsigned int { threads = 256, element_bytes = 8 };

enum : unsigned int { warps = (threads + 31) / 32, steps_max = 32 };
enum : int { nothing = -1, identity = -2 }; // instead of a slot of the tile

// A part of the kernel. It overrides what it has: `take` and `store` copy between tile and register
// before the steps, `to` and `from` are the operands of an addition (nothing: the register, a
// shuffle), `put` is where its result is stored.
struct phase {
    enum { copies = false, puts = false };
    unsigned int s = 0;
    __device__ constexpr bool more() const { return false; }
    __device__ constexpr void next() {}
    __device__ constexpr bool active(unsigned int) const { return true; }
    __device__ constexpr int take(unsigned int) const { return nothing; }
    __device__ constexpr int store(unsigned int) const { return nothing; }
    __device__ constexpr int to(unsigned int) const { return nothing; }
    __device__ constexpr int from(unsigned int) const { return nothing; }
    __device__ constexpr unsigned int lane(unsigned int tid) const { return tid; }
    __device__ constexpr int put(unsigned int) const { return nothing; }
};

struct counts {
    unsigned int additions, runs, serialised;
    bool reduces; // every value reached the result exactly once
    unsigned int steps, active[steps_max][warps]; // lanes of each warp at each step
};

// One block: weights stand for its elements, so that no wrong tree sums to the right total.
struct block {
    unsigned long long tile[threads], sum[threads], result[threads];
    int to[threads], from[threads], put[threads]; // of the step at hand
    unsigned int seen[threads], stamp, loaded[warps];
};

__device__ constexpr unsigned int larger(unsigned int a, unsigned int b) { return a > b ? a : b; }

__device__ constexpr unsigned long long weight(unsigned int element)
{
    unsigned long long x = (element + 1) * 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    return x ^ (x >> 27);
}

// Whether two kernels activate the same threads at every step.
__device__ constexpr bool same_threads(const counts &x, const counts &y)
{
    for (unsigned int step = 0; step < x.steps; ++step)
        for (unsigned int warp = 0; warp < warps; ++warp)
            if (x.active[step][warp] != y.active[step][warp])
                return false;
    return x.steps == y.steps;
}

// The bank-conflict degree of one access of a warp: lanes are served in groups that move 128 bytes,
// and a group needs as many turns as its busiest bank has distinct slots; the worst group counts.
__device__ constexpr unsigned int degree(block &b, unsigned int first, unsigned int lanes,
                                         const int (&slots)[threads])
{
    constexpr unsigned int group = 128 / element_bytes;
    unsigned int worst = 0;
    for (unsigned int start = 0; start < 32; start += group) {
        unsigned char ways[group] = {};
        ++b.stamp;
        for (unsigned int lane = start; lane < start + group && lanes >> lane; ++lane) {
            if (!(lanes >> lane & 1))
                continue;
            const int slot = slots[first + lane];
            if (slot < 0 || b.seen[slot] == b.stamp)
                continue; // no shared memory, or the same word: a broadcast
            b.seen[slot] = b.stamp;
            worst = larger(worst, ++ways[slot % group]);
        }
    }
    return worst;
}

template <class Phase>
__device__ constexpr unsigned int active_lanes(const Phase &p, unsigned int first)
{
    unsigned int lanes = 0;
    for (unsigned int tid = first; tid < first + 32 && tid < threads; ++tid)
        if (p.active(tid))
            lanes |= 1u << (tid - first);
    return lanes;
}

template <class Phase>
__device__ constexpr void copy(const Phase &p, block &b, unsigned int first, unsigned int lanes)
{
    for (unsigned int lane = 0; lane < 32 && lanes >> lane; ++lane) {
        if (!(lanes >> lane & 1))
            continue;
        const unsigned int tid = first + lane;
        const int take = b.from[tid] = p.take(tid), store = p.store(tid);
        if (take != nothing)
            b.sum[tid] = take == identity ? 0 : b.tile[take];
        if (store != nothing)
            b.tile[store] = b.sum[tid];
    }
    if (p.take(first) != nothing)
        b.loaded[first / 32] = degree(b, first, lanes, b.from);
}

// One step by one warp: counts it, and leaves its sums aside until every warp has read.
template <class Phase>
__device__ constexpr void step(counts &c, const Phase &p, block &b, unsigned int first,
                               unsigned int lanes)
{
    for (unsigned int lane = 0; lane < 32 && lanes >> lane; ++lane) {
        if (!(lanes >> lane & 1))
            continue;
        const unsigned int tid = first + lane;
        const int to = b.to[tid] = p.to(tid), from = b.from[tid] = p.from(tid);
        b.result[tid] = (to == nothing ? b.sum[tid] : b.tile[to]) +
                        (from == nothing ? b.sum[p.lane(tid)] : b.tile[from]);
        if (Phase::puts)
            b.put[tid] = p.put(tid);
        ++c.additions;
    }
    unsigned int ways = larger(degree(b, first, lanes, b.to), degree(b, first, lanes, b.from));
    if (Phase::puts)
        ways = larger(ways, degree(b, first, lanes, b.put));
    if (p.to(first) == nothing)
        ways = larger(ways, b.loaded[first / 32]);
    b.loaded[first / 32] = 0;
    c.serialised += larger(ways, 1);
    ++c.runs;
    c.active[c.steps][first / 32] = lanes;
}

// The sums of a step of one warp: each where it belongs.
template <class Phase>
__device__ constexpr void settle(block &b, unsigned int first, unsigned int lanes)
{
    for (unsigned int lane = 0; lane < 32 && lanes >> lane; ++lane) {
        if (!(lanes >> lane & 1))
            continue;
        const unsigned int tid = first + lane;
        (b.to[tid] == nothing ? b.sum[tid] : b.tile[b.to[tid]]) = b.result[tid];
        if (Phase::puts)
            b.tile[b.put[tid]] = b.sum[tid];
    }
}

template <class Phase> __device__ constexpr void run(counts &c, block &b)
{
    Phase p;
    for (unsigned int first = 0; first < threads && Phase::copies; first += 32)
        copy(p, b, first, active_lanes(p, first));
    for (; p.more(); p.next(), ++c.steps) {
        for (unsigned int first = 0; first < threads; first += 32)
            if (const unsigned int lanes = active_lanes(p, first))
                step(c, p, b, first, lanes);
        for (unsigned int warp = 0; warp < warps; ++warp)
            settle<Phase>(b, 32 * warp, c.active[c.steps][warp]);
    }
}

// Runs the phases in order over a block whose threads have loaded one value each.
template <class Kernel, class... Phases> __device__ constexpr counts count()
{
    counts c = {};
    block b = {};
    unsigned long long total = 0;
    for (unsigned int tid = 0; tid < threads; ++tid) {
        const int slot = Kernel::load(tid);
        total += (slot == nothing ? b.sum[tid] : b.tile[slot]) = weight(tid);
    }
    (run<Phases>(c, b), ...);
    c.reduces = (Kernel::result() == nothing ? b.sum[0] : b.tile[Kernel::result()]) == total;
    return c;
}

namespace version_7 {
struct phase_1 : phase {
    enum { copies = true, puts = false };
    __device__ constexpr int store(unsigned int tid) const { return tid; }
};
struct phase_2 : phase {
    unsigned int s = 128;
    __device__ constexpr bool more() const { return s > 32; }
    __device__ constexpr void next() { s >>= 1; }
    __device__ constexpr bool active(unsigned int tid) const { return tid < s; }
    __device__ constexpr int to(unsigned int tid) const { return tid; }
    __device__ constexpr int from(unsigned int tid) const { return tid + s; }
};
struct phase_3 : phase {
    enum { copies = true, puts = true };
    unsigned int s = 32;
    __device__ constexpr bool more() const { return s > 0; }
    __device__ constexpr void next() { s >>= 1; }
    __device__ constexpr bool active(unsigned int tid) const { return tid < 32; }
    __device__ constexpr int take(unsigned int tid) const { return tid; }
    __device__ constexpr int from(unsigned int tid) const { return tid + s; }
    __device__ constexpr int put(unsigned int tid) const { return tid; }
};
struct kernel {
    __device__ static constexpr int load(unsigned int tid) { return nothing; }
    __device__ static constexpr int result() { return 0; }
};
} // namespace version_7

namespace version_8 {
struct phase_1 : phase {
    enum { copies = true, puts = false };
    __device__ constexpr int store(unsigned int tid) const { return tid; }
};
struct phase_2 : phase {
    unsigned int s = 128;
    __device__ constexpr bool more() const { return s > 32; }
    __device__ constexpr void next() { s >>= 1; }
    __device__ constexpr bool active(unsigned int tid) const { return tid < s; }
    __device__ constexpr int to(unsigned int tid) const { return tid; }
    __device__ constexpr int from(unsigned int tid) const { return tid + s; }
};
struct phase_3 : phase {
    enum { copies = true, puts = false };
    unsigned int s = 32;
    __device__ constexpr bool more() const { return s == 32 && s < 256; }
    __device__ constexpr void next() { s >>= 1; }
    __device__ constexpr bool active(unsigned int tid) const { return tid < 32; }
    __device__ constexpr int take(unsigned int tid) const { return tid; }
    __device__ constexpr int from(unsigned int tid) const { return tid + s; }
};
struct phase_4 : phase {
    unsigned int s = 16;
    __device__ constexpr bool more() const { return s > 0; }
    __device__ constexpr void next() { s >>= 1; }
    __device__ constexpr bool active(unsigned int tid) const { return tid < 32; }
    __device__ constexpr unsigned int lane(unsigned int tid) const { return tid % (32) + (s) < (32) ? tid + (s) : tid; }
};
struct kernel {
    __device__ static constexpr int load(unsigned int tid) { return nothing; }
    __device__ static constexpr int result() { return nothing; }
};
} // namespace version_8

// Two blocks read each of 2047 elements once.
__device__ constexpr bool reads_each_once()
{
    constexpr unsigned long long grid = 2, n = 2047;
    unsigned char times[n] = {};
    for (unsigned long long block = 0; block < grid; ++block)
        for (unsigned int tid = 0; tid < threads; ++tid) {
            unsigned long long i = block * 256 + tid;
            if (i < n)
                ++times[i];
            for (i += grid * 256; i < n; i += grid * 256)
                if (i < n)
                    ++times[i];
        }
    for (unsigned char count : times)
        if (count != 1)
            return false;
    return true;
}

__device__ constexpr void held()
{
    constexpr counts v7 = count<version_7::kernel, version_7::phase_1, version_7::phase_2, version_7::phase_3>();
    constexpr counts v8 = count<version_8::kernel, version_8::phase_1, version_8::phase_2, version_8::phase_3, version_8::phase_4>();
    static_assert(v8.reduces, "every value reaches the result once, by 255 additions");
    static_assert(reads_each_once(), "every element is read once");
    static_assert(v8.additions == 384 && v8.runs == 12 && v8.serialised == 12,
                  "the counts above");
    static_assert(v8.additions == v7.additions && v8.runs == v7.runs,
                  "width < 64 || additions == v7.additions && runs == v7.runs");
}
} // namespace model
