/* A cell on its way to a row: what the sweep (sweep.c) and its rounds (rounds.c) share. */
#ifndef RUNG_SWEEP_SLOT_H
#define RUNG_SWEEP_SLOT_H

#include "sweep/sweep.h"

struct rung_slot {
    const struct rung_cell *cell;
    size_t number;       /* names it to the worker */
    const char *twin;    /* "a" or "b" of a noise sweep, else NULL */
    struct rung_row row; /* valid once `has_row` */
    bool has_row;
    bool prepared; /* in the worker that lives now */
    bool done;     /* its row has been handed over */
    double *times_ms, *sm_mhz;
    size_t n_samples, room, throttled;
    double spent_s; /* on samples */
    size_t rounds;
    const char *stop_reason;
};

/* Measures slots together until each has handed over its row. */
enum rung_status rung_slots_measure(struct rung_sweep *sweep, struct rung_slot *slots, size_t n,
                                    uint64_t *random, size_t *done, size_t total,
                                    struct rung_error *err);
void rung_slot_release(struct rung_slot *slot);

/* Asks the worker, starting one if there is none. Returns RUNG_OK with an answer; RUNG_INTERRUPTED;
 * or RUNG_OK with `*reply` NULL, and in `status` and `why` what to write into the row. */
enum rung_status rung_sweep_ask(json_t **reply, enum rung_row_status *status, char why[512],
                                struct rung_sweep *sweep, json_t *request, struct rung_error *err);

double rung_sweep_now_s(void);

#endif
