/* Which file a row of a page is of. Files that share no row, such as the shards of one sweep, are
 * one result; where a row stands in two of them, each is a result of its own and every row says
 * which. */
#ifndef RUNG_REPORT_SOURCES_H
#define RUNG_REPORT_SOURCES_H

#include "sweep/results.h"

struct rung_source {
    char label[RUNG_SOURCE_SIZE]; /* "monday.jsonl", with the device where devices differ */
    const char *device;           /* borrowed from the file */
    const char *date;             /* of its first run */
    double ceiling;               /* GB/s, of its last run; NAN where not measured */
};

struct rung_sources {
    struct rung_source *sources; /* one for each file, in their order */
    size_t n;
    bool apart; /* the files are results of their own */
};

/* Borrows the files; both end together. */
enum rung_status rung_sources_make(struct rung_sources *out, const struct rung_results *files,
                                   size_t n_files, struct rung_error *err);
void rung_sources_release(struct rung_sources *sources);

/* The rows of all files as one list, in the order of their keys and of the files, with vs_v1 within
 * what is one result, and `source` set where files are apart. The array is the caller's, what it
 * points to is the files' and the sources'. NULL when out of memory. */
struct rung_result *rung_sources_gather(size_t *n, const struct rung_sources *sources,
                                        struct rung_results *files);

/* The read ceiling that goes with a row; NAN if unknown. */
double rung_sources_ceiling(const struct rung_sources *sources, const struct rung_result *result);

#endif
