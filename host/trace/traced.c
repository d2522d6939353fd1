/* From the records of threads to the events of warps. Every thread numbers what it did by the
 * barriers that it had passed and the line it came from; what has the same number in several lanes
 * of a warp was one instruction of that warp. */
#include "trace/traced.h"

#include <stdlib.h>

#include "trace/trace.h"

/* A record and its number, the most significant part first. */
struct item {
    unsigned epoch; /* block barriers passed */
    unsigned warp;
    unsigned syncs; /* warp barriers passed in the epoch; an arrival at a block barrier is last */
    unsigned line;
    unsigned turn; /* how often the line had run since the last barrier */
    unsigned kind;
    unsigned nth; /* of its kind in one run of the line */
    unsigned thread;
    const struct rung_traced_record *record;
};

#define NUMBER_PARTS 7 /* epoch to nth: the same in the lanes of one event */

static int compare_numbers(const struct item *a, const struct item *b)
{
    const unsigned left[NUMBER_PARTS] = {a->epoch, a->warp, a->syncs, a->line,
                                         a->turn,  a->kind, a->nth};
    const unsigned right[NUMBER_PARTS] = {b->epoch, b->warp, b->syncs, b->line,
                                          b->turn,  b->kind, b->nth};
    for (int i = 0; i < NUMBER_PARTS; i++)
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    return 0;
}

static int compare_items(const void *a, const void *b)
{
    const struct item *left = a, *right = b;
    int order = compare_numbers(left, right);
    return order ? order : (left->thread > right->thread) - (left->thread < right->thread);
}

/* A statement reads, adds, writes, in this order: a step back, or another line, is another run. */
static void number_turn(struct item *items, size_t at)
{
    struct item *item = &items[at];
    for (size_t i = at; i > 0; i--) {
        const struct item *before = &items[i - 1];
        if (before->thread != item->thread || before->epoch != item->epoch ||
            before->syncs != item->syncs)
            return;
        if (before->line != item->line)
            continue;
        bool goes_on = i == at && before->kind <= item->kind;
        item->turn = before->turn + !goes_on;
        item->nth = goes_on && before->kind == item->kind ? before->nth + 1 : 0;
        return;
    }
}

static enum rung_status number_thread(struct item *items, size_t *count, unsigned thread,
                                      const struct rung_traced_record *records,
                                      struct rung_error *err)
{
    unsigned epoch = 0, syncs = 0;
    if (records[RUNG_TRACED_ROOM - 1].kind != RUNG_TRACED_END)
        return rung_fail(err, RUNG_UNABLE,
                         "thread %u did more than the %d things a trace has room for", thread,
                         RUNG_TRACED_ROOM);
    for (size_t i = 0; records[i].kind != RUNG_TRACED_END; i++) {
        bool arrives = records[i].kind == RUNG_TRACED_BLOCK_BARRIER;
        items[*count] = (struct item){.epoch = epoch,
                                      .warp = thread / RUNG_TRACE_LANES,
                                      .syncs = arrives ? UINT32_MAX : syncs,
                                      .line = records[i].line,
                                      .kind = records[i].kind,
                                      .thread = thread,
                                      .record = &records[i]};
        number_turn(items, (*count)++);
        syncs = arrives ? 0 : syncs + (records[i].kind == RUNG_TRACED_WARP_BARRIER);
        epoch += arrives;
    }
    return RUNG_OK;
}

/* --- events ---------------------------------------------------------------------------------- */

static enum rung_sim_event_kind event_kind(unsigned kind)
{
    switch ((enum rung_traced_kind)kind) {
    case RUNG_TRACED_LOAD:
        return RUNG_SIM_EVENT_GLOBAL_LOAD;
    case RUNG_TRACED_READ:
        return RUNG_SIM_EVENT_SHARED_LOAD;
    case RUNG_TRACED_SHUFFLE:
        return RUNG_SIM_EVENT_SHUFFLE;
    case RUNG_TRACED_ADD_LOADED:
    case RUNG_TRACED_ADD:
        return RUNG_SIM_EVENT_ADDITION;
    case RUNG_TRACED_STORE:
        return RUNG_SIM_EVENT_SHARED_STORE;
    case RUNG_TRACED_RESULT:
        return RUNG_SIM_EVENT_GLOBAL_STORE;
    case RUNG_TRACED_BLOCK_BARRIER:
        return RUNG_SIM_EVENT_BARRIER;
    case RUNG_TRACED_WARP_BARRIER:
    case RUNG_TRACED_END:
        break;
    }
    return RUNG_SIM_EVENT_INSTRUCTION;
}

/* Banks are the same on every card: the conflict degree follows from the slots. */
static unsigned conflict_degree(const struct rung_sim_event *event, enum rung_type type)
{
    struct rung_trace_access access = {.lanes = event->active};
    unsigned banks[RUNG_TRACE_BANKS], most = 1;
    for (unsigned lane = 0; lane < RUNG_TRACE_LANES; lane++)
        if (event->active >> lane & 1)
            access.slots[lane] = (unsigned)(event->addresses[lane] / rung_type_size(type));
    rung_trace_bank_words(banks, &access, type);
    for (unsigned bank = 0; bank < RUNG_TRACE_BANKS; bank++)
        most = banks[bank] > most ? banks[bank] : most;
    return most;
}

/* The items from `first` on that are one event; returns the index after them. */
static size_t send_event(struct rung_trace_log *log, const struct item *items, size_t first,
                         size_t count, enum rung_type type)
{
    uint64_t addresses[RUNG_TRACE_LANES], values[RUNG_TRACE_LANES];
    uint64_t left[RUNG_TRACE_LANES], right[RUNG_TRACE_LANES];
    struct rung_sim_event event = {.kind = event_kind(items[first].kind),
                                   .warp = items[first].warp,
                                   .source_line = items[first].line,
                                   .width = (unsigned)rung_type_size(type),
                                   .tree = items[first].kind == RUNG_TRACED_ADD,
                                   .addresses = addresses,
                                   .values = values,
                                   .left = left,
                                   .right = right};
    size_t end = first;
    for (; end < count && compare_numbers(&items[first], &items[end]) == 0; end++) {
        unsigned lane = items[end].thread % RUNG_TRACE_LANES;
        event.active |= (uint32_t)1 << lane;
        addresses[lane] = items[end].record->where;
        values[lane] = items[end].record->value;
        left[lane] = items[end].record->left;
        right[lane] = items[end].record->right;
    }
    if (event.kind == RUNG_SIM_EVENT_SHARED_LOAD || event.kind == RUNG_SIM_EVENT_SHARED_STORE)
        event.ways = conflict_degree(&event, type);
    rung_trace_log_observe(log, &event);
    return end;
}

static void send_events(struct rung_trace_log *log, const struct item *items, size_t count,
                        enum rung_type type)
{
    log->warp_sync[0] =
        true; /* an instruction of no PTX line is a warp barrier: no other is sent */
    for (size_t i = 0; i < count;) {
        unsigned epoch = items[i].epoch;
        bool arrived = false;
        for (; i < count && items[i].epoch == epoch;) {
            arrived |= items[i].kind == RUNG_TRACED_BLOCK_BARRIER;
            i = send_event(log, items, i, count, type);
        }
        struct rung_sim_event open = {.kind = RUNG_SIM_EVENT_BARRIER_OPEN};
        if (arrived)
            rung_trace_log_observe(log, &open);
    }
}

enum rung_status rung_traced_read(struct rung_trace_log *log,
                                  const struct rung_traced_record *records,
                                  const struct rung_config *config, struct rung_error *err)
{
    size_t count = 0;
    enum rung_status status = RUNG_OK;
    struct item *items = calloc((size_t)config->block * RUNG_TRACED_ROOM, sizeof *items);
    if (!items)
        return rung_fail(err, RUNG_MEMORY, "out of memory for a trace");
    for (unsigned thread = 0; thread < config->block && status == RUNG_OK; thread++)
        status =
            number_thread(items, &count, thread, records + (size_t)thread * RUNG_TRACED_ROOM, err);
    if (status == RUNG_OK) {
        qsort(items, count, sizeof *items, compare_items);
        send_events(log, items, count, config->type);
    }
    free(items);
    return status;
}
