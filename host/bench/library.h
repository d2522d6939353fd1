/* librung, verified and timed as the ladder is: same patterns, same memory round the data, same
 * sampler. */
#ifndef RUNG_BENCH_LIBRARY_H
#define RUNG_BENCH_LIBRARY_H

#include <jansson.h>

#include "bench/row.h"
#include "bench/timing.h"

struct rung_library_request {
    enum rung_op op;
    enum rung_type type;
    uint64_t n;
    bool all_patterns; /* up to 2^26 elements: ones, weights, every third bit of the index, too */
    uint64_t seed;     /* 0: one of its own */
    const struct rung_timing_options *timing; /* NULL: nothing is timed, as on the simulator */
    double ceiling_gb_per_s;                  /* NAN where not measured */
    bool (*interrupted)(void *context);       /* may be NULL */
    void *context;
};

struct rung_library_row {
    enum rung_op op;
    enum rung_type type;
    uint64_t n, bytes;        /* of the input */
    const char *form;         /* which kernel: "block", "narrow", "wide", "stream" */
    unsigned blocks, threads; /* of its one launch; threads of a block */
    unsigned runs;            /* sums that were verified */
    double sum, expected;     /* of the run that speaks for all, as in a row of the ladder */
    bool correct;
    struct rung_times time_ms;   /* released with rung_library_row_release */
    double gb_per_s, of_ceiling; /* NAN where not timed */
    enum rung_row_status status; /* RUNG_ROW_OK or RUNG_ROW_WRONG */
    char reason[256];
};

/* Sums the patterns at n, then takes the time. A wrong sum, or a write outside of the result, is
 * RUNG_OK with a row that says so and has no time. RUNG_USAGE where n does not fit the device. A
 * simulator is left with a seed of 0. */
enum rung_status rung_library_measure(struct rung_library_row *out,
                                      const struct rung_device *device,
                                      const struct rung_library_request *request,
                                      struct rung_error *err);

/* RUNG_USAGE where n does not fit the device's memory; launches nothing. */
enum rung_status rung_library_fits(const struct rung_device *device,
                                   const struct rung_library_request *request,
                                   struct rung_error *err);
void rung_library_row_release(struct rung_library_row *row);

/* The row as an object, null where a field does not apply. NULL when out of memory. */
json_t *rung_library_row_to_json(const struct rung_library_row *row);

#endif
