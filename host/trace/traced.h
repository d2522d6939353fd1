/* A block that wrote its own log (gen/traced.h), as the events that an observer would have seen. */
#ifndef RUNG_TRACE_TRACED_H
#define RUNG_TRACE_TRACED_H

#include "config/config.h"
#include "gen/traced.h"
#include "trace/log.h"

/* Records of one thread; the longest kernels make about a hundred. */
#define RUNG_TRACED_ROOM 256

/* Adds to `log` what the records of all threads of a block of `config` say: lanes that did the same
 * are one event of their warp. Events have the line of the source, and none of the PTX. RUNG_UNABLE
 * where a thread had more to write than there was room; RUNG_MEMORY. */
enum rung_status rung_traced_read(struct rung_trace_log *log,
                                  const struct rung_traced_record *records,
                                  const struct rung_config *config, struct rung_error *err);

#endif
