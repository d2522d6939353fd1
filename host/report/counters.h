/* Counters of a row in one shape, wherever they come from: the model, the simulator, the card. Per
 * block, so that they can stand in one table. */
#ifndef RUNG_REPORT_COUNTERS_H
#define RUNG_REPORT_COUNTERS_H

#include "sweep/results.h"

struct rung_counted {
    const char *source;           /* "model", "simulator", "silicon" */
    double body_runs, serialised; /* NAN where the source does not tell, as below */
    double load_wavefronts, store_wavefronts, load_conflicts, store_conflicts, warp_instructions;
};

#define RUNG_COUNTED_MAX 3

/* What is known of a row, in the order model, simulator, silicon; returns how many. */
size_t rung_counted_read(struct rung_counted out[RUNG_COUNTED_MAX], const struct rung_row *row);

/* Why the row has no counters of the card; NULL if it has, or was never asked for them. */
const char *rung_counted_unavailable(const struct rung_row *row);

#endif
