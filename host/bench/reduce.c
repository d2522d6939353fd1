/* Owns the launches: arguments, grids in parts, and the turn of the partial-sum buffers. */
#include "bench/reduce.h"

#include <stdio.h>

struct rung_config rung_later_config(const struct rung_config *config)
{
    struct rung_config later = *config;
    later.op = RUNG_OP_SUM;
    return later;
}

static const struct rung_module *kernel_of_pass(const struct rung_reduction *reduction,
                                                unsigned pass)
{
    return pass > 0 && reduction->later.function ? &reduction->later : &reduction->first;
}

/* The driver's "invalid value" does not say which: the limits are compared in words first. */
static enum rung_status check_block(const struct rung_module *kernel, unsigned block,
                                    struct rung_error *err)
{
    int most = kernel->device->max_threads_per_block;
    if (kernel->max_threads > 0 && kernel->max_threads < most)
        most = kernel->max_threads;
    if (block > (unsigned)most)
        return rung_fail(err, RUNG_UNABLE,
                         "a block of %u threads is too large here: at most %d for this kernel on "
                         "this device",
                         block, most);
    if ((uint64_t)kernel->shared_bytes > kernel->device->shared_bytes_per_block)
        return rung_fail(err, RUNG_UNABLE,
                         "the kernel needs %d bytes of shared memory a block, the device has %llu",
                         kernel->shared_bytes,
                         (unsigned long long)kernel->device->shared_bytes_per_block);
    return RUNG_OK;
}

/* The smaller of both kernels' occupancy: one grid rule for all passes. */
static enum rung_status find_fixed_blocks(struct rung_reduction *reduction, struct rung_error *err)
{
    const struct rung_device *device = reduction->device;
    int resident = 0, later = 0;
    enum rung_status status = RUNG_OK;
    RUNG_CU(&device->driver, done, cuOccupancyMaxActiveBlocksPerMultiprocessor, &resident,
            reduction->first.function, (int)reduction->config.block, 0);
    if (reduction->later.function) {
        RUNG_CU(&device->driver, done, cuOccupancyMaxActiveBlocksPerMultiprocessor, &later,
                reduction->later.function, (int)reduction->config.block, 0);
        resident = later < resident ? later : resident;
    }
    if (resident <= 0)
        return rung_fail(err, RUNG_UNABLE, "no block of %u threads of this kernel fits an SM",
                         reduction->config.block);
    reduction->fixed_blocks = (uint64_t)resident * (uint64_t)device->sm_count;
done:
    return status;
}

static enum rung_status load_kernel(struct rung_module *out, const struct rung_device *device,
                                    const struct rung_config *config,
                                    const struct rung_image *image, enum rung_image_kind kind,
                                    struct rung_error *err)
{
    char symbol[RUNG_ID_SIZE];
    rung_config_symbol(config, symbol);
    enum rung_status status = rung_module_load(out, device, image, kind, symbol, err);
    return status == RUNG_OK ? check_block(out, config->block, err) : status;
}

enum rung_status rung_reduction_load(struct rung_reduction *out, const struct rung_device *device,
                                     const struct rung_template *tpl,
                                     const struct rung_config *config,
                                     const struct rung_reduction_images *images,
                                     struct rung_error *err)
{
    struct rung_reduction reduction = {.device = device, .config = *config};
    *out = (struct rung_reduction){0};
    rung_template_shape(&reduction.shape, tpl, config);
    enum rung_status status =
        load_kernel(&reduction.first, device, config, images->first, images->kind, err);
    if (status == RUNG_OK && config->op == RUNG_OP_DOT) {
        struct rung_config later = rung_later_config(config);
        status = load_kernel(&reduction.later, device, &later, images->later, images->kind, err);
    }
    if (status == RUNG_OK && reduction.shape.grid_rule == RUNG_GRID_FIXED)
        status = find_fixed_blocks(&reduction, err);
    if (status == RUNG_OK)
        *out = reduction;
    else
        rung_reduction_release(&reduction);
    return status;
}

void rung_reduction_release(struct rung_reduction *reduction)
{
    rung_module_release(&reduction->later);
    rung_module_release(&reduction->first);
    *reduction = (struct rung_reduction){0};
}

enum rung_status rung_reduction_plan(struct rung_plan *out, const struct rung_reduction *reduction,
                                     uint64_t n, struct rung_error *err)
{
    return rung_plan_make(out, &reduction->config, &reduction->shape, n,
                          reduction->device->max_grid_x, reduction->fixed_blocks, err);
}

struct launch {
    const struct rung_module *kernel;
    const struct rung_reduction *reduction;
    CUdeviceptr in, in_b, out;
    bool dot;
    uint64_t n;
    uint64_t blocks;
    CUstream stream;
};

static enum rung_status launch_once(const struct launch *launch, struct rung_error *err)
{
    CUdeviceptr in = launch->in, in_b = launch->in_b, out = launch->out;
    unsigned long long n = launch->n;
    unsigned int step = 2; /* the opaque predicate's stride grows by an argument, always this one */
    void *params[5];
    unsigned count = 0;
    params[count++] = &in;
    if (launch->dot)
        params[count++] = &in_b;
    params[count++] = &out;
    params[count++] = &n;
    if (launch->reduction->shape.takes_step)
        params[count++] = &step;
    enum rung_status status = RUNG_OK;
    RUNG_CU(&launch->reduction->device->driver, done, cuLaunchKernel, launch->kernel->function,
            (unsigned int)launch->blocks, 1, 1, launch->reduction->config.block, 1, 1, 0,
            launch->stream, params, NULL);
done:
    return status;
}

/* A grid holds at most max_grid_x blocks. A part starts at the tile of its first block: the
 * pointers move on and n shrinks, so that the kernel knows nothing of it. */
static enum rung_status launch_pass(const struct launch *whole, struct rung_error *err)
{
    const struct rung_reduction *reduction = whole->reduction;
    uint64_t most = reduction->device->max_grid_x;
    uint64_t size = rung_type_size(reduction->config.type);
    uint64_t tile = (uint64_t)reduction->config.block * reduction->shape.elements_per_thread;
    enum rung_status status = RUNG_OK;
    for (uint64_t done = 0; status == RUNG_OK && done < whole->blocks; done += most) {
        struct launch part = *whole;
        uint64_t skipped = done * tile;
        part.in += skipped * size;
        part.in_b += skipped * size;
        part.out += done * size;
        part.n -= skipped;
        part.blocks = whole->blocks - done < most ? whole->blocks - done : most;
        status = launch_once(&part, err);
    }
    return status;
}

enum rung_status rung_reduction_enqueue(CUdeviceptr *result, const struct rung_reduction *reduction,
                                        const struct rung_plan *plan,
                                        const struct rung_workspace *workspace, CUstream stream,
                                        struct rung_error *err)
{
    struct launch launch = {
        .reduction = reduction,
        .in = workspace->a.data,
        .in_b = workspace->b.data,
        .dot = reduction->config.op == RUNG_OP_DOT,
        .stream = stream,
    };
    for (unsigned pass = 0; pass < plan->n_passes; pass++) {
        launch.kernel = kernel_of_pass(reduction, pass);
        launch.out = workspace->partials[pass % 2].data;
        launch.n = plan->passes[pass].n_in;
        launch.blocks = plan->passes[pass].blocks;
        enum rung_status status = launch_pass(&launch, err);
        if (status != RUNG_OK)
            return status;
        if (!reduction->shape.rereads_input)
            launch.in = launch.out;
        launch.dot = false;
    }
    *result = launch.out;
    return RUNG_OK;
}

enum rung_status rung_value_read(double *out, const struct rung_device *device, CUdeviceptr from,
                                 enum rung_type type, struct rung_error *err)
{
    union {
        float f32;
        double f64;
        int32_t i32;
    } value = {0};
    enum rung_status status = RUNG_OK;
    RUNG_CU(&device->driver, done, cuMemcpyDtoH, &value, from, rung_type_size(type));
    *out = type == RUNG_TYPE_F32   ? (double)value.f32
           : type == RUNG_TYPE_F64 ? value.f64
                                   : (double)value.i32;
done:
    return status;
}

enum rung_status rung_reduction_run(double *sum, const struct rung_reduction *reduction,
                                    const struct rung_plan *plan,
                                    const struct rung_workspace *workspace, struct rung_error *err)
{
    const struct rung_device *device = reduction->device;
    CUdeviceptr result = 0;
    enum rung_status status = rung_workspace_poison(workspace, err);
    if (status == RUNG_OK)
        status = rung_reduction_enqueue(&result, reduction, plan, workspace, device->stream, err);
    if (status != RUNG_OK)
        return status;
    RUNG_CU(&device->driver, done, cuStreamSynchronize, device->stream);
    status = rung_value_read(sum, device, result, reduction->config.type, err);
done:
    return status;
}
