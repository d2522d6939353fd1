/* The plots of a group of rows. */
#ifndef RUNG_REPORT_PLOTS_H
#define RUNG_REPORT_PLOTS_H

#include "report/groups.h"
#include "report/plot.h"

enum rung_plot_kind {
    RUNG_PLOTS_LADDER,       /* one a block: the time (or the counts) of each version */
    RUNG_PLOTS_BLOCKS,       /* one a bound: time against block, a line a version */
    RUNG_PLOTS_RATIO,        /* counted and measured ratio of version 1 to version 3 */
    RUNG_PLOTS_BOUNDS,       /* what a run-time bound costs each version */
    RUNG_PLOTS_ROOF,         /* one a bound: bytes per second against the read ceiling */
    RUNG_PLOTS_DISTRIBUTION, /* the samples of each row about its median */
    RUNG_PLOTS_KINDS
};

struct rung_plots {
    struct rung_plot *plots; /* owned */
    size_t n;
};

/* The plots of one kind; none where the rows have not what it shows. `number` tells the groups of a
 * page apart in the names. `ceiling` in GB/s, NAN if unknown. */
enum rung_status rung_plots_make(struct rung_plots *out, const struct rung_group *group,
                                 enum rung_plot_kind kind, size_t number, double ceiling,
                                 struct rung_error *err);
void rung_plots_release(struct rung_plots *plots);

#endif
