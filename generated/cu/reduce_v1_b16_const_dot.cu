// Written by rung-gen from ptx_src/reduce_v1.cu.in. Do not edit:
// `cmake --build build --target generate` writes it anew.
//
// v1-b16-const-dot: interleaved, divergent.
// 16 threads per block, loop bound known, unrolled, dot of f32.
// One full block: 15 additions, 15 of them in the tree; 4 body runs, 4 serialised.

extern "C" __global__ void reduce_v1_b16_const_dot(const float *a, const float *b, float *out, unsigned long long n)
{
    __shared__ float tile[16];
    const unsigned int tid = threadIdx.x;
    const unsigned long long block = blockIdx.x;

    const unsigned long long i = block * 16 + tid;
    tile[tid] = i < n ? a[i] * b[i] : 0.0f;
    __syncthreads();

    for (unsigned int s = 1; s < 16; s *= 2) {
        if (tid % (2 * s) == 0)
            tile[tid] += tile[tid + s];
        __syncthreads();
    }

    if (tid == 0)
        out[block] = tile[0];
}

// The model of this kernel, from the same directives as its text. If it counts wrongly,
// nothing here compiles.
namespace model {
enum : unsigned int { threads = 16, element_bytes = 4 };

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

namespace version_1 {
struct phase_1 : phase {
    unsigned int s = 1;
    __device__ constexpr bool more() const { return s < 16; }
    __device__ constexpr void next() { s *= 2; }
    __device__ constexpr bool active(unsigned int tid) const { return tid % (2 * s) == 0; }
    __device__ constexpr int to(unsigned int tid) const { return tid; }
    __device__ constexpr int from(unsigned int tid) const { return tid + s; }
};
struct kernel {
    __device__ static constexpr int load(unsigned int tid) { return tid; }
    __device__ static constexpr int result() { return 0; }
};
} // namespace version_1

// Two blocks read each of 31 elements once.
__device__ constexpr bool reads_each_once()
{
    constexpr unsigned long long grid = 2, n = 31;
    unsigned char times[n] = {};
    for (unsigned long long block = 0; block < grid; ++block)
        for (unsigned int tid = 0; tid < threads; ++tid) {
            unsigned long long i = block * 16 + tid;
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
    constexpr counts v1 = count<version_1::kernel, version_1::phase_1>();
    static_assert(v1.reduces, "every value reaches the result once, by 15 additions");
    static_assert(reads_each_once(), "every element is read once");
    static_assert(v1.additions == 15 && v1.runs == 4 && v1.serialised == 4,
                  "the counts above");
    static_assert(v1.additions == 15,
                  "additions == width - 1");
    static_assert(v1.serialised == v1.runs,
                  "serialised == runs");
}
} // namespace model
