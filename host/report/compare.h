/* Two result files, row by row. A row starts as unclear and leaves that class on evidence only:
 *
 *   faster, slower   the ranges from minimum to third quartile lie apart by more than the noise
 *                    floor, the ranks differ after correction for all rows compared, and the
 *                    verdict is the same in clock cycles where both clocks were measured
 *   same             the medians lie within the floor, the ranges overlap by half of the narrower
 *                    one or more, and both spread by less than 2 %
 *   missing, new     a result in one file only, or no result worth the name in the other
 *
 * Rows are matched by their axes, never by their place. Targets and image kinds are part of the
 * match only where a file has several, so that two cards can be compared. */
#ifndef RUNG_REPORT_COMPARE_H
#define RUNG_REPORT_COMPARE_H

#include "bench/stats.h"
#include "sweep/results.h"

enum rung_change {
    RUNG_CHANGE_SAME,
    RUNG_CHANGE_FASTER,
    RUNG_CHANGE_SLOWER,
    RUNG_CHANGE_UNCLEAR,
    RUNG_CHANGE_MISSING, /* in A only */
    RUNG_CHANGE_NEW,     /* in B only */
    RUNG_CHANGES
};
const char *rung_change_word(enum rung_change change); /* "same", ... */

struct rung_compare_options {
    double floor;       /* relative: differences below it are the machine's, 0.015: one code loaded
                         * twice differed by 1.4 % on an H200, each time within 0.3 % of itself */
    double max_spread;  /* of "same": (q3 - q1) / median, 0.02 */
    double alpha;       /* of the corrected rank test, 0.05 */
    size_t min_samples; /* of either side, 6: fewer have no interval of 95 % */
};
struct rung_compare_options rung_compare_default(void);

struct rung_compared {
    char key[RUNG_CELL_KEY_SIZE];    /* what the rows were matched by */
    const struct rung_result *a, *b; /* NULL in one of them for missing and new */
    enum rung_change change;
    bool timed;              /* the fields below are known */
    struct rung_ratio ratio; /* time of B over time of A, medians, with bootstrap interval */
    struct rung_interval a_median, b_median; /* ms */
    double p;         /* Mann-Whitney, corrected by Holm over all timed rows */
    char reason[256]; /* one line: the evidence, or what to do about its lack */
};

struct rung_comparison {
    struct rung_compared *rows; /* in the order of the axes: rung_row_order */
    size_t n_rows;
    size_t counts[RUNG_CHANGES];
};

/* Borrows both files. Repeatable: resampling is seeded by the keys. */
enum rung_status rung_compare(struct rung_comparison *out, const struct rung_results *a,
                              const struct rung_results *b,
                              const struct rung_compare_options *options, struct rung_error *err);
void rung_comparison_release(struct rung_comparison *comparison);

/* Compares two samples of times, as above but for the correction: `p` is what the caller corrected,
 * or a negative number for the row's own test. For the measuring of the machine against itself. */
struct rung_sampled {
    const double *times_ms;
    size_t n;
    double sm_mhz; /* NAN unknown */
};
enum rung_status rung_compare_samples(struct rung_compared *row, const struct rung_sampled *a,
                                      const struct rung_sampled *b, double p,
                                      const struct rung_compare_options *options,
                                      struct rung_error *err);

/* The noise floor that a comparison of identical things shows: 95 % of the pairs differ in their
 * medians by less, relative. 0 without timed pairs. */
double rung_noise_floor(const struct rung_comparison *identical);

#endif
