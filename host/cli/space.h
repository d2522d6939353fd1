/* The cells of a sweep: the product of every axis that was asked for, less what cannot exist, what
 * --where leaves out, and what other shards measure. */
#ifndef RUNG_CLI_SPACE_H
#define RUNG_CLI_SPACE_H

#include "cli/select.h"
#include "cli/timing_options.h"
#include "sweep/cell.h"

struct rung_space_request {
    const struct rung_selection *selection;
    const struct rung_timing_selection *timing; /* state and timer may be lists here */
    const char *where, *shard;                  /* as typed, NULL where not given */
    unsigned native;                            /* the device's target; 75 on the simulator */
    const unsigned *supported;                  /* targets of the compiler */
    size_t n_supported;
};

struct rung_space {
    struct rung_cell *cells; /* in the order of the axes */
    size_t n_cells;
    size_t n_product; /* before --where and --shard */
    unsigned shard, n_shards;
};

/* The default of a sweep: versions 1 to 4, blocks 32 to 1024, both loop bounds. Where an axis is
 * given, it is what was given. */
struct rung_selection rung_space_defaults(const struct rung_selection *selection);

/* What is left out because it cannot exist is named on standard error, with its reason. RUNG_USAGE
 * where nothing is left. */
enum rung_status rung_space_make(struct rung_space *out, const struct rung_space_request *request,
                                 const struct rung_ladder *ladder, struct rung_error *err);
void rung_space_release(struct rung_space *space);

#endif
