// Written by rung-gen from ptx_src/reduce_v8.cu.in: do not edit; `cmake --build build --target generate` refreshes.
//
// v8-b4-const: shuffles in the last warp.
// 4 threads per block, loop bound known, unrolled, sum of f32.
// One full block: 12 additions, 8 of them in the tree; 2 body runs, 2 serialised.

extern "C" __global__ void reduce_v8_b4_const(const float *in, float *out, unsigned long long n)
{
    __shared__ float tile[4];
    const unsigned int tid = threadIdx.x;
    const unsigned long long block = blockIdx.x;
    const unsigned long long grid = gridDim.x;

    unsigned long long i = block * 4 + tid;
    float sum = i < n ? in[i] : 0.0f;

    for (i += grid * 4; i < n; i += grid * 4)
        sum += in[i];

    tile[tid] = sum;
    __syncthreads();


    // The step of 32, where the block has it, still reads the other half from shared memory.
    if (tid < 4) {
        sum = tile[tid];

        sum += __shfl_down_sync(0xf, sum, 2, 4);
        sum += __shfl_down_sync(0xf, sum, 1, 4);
    }

    if (tid == 0)
        out[block] = sum;
}

// The model of this kernel, from the same directives as its text. If it counts wrongly,
// nothing here compiles.
namespace model {
enum : unsigned int { threads = 4, element_bytes = 4 };

struct counts {
    unsigned int additions, runs, serialised;
    bool reduces; // every value reached the result exactly once
};

enum : int { nothing = -1, identity = -2 }; // instead of a slot of the tile

// A part of the kernel. It overrides what it has: `take` and `store` copy between tile and register
// before the steps, `to` and `from` are the operands of an addition (nothing: the register, a
// shuffle), `put` is where its result is stored.
struct phase {
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

// One block: weights stand for its elements, so that no wrong tree sums to the right total.
struct block {
    unsigned long long tile[threads], sum[threads], result[threads];
    unsigned int seen[threads], stamp, loaded[32];
};

__device__ constexpr unsigned long long weight(unsigned int element)
{
    unsigned long long x = (element + 1) * 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    return x ^ (x >> 27);
}

// The bank-conflict degree of one access of a warp: lanes are served in groups that move 128 bytes,
// and a group needs as many turns as its busiest bank has distinct slots; the worst group counts.
template <class Phase>
__device__ constexpr unsigned int degree(const Phase &p, int (Phase::*slot_of)(unsigned int) const,
                                         block &b, unsigned int first, unsigned int lanes)
{
    constexpr unsigned int group = 128 / element_bytes;
    unsigned int worst = 0;
    for (unsigned int start = 0; start < 32; start += group) {
        unsigned char ways[group] = {};
        ++b.stamp;
        for (unsigned int lane = start; lane < start + group; ++lane) {
            if (!(lanes >> lane & 1))
                continue;
            const int slot = (p.*slot_of)(first + lane);
            if (slot < 0)
                continue; // no shared memory
            if (b.seen[slot] == b.stamp)
                continue; // the same word: a broadcast
            b.seen[slot] = b.stamp;
            if (++ways[slot % group] > worst)
                worst = ways[slot % group];
        }
    }
    return worst;
}

__device__ constexpr unsigned int larger(unsigned int a, unsigned int b) { return a > b ? a : b; }

// One step by one warp: counts it, and leaves its sums aside until every warp has read.
template <class Phase>
__device__ constexpr void step(counts &c, const Phase &p, block &b, unsigned int first)
{
    unsigned int lanes = 0;
    for (unsigned int tid = first; tid < first + 32 && tid < threads; ++tid) {
        if (!p.active(tid))
            continue;
        const int to = p.to(tid), from = p.from(tid);
        b.result[tid] = (to == nothing ? b.sum[tid] : b.tile[to]) +
                        (from == nothing ? b.sum[p.lane(tid)] : b.tile[from]);
        lanes |= 1u << (tid - first);
        ++c.additions;
    }
    if (!lanes)
        return;
    unsigned int ways = 1;
    if (p.to(first) == nothing)
        ways = larger(ways, b.loaded[first / 32]);
    b.loaded[first / 32] = 0;
    ways = larger(ways, degree<Phase>(p, &Phase::to, b, first, lanes));
    ways = larger(ways, degree<Phase>(p, &Phase::from, b, first, lanes));
    ways = larger(ways, degree<Phase>(p, &Phase::put, b, first, lanes));
    ++c.runs;
    c.serialised += ways;
}

template <class Phase> __device__ constexpr void copy(const Phase &p, block &b)
{
    for (unsigned int first = 0; first < threads; first += 32) {
        unsigned int lanes = 0;
        for (unsigned int tid = first; tid < first + 32 && tid < threads; ++tid) {
            if (!p.active(tid))
                continue;
            lanes |= 1u << (tid - first);
            if (p.take(tid) != nothing)
                b.sum[tid] = p.take(tid) == identity ? 0 : b.tile[p.take(tid)];
            if (p.store(tid) != nothing)
                b.tile[p.store(tid)] = b.sum[tid];
        }
        if (p.take(first) != nothing)
            b.loaded[first / 32] = degree<Phase>(p, &Phase::take, b, first, lanes);
    }
}

template <class Phase> __device__ constexpr void run(counts &c, block &b)
{
    Phase p;
    copy(p, b);
    for (; p.more(); p.next()) {
        for (unsigned int first = 0; first < threads; first += 32)
            step(c, p, b, first);
        for (unsigned int tid = 0; tid < threads; ++tid) {
            if (!p.active(tid))
                continue;
            if (p.to(tid) == nothing)
                b.sum[tid] = b.result[tid];
            else
                b.tile[p.to(tid)] = b.result[tid];
            if (p.put(tid) != nothing)
                b.tile[p.put(tid)] = b.sum[tid];
        }
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
        (slot == nothing ? b.sum[tid] : b.tile[slot]) = weight(tid);
        total += weight(tid);
    }
    (run<Phases>(c, b), ...);
    c.reduces = (Kernel::result() == nothing ? b.sum[0] : b.tile[Kernel::result()]) == total;
    return c;
}

// Whether two phases activate the same threads at every step.
template <class A, class B> __device__ constexpr bool same_threads()
{
    A a;
    B b;
    for (; a.more() && b.more(); a.next(), b.next())
        for (unsigned int tid = 0; tid < threads; ++tid)
            if (a.active(tid) != b.active(tid))
                return false;
    return !a.more() && !b.more();
}

namespace version_8 {
struct phase_1 : phase {
    __device__ constexpr int store(unsigned int tid) const { return tid; }
};
struct phase_2 : phase {
    unsigned int s = 2;
    __device__ constexpr bool more() const { return s > 32; }
    __device__ constexpr void next() { s >>= 1; }
    __device__ constexpr bool active(unsigned int tid) const { return tid < s; }
    __device__ constexpr int to(unsigned int tid) const { return tid; }
    __device__ constexpr int from(unsigned int tid) const { return tid + s; }
};
struct phase_3 : phase {
    unsigned int s = 32;
    __device__ constexpr bool more() const { return s == 32 && s < 4; }
    __device__ constexpr void next() { s >>= 1; }
    __device__ constexpr bool active(unsigned int tid) const { return tid < 4; }
    __device__ constexpr int take(unsigned int tid) const { return tid; }
    __device__ constexpr int from(unsigned int tid) const { return tid + s; }
};
struct phase_4 : phase {
    unsigned int s = 2;
    __device__ constexpr bool more() const { return s > 0; }
    __device__ constexpr void next() { s >>= 1; }
    __device__ constexpr bool active(unsigned int tid) const { return tid < 4; }
    __device__ constexpr unsigned int lane(unsigned int tid) const { return tid % (4) + (s) < (4) ? tid + (s) : tid; }
};
struct kernel {
    __device__ static constexpr int load(unsigned int tid) { return nothing; }
    __device__ static constexpr int result() { return nothing; }
};
} // namespace version_8

// Two blocks read each of 31 elements once.
__device__ constexpr bool reads_each_once()
{
    constexpr unsigned long long grid = 2, n = 31;
    unsigned char times[n] = {};
    for (unsigned long long block = 0; block < grid; ++block)
        for (unsigned int tid = 0; tid < threads; ++tid) {
            unsigned long long i = block * 4 + tid;
            if (i < n)
                ++times[i];
            for (i += grid * 4; i < n; i += grid * 4)
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
    constexpr counts v8 = count<version_8::kernel, version_8::phase_1, version_8::phase_2, version_8::phase_3, version_8::phase_4>();
    static_assert(v8.reduces, "every value reaches the result once, by 3 additions");
    static_assert(reads_each_once(), "every element is read once");
    static_assert(v8.additions == 8 && v8.runs == 2 && v8.serialised == 2,
                  "the counts above");
}
} // namespace model
