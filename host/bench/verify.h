/* Verification: whether a configuration sums right, tried so that it cannot pass by luck. Every run
 * starts with poisoned partial sums and ends with a look at the guards; the patterns are those of
 * pattern.h, the sizes those at which kernels go wrong. On the simulator every run is also held
 * against the counting model, exactly, and against the findings of its checks. */
#ifndef RUNG_BENCH_VERIFY_H
#define RUNG_BENCH_VERIFY_H

#include "bench/pattern.h"
#include "bench/reduce.h"
#include "bench/row.h"
#include "gen/model.h"
#include "sim/sim.h"

/* What can tell that a kernel is wrong, one row each in verify_checks.def: a sum of one of the
 * patterns, memory around the buffers, the model, a launch that failed, and the simulator's
 * findings. */
enum rung_check {
#define CHECK(name, word, help) RUNG_CHECK_##name,
#include "bench/verify_checks.def"
#undef CHECK
    RUNG_CHECKS
};
const char *rung_check_word(enum rung_check check);
const char *rung_check_help(enum rung_check check);

/* What was found. Zero-initialised: nothing tried yet. */
struct rung_verdict {
    enum rung_row_status status; /* RUNG_ROW_OK, _WRONG, _RUNTIME or _TIMEOUT */
    char reason[512];            /* names configuration, n, pattern, expected, got; "" when ok */
    unsigned caught; /* bit rung_check of everything that told, not of the first alone */
    uint64_t runs;
    /* The run that speaks for all: the first wrong one, else the first at the n asked for. */
    bool summed;
    uint64_t n;
    double sum, expected;
    struct rung_counts executed;       /* one full block, on the simulator */
    struct rung_sim_counters counters; /* all that was counted of that block */
};

struct rung_subject {
    const struct rung_reduction *reduction;
    const struct rung_template *tpl;
    struct rung_verdict *verdict;
};

struct rung_verify_options {
    uint64_t n;
    bool all_patterns; /* at n, too: every bit of the index. On a card they cost little */
    bool awkward_sizes;
    bool go_on; /* a wrong one is tried further, for what the other checks say */
    uint64_t seed;
    /* Called before each size; may be NULL. */
    void (*progress)(void *context, const char *text);
    bool (*interrupted)(void *context); /* asked before each pattern; may be NULL */
    void *context;
};

/* Tries subjects of one operation and one type on one device; they share the uploads. A wrong one
 * is RUNG_OK with its verdict, and is not tried further. A driver call that fails ends it all: the
 * verdict of the subject that ran says so, and so does the result, for its context may be dead. */
enum rung_status rung_verify(const struct rung_subject *subjects, size_t count,
                             const struct rung_verify_options *options, struct rung_error *err);

/* One run of one subject over data that are there; fills its verdict. For what is run again after
 * timing, and for the negative controls. */
enum rung_status rung_verify_run(const struct rung_subject *subject,
                                 const struct rung_workspace *workspace,
                                 const struct rung_pattern *pattern,
                                 const struct rung_expected *expected, struct rung_error *err);

/* Holds a value that is already there against what it must be; fills the verdict. */
void rung_verify_value(const struct rung_subject *subject, const struct rung_plan *plan,
                       const struct rung_pattern *pattern, const struct rung_expected *expected,
                       uint64_t n, double sum);

/* The largest rounding error of a right kernel: gamma_k times the magnitude, k the longest chain of
 * roundings on the way of one element into the result (Higham, Accuracy and Stability, section 4):
 * the additions of one thread and of one tree in every pass, and the product of dot. */
double rung_rounding_bound(const struct rung_reduction *reduction, const struct rung_plan *plan,
                           double magnitude);

/* What the model says of a complete reduction: all launches of all passes. */
enum rung_status rung_model_reduction(struct rung_counts *out, const struct rung_subject *subject,
                                      const struct rung_plan *plan, struct rung_error *err);

#define RUNG_AWKWARD_MAX 24
/* The sizes to try for a block of so many threads, ascending, from 0; the last needs three passes.
 */
size_t rung_awkward_sizes(uint64_t sizes[RUNG_AWKWARD_MAX], unsigned block);

#endif
