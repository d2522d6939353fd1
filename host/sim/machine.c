/* Launches: workers share out the blocks, each with its own warps, shared memory and counters. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/program.h"

#define THREADS_MAX 256
#define BLOCKS_PER_THREAD 64 /* fewer are not worth starting a thread for */
#define CHUNK 32             /* blocks that a worker takes at a time */

/* What the workers of a launch share. */
struct sim_run_state {
    atomic_uint_fast64_t next; /* block */
    atomic_int fault;
    uint64_t n_blocks, stride, shift; /* the order: (i * stride + shift) mod n_blocks */
};

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void fill_word(struct sim_warp *warp, uint32_t row, int lane, uint32_t value)
{
    if (row)
        ((uint32_t *)sim_row(warp, row))[lane] = value;
}

/* Special registers that stay the same for every block. */
static void fill_lane(struct sim_warp *warp, const struct rung_sim_launch *launch, int lane)
{
    const uint32_t *rows = warp->block->kernel->specials, *block = launch->block;
    uint32_t thread = warp->index * SIM_LANES + (uint32_t)lane, bit = 1u << lane;
    uint64_t total = warp->block->shared_bytes;
    const struct {
        enum rung_ptx_special name;
        uint32_t value;
    } values[] = {
        {RUNG_PTX_SR_TID_X,             thread % block[0]                     },
        {RUNG_PTX_SR_TID_Y,             thread / block[0] % block[1]          },
        {RUNG_PTX_SR_TID_Z,             thread / block[0] / block[1]          },
        {RUNG_PTX_SR_NTID_X,            block[0]                              },
        {RUNG_PTX_SR_NTID_Y,            block[1]                              },
        {RUNG_PTX_SR_NTID_Z,            block[2]                              },
        {RUNG_PTX_SR_NCTAID_X,          launch->grid[0]                       },
        {RUNG_PTX_SR_NCTAID_Y,          launch->grid[1]                       },
        {RUNG_PTX_SR_NCTAID_Z,          launch->grid[2]                       },
        {RUNG_PTX_SR_LANEID,            (uint32_t)lane                        },
        {RUNG_PTX_SR_WARPID,            warp->index                           },
        {RUNG_PTX_SR_NWARPID,           RUNG_SIM_BLOCK_THREADS_MAX / SIM_LANES},
        {RUNG_PTX_SR_NSMID,             RUNG_SIM_SM_COUNT                     },
        {RUNG_PTX_SR_LANEMASK_EQ,       bit                                   },
        {RUNG_PTX_SR_LANEMASK_LE,       bit | (bit - 1)                       },
        {RUNG_PTX_SR_LANEMASK_LT,       bit - 1                               },
        {RUNG_PTX_SR_LANEMASK_GE,       ~(bit - 1)                            },
        {RUNG_PTX_SR_LANEMASK_GT,       ~(bit | (bit - 1))                    },
        {RUNG_PTX_SR_TOTAL_SMEM_SIZE,   (uint32_t)total                       },
        {RUNG_PTX_SR_DYNAMIC_SMEM_SIZE, (uint32_t)launch->dynamic_bytes       },
        {RUNG_PTX_SR_WARP_SZ,           SIM_LANES                             },
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        fill_word(warp, rows[values[i].name], lane, values[i].value);
}

static void fill_constant(struct sim_warp *warp, const struct sim_constant *constant)
{
    unsigned char *row = sim_row(warp, constant->offset);
    unsigned bytes = constant->width == 1 ? 4 : constant->width / 8u;
    uint32_t n = constant->width == 1 ? 1 : SIM_LANES;
    for (uint32_t lane = 0; lane < n; lane++)
        memcpy(row + lane * bytes, &constant->bits, bytes);
}

static void prepare_warp(struct sim_warp *warp, const struct rung_sim_launch *launch)
{
    const struct rung_sim_kernel *kernel = launch->kernel;
    for (uint32_t i = 0; i < kernel->n_constants; i++)
        fill_constant(warp, &kernel->constants[i]);
    for (int lane = 0; lane < SIM_LANES; lane++)
        fill_lane(warp, launch, lane);
    rung_sim_warp_set_active(warp, SIM_ALL);
}

static uint64_t round_up(uint64_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

/* Static variables, then the dynamic bytes where `extern []` ones begin. */
static uint64_t shared_size(const struct rung_sim_launch *launch)
{
    const struct rung_sim_kernel *kernel = launch->kernel;
    uint64_t end = kernel->shared_bytes;
    if (!launch->dynamic_bytes)
        return end;
    for (uint32_t i = 0; i < kernel->n_shared; i++)
        end = kernel->shared[i].offset > end ? kernel->shared[i].offset : end;
    return end + launch->dynamic_bytes;
}

/* One piece of memory holds warps, tallies, register files, degrees and shared memory. */
static bool allocate(struct sim_worker *worker)
{
    struct sim_block *block = &worker->block;
    const struct rung_sim_kernel *kernel = block->kernel;
    uint64_t warps = round_up(block->n_warps * sizeof(struct sim_warp));
    uint64_t tally = round_up(kernel->n_segments * sizeof(struct sim_tally));
    uint64_t file = kernel->file_bytes, degrees = round_up(kernel->n_slots * sizeof(uint32_t));
    uint64_t total =
        warps + tally + (file + degrees) * block->n_warps + round_up(block->shared_bytes) + 64;
    unsigned char *at = aligned_alloc(64, total);
    if (!at)
        return false;
    memset(at, 0, total);
    worker->memory = at;
    block->warps = (struct sim_warp *)(void *)at;
    worker->tally = (struct sim_tally *)(void *)(at + warps);
    at += warps + tally;
    for (uint32_t w = 0; w < block->n_warps; w++, at += file + degrees) {
        block->warps[w].file = at;
        block->warps[w].degrees = (uint32_t *)(void *)(at + file);
    }
    block->shared = at;
    return true;
}

static bool prepare_worker(struct sim_worker *worker, struct sim_run_state *run,
                           const struct rung_sim_launch *launch)
{
    struct sim_block *block = &worker->block;
    worker->run = run;
    worker->launch = launch;
    block->worker = worker;
    block->kernel = launch->kernel;
    block->n_threads = launch->block[0] * launch->block[1] * launch->block[2];
    block->n_warps = (block->n_threads + SIM_LANES - 1) / SIM_LANES;
    block->shared_bytes = shared_size(launch);
    if (!allocate(worker))
        return false;
    for (uint32_t w = 0; w < block->n_warps; w++) {
        block->warps[w].block = block;
        block->warps[w].index = w;
        prepare_warp(&block->warps[w], launch);
    }
    if (!launch->options.check && !launch->options.strict)
        return true;
    worker->check = rung_sim_check_make(launch);
    return worker->check != NULL;
}

static void release_worker(struct sim_worker *worker)
{
    rung_sim_check_free(worker->check);
    rung_sim_findings_release(&worker->findings);
    free(worker->memory);
}

static void run_block(struct sim_worker *worker, uint64_t linear)
{
    const uint32_t *grid = worker->launch->grid;
    struct sim_block *block = &worker->block;
    block->linear = linear;
    block->ctaid[0] = (uint32_t)(linear % grid[0]);
    block->ctaid[1] = (uint32_t)(linear / grid[0] % grid[1]);
    block->ctaid[2] = (uint32_t)(linear / grid[0] / grid[1]);
    /* What the schedule of a block is depends on nothing but the seed and the block. */
    worker->random = (worker->launch->options.seed + linear + 1) * UINT64_C(0x9e3779b97f4a7c15) | 1;
    bool observed = worker->launch->options.observer != NULL &&
                    worker->launch->options.observed_block == linear;
    worker->observed = observed;
    worker->slow = observed || worker->launch->options.seed;
    rung_sim_block_run(block);
    worker->counters.blocks++;
    worker->counters.warps += block->n_warps;
}

static void *work(void *context)
{
    struct sim_worker *worker = context;
    struct sim_run_state *run = worker->run;
    while (!atomic_load(&run->fault)) {
        uint64_t first = atomic_fetch_add(&run->next, CHUNK);
        if (first >= run->n_blocks)
            break;
        uint64_t end = run->n_blocks - first < CHUNK ? run->n_blocks : first + CHUNK;
        for (uint64_t i = first; i < end && !worker->fault; i++) {
            __extension__ unsigned __int128 wide = (unsigned __int128)i * run->stride + run->shift;
            run_block(worker, (uint64_t)(wide % run->n_blocks));
        }
        if (worker->fault)
            atomic_store(&run->fault, worker->fault);
    }
    return NULL;
}

/* Tallies of segments become counters. */
static void add_tallies(struct rung_sim_counters *to, const struct sim_worker *worker)
{
    const struct rung_sim_kernel *kernel = worker->launch->kernel;
    uint64_t *const classes[SIM_CLASSES] = {
        &to->arithmetic,   &to->logic,       &to->compare,      &to->move,
        &to->convert,      &to->branch,      &to->barrier,      &to->shared_load,
        &to->shared_store, &to->global_load, &to->global_store, &to->other_memory,
        &to->shuffle,      &to->vote,        &to->atomic,       &to->control};
    for (uint32_t s = 0; s < kernel->n_segments; s++) {
        const struct sim_segment *segment = &kernel->segments[s];
        const struct sim_tally *tally = &worker->tally[s];
        for (int c = 0; c < SIM_CLASSES; c++)
            *classes[c] += tally->runs * segment->counts[c];
        to->warp_instructions += tally->runs * segment->n_counted;
        to->thread_instructions += tally->lanes * segment->n_counted;
        to->additions += tally->lanes * segment->additions;
        to->body_runs += tally->runs * segment->body_runs;
    }
    for (int c = 0; c < SIM_CLASSES; c++) {
        *classes[c] += worker->guarded[c];
        to->warp_instructions += worker->guarded[c];
    }
}

static void add_counters(struct rung_sim_counters *to, const struct sim_worker *worker)
{
    /* Every field is a uint64_t: the sum of two records is the sum of their words. */
    uint64_t *sum = (uint64_t *)to;
    const uint64_t *more = (const uint64_t *)&worker->counters;
    for (size_t i = 0; i < sizeof *to / sizeof *sum; i++)
        sum[i] += more[i];
    add_tallies(to, worker);
}

static int compare_findings(const void *a, const void *b)
{
    const struct rung_sim_finding *x = a, *y = b;
    return x->block != y->block ? (x->block > y->block) - (x->block < y->block)
                                : (x->line > y->line) - (x->line < y->line);
}

static bool add_findings(struct rung_sim_findings *to, const struct sim_worker *worker)
{
    bool good = !worker->dry;
    for (size_t i = 0; i < worker->findings.n_items; i++)
        good = rung_sim_findings_add(to, &worker->findings.items[i]) && good;
    to->total += worker->findings.total - worker->findings.n_items;
    return good;
}

static unsigned count_threads(const struct rung_sim_launch *launch, uint64_t n_blocks)
{
    const struct rung_sim_options *options = &launch->options;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t n = options->threads ? options->threads : cores > 0 ? (uint64_t)cores : 1;
    uint64_t useful = n_blocks / BLOCKS_PER_THREAD + 1;
    if (options->check || options->strict || options->observer)
        return 1; /* findings and events come in the order of blocks, the same on every run */
    n = n > useful ? useful : n;
    return (unsigned)(n > THREADS_MAX ? THREADS_MAX : n);
}

static bool good_shape(const struct rung_sim_launch *launch)
{
    uint64_t threads = 1;
    for (int i = 0; i < 3; i++) {
        if (!launch->grid[i] || !launch->block[i] || launch->block[i] > RUNG_SIM_BLOCK_THREADS_MAX)
            return false;
        threads *= launch->block[i];
    }
    return threads <= RUNG_SIM_BLOCK_THREADS_MAX &&
           launch->dynamic_bytes <= RUNG_SIM_SHARED_OPTIN - launch->kernel->shared_bytes;
}

static void order_blocks(struct sim_run_state *run, const struct rung_sim_launch *launch)
{
    run->n_blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    run->stride = 1;
    if (!launch->options.seed)
        return;
    uint64_t seed = launch->options.seed * UINT64_C(0x9e3779b97f4a7c15);
    run->shift = seed % run->n_blocks;
    run->stride = (seed >> 17) % run->n_blocks | 1;
    while (gcd(run->stride, run->n_blocks) != 1)
        run->stride++;
}

/* The caller works too, as worker 0. */
static int run_workers(struct sim_worker *workers, unsigned n)
{
    pthread_t threads[THREADS_MAX];
    unsigned started = 1;
    while (started < n && !pthread_create(&threads[started], NULL, work, &workers[started]))
        started++;
    work(&workers[0]);
    for (unsigned i = 1; i < started; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < n; i++)
        if (workers[i].fault)
            return (int)i;
    return -1;
}

int rung_sim_run(struct rung_sim_counters *counters, struct rung_sim_findings *findings,
                 const struct rung_sim_launch *launch, char why[256])
{
    struct sim_run_state run = {0};
    why[0] = 0;
    if (!good_shape(launch)) {
        snprintf(why, 256, "a grid, block or shared size that cannot be launched");
        return 1;
    }
    order_blocks(&run, launch);
    unsigned n = count_threads(launch, run.n_blocks), ready = 0;
    struct sim_worker *workers = calloc(n, sizeof *workers);
    bool good = workers != NULL;
    while (good && ready < n) {
        good = prepare_worker(&workers[ready], &run, launch);
        ready++;
    }
    int code = 2;
    size_t before = findings->n_items;
    if (good) {
        int faulty = run_workers(workers, n);
        code = faulty < 0 ? 0 : workers[faulty].fault;
        if (faulty >= 0)
            memcpy(why, workers[faulty].why, sizeof workers[faulty].why);
        counters->launches++;
    } else {
        snprintf(why, 256, "out of host memory for a launch");
    }
    for (unsigned i = 0; i < ready; i++) {
        if (good)
            add_counters(counters, &workers[i]);
        if (good && !add_findings(findings, &workers[i]) && !code) {
            code = 2;
            snprintf(why, 256, "out of host memory for findings");
        }
        release_worker(&workers[i]);
    }
    if (findings->n_items > before + 1)
        qsort(findings->items + before, findings->n_items - before, sizeof *findings->items,
              compare_findings);
    free(workers);
    return code;
}
