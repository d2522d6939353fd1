/* librung beside the sum of CUB, on a card: the same buffers, context and stream, one process, the
 * two in random order within every round, and librung under a second name too (A/A): what that
 * differs by tells nothing. Both are gated first. Prints; judges no time.
 *   bench_sum PEER.so     PEER.so is tools/bench.d/peer_sum.cu */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/sampler.h"
#include "bench/stats.h"
#include "bench/timing.h"
#include "sum/open.h"

#define SKIPPED 77
#define ROUNDS 12
#define PER_ROUND 5
#define BLOCK 65536 /* floats that the buffer repeats */
#define LARGEST (UINT64_C(1) << 31)
#define PAD 64 /* floats behind them, for sizes and addresses that are odd */

typedef int peer_sum(void *, size_t *, const float *, float *, long long, CUstream);
typedef float peer_value(const float *, long long, CUstream);

struct bench {
    struct rung_device device;
    struct rung_sampler *sampler;
    struct rung_sum *sum;
    peer_sum *peer;
    peer_value *peer_value;
    CUdeviceptr x, out, peer_memory;
    size_t peer_bytes;
    uint64_t room; /* floats of x */
    float *block;
    uint64_t random;
};

struct call {
    struct bench *bench;
    uint64_t n, offset; /* elements */
    bool peer;
};

static enum rung_status enqueue(void *context, CUstream stream, uint64_t place,
                                struct rung_error *err)
{
    struct call *call = context;
    struct bench *bench = call->bench;
    uint64_t stride = (call->n + 127) / 128 * 128;
    CUdeviceptr x = bench->x + 4 * (call->offset + place * stride);
    int code;
    if (call->peer)
        code = bench->peer((void *)bench->peer_memory, &bench->peer_bytes, (const float *)x,
                           (float *)bench->out, (long long)call->n, stream);
    else
        code = rung_sum_enqueue(bench->sum, (void *)bench->out, (const void *)x, call->n);
    return code ? rung_fail(err, RUNG_DRIVER, "%s: code %d", call->peer ? "CUB" : "librung", code)
                : RUNG_OK;
}

/* --- set-up ------------------------------------------------------------------------------------
 */

static void fill_block(struct bench *bench, bool whole)
{
    for (size_t i = 0; i < BLOCK; i++) {
        uint64_t word = rung_random_next(&bench->random);
        bench->block[i] = whole ? (float)(word % 3) - 1 : (float)(word >> 40) * 0x1p-23f - 1;
    }
}

static bool upload(struct bench *bench)
{
    for (uint64_t i = 0; i < bench->room; i += BLOCK) {
        uint64_t count = bench->room - i < BLOCK ? bench->room - i : BLOCK;
        if (bench->device.driver.cuMemcpyHtoD(bench->x + 4 * i, bench->block, 4 * count))
            return false;
    }
    return true;
}

static bool open_peer(struct bench *bench, const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    int (*version)(void) = NULL;
    if (!library) {
        fprintf(stderr, "bench_sum: %s\n", dlerror());
        return false;
    }
    *(void **)&bench->peer = dlsym(library, "peer_sum_f32");
    *(void **)&bench->peer_value = dlsym(library, "peer_value_f32");
    *(void **)&version = dlsym(library, "peer_version");
    if (!bench->peer || !bench->peer_value || !version)
        return false;
    int number = version();
    printf("  %s, CUB %d.%d.%d\n", bench->device.name, number / 100000, number / 100 % 1000,
           number % 100);
    return !bench->peer(NULL, &bench->peer_bytes, NULL, NULL, (long long)LARGEST + PAD, NULL) &&
           !bench->device.driver.cuMemAlloc(&bench->peer_memory, bench->peer_bytes + 1);
}

static bool open_bench(struct bench *bench, const char *path, struct rung_error *err)
{
    const struct rung_driver *d = &bench->device.driver;
    size_t free_bytes = 0, total = 0;
    bench->random = 1;
    bench->block = malloc(BLOCK * sizeof *bench->block);
    if (!bench->block || d->cuMemGetInfo(&free_bytes, &total))
        return false;
    bench->room = free_bytes / 4 / 5 * 3;
    if (bench->room > LARGEST + PAD)
        bench->room = LARGEST + PAD;
    if (d->cuMemAlloc(&bench->x, 4 * bench->room) || d->cuMemAlloc(&bench->out, 256))
        return false;
    if (rung_sum_open(&bench->sum, RUNG_SUM_F32, bench->device.stream)) {
        fprintf(stderr, "bench_sum: %s\n", rung_sum_message(bench->sum));
        return false;
    }
    return open_peer(bench, path) &&
           rung_sampler_open(&bench->sampler, &bench->device, err) == RUNG_OK;
}

/* --- one row -----------------------------------------------------------------------------------
 */

static double expected(const struct bench *bench, uint64_t offset, uint64_t n)
{
    double whole = 0, sum = 0;
    for (size_t i = 0; i < BLOCK; i++)
        whole += (double)bench->block[i];
    while (n && offset % BLOCK) {
        sum += (double)bench->block[offset++ % BLOCK];
        n--;
    }
    sum += whole * (double)(n / BLOCK);
    for (size_t i = 0; i < n % BLOCK; i++)
        sum += (double)bench->block[i];
    return sum;
}

static bool gate(struct call *call, struct rung_error *err)
{
    struct bench *bench = call->bench;
    double wanted = expected(bench, call->offset, call->n);
    for (int peer = 0; peer < 2; peer++) {
        float found = -1;
        call->peer = peer;
        if (enqueue(call, bench->device.stream, 0, err) != RUNG_OK ||
            bench->device.driver.cuStreamSynchronize(bench->device.stream) ||
            bench->device.driver.cuMemcpyDtoH(&found, bench->out, 4))
            return false;
        if ((double)found != wanted) {
            fprintf(stderr, "bench_sum: %s of %llu: %g instead of %g\n", peer ? "CUB" : "librung",
                    (unsigned long long)call->n, (double)found, wanted);
            return false;
        }
    }
    return true;
}

#define SERIES 3 /* ours, ours under another name, the peer's */

static bool sample(double *out, size_t *n, struct call *call, struct rung_sampling how,
                   struct rung_error *err)
{
    struct bench *bench = call->bench;
    struct rung_sample samples[PER_ROUND];
    size_t taken, throttled;
    struct rung_work work = {enqueue, call, 1, call->peer ? 2 : 1};
    if (how.state == RUNG_STATE_ROTATE) {
        work.places = rung_timing_places(how.state, 4 * call->n, bench->device.l2_bytes);
        if (work.places * (call->n + 128) + call->offset > bench->room)
            work.places = (bench->room - call->offset) / (call->n + 128);
    }
    if (rung_sampler_take(samples, &taken, &throttled, bench->sampler, &work, how, PER_ROUND,
                          err) != RUNG_OK)
        return false;
    for (size_t i = 0; i < taken; i++)
        out[(*n)++] = samples[i].time_ms * 1e3;
    return true;
}

static bool measure(struct bench *bench, uint64_t n, uint64_t offset, struct rung_sampling how,
                    struct rung_error *err)
{
    double samples[SERIES][ROUNDS * PER_ROUND];
    size_t taken[SERIES] = {0};
    struct rung_ratio ratio, same;
    struct rung_summary ours, peers;
    for (int round = 0; round < ROUNDS; round++) {
        unsigned first = (unsigned)rung_random_below(&bench->random, SERIES);
        for (unsigned k = 0; k < SERIES; k++) {
            unsigned series = (first + k) % SERIES;
            struct call call = {bench, n, offset, series == 2};
            if (!sample(samples[series], &taken[series], &call, how, err))
                return false;
        }
    }
    if (rung_stats_summarise(&ours, samples[0], taken[0], err) != RUNG_OK ||
        rung_stats_summarise(&peers, samples[2], taken[2], err) != RUNG_OK ||
        rung_stats_ratio(&ratio, samples[2], taken[2], samples[0], taken[0], 2000, 1, err) !=
            RUNG_OK ||
        rung_stats_ratio(&same, samples[1], taken[1], samples[0], taken[0], 200, 1, err) != RUNG_OK)
        return false;
    printf("  %11llu %-6s %-8s %8.2f %8.2f %6.3f %.3f-%.3f %5.2f %6.0f\n", (unsigned long long)n,
           rung_state_word(how.state), rung_timer_word(how.timer), ours.median, peers.median,
           ratio.ratio, ratio.low, ratio.high, 100 * fabs(same.ratio - 1),
           4e-3 * (double)n / ours.median);
    fflush(stdout);
    return true;
}

/* --- the tables --------------------------------------------------------------------------------
 */

static bool table(struct bench *bench, struct rung_error *err)
{
    static const struct {
        uint64_t n, offset;
    } sizes[] = {
        {1000,        0},
        {1024,        0},
        {4095,        0},
        {4096,        0},
        {4097,        0},
        {16384,       0},
        {65536,       0},
        {262144,      0},
        {1000003,     0},
        {1 << 20,     0},
        {1 << 22,     0},
        {1 << 23,     0},
        {16776605,    0},
        {16776605,    1},
        {1 << 24,     0},
        {1 << 26,     0},
        {1 << 28,     0},
        {1 << 30,     0},
        {LARGEST + 5, 0},
    };
    static const struct rung_sampling ways[] = {
        {RUNG_STATE_WARM,   RUNG_TIMER_GRAPH   },
        {RUNG_STATE_ROTATE, RUNG_TIMER_GRAPH   },
        {RUNG_STATE_CLEAN,  RUNG_TIMER_ISOLATED},
        {RUNG_STATE_DIRTY,  RUNG_TIMER_ISOLATED},
    };
    printf("  %11s %-6s %-8s %8s %8s %6s %-11s %5s %6s\n", "n", "L2", "timer", "ours, us",
           "CUB, us", "ratio", "95 %", "A/A %", "GB/s");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct call call = {bench, sizes[i].n, sizes[i].offset, false};
        if (sizes[i].n + sizes[i].offset > bench->room)
            continue;
        fill_block(bench, true);
        if (!upload(bench) || !gate(&call, err))
            return false;
        fill_block(bench, false);
        if (!upload(bench))
            return false;
        if (sizes[i].offset)
            printf("  4 bytes past a multiple of 16:\n");
        for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
            bool once = ways[k].state == RUNG_STATE_ROTATE && 4 * sizes[i].n > bench->room;
            bool large = ways[k].timer == RUNG_TIMER_GRAPH && sizes[i].n > 1 << 28;
            if (!once && !large && !measure(bench, sizes[i].n, sizes[i].offset, ways[k], err))
                return false;
        }
    }
    return true;
}

static double now_us(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec * 1e6 + (double)at.tv_nsec * 1e-3;
}

/* From the call to the value in the host's hands, by the host's clock: Thrust gives no other. */
static bool to_host(struct bench *bench, struct rung_error *err)
{
    static const uint64_t sizes[] = {1000, 65536, 1 << 20, 16776605, 1 << 28};
    printf("  to the host: %12s %10s %10s %7s\n", "n", "ours, us", "Thrust, us", "ratio");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        double ours[50], theirs[50];
        struct rung_ratio ratio;
        struct rung_summary summary, peers;
        if (sizes[i] > bench->room)
            continue;
        for (int k = 0; k < 50; k++) {
            float value = 0;
            double start = now_us();
            if (rung_sum_value(bench->sum, &value, (const void *)bench->x, sizes[i]))
                return false;
            ours[k] = now_us() - start;
            start = now_us();
            value += bench->peer_value((const float *)bench->x, (long long)sizes[i],
                                       bench->device.stream);
            theirs[k] = now_us() - start;
        }
        if (rung_stats_summarise(&summary, ours, 50, err) != RUNG_OK ||
            rung_stats_summarise(&peers, theirs, 50, err) != RUNG_OK ||
            rung_stats_ratio(&ratio, theirs, 50, ours, 50, 2000, 1, err) != RUNG_OK)
            return false;
        printf("               %12llu %10.1f %10.1f %7.2f\n", (unsigned long long)sizes[i],
               summary.median, peers.median, ratio.ratio);
    }
    return true;
}

int main(int argc, char **argv)
{
    struct bench bench = {0};
    struct rung_error err = {0};
    if (argc != 2) {
        fputs("usage: bench_sum PEER.so\n", stderr);
        return 2;
    }
    if (rung_device_open(&bench.device, "cuda", NULL, NULL, &err) != RUNG_OK) {
        printf("  skipped: %s\n", err.text);
        return SKIPPED;
    }
    bool good = open_bench(&bench, argv[1], &err) && table(&bench, &err) && to_host(&bench, &err);
    if (!good)
        fprintf(stderr, "bench_sum: %s\n", err.text[0] ? err.text : rung_sum_message(bench.sum));
    rung_sampler_close(bench.sampler);
    rung_sum_close(bench.sum);
    bench.device.driver.cuMemFree(bench.x);
    bench.device.driver.cuMemFree(bench.out);
    bench.device.driver.cuMemFree(bench.peer_memory);
    rung_device_close(&bench.device);
    free(bench.block);
    return good ? 0 : 3;
}
