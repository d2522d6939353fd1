/* Inside the machine: decoded code, and a warp, a block and a worker while they run. Only the files
 * of the interpreter include this.
 *
 * Values live in rows: the 32 lanes of one register side by side, 16, 32 or 64 bits each, so that
 * one instruction of a warp is one loop over a row that the host compiler makes into vector
 * instructions. A predicate is a mask of 32 bits. Constants, special registers and parameters are
 * rows of the same file, so every operand is a byte offset into it. */
#ifndef RUNG_SIM_EXEC_H
#define RUNG_SIM_EXEC_H

#include "base/arena.h"
#include "ptx/flow.h"
#include "ptx/opcodes.h"
#include "sim/machine.h"

#define SIM_LANES 32
#define SIM_ALL UINT32_MAX
#define SIM_NONE UINT32_MAX /* no segment: lanes that only meet again where they end */
#define SIM_POISON 0xff     /* bytes that nothing wrote: NaN as a float */
#define SIM_PATHS_MAX 72    /* a split halves no mask below one lane: 32 leaves, 32 joins */
#define SIM_BARRIERS 16
#define SIM_WARPS_MAX (RUNG_SIM_BLOCK_THREADS_MAX / SIM_LANES)

/* One row function is compiled for AVX-512, for AVX2 and for the baseline, and the loader's
 * indirect functions pick once: the loops over 32 lanes are most of the simulator's work, and the
 * same binary must run on any x86-64. The sanitizers run before that choice is made, so they get
 * the baseline. Results do not differ: nothing is contracted. */
#if defined(__x86_64__) && defined(__GLIBC__) && __GNUC__ >= 12 && !defined(__clang__) &&          \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SIM_ROWS __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define SIM_ROWS
#endif

/* A loop over the lanes whose rows are the same or apart, never shifted against each other. */
#ifdef __clang__
#define SIM_EACH_LANE(i) for (int i = 0; i < SIM_LANES; i++)
#else
#define SIM_EACH_LANE(i) _Pragma("GCC ivdep") for (int i = 0; i < SIM_LANES; i++)
#endif

struct sim_warp;
struct sim_op;
struct sim_check;
typedef void sim_run(struct sim_warp *warp, const struct sim_op *op);

enum sim_op_kind { /* for observers and detectors; the class is the row's */
                   SIM_OP_PLAIN,
                   SIM_OP_SHARED_LOAD,
                   SIM_OP_SHARED_STORE,
                   SIM_OP_GLOBAL_LOAD,
                   SIM_OP_GLOBAL_STORE,
                   SIM_OP_OTHER_MEMORY,
                   SIM_OP_ATOMIC,
                   SIM_OP_SHUFFLE
};

/* What the data flow knows of an addition of data. */
struct sim_addition {
    bool tree;             /* an operand comes from shared memory or a shuffle */
    uint32_t slot;         /* of its degree in the warp's `degrees` */
    const uint32_t *loads; /* slots of the shared loads behind its operands */
    uint32_t n_loads;
};

struct sim_op {
    sim_run *run;
    uint32_t d, a, b, c; /* offsets of rows: destination, sources */
    uint32_t rows[4];    /* of a vector load or store; further operands elsewhere */
    int64_t offset;      /* added to the address in row `a` */
    uint8_t width;       /* bytes of one element in memory */
    uint8_t vector;      /* elements */
    uint8_t address_bits;
    uint8_t value_bits; /* of the rows that a load fills or a store reads */
    bool is_signed;
    bool negated; /* the predicate operand */
    bool strong;  /* volatile or atomic: a global access that no other races with */
    uint8_t kind; /* enum sim_op_kind */
    uint8_t mode; /* the family's own choice */
    bool guard_negated;
    uint32_t guard;                      /* offset of the guard's mask, 0 if there is none */
    sim_run *behind;                     /* what runs behind a guard or inside an addition */
    sim_run *within;                     /* what runs inside an addition that is guarded */
    uint32_t slot;                       /* of a shared load's degree; 0 if nobody asks */
    const struct sim_addition *addition; /* this is one, or this stores its result */
    const struct rung_ptx_instruction *source;
    uint8_t class; /* enum sim_counter */
};

/* The classes of sim.h, in their order there. */
enum sim_counter {
    SIM_ARITHMETIC,
    SIM_LOGIC,
    SIM_COMPARE,
    SIM_MOVE,
    SIM_CONVERT,
    SIM_BRANCH,
    SIM_BARRIER,
    SIM_SHARED_LOAD,
    SIM_SHARED_STORE,
    SIM_GLOBAL_LOAD,
    SIM_GLOBAL_STORE,
    SIM_OTHER_MEMORY,
    SIM_SHUFFLE,
    SIM_VOTE,
    SIM_ATOMIC,
    SIM_CONTROL,
    SIM_CLASSES
};

enum sim_end {
    SIM_END_FALL,
    SIM_END_JUMP,
    SIM_END_BRANCH,
    SIM_END_BARRIER,
    SIM_END_EXIT,
    SIM_END_TRAP
};
enum sim_sync { SIM_SYNC_NONE, SIM_SYNC_WARP, SIM_SYNC_BLOCK };

/* Instructions that run together: no way in but the first, no way out but behind the last. */
struct sim_segment {
    const struct sim_op *ops;
    uint32_t n_ops; /* those before the one that ends it */
    enum sim_end end;
    const struct sim_op *last; /* the instruction that ends it, NULL where it falls through */
    uint32_t next, target;     /* segments; SIM_NONE behind the code */
    uint32_t join;             /* where the sides of its branch meet */
    enum sim_sync sync;        /* its first instruction needs lanes together */
    const struct sim_op *sync_op;
    bool only_exit; /* nothing but an unguarded ret */
    /* what one execution adds, guarded instructions left out: they count themselves */
    uint32_t n_counted;
    uint16_t counts[SIM_CLASSES];
    uint32_t additions, body_runs;
};

struct sim_constant {
    uint64_t bits;
    uint32_t offset;
    uint8_t width; /* bits of a lane; 1: a predicate */
};

struct sim_shared_symbol {
    const struct rung_ptx_symbol *symbol;
    uint64_t offset;
};

struct rung_sim_kernel {
    const struct rung_sim_program *program;
    const struct rung_ptx_function *function;
    struct sim_op *ops;
    uint32_t n_ops;
    struct sim_segment *segments;
    uint32_t n_segments;
    struct sim_constant *constants;
    uint32_t n_constants;
    uint32_t specials[RUNG_PTX_SR_COUNT]; /* offset of the row, 0 if unused */
    uint32_t *rows;                       /* offset of each register */
    uint32_t file_bytes;
    uint32_t n_slots; /* of degrees */
    struct sim_shared_symbol *shared;
    uint32_t n_shared;
    uint64_t shared_bytes; /* static */
    unsigned registers;
    uint64_t const_bytes;
};

/* Lanes that go together. Entries above a join hold lanes of it; see warp.c. */
struct sim_path {
    uint32_t mask;
    uint32_t segment;
    uint32_t join; /* the segment before which they wait for others */
    uint32_t op;   /* where in the segment a switch came */
    bool blocked;  /* at the sync that begins its segment */
};

enum sim_state { SIM_RUNNABLE, SIM_WAITING, SIM_DONE };

/* What the last memory instruction did; kept for observers and detectors. */
struct sim_access {
    uint64_t address[SIM_LANES];
    uint32_t degree;
};

struct sim_warp {
    unsigned char *file;
    uint32_t active, n_active; /* lanes, and how many */
    uint32_t lanes[SIM_LANES]; /* `active`, a word of ones or zeros for each lane */
    struct sim_block *block;
    uint32_t *degrees; /* by slot */
    uint32_t index, exited;
    enum sim_state state;
    uint32_t depth;
    struct sim_path paths[SIM_PATHS_MAX];
    int64_t slice;                  /* instructions until others have a turn */
    uint32_t barrier;               /* where it waits */
    const struct sim_op *reduction; /* bar.red that waits for its result */
};

struct sim_barrier {
    uint32_t arrived;  /* threads, in whole warps */
    uint32_t waiting;  /* warps */
    uint32_t expected; /* threads; 0: all */
    uint32_t count;    /* of true predicates */
    bool all, any;
    unsigned line; /* of the first arrival */
};

/* Executions of one segment by one worker. */
struct sim_tally {
    uint64_t runs, lanes;
};

/* A block while it runs; a worker has one and uses it again and again. */
struct sim_block {
    struct sim_worker *worker;
    const struct rung_sim_kernel *kernel;
    unsigned char *shared;
    uint64_t shared_bytes;
    uint32_t ctaid[3];
    uint64_t linear;
    uint32_t n_warps, n_threads, n_done;
    struct sim_barrier barriers[SIM_BARRIERS];
    uint64_t steps; /* warp instructions so far */
    uint64_t event; /* observed so far */
    struct sim_warp *warps;
};

struct sim_worker {
    struct sim_run_state *run; /* of the launch; machine.c */
    const struct rung_sim_launch *launch;
    struct sim_block block;
    struct sim_tally *tally;       /* by segment */
    uint64_t guarded[SIM_CLASSES]; /* guarded instructions that some lane executed */
    struct rung_sim_counters counters;
    struct rung_sim_findings findings;
    struct sim_check *check; /* NULL: not checking */
    struct sim_access access;
    const struct rung_sim_range *range; /* the allocation last used */
    bool observed, slow;                /* slow: observed, checked or in adversarial order */
    bool dry;                           /* out of host memory */
    uint64_t random;
    int fault; /* CUresult of the first fault, 0 if none */
    char why[256];
    unsigned char *memory; /* everything above that is allocated */
};

static inline void *sim_row(struct sim_warp *warp, uint32_t offset)
{
    return warp->file + offset;
}

static inline uint32_t *sim_mask(struct sim_warp *warp, uint32_t offset)
{
    return (uint32_t *)(warp->file + offset);
}

/* The lowest lane of a mask that is not empty, and its removal. */
static inline int sim_lowest(uint32_t mask)
{
    return __builtin_ctz(mask);
}
#define SIM_EACH_ACTIVE(lane, mask)                                                                \
    for (uint32_t left_##lane = (mask), lane = 0;                                                  \
         left_##lane && (lane = (uint32_t)sim_lowest(left_##lane), 1);                             \
         left_##lane &= left_##lane - 1)

/* warp.c */
void rung_sim_warp_start(struct sim_warp *warp, uint32_t live);
void rung_sim_warp_run(
    struct sim_warp *warp); /* until it waits, ends, faults or its turn is over */
void rung_sim_warp_set_active(struct sim_warp *warp, uint32_t active);

/* block.c */
void rung_sim_block_run(struct sim_block *block);
/* A warp arrives at the barrier instruction; it waits, or goes on where bar.arrive lets it. */
void rung_sim_barrier_arrive(struct sim_warp *warp, const struct sim_op *op);
void rung_sim_barrier_check_all(struct sim_block *block); /* after a warp ended */
uint64_t rung_sim_random(struct sim_worker *worker);

/* report.c: findings and faults. A fault ends the launch with its code; the first one counts. */
void rung_sim_report(struct sim_warp *warp, enum rung_sim_finding_kind kind,
                     const struct sim_op *op, unsigned other_line, uint32_t lanes,
                     const char *format, ...) __attribute__((format(printf, 6, 7)));
void rung_sim_fault(struct sim_warp *warp, int code, enum rung_sim_finding_kind kind,
                    const struct sim_op *op, uint32_t lanes, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
bool rung_sim_findings_add(struct rung_sim_findings *to, const struct rung_sim_finding *finding);

/* access.c: addresses of an access, its place in host memory, banks and sectors. */
struct sim_span { /* addresses that are evenly spaced over the active lanes */
    bool even;
    uint64_t first;  /* of the lowest active lane */
    uint32_t stride; /* bytes from lane to lane */
    int low, high;   /* lowest and highest active lane */
};
void rung_sim_access_addresses(struct sim_span *span, struct sim_warp *warp,
                               const struct sim_op *op);
/* The host bytes of device addresses; NULL after a fault. */
unsigned char *rung_sim_access_global(struct sim_warp *warp, const struct sim_op *op,
                                      uint64_t address, uint32_t bytes, uint32_t lane);
unsigned char *rung_sim_access_shared(struct sim_warp *warp, const struct sim_op *op,
                                      uint64_t address, uint32_t bytes, uint32_t lane);
/* Wavefronts of a shared access of `bytes` a lane, the phases it needs in any case, and the degree
 * of its worst phase. */
struct sim_banks {
    uint32_t wavefronts, phases, degree;
};
struct sim_banks rung_sim_banks_of(const uint64_t address[SIM_LANES], uint32_t active,
                                   const struct sim_span *span, uint32_t bytes);
uint32_t rung_sim_sectors_of(const uint64_t address[SIM_LANES], uint32_t active,
                             const struct sim_span *span, uint32_t bytes);

/* check.c: detectors; called only where worker->check is there. */
struct sim_check *rung_sim_check_make(const struct rung_sim_launch *launch);
void rung_sim_check_free(struct sim_check *check);
void rung_sim_check_block(struct sim_block *block);
void rung_sim_check_access(struct sim_warp *warp, const struct sim_op *op, uint32_t bytes,
                           bool writes);
void rung_sim_check_warp_sync(struct sim_warp *warp, uint32_t mask);
void rung_sim_check_arrive(struct sim_warp *warp, uint32_t barrier);
void rung_sim_check_open(struct sim_block *block, uint32_t barrier, uint32_t warps);
void rung_sim_check_fence(struct sim_warp *warp);
void rung_sim_check_atomic(struct sim_warp *warp, const struct sim_op *op);

/* observe.c */
/* The lane that each active lane of a shuffle reads; its own where the source is out of range. */
void rung_sim_shuffle_sources(uint64_t out[SIM_LANES], struct sim_warp *warp,
                              const struct sim_op *op);

struct sim_before { /* operands of an addition or source lanes of a shuffle, before it runs */
    uint64_t left[SIM_LANES], right[SIM_LANES];
};
void rung_sim_observe_before(struct sim_before *out, struct sim_warp *warp,
                             const struct sim_op *op);
void rung_sim_observe(struct sim_warp *warp, const struct sim_op *op,
                      const struct sim_before *before);
void rung_sim_observe_barrier(struct sim_block *block, struct sim_warp *warp,
                              const struct sim_op *op);

#endif
