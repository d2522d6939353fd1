/* A complete reduction, n elements to one value: the kernels of a configuration in the driver, and
 * the launches of all its passes. Measures nothing, verifies nothing. */
#ifndef RUNG_BENCH_REDUCE_H
#define RUNG_BENCH_REDUCE_H

#include "bench/module.h"
#include "bench/plan.h"
#include "bench/workspace.h"

struct rung_reduction {
    const struct rung_device *device; /* borrowed */
    struct rung_config config;
    struct rung_shape shape;
    struct rung_module first; /* of the configuration itself: it reads the input */
    struct rung_module later; /* dot only: sums the partial sums; else empty, `first` does it */
    uint64_t fixed_blocks;    /* the blocks that the device keeps resident */
};

/* The configuration of the later passes: the sum of the same form. */
struct rung_config rung_later_config(const struct rung_config *config);

struct rung_reduction_images {
    const struct rung_image *first;
    const struct rung_image *later; /* of rung_later_config; read for dot only */
    enum rung_image_kind kind;
};

enum rung_status rung_reduction_load(struct rung_reduction *out, const struct rung_device *device,
                                     const struct rung_template *tpl,
                                     const struct rung_config *config,
                                     const struct rung_reduction_images *images,
                                     struct rung_error *err);
void rung_reduction_release(struct rung_reduction *reduction);

enum rung_status rung_reduction_plan(struct rung_plan *out, const struct rung_reduction *reduction,
                                     uint64_t n, struct rung_error *err);

/* Puts every launch of the complete reduction on `stream` and nothing else: between two events, or
 * while the stream is captured into a graph. `*result` is where the value will stand. */
enum rung_status rung_reduction_enqueue(CUdeviceptr *result, const struct rung_reduction *reduction,
                                        const struct rung_plan *plan,
                                        const struct rung_workspace *workspace, CUstream stream,
                                        struct rung_error *err);

/* Reads the value at `from`, exact in a double for every type. */
enum rung_status rung_value_read(double *out, const struct rung_device *device, CUdeviceptr from,
                                 enum rung_type type, struct rung_error *err);

/* Poisons the partial sums, enqueues on the device's stream, waits, and reads the value. */
enum rung_status rung_reduction_run(double *sum, const struct rung_reduction *reduction,
                                    const struct rung_plan *plan,
                                    const struct rung_workspace *workspace, struct rung_error *err);

#endif
