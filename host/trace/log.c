/* Keeps the events of a block. */
#include "trace/log.h"

#include <stdlib.h>
#include <string.h>

enum rung_status rung_trace_log_init(struct rung_trace_log *log, const char *ptx,
                                     struct rung_error *err)
{
    *log = (struct rung_trace_log){0};
    unsigned lines = 2;
    for (const char *at = ptx; *at; at++)
        lines += *at == '\n';
    log->warp_sync = calloc(lines, sizeof *log->warp_sync);
    if (!log->warp_sync)
        return rung_fail(err, RUNG_MEMORY, "out of memory for a trace");
    log->n_lines = lines;
    unsigned line = 1;
    for (const char *at = ptx; at && *at; line++) {
        const char *end = strchr(at, '\n');
        const char *found = strstr(at, "bar.warp.sync");
        log->warp_sync[line] = found && (!end || found < end);
        at = end ? end + 1 : NULL;
    }
    return RUNG_OK;
}

void rung_trace_log_release(struct rung_trace_log *log)
{
    free(log->records);
    free(log->warp_sync);
    *log = (struct rung_trace_log){0};
}

static struct rung_trace_record *append(struct rung_trace_log *log)
{
    if (log->n_records == log->room) {
        size_t room = log->room ? 2 * log->room : 256;
        struct rung_trace_record *records = realloc(log->records, room * sizeof *records);
        if (!records) {
            log->failed = true;
            return NULL;
        }
        log->records = records;
        log->room = room;
    }
    struct rung_trace_record *record = &log->records[log->n_records++];
    memset(record, 0, sizeof *record);
    return record;
}

static void copy_lanes(uint64_t *to, const uint64_t *from, uint32_t active)
{
    if (!from)
        return;
    for (unsigned lane = 0; lane < RUNG_TRACE_LOG_LANES; lane++)
        if (active >> lane & 1)
            to[lane] = from[lane];
}

void rung_trace_log_observe(void *context, const struct rung_sim_event *event)
{
    struct rung_trace_log *log = context;
    if (event->kind == RUNG_SIM_EVENT_INSTRUCTION &&
        !(event->line < log->n_lines && log->warp_sync[event->line]))
        return;
    struct rung_trace_record *record = append(log);
    if (!record)
        return;
    record->kind = event->kind;
    record->warp = event->warp;
    record->active = event->active;
    record->line = event->line;
    record->source_line = event->source_line;
    record->width = event->width;
    record->ways = event->ways;
    record->tree = event->tree;
    if (event->kind == RUNG_SIM_EVENT_BARRIER || event->kind == RUNG_SIM_EVENT_BARRIER_OPEN)
        return;
    record->has_addresses = event->addresses != NULL;
    copy_lanes(record->addresses, event->addresses, event->active);
    copy_lanes(record->values, event->values, event->active);
    copy_lanes(record->left, event->left, event->active);
    copy_lanes(record->right, event->right, event->active);
}
