/* Which step an event belongs to: loads wait for the addition that uses them, stores follow the
 * addition before them, and additions are counted per warp since the last block barrier. */
#include "trace/build.h"

#include <string.h>

void rung_trace_push_pending(struct rung_trace_under_way *warp, size_t record)
{
    if (warp->n_pending == RUNG_TRACE_PENDING) {
        memmove(warp->pending, warp->pending + 1, (RUNG_TRACE_PENDING - 1) * sizeof *warp->pending);
        memmove(warp->claimed, warp->claimed + 1, (RUNG_TRACE_PENDING - 1) * sizeof *warp->claimed);
        warp->n_pending--;
    }
    warp->claimed[warp->n_pending] = 0;
    warp->pending[warp->n_pending++] = record;
}

/* What a warp's next event belongs to. */
struct progress {
    uint64_t key;   /* of its last addition, or of the load */
    uint64_t epoch; /* block barriers passed when that was */
    uint64_t count; /* additions since */
};

static void settle_pending(struct rung_trace_builder *builder, struct rung_trace_under_way *warp,
                           uint64_t key)
{
    for (unsigned i = 0; i < warp->n_pending; i++)
        builder->keys[warp->pending[i]] = key;
    warp->n_pending = 0;
}

static uint64_t addition_key(struct progress *progress, uint64_t epoch)
{
    if (progress->key == RUNG_TRACE_KEY_LOAD || progress->epoch != epoch)
        progress->count = 0;
    progress->epoch = epoch;
    progress->key = (epoch << 32) | ++progress->count;
    return progress->key;
}

static uint64_t record_key(struct rung_trace_builder *builder, size_t index, uint64_t epoch,
                           struct progress *progress)
{
    const struct rung_trace_record *record = &builder->log->records[index];
    struct rung_trace_under_way *warp = &builder->warps[record->warp];
    switch (record->kind) {
    case RUNG_SIM_EVENT_GLOBAL_LOAD:
        return RUNG_TRACE_KEY_LOAD;
    case RUNG_SIM_EVENT_SHARED_LOAD:
    case RUNG_SIM_EVENT_SHUFFLE:
        rung_trace_push_pending(warp, index);
        return progress->key;
    case RUNG_SIM_EVENT_ADDITION:
        if (!record->tree)
            return RUNG_TRACE_KEY_LOAD;
        addition_key(progress, epoch);
        settle_pending(builder, warp, progress->key);
        return progress->key;
    case RUNG_SIM_EVENT_GLOBAL_STORE:
        settle_pending(builder, warp, RUNG_TRACE_KEY_WRITE);
        return RUNG_TRACE_KEY_WRITE;
    case RUNG_SIM_EVENT_BARRIER:
    case RUNG_SIM_EVENT_BARRIER_OPEN:
        return (epoch << 32) | UINT32_MAX; /* after every addition of its epoch */
    default:
        return progress->key;
    }
}

void rung_trace_assign_keys(struct rung_trace_builder *builder)
{
    struct progress progress[RUNG_TRACE_LANES] = {{0}};
    uint64_t epoch = 0;
    for (size_t i = 0; i < builder->log->n_records; i++) {
        const struct rung_trace_record *record = &builder->log->records[i];
        bool open = record->kind == RUNG_SIM_EVENT_BARRIER_OPEN;
        builder->keys[i] =
            record_key(builder, i, epoch, &progress[open ? 0 : record->warp % RUNG_TRACE_LANES]);
        epoch += open;
    }
    for (unsigned warp = 0; warp < builder->trace->n_warps; warp++)
        builder->warps[warp].n_pending = 0;
}
