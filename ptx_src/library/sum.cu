// The kernels of librung: one launch from n elements to one value. Header-free; generated/library/
// holds the PTX that NVRTC makes of it for the oldest target, one module a type.
//
// The input is cut into groups of 16 bytes. Every block goes through a row of whole tiles of them,
// several independent loads a thread in flight, and what is left is spread over all threads of the
// grid. The few elements before the first aligned group and behind the last whole one are block
// 0's.
//
// All blocks but the last leave their partial sum in a slot of their own, in words whose upper half
// says that the lower half is there, so that neither a fence nor an atomic stands between a block
// and the one that waits for it. The last block, which starts last (blocks start in the order of
// their indices, as scans by look-back rely on), collects them in that order, empties the slots for
// the next launch, and writes the value. Grid, tiles and order depend on n, the alignment and the
// device alone; so do the bits.
//
// RUNG_TYPE is the type of the elements: float, double, or unsigned for the wrapping sum of i32.

typedef unsigned int u32;
typedef unsigned long long u64;

enum : u32 { lanes = 32, group_bytes = 16 };

// What the host has worked out of one call; host/sum/shape.h has its other side.
template <class T> struct call {
    const T *x, *y; // y only of products
    u64 groups;     // whole aligned ones of x, from element `head` on
    u32 head;       // elements before the first group
    u32 ends;       // elements outside of groups: those, and the ones behind the last
    u64 rounds;     // tiles that every block goes through
    T *out;         // where the value goes
    u64 *slots;     // of every block but the last, zero between launches
    u32 y_aligned;  // whether the groups of y are aligned as well
};

// --- memory ------------------------------------------------------------------------------------
// By hand, for two reasons: all pointers are global, and a stream that is larger than L2 should not
// push out of it what is dirty there.

template <class T> struct group {
    T at[group_bytes / sizeof(T)];
};

template <bool STREAM, class T> static __device__ group<T> load_group(const T *from)
{
    union {
        u32 words[4];
        group<T> elements;
    } v;
    if (STREAM)
        asm("ld.global.cs.v4.u32 {%0, %1, %2, %3}, [%4];"
            : "=r"(v.words[0]), "=r"(v.words[1]), "=r"(v.words[2]), "=r"(v.words[3])
            : "l"(from));
    else
        asm("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
            : "=r"(v.words[0]), "=r"(v.words[1]), "=r"(v.words[2]), "=r"(v.words[3])
            : "l"(from));
    return v.elements;
}

static __device__ float load(const float *from)
{
    float value;
    asm("ld.global.nc.f32 %0, [%1];" : "=f"(value) : "l"(from));
    return value;
}
static __device__ double load(const double *from)
{
    double value;
    asm("ld.global.nc.f64 %0, [%1];" : "=d"(value) : "l"(from));
    return value;
}
static __device__ u32 load(const u32 *from)
{
    u32 value;
    asm("ld.global.nc.u32 %0, [%1];" : "=r"(value) : "l"(from));
    return value;
}

static __device__ void store(float *to, float value)
{
    asm volatile("st.global.f32 [%0], %1;" : : "l"(to), "f"(value) : "memory");
}
static __device__ void store(double *to, double value)
{
    asm volatile("st.global.f64 [%0], %1;" : : "l"(to), "d"(value) : "memory");
}
static __device__ void store(u32 *to, u32 value)
{
    asm volatile("st.global.u32 [%0], %1;" : : "l"(to), "r"(value) : "memory");
}

// --- slots -------------------------------------------------------------------------------------

static __device__ void store_word(u64 *to, u64 word)
{
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" : : "l"(to), "l"(word) : "memory");
}

static __device__ void leave(u64 *slot, u32 half)
{
    store_word(slot, 1ull << 32 | half);
}

// Waits for a word, and empties its place.
static __device__ u32 collect(u64 *slot)
{
    u64 word;
    do
        asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(slot) : "memory");
    while (word == 0);
    store_word(slot, 0);
    return (u32)word;
}

static __device__ void leave_sum(u64 *slots, u32 block, float sum)
{
    leave(slots + block, __float_as_uint(sum));
}
static __device__ void leave_sum(u64 *slots, u32 block, u32 sum)
{
    leave(slots + block, sum);
}
static __device__ void leave_sum(u64 *slots, u32 block, double sum)
{
    leave(slots + 2 * block, (u32)__double2loint(sum));
    leave(slots + 2 * block + 1, (u32)__double2hiint(sum));
}

static __device__ float collect_sum(u64 *slots, u32 block, float)
{
    return __uint_as_float(collect(slots + block));
}
static __device__ u32 collect_sum(u64 *slots, u32 block, u32)
{
    return collect(slots + block);
}
static __device__ double collect_sum(u64 *slots, u32 block, double)
{
    const u32 low = collect(slots + 2 * block);
    return __hiloint2double((int)collect(slots + 2 * block + 1), (int)low);
}

// --- what is added -----------------------------------------------------------------------------

// The elements of a group, in pairs.
template <class T> static __device__ T total(const group<T> &v)
{
    if constexpr (sizeof(T) == 8)
        return v.at[0] + v.at[1];
    else
        return (v.at[0] + v.at[1]) + (v.at[2] + v.at[3]);
}

template <class T> static __device__ T total(const group<T> &v, const group<T> &w)
{
    if constexpr (sizeof(T) == 8)
        return v.at[0] * w.at[0] + v.at[1] * w.at[1];
    else
        return (v.at[0] * w.at[0] + v.at[1] * w.at[1]) + (v.at[2] * w.at[2] + v.at[3] * w.at[3]);
}

// Elements of one vector, and products of two: a group's loads, and what they add up to.
template <class T, bool STREAM> struct elements {
    enum : u32 { per_group = group_bytes / sizeof(T) };
    struct loaded {
        group<T> x;
        __device__ T sum() const
        {
            return total(x);
        }
    };
    const T *x;
    __device__ elements(const call<T> c, u64 first) : x(c.x + first)
    {
    }
    __device__ void advance(u64 groups)
    {
        x += groups * per_group;
    }
    __device__ loaded load_at(u64 g) const
    {
        return {load_group<STREAM>(x + g * per_group)};
    }
    static __device__ T end(const call<T> c, u64 i)
    {
        return load(c.x + i);
    }
};

template <class T, bool STREAM, bool ALIGNED> struct products {
    enum : u32 { per_group = group_bytes / sizeof(T) };
    struct loaded {
        group<T> x, y;
        __device__ T sum() const
        {
            return total(x, y);
        }
    };
    const T *x, *y;
    __device__ products(const call<T> c, u64 first) : x(c.x + first), y(c.y + first)
    {
    }
    __device__ void advance(u64 groups)
    {
        x += groups * per_group;
        y += groups * per_group;
    }
    __device__ loaded load_at(u64 g) const
    {
        loaded v;
        v.x = load_group<STREAM>(x + g * per_group);
        if (ALIGNED)
            v.y = load_group<STREAM>(y + g * per_group);
        else
#pragma unroll
            for (u32 k = 0; k < per_group; k++)
                v.y.at[k] = load(y + g * per_group + k);
        return v;
    }
    static __device__ T end(const call<T> c, u64 i)
    {
        return load(c.x + i) * load(c.y + i);
    }
};

// --- the sum of a thread -----------------------------------------------------------------------

template <u32 LOADS, class LOADED> static __device__ auto total_of(const LOADED (&v)[LOADS])
{
    if constexpr (LOADS == 8)
        return ((v[0].sum() + v[1].sum()) + (v[2].sum() + v[3].sum())) +
               ((v[4].sum() + v[5].sum()) + (v[6].sum() + v[7].sum()));
    else
        return (v[0].sum() + v[1].sum()) + (v[2].sum() + v[3].sum());
}

// At most one group a load of every thread, and the ends.
template <class INPUT, u32 LOADS, class T>
static __device__ T rest_sum(const INPUT &input, const call<T> c, u32 thread, u32 stride, u32 left)
{
    typename INPUT::loaded v[LOADS];
    T sum = 0;
#pragma unroll
    for (u32 k = 0; k < LOADS; k++) {
        v[k] = typename INPUT::loaded{};
        if (thread + k * stride < left)
            v[k] = input.load_at(thread + k * stride);
    }
    if (thread < c.ends)
        sum = INPUT::end(c, thread < c.head ? thread : thread + c.groups * INPUT::per_group);
    return sum + total_of<LOADS>(v);
}

// One thread of a grid. A block's tiles lie behind each other, so that an SM comes back to the same
// part of L2. The loop is kept as it is: unrolled further it runs out of registers, and the loads
// of a round then wait for each other.
template <class INPUT, u32 THREADS, u32 LOADS, class T>
static __device__ T thread_sum(const call<T> c)
{
    const u32 stride = gridDim.x * THREADS, tile = THREADS * LOADS;
    const u64 done = c.rounds * LOADS * stride;
    T sum = 0;
    INPUT input(c, c.head + (blockIdx.x * c.rounds * tile + threadIdx.x) * INPUT::per_group);
#pragma unroll 1
    for (u64 round = 0; round < c.rounds; round++) {
        typename INPUT::loaded v[LOADS];
#pragma unroll
        for (u32 k = 0; k < LOADS; k++)
            v[k] = input.load_at(k * THREADS);
        sum += total_of<LOADS>(v);
        input.advance(tile);
    }
    const INPUT rest(c, c.head + done * INPUT::per_group);
    return sum + rest_sum<INPUT, LOADS>(rest, c, blockIdx.x * THREADS + threadIdx.x, stride,
                                        (u32)(c.groups - done));
}

// --- the sum of a block, and of a grid ---------------------------------------------------------

// In thread 0. The warps' sums are few enough that one thread adds them sooner than a warp could.
template <u32 WARPS, class T> static __device__ T block_sum(T sum, u32 warps)
{
    __shared__ alignas(group_bytes) T tile[WARPS];
#pragma unroll
    for (u32 distance = lanes / 2; distance > 0; distance /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, distance);
    if (warps == 1)
        return sum;
    if (threadIdx.x % lanes == 0)
        tile[threadIdx.x / lanes] = sum;
    if (threadIdx.x >= warps && threadIdx.x < WARPS)
        tile[threadIdx.x] = 0;
    __syncthreads();
    T even = 0, odd = 0;
#pragma unroll
    for (u32 k = 0; k < WARPS; k += 2) {
        even += tile[k];
        odd += tile[k + 1];
    }
    return even + odd;
}

template <class INPUT, u32 THREADS, u32 LOADS, class T>
static __device__ void grid_sum(const call<T> c)
{
    T sum = thread_sum<INPUT, THREADS, LOADS>(c);
    const u32 last = gridDim.x - 1;
    if (blockIdx.x == last)
        for (u32 block = threadIdx.x; block < last; block += THREADS)
            sum += collect_sum(c.slots, block, T());
    sum = block_sum<THREADS / lanes>(sum, THREADS / lanes);
    if (threadIdx.x == 0) {
        if (blockIdx.x == last)
            store(c.out, sum);
        else
            leave_sum(c.slots, blockIdx.x, sum);
    }
}

template <bool STREAM, u32 THREADS, u32 LOADS, class T>
static __device__ void grid_dot(const call<T> c)
{
    if (c.y_aligned)
        grid_sum<products<T, STREAM, true>, THREADS, LOADS>(c);
    else
        grid_sum<products<T, STREAM, false>, THREADS, LOADS>(c);
}

template <class INPUT, class T> static __device__ void small_sum(const call<T> c)
{
    const INPUT input(c, c.head);
    T sum = rest_sum<INPUT, 4>(input, c, threadIdx.x, blockDim.x, (u32)c.groups);
    sum = block_sum<16>(sum, blockDim.x / lanes);
    if (threadIdx.x == 0)
        store(c.out, sum);
}

// --- entry points ------------------------------------------------------------------------------
// One block of up to 512 threads for what 4 loads a thread can hold; a narrow grid while every
// block has little to do; a wide one; and a wide one that streams. host/sum/shape.h has the same
// table.

typedef RUNG_TYPE element;

#define KERNEL(operation, form, threads, blocks)                                                   \
    extern "C" __global__ void __launch_bounds__(threads, blocks)                                  \
        operation##_##form(const call<element> c)

KERNEL(sum, block, 512, 1)
{
    small_sum<elements<element, false>>(c);
}
KERNEL(sum, narrow, 256, 4)
{
    grid_sum<elements<element, false>, 256, 4>(c);
}
KERNEL(sum, wide, 512, 2)
{
    grid_sum<elements<element, false>, 512, 8>(c);
}
KERNEL(sum, stream, 512, 2)
{
    grid_sum<elements<element, true>, 512, 8>(c);
}

KERNEL(dot, block, 512, 1)
{
    if (c.y_aligned)
        small_sum<products<element, false, true>>(c);
    else
        small_sum<products<element, false, false>>(c);
}
KERNEL(dot, narrow, 256, 4)
{
    grid_dot<false, 256, 4>(c);
}
KERNEL(dot, wide, 512, 2)
{
    grid_dot<false, 512, 4>(c);
}
KERNEL(dot, stream, 512, 2)
{
    grid_dot<true, 512, 4>(c);
}
