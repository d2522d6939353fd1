/* One block, step by step: what its threads loaded, added, stored and waited for, made from the
 * events of really executed code. Everything in a `struct rung_trace` lives in one arena.
 *
 * Terms. A *step* is one level of the reduction: of every warp the k-th addition of the tree since
 * the last block barrier; before it stands one step that loads, after it one that writes the
 * result. A *slot* is one element of the block's shared memory, a *word* 4 bytes of it, a *bank*
 * the words of equal index modulo 32. A body run is one warp doing one addition of the tree;
 * serialised, it weighs as much as its worst bank conflict. Values of every element type are exact
 * in a double. */
#ifndef RUNG_TRACE_TRACE_H
#define RUNG_TRACE_TRACE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "config/config.h"
#include "gen/model.h"

#define RUNG_TRACE_LANES 32
#define RUNG_TRACE_BANKS 32

static inline unsigned rung_trace_lane_count(uint32_t lanes)
{
    unsigned count = 0;
    for (; lanes; lanes &= lanes - 1)
        count++;
    return count;
}

enum rung_trace_step_kind { RUNG_TRACE_LOAD, RUNG_TRACE_ADD, RUNG_TRACE_WRITE };

enum rung_trace_origin {
    RUNG_TRACE_REGISTER, /* the thread's own partial sum */
    RUNG_TRACE_SHARED,   /* `index` is a slot */
    RUNG_TRACE_LANE      /* shuffled from the register of thread `index` */
};

struct rung_trace_operand {
    double value;
    enum rung_trace_origin origin;
    unsigned index; /* RUNG_TRACE_UNKNOWN for a shuffle of unknown source */
    bool stale;     /* not what the slot held when the step began: nothing ordered the accesses */
};
#define RUNG_TRACE_UNKNOWN UINT32_MAX

/* One thread's addition. `left` is the operand it owns, `right` the one it fetched. */
struct rung_trace_addition {
    unsigned thread;
    struct rung_trace_operand left, right;
    double result;
    unsigned slot; /* where the result went; RUNG_TRACE_UNKNOWN: it stayed in the register */
};

/* One thread's read of an input element. `vector` is 0 for a, 1 for b of a dot product. */
struct rung_trace_read {
    unsigned thread, vector;
    uint64_t element;
    double value;
};

struct rung_trace_store {
    unsigned thread, slot;
    double value;
};

/* One warp-wide access of shared memory. */
struct rung_trace_access {
    unsigned warp;
    bool store;
    uint32_t lanes;
    unsigned ways; /* conflict degree: 1 is free of conflicts */
    unsigned line; /* of the PTX */
    unsigned slots[RUNG_TRACE_LANES];
};

/* Distinct words that each bank serves for an access; of a 64-bit one, which goes by half-warps,
 * the counts of the half whose busiest bank serves more. The most of them is the conflict degree.
 */
void rung_trace_bank_words(unsigned counts[RUNG_TRACE_BANKS],
                           const struct rung_trace_access *access, enum rung_type type);

/* What one warp did in one step; absent warps did nothing. */
struct rung_trace_warp {
    unsigned warp;
    uint32_t active;     /* lanes that added (loaded, wrote) */
    unsigned body_runs;  /* warp-wide additions: 1, or 0 in a step that adds nothing */
    unsigned serialised; /* those, weighted */
    unsigned ways;       /* the worst of its accesses, 0 without any */
    uint32_t arrived;    /* lanes at the block barrier that ends the step */
};

enum rung_trace_order {
    RUNG_TRACE_ORDER_NONE,  /* nothing orders this step before the next */
    RUNG_TRACE_ORDER_WARP,  /* bar.warp.sync, or the shuffle that follows */
    RUNG_TRACE_ORDER_BLOCK, /* bar.sync */
    RUNG_TRACE_ORDER_END    /* the last step */
};

struct rung_trace_step {
    enum rung_trace_step_kind kind;
    unsigned stride;      /* distance of the two operands in elements or lanes; 0 if not one */
    bool in_registers;    /* the operands move by shuffles */
    unsigned active;      /* threads that load, add or write */
    unsigned line;        /* of the PTX, of the first addition */
    unsigned source_line; /* of the CUDA source, 0 without line information */
    enum rung_trace_order order;
    unsigned barrier_line; /* of the PTX, of the block barrier that ends the step; 0 without */
    bool order_broken;     /* the barrier was not reached by all threads that still run */
    uint64_t body_runs, serialised, additions; /* of this step */
    uint64_t body_runs_so_far, serialised_so_far, additions_so_far;
    struct rung_trace_addition *adds; /* by thread; in the load step those on load are not here */
    size_t n_adds;
    struct rung_trace_read *reads; /* in the order of the threads, then of execution */
    size_t n_reads;
    struct rung_trace_store *stores; /* into shared memory, by thread */
    size_t n_stores;
    struct rung_trace_access *accesses; /* by warp, then in the order of execution */
    size_t n_accesses;
    struct rung_trace_warp *warps; /* ascending */
    size_t n_warps;
    double *shared; /* the block's slots after the step */
    bool *written;  /* whether anything ever stored there */
};

/* What is wrong, and where it happens. */
struct rung_trace_finding {
    const char *kind;          /* "race", "barrier", "reread", "unread", "stale", ... */
    size_t step;               /* index of the step it happens in */
    unsigned warp;             /* of the threads that it is about */
    uint32_t lanes;            /* which they are; 0 if it is about none in particular */
    unsigned line, other_line; /* of the PTX, 0 if of none */
    const char *text;          /* one line */
};

struct rung_trace {
    struct rung_config config;
    const char *id; /* of the configuration, or the name of a negative control */
    const char *title;
    bool control;
    const char *source; /* CUDA text, and the file name to show for it */
    const char *source_name;
    const char *ptx;
    const char *where; /* what executed it */
    char image[8];     /* "ptx" or "cubin": what it was given; "" unknown */
    uint64_t n;
    const char *input_names[2];
    const double *inputs[2];     /* the second NULL but for dot */
    const unsigned *read_counts; /* per element: how often the block read it */
    unsigned n_slots;            /* of shared memory, 0 if none was touched */
    unsigned n_warps;
    struct rung_trace_step *steps;
    size_t n_steps;
    double result, expected;
    bool wrote;       /* a result was stored */
    bool exact;       /* result and expected are compared without a tolerance */
    double tolerance; /* else: how far rounding alone may move the result */
    bool correct;
    bool has_model;
    struct rung_model model;                   /* of one full block, where has_model */
    uint64_t additions, body_runs, serialised; /* executed, those on load among the additions */
    struct rung_trace_finding *findings;
    size_t n_findings;
    uint64_t n_findings_all; /* before the list was cut */
};

/* What was run, and with which inputs: everything that the events do not say. Borrowed. */
struct rung_trace_subject {
    struct rung_config config;
    const char *id, *title;
    bool control;
    const char *source, *source_name, *ptx, *where;
    uint64_t n;
    const char *input_names[2];
    const double *inputs[2];
    uint64_t input_addresses[2], output_address; /* in the address space of the events */
    const struct rung_model *model;              /* NULL where unknown */
};

struct rung_trace_log; /* trace/log.h */

/* Sorts a block's events into steps. RUNG_MEMORY; RUNG_UNABLE if the log holds no event. */
enum rung_status rung_trace_build(struct rung_trace *out, struct rung_arena *arena,
                                  const struct rung_trace_log *log,
                                  const struct rung_trace_subject *subject, struct rung_error *err);

/* Adds what a checker found. `line` decides the step; kind and text are copied. */
enum rung_status rung_trace_add_finding(struct rung_trace *trace, struct rung_arena *arena,
                                        const struct rung_trace_finding *finding,
                                        struct rung_error *err);

/* Whether a finding of the step is about this thread. */
bool rung_trace_is_marked(const struct rung_trace *trace, size_t step, unsigned thread);

/* The value as a reader writes it: shortest digits that read back to the same element. */
void rung_trace_format_value(char text[32], double value, enum rung_type type);

/* "a[0] × b[0] + a[8] × b[8]" as values, and the whole reduction written out; long ones are cut in
 * the middle to about `room` terms. */
void rung_trace_write_verification(struct rung_text *out, const struct rung_trace *trace,
                                   size_t room);

/* The line of `text` numbered from 1, without leading blanks; "" past the end. Not terminated. */
const char *rung_trace_line(const char *text, unsigned line, size_t *length);

/* --- renderers ------------------------------------------------------------------------------ */

struct rung_trace_look {
    bool colour;
    unsigned columns; /* of the terminal, at least 60 */
    bool all;         /* fold nothing */
};
void rung_trace_write_text(struct rung_text *out, const struct rung_trace *trace,
                           const struct rung_trace_look *look);

/* The fields of a trace beside those of a result row: {"input": …, "steps": […], "findings": …}.
 * With `compact`, what a reader can rebuild from the rest is left out. NULL: out of memory. */
json_t *rung_trace_to_json(const struct rung_trace *trace, bool compact);

/* A picture that stands still, for slides: every step of one trace. */
enum rung_status rung_trace_write_svg(struct rung_text *out, const struct rung_trace *trace,
                                      struct rung_error *err);

/* One self-contained page that steps through all traces together. */
enum rung_status rung_trace_write_page(struct rung_text *out, const struct rung_trace *traces,
                                       size_t n_traces, const char *command,
                                       struct rung_error *err);

#endif
