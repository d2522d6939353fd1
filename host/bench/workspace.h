/* The device memory of a complete reduction: the input (two vectors for dot) and two buffers of
 * partial sums that the passes use in turn. Shared by every configuration that reduces the same
 * n elements of the same type by the same operation. */
#ifndef RUNG_BENCH_WORKSPACE_H
#define RUNG_BENCH_WORKSPACE_H

#include "bench/device.h"
#include "config/config.h"

/* Before and behind every buffer: all bits set, which is NaN as float and double, so that a read
 * outside shows in the sum and a write outside in the guard. */
#define RUNG_GUARD_BYTES 256

struct rung_buffer {
    CUdeviceptr base; /* of the allocation */
    CUdeviceptr data; /* of the first element */
    uint64_t bytes;   /* of the elements */
    uint64_t guard;   /* bytes of each guard */
};

struct rung_workspace {
    const struct rung_device *device; /* borrowed */
    enum rung_op op;
    enum rung_type type;
    uint64_t n;
    uint64_t room;           /* elements of each partial-sum buffer */
    uint64_t places;         /* copies of the input, one behind the other */
    uint64_t place_bytes;    /* from one to the next: a multiple of 256 */
    struct rung_buffer a, b; /* b is empty for sum */
    struct rung_buffer partials[2];
};

struct rung_workspace_spec {
    enum rung_op op;
    enum rung_type type;
    uint64_t n;
    uint64_t places;     /* copies of the input, for timing in turn; 0 stands for 1 */
    uint64_t room;       /* the largest partials_room of the plans that will use it; at least 1 */
    bool without_guards; /* allocations end where the data end: for the simulator's bounds check */
};

/* Device bytes that it takes. */
uint64_t rung_workspace_bytes(const struct rung_workspace_spec *spec);

/* RUNG_USAGE where the device lacks the memory: how much is needed, how much is free. */
enum rung_status rung_workspace_fits(const struct rung_device *device,
                                     const struct rung_workspace_spec *spec,
                                     struct rung_error *err);

/* Allocates; asks rung_workspace_fits first. */
enum rung_status rung_workspace_open(struct rung_workspace *out, const struct rung_device *device,
                                     const struct rung_workspace_spec *spec,
                                     struct rung_error *err);

/* Accepts a zeroed workspace. */
void rung_workspace_release(struct rung_workspace *workspace);

/* The same workspace seen at copy `place` of its input. Owns nothing. */
struct rung_workspace rung_workspace_view(const struct rung_workspace *workspace, uint64_t place);

/* Copies the input at place 0 to all others. */
enum rung_status rung_workspace_replicate(const struct rung_workspace *workspace,
                                          struct rung_error *err);

/* Sets every partial sum to all bits set, so that a value that nobody wrote is seen. */
enum rung_status rung_workspace_poison(const struct rung_workspace *workspace,
                                       struct rung_error *err);

/* RUNG_WRONG names the buffer whose guard was written to. */
enum rung_status rung_workspace_check_guards(const struct rung_workspace *workspace,
                                             struct rung_error *err);

#endif
