/* How fast the simulator executes: the first kernels of the ladder over n elements, verified, with
 * warp instructions per second and how two host threads compare with one. Prints; judges no time.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "sim/machine.h"

#define ELEMENTS UINT64_C(16776605)

struct reduction {
    struct rung_sim_program *program;
    const struct rung_sim_kernel *kernel;
    struct rung_sim_memory memory;
    struct rung_sim_counters counters;
    unsigned threads, per_block;
};

static double clock_s(clockid_t clock)
{
    struct timespec at;
    clock_gettime(clock, &at);
    return (double)at.tv_sec + (double)at.tv_nsec * 1e-9;
}

/* Passes until one value is left; false with a line on stderr after a failure. */
static bool reduce(struct reduction *r, uint64_t in, uint64_t n, float *sum)
{
    struct rung_sim_findings findings = {0};
    char why[256];
    for (;;) {
        uint64_t blocks = (n + r->per_block - 1) / r->per_block;
        uint64_t out = rung_sim_memory_alloc(&r->memory, blocks * 4, NULL);
        uint64_t params[] = {in, out, n};
        struct rung_sim_launch launch = {
            .kernel = r->kernel,
            .grid = {(uint32_t)blocks, 1, 1},
            .block = {256,               1, 1},
            .params = params,
            .memory = &r->memory,
            .options = {.threads = r->threads             },
        };
        if (rung_sim_run(&r->counters, &findings, &launch, why)) {
            fprintf(stderr, "bench_sim: %s\n", why);
            return false;
        }
        if (blocks == 1) {
            memcpy(sum, rung_sim_memory_at(&r->memory, out, 4), 4);
            return true;
        }
        in = out;
        n = blocks;
    }
}

static bool run(double *total, const char *folder, const char *symbol, unsigned version,
                unsigned threads)
{
    char path[1024];
    char *text = NULL;
    size_t length;
    struct rung_error err = {0};
    struct reduction r = {.threads = threads, .per_block = version == 4 ? 512 : 256};
    float sum = 0;
    bool good = false;
    snprintf(path, sizeof path, "%s/%s.ptx", folder, symbol);
    if (rung_file_read(&text, &length, path, &err) ||
        rung_sim_program_load(&r.program, &r.memory, text, length, 121, &err)) {
        fprintf(stderr, "bench_sim: %s\n", err.text);
        goto done;
    }
    r.kernel = rung_sim_program_kernel(r.program, symbol);
    uint64_t in = rung_sim_memory_alloc(&r.memory, ELEMENTS * 4, NULL);
    if (!r.kernel || !in) {
        fprintf(stderr, "bench_sim: no kernel %s, or no memory\n", symbol);
        goto done;
    }
    float *data = (float *)(void *)rung_sim_memory_at(&r.memory, in, ELEMENTS * 4);
    for (uint64_t i = 0; i < ELEMENTS; i++)
        data[i] = 1.0f;
    double start = clock_s(CLOCK_MONOTONIC), cpu_start = clock_s(CLOCK_PROCESS_CPUTIME_ID);
    good = reduce(&r, in, ELEMENTS, &sum);
    double took = clock_s(CLOCK_MONOTONIC) - start;
    double cpu = clock_s(CLOCK_PROCESS_CPUTIME_ID) - cpu_start;
    good = good && sum == (float)ELEMENTS;
    double count = (double)r.counters.warp_instructions;
    printf("v%u  %u thread%s  %6.3f s  %6.3f s of processor  %5.1f M warp instructions"
           "  %6.1f M/s  %5.2f ns of processor each%s\n",
           version, threads, threads == 1 ? " " : "s", took, cpu, count * 1e-6, count * 1e-6 / took,
           cpu * 1e9 / count, good ? "" : "  WRONG SUM");
    *total += took;
done:
    rung_sim_program_release(r.program);
    rung_sim_memory_release(&r.memory);
    free(text);
    return good;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: bench_sim FOLDER-OF-PTX [NAME-PATTERN]\n");
        return 2;
    }
    const char *pattern = argc > 2 ? argv[2] : "reduce_v%u_b256_const";
    bool good = true;
    double total[3] = {0};
    for (unsigned threads = 1; threads <= 2; threads++)
        for (unsigned version = 1; version <= 4; version++) {
            char symbol[128];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            snprintf(symbol, sizeof symbol, pattern, version);
#pragma GCC diagnostic pop
            good = run(&total[threads], argv[1], symbol, version, threads) && good;
        }
    printf("all four: %.3f s with one thread, %.3f s with two: %.2f times as fast\n", total[1],
           total[2], total[1] / total[2]);
    return good ? 0 : 1;
}
