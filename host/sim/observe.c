/* Events for an observer: one instruction of the observed block after another. */
#include <string.h>

#include "sim/exec.h"

static uint64_t element(const unsigned char *row, uint32_t bytes, uint32_t lane)
{
    uint64_t value = 0;
    memcpy(&value, row + lane * bytes, bytes);
    return value;
}

static void read_row(uint64_t out[SIM_LANES], struct sim_warp *warp, uint32_t offset,
                     uint32_t bytes)
{
    for (uint32_t lane = 0; lane < SIM_LANES; lane++)
        out[lane] = element(sim_row(warp, offset), bytes, lane);
}

/* The product of a multiply-add, rounded by itself: what a reader would write beside the sum. */
static uint64_t product(uint64_t x, uint64_t y, enum rung_ptx_type type)
{
    uint64_t bits = 0;
    if (type == RUNG_PTX_F32) {
        float a, b;
        memcpy(&a, &x, sizeof a);
        memcpy(&b, &y, sizeof b);
        a *= b;
        memcpy(&bits, &a, sizeof a);
        return bits;
    }
    if (type == RUNG_PTX_F64) {
        double a, b;
        memcpy(&a, &x, sizeof a);
        memcpy(&b, &y, sizeof b);
        a *= b;
        memcpy(&bits, &a, sizeof a);
        return bits;
    }
    bits = x * y;
    return rung_ptx_type_bits(type) == 64 ? bits : (uint32_t)bits;
}

static uint32_t value_bytes(const struct sim_op *op)
{
    return rung_ptx_type_bits(op->source->types[0]) / 8;
}

static bool adds(const struct sim_op *op)
{
    return op->addition && op->kind == SIM_OP_PLAIN;
}

void rung_sim_observe_before(struct sim_before *out, struct sim_warp *warp, const struct sim_op *op)
{
    if (op->kind == SIM_OP_SHUFFLE)
        rung_sim_shuffle_sources(out->left, warp, op);
    if (!adds(op))
        return;
    enum rung_ptx_type type = op->source->types[0];
    read_row(out->left, warp, op->a, value_bytes(op));
    read_row(out->right, warp, op->b, value_bytes(op));
    if (op->source->opcode == RUNG_PTX_OP_ADD)
        return;
    for (uint32_t lane = 0; lane < SIM_LANES; lane++) {
        uint64_t sum = element(sim_row(warp, op->c), value_bytes(op), lane);
        out->right[lane] = product(out->left[lane], out->right[lane], type);
        out->left[lane] = sum;
    }
}

static uint32_t taking_part(struct sim_warp *warp, const struct sim_op *op)
{
    if (!op->guard)
        return warp->active;
    return warp->active & (*sim_mask(warp, op->guard) ^ (op->guard_negated ? SIM_ALL : 0));
}

static void send(struct sim_warp *warp, const struct sim_op *op, struct rung_sim_event *event)
{
    struct sim_block *block = warp->block;
    const struct rung_sim_options *options = &block->worker->launch->options;
    event->step = block->event++;
    event->block = (uint32_t)block->linear;
    event->warp = warp->index;
    event->line = op->source->line;
    event->source_line = op->source->source_line;
    options->observer(options->observer_context, event);
}

static enum rung_sim_event_kind kind_of(const struct sim_op *op)
{
    switch (op->kind) {
    case SIM_OP_SHARED_LOAD:
        return RUNG_SIM_EVENT_SHARED_LOAD;
    case SIM_OP_SHARED_STORE:
        return RUNG_SIM_EVENT_SHARED_STORE;
    case SIM_OP_GLOBAL_LOAD:
        return RUNG_SIM_EVENT_GLOBAL_LOAD;
    case SIM_OP_GLOBAL_STORE:
        return RUNG_SIM_EVENT_GLOBAL_STORE;
    case SIM_OP_SHUFFLE:
        return RUNG_SIM_EVENT_SHUFFLE;
    default:
        return adds(op) ? RUNG_SIM_EVENT_ADDITION : RUNG_SIM_EVENT_INSTRUCTION;
    }
}

/* A memory instruction: one event for each element of a vector. */
static void observe_access(struct sim_warp *warp, const struct sim_op *op,
                           struct rung_sim_event *event)
{
    struct sim_worker *worker = warp->block->worker;
    uint64_t addresses[SIM_LANES], values[SIM_LANES];
    bool shared = op->kind == SIM_OP_SHARED_LOAD || op->kind == SIM_OP_SHARED_STORE;
    uint32_t have = op->value_bits / 8u;
    event->width = op->width;
    event->ways = shared ? worker->access.degree : 0;
    event->addresses = addresses;
    event->values = values;
    for (uint32_t k = 0; k < op->vector; k++) {
        read_row(values, warp, op->rows[k], have);
        for (uint32_t lane = 0; lane < SIM_LANES; lane++) {
            addresses[lane] = worker->access.address[lane] + k * op->width;
            values[lane] &= op->width < 8 ? (UINT64_C(1) << op->width * 8) - 1 : UINT64_MAX;
        }
        send(warp, op, event);
    }
}

void rung_sim_observe(struct sim_warp *warp, const struct sim_op *op,
                      const struct sim_before *before)
{
    struct rung_sim_event event = {.kind = kind_of(op), .active = taking_part(warp, op)};
    uint64_t values[SIM_LANES] = {0};
    if (!event.active || warp->block->worker->fault)
        return;
    if (op->kind >= SIM_OP_SHARED_LOAD && op->kind <= SIM_OP_GLOBAL_STORE) {
        observe_access(warp, op, &event);
        return;
    }
    event.values = values;
    event.width = value_bytes(op);
    if (adds(op)) {
        event.tree = op->addition->tree;
        event.left = before->left;
        event.right = before->right;
    } else if (op->kind == SIM_OP_SHUFFLE) {
        event.addresses = before->left;
    }
    if (op->d && event.width && event.width <= 8 && op->class != SIM_COMPARE)
        read_row(values, warp, op->d, event.width);
    send(warp, op, &event);
}

void rung_sim_observe_barrier(struct sim_block *block, struct sim_warp *warp,
                              const struct sim_op *op)
{
    struct rung_sim_event event = {.kind =
                                       warp ? RUNG_SIM_EVENT_BARRIER : RUNG_SIM_EVENT_BARRIER_OPEN};
    if (warp) {
        event.active = warp->active;
        send(warp, op, &event);
        return;
    }
    const struct rung_sim_options *options = &block->worker->launch->options;
    event.step = block->event++;
    event.block = (uint32_t)block->linear;
    options->observer(options->observer_context, &event);
}
