/* What sampler.c (opening, single samples) and sampler_take.c (repeating, warming up) share. */
#ifndef RUNG_BENCH_SAMPLER_INTERNAL_H
#define RUNG_BENCH_SAMPLER_INTERNAL_H

#include "bench/sampler.h"

#define N_STAMPS 2

/* Host memory mapped into the device: the words of rung_hold and the stamps of rung_stamp. */
struct mapped_words {
    uint32_t release, gave_up;
    uint64_t stamps[N_STAMPS][3]; /* cycles, ns, sequence */
};

struct rung_sampler {
    const struct rung_device *device;
    const struct rung_driver *driver;
    CUmodule module;
    CUfunction hold, read, stamp;
    volatile struct mapped_words *words;
    CUdeviceptr words_device;
    CUdeviceptr flush, sink;
    uint64_t flush_bytes;
    CUevent begin, end;
    uint64_t sequence;     /* of the next stamp */
    double full_mhz;       /* the card's clock; 0 unknown: then nothing counts as throttled */
    double last_active_ms; /* on the host's clock; 0 before the first work */
    const void *launched;  /* context of the last work: another's first call is never held */
    bool may_hold;
    char why_not[128];
    CUgraphExec graph; /* of the take in progress, with `graph_calls` calls of the work */
    unsigned calls;    /* of the work in one sample: 1, or K of batch and graph */
    uint64_t place;    /* of the next call, where the state is rotate */
};

double rung_sampler_now_ms(void);

/* One sample of every timer. On an error the stream has been released, never left held. */
enum rung_status rung_sampler_one(struct rung_sample *out, struct rung_sampler *sampler,
                                  const struct rung_work *work, struct rung_sampling how,
                                  struct rung_error *err);

/* Puts `calls` calls of the work on the stream. */
enum rung_status rung_sampler_enqueue(struct rung_sampler *sampler, const struct rung_work *work,
                                      bool rotate, unsigned calls, struct rung_error *err);

/* Stamps the clocks into slot 0 or 1; the SM clock between the two, NAN if a stamp is missing. */
enum rung_status rung_sampler_stamp(struct rung_sampler *sampler, unsigned slot,
                                    struct rung_error *err);
double rung_sampler_mhz(const struct rung_sampler *sampler);

enum rung_status rung_sampler_read(struct rung_sampler *sampler, CUdeviceptr data, uint64_t bytes,
                                   unsigned blocks, struct rung_error *err);

#endif
