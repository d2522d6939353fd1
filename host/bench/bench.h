/* Configurations on one device, from their images to finished rows: compiled and loaded once, then
 * verified and timed for any number of elements. A configuration that fails has a row that says why
 * and does not end the others. */
#ifndef RUNG_BENCH_BENCH_H
#define RUNG_BENCH_BENCH_H

#include "bench/reduce.h"
#include "bench/row.h"
#include "bench/timing.h"
#include "bench/verify.h"

struct rung_bench_spec {
    const struct rung_device *device;
    const struct rung_ladder *ladder;
    const struct rung_image_source *images;
    enum rung_image_kind image; /* what is loaded */
    unsigned target;            /* compiled for: 75, 90, ... */
};

struct rung_bench_entry {
    struct rung_config config;
    const struct rung_template *tpl;
    unsigned target;                 /* that it is compiled for */
    struct rung_reduction reduction; /* empty unless status is RUNG_ROW_OK */
    enum rung_row_status status;
    char reason[512];
};

struct rung_bench {
    struct rung_bench_spec spec;
    struct rung_bench_entry *entries;
    size_t n_entries;
};

/* Everything in `spec` is borrowed and must outlive the bench. Fails only where nothing could be
 * tried at all; what became of each configuration stands in its entry. */
enum rung_status rung_bench_open(struct rung_bench *out, const struct rung_bench_spec *spec,
                                 const struct rung_config *configs, size_t n_configs,
                                 struct rung_error *err);
void rung_bench_close(struct rung_bench *bench);

struct rung_measure_options {
    uint64_t n;
    bool awkward_sizes; /* verify at those, too */
    bool all_patterns;  /* verify with every pattern at n */
    uint64_t seed;
    const struct rung_timing_options *timing; /* NULL: nothing is timed, as on the simulator */
    double ceiling_gb_per_s;                  /* NAN where not measured */
    void (*progress)(void *context, const char *text); /* may be NULL */
    bool (*interrupted)(void *context);                /* may be NULL; asked between steps */
    void *context;
};

/* Fills one row per entry; the caller releases them, whatever the status. A wrong or failed entry
 * is told in its row alone. RUNG_USAGE where n does not fit the device, RUNG_INTERRUPTED where
 * `interrupted` said so. */
enum rung_status rung_bench_measure(struct rung_row *rows, const struct rung_bench *bench,
                                    const struct rung_measure_options *options,
                                    struct rung_error *err);

/* The three parts of a row, for those who measure by other loops: what is known of an entry before
 * anything runs; what a verification found; the rates that follow from its times. */
void rung_bench_row(struct rung_row *row, const struct rung_bench_entry *entry, uint64_t n);
void rung_row_take_verdict(struct rung_row *row, const struct rung_verdict *verdict);
void rung_row_rate(struct rung_row *row, double ceiling_gb_per_s);

/* What was wrong at one n is not tried at another: rows measured from now on say the same. */
void rung_bench_remember(struct rung_bench *bench, const struct rung_row *rows);

/* Fills vs_v1 of every timed row: against version 1 of the same block, bound, unrolling, operation,
 * type, n and PTX target, with the predicate `mod` if there is one. */
void rung_rows_relate(struct rung_row *rows, size_t n_rows);

/* RUNG_OK, RUNG_WRONG if any row is wrong, else RUNG_INCOMPLETE if some failed and others did not,
 * else the status that all of the failures share in kind (RUNG_COMPILE, RUNG_UNABLE, ...). */
enum rung_status rung_rows_status(const struct rung_row *rows, size_t n_rows);

#endif
