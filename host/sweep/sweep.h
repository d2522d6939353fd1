/* Measures many cells through a worker process, and survives what happens to it. Cells that share
 * their input (n, operation, type) are measured some at a time, in rounds of random order, so that
 * the drift of a card falls on all of them alike. A cell that hangs or kills the worker becomes one
 * row; the others go on in a new worker, with the samples that they have.
 *
 * The sweep knows nothing of devices. It asks, and the worker answers (measurer.h is the real one):
 *
 *   {"do": "open"}                    the facts of the device: {"kind": "cuda" | "sim", ...}
 *   {"do": "build", "cells": [...]}   makes every image, in parallel: {}
 *   {"do": "ceiling"}                 {"gb_per_s": x}, or null
 *   {"do": "prepare", "slot": i, "cell": {...}}
 *                                     loads and verifies: {"row": {...}, "timed": bool}
 *   {"do": "sample", "slot": i, "count": m}
 *                                     {"time_ms": [...], "sm_mhz": [...], "throttled": k}
 *   {"do": "finish", "slot": i}       verifies again and lets go: {}
 *
 * Any of them may answer {"error": text, "status": word of a row, "dead": true}: the request
 * failed, and, if dead, nothing more can be asked of this worker. */
#ifndef RUNG_SWEEP_SWEEP_H
#define RUNG_SWEEP_SWEEP_H

#include "sweep/cell.h"
#include "sweep/worker.h"

struct rung_sweep_options {
    struct rung_stop_rule stop;
    double hang_s; /* one request may take so long */
    size_t group;  /* cells whose samples are interleaved; 1: one after the other */
    bool in_order; /* keep the order of the cells */
    uint64_t seed; /* of the orders */
    struct rung_stop_asked interrupted;
    /* Takes each finished row; it may keep nothing of it. Its failure ends the sweep. */
    enum rung_status (*row)(void *context, const struct rung_row *row, struct rung_error *err);
    /* Told what is going on: `done` of `total` cells; may be NULL. */
    void (*progress)(void *context, size_t done, size_t total, const char *what);
    void *context;
};
struct rung_sweep_options rung_sweep_default(void);

struct rung_sweep_times { /* seconds of the sweep's own clock */
    double open_s, build_s, prepare_s, sample_s, total_s;
};

struct rung_sweep {
    struct rung_worker worker;
    rung_worker_fn *answer;
    void *answer_context;
    struct rung_sweep_options options;
    json_t *facts;   /* what "open" answered; owned */
    double ceiling;  /* GB/s; NAN where not measured */
    size_t restarts; /* workers beyond the first */
    struct rung_sweep_times times;
};

/* Starts a worker and opens the device. */
enum rung_status rung_sweep_begin(struct rung_sweep *out, rung_worker_fn *answer, void *context,
                                  const struct rung_sweep_options *options, struct rung_error *err);

/* Asks for all images, and for the read ceiling of a card. */
enum rung_status rung_sweep_build(struct rung_sweep *sweep, const struct rung_cell *cells,
                                  size_t n_cells, struct rung_error *err);

/* Measures cells; each ends as one row. RUNG_INTERRUPTED when asked to stop: what was finished has
 * been handed over. `twins`: every cell twice, under the names "a" and "b" in the row's field
 * "twin", both in the same rounds. */
enum rung_status rung_sweep_measure(struct rung_sweep *sweep, const struct rung_cell *cells,
                                    size_t n_cells, bool twins, struct rung_error *err);

/* Whether the device is the simulator: then rows are verified and counted, and not timed. */
bool rung_sweep_simulated(const struct rung_sweep *sweep);

/* Accepts a zeroed sweep. */
void rung_sweep_end(struct rung_sweep *sweep);

#endif
