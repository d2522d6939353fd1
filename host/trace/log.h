/* The events of one block, as the simulator's observer saw them or as a traced kernel wrote them
 * down (trace/traced.h), kept for rung_trace_build. */
#ifndef RUNG_TRACE_LOG_H
#define RUNG_TRACE_LOG_H

#include "base/error.h"
#include "sim/sim.h"

#define RUNG_TRACE_LOG_LANES 32

/* A copy of one event; lanes outside `active` hold 0. */
struct rung_trace_record {
    enum rung_sim_event_kind kind;
    uint32_t warp, active;
    unsigned line, source_line, width, ways;
    bool tree;
    bool has_addresses;
    uint64_t addresses[RUNG_TRACE_LOG_LANES], values[RUNG_TRACE_LOG_LANES];
    uint64_t left[RUNG_TRACE_LOG_LANES], right[RUNG_TRACE_LOG_LANES];
};

struct rung_trace_log {
    struct rung_trace_record *records;
    size_t n_records, room;
    bool *warp_sync; /* per line of the PTX: is it a bar.warp.sync */
    unsigned n_lines;
    bool failed; /* out of memory: the records are not all */
};

/* Instructions that move no data are dropped, but for the bar.warp.sync lines of `ptx`. */
enum rung_status rung_trace_log_init(struct rung_trace_log *log, const char *ptx,
                                     struct rung_error *err);
void rung_trace_log_release(struct rung_trace_log *log);

/* The observer; its context is the log. */
rung_sim_observer rung_trace_log_observe;

#endif
