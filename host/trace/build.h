/* Shared by the parts of rung_trace_build alone. */
#ifndef RUNG_TRACE_BUILD_H
#define RUNG_TRACE_BUILD_H

#include "trace/log.h"
#include "trace/trace.h"

#define RUNG_TRACE_PENDING 16

/* Keys order the steps: the load first, the write last, between them (epoch, k-th addition). */
#define RUNG_TRACE_KEY_LOAD ((uint64_t)0)
#define RUNG_TRACE_KEY_WRITE UINT64_MAX

/* What a warp has under way: accesses that the next addition will use. */
struct rung_trace_under_way {
    size_t pending[RUNG_TRACE_PENDING]; /* indices of records */
    uint32_t claimed[RUNG_TRACE_PENDING];
    unsigned n_pending;
    uint64_t registers[RUNG_TRACE_LANES]; /* the partial sum that a lane last made or read */
    size_t last_add[RUNG_TRACE_LANES];    /* index in the step's additions, SIZE_MAX: none */
    struct rung_trace_step *step;         /* of the last addition */
};

struct rung_trace_builder {
    const struct rung_trace_log *log;
    const struct rung_trace_subject *subject;
    struct rung_arena *arena;
    struct rung_trace *trace;
    uint64_t *keys;      /* per record: the step it belongs to */
    uint64_t *step_keys; /* ascending, one a step */
    struct rung_trace_under_way *warps;
    unsigned element_bytes;
};

/* Gives every record the key of its step. `keys` has room for all records. */
void rung_trace_assign_keys(struct rung_trace_builder *builder);

/* Adds record `index` to the step that it belongs to. */
void rung_trace_take_record(struct rung_trace_builder *builder, struct rung_trace_step *step,
                            size_t index);

/* Works out, for one lane of an addition, where its operands came from. */
void rung_trace_match_operands(struct rung_trace_addition *out,
                               const struct rung_trace_builder *builder,
                               struct rung_trace_under_way *warp,
                               const struct rung_trace_record *record, unsigned lane);

/* Replays the stores step by step: fills `shared` and `written`, marks stale operands. */
enum rung_status rung_trace_replay(struct rung_trace_builder *builder, struct rung_error *err);

/* Expected result, read counts, and what they find wrong. */
enum rung_status rung_trace_check(struct rung_trace_builder *builder, struct rung_error *err);

/* Remembers an access that the warp's next addition will use; the oldest is dropped when full. */
void rung_trace_push_pending(struct rung_trace_under_way *warp, size_t record);

/* The element that raw bits hold. */
double rung_trace_value(uint64_t bits, enum rung_type type);

#endif
