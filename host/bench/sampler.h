/* Takes samples on a device: brings the cache into its state, holds the stream, stamps the clocks,
 * and reads the time of one complete piece of work. Knows nothing of reductions: the work is a
 * function that puts launches on a stream. On the simulator there is nothing to open, for it has no
 * times. */
#ifndef RUNG_BENCH_SAMPLER_H
#define RUNG_BENCH_SAMPLER_H

#include <stdint.h>

#include "bench/device.h"
#include "bench/sampling.h"

struct rung_work {
    /* Puts the whole of the work on `stream` and does not wait. `place` goes round 0 ... places - 1
     * where the state is `rotate`, so that no call finds its input in L2; else it is 0. */
    enum rung_status (*enqueue)(void *context, CUstream stream, uint64_t place,
                                struct rung_error *err);
    void *context;
    uint64_t places;   /* at least 1 */
    uint64_t launches; /* of one call; the stream is not held for more than it can queue */
};

struct rung_sampler; /* owns the flush buffer, the events, the helper kernels and the mapped words
                      */

enum rung_status rung_sampler_open(struct rung_sampler **out, const struct rung_device *device,
                                   struct rung_error *err);
void rung_sampler_close(struct rung_sampler *sampler); /* NULL is accepted */

/* Whether a state can be had with a timer: batch and graph repeat the work with no flush between,
 * so they go with rotate and warm only. RUNG_USAGE says so. Pure. */
enum rung_status rung_sampler_combines(enum rung_state state, enum rung_timer timer,
                                       struct rung_error *err);

/* Repeats the work for at least `min_ms` and until two readings of the SM clock agree within 1 %
 * (at most ten times as long): a card that idled needs up to some 100 ms to reach its clock. */
enum rung_status rung_sampler_warm_up(struct rung_sampler *sampler, const struct rung_work *work,
                                      double min_ms, struct rung_error *err);

struct rung_sample {
    double time_ms; /* of one call of the work */
    double sm_mhz;  /* NAN where the clocks could not be read */
};

struct rung_sampling {
    enum rung_state state;
    enum rung_timer timer;
};

/* Takes `count` samples into `samples`; `*taken` of them are good. Samples whose SM clock was below
 * 75 % of the card's are thrown away, counted in `*throttled`, and followed by a pause; when
 * `count` tries in a row fail that way, it gives up with what it has. Warms up by itself after a
 * pause. */
enum rung_status rung_sampler_take(struct rung_sample *samples, size_t *taken, size_t *throttled,
                                   struct rung_sampler *sampler, const struct rung_work *work,
                                   struct rung_sampling how, size_t count, struct rung_error *err);

/* What an event pair around nothing and an empty held launch cost here, and the step of the event
 * clock: a row whose time is below 20 steps is not resolved by events. */
struct rung_timer_facts {
    double event_pair_ms; /* median of an empty pair */
    double step_ms;       /* smallest difference seen between two event times */
    bool held;            /* the stream is held while work is queued */
    char why_not[128];    /* why not, when it is not */
};
enum rung_status rung_sampler_facts(struct rung_timer_facts *out, struct rung_sampler *sampler,
                                    struct rung_error *err);

#endif
