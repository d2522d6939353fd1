/* Runs one block of a compiled kernel and sees what it does: the simulator is watched, on a card
 * the kernel writes down what it does (gen/traced.h). */
#ifndef RUNG_TRACE_CAPTURE_H
#define RUNG_TRACE_CAPTURE_H

#include "bench/device.h"
#include "gen/template.h"
#include "image/image.h"
#include "trace/trace.h"

#define RUNG_TRACE_ELEMENTS_PER_THREAD                                                             \
    16 /* the most that a traced thread of a fixed grid loads                                      \
        */

/* What a block is traced with. Everything is borrowed, and the trace borrows it further. */
struct rung_trace_request {
    const struct rung_template *tpl;
    struct rung_config config;
    const char *id, *title; /* a control's name and mistake */
    bool control;
    uint64_t n;
    const char *input_names[2];
    const double *inputs[2];    /* the second for a dot product only */
    uint64_t schedule_seed;     /* not 0: warps run in an adversarial order */
    unsigned target;            /* 90: compiled for compute_90; 0: what suits the device */
    enum rung_image_kind image; /* of the two, which a card is given */
    bool traced;                /* not watched on the simulator either: tests of what a card does */
};

/* How many elements one block takes: the default of a trace, and the most that it may have. */
void rung_trace_capacity(uint64_t *usual, uint64_t *most, const struct rung_template *tpl,
                         const struct rung_config *config);

/* The target of a request that names none: on a card the newest that it and NVRTC both know, else
 * the oldest. `nvrtc` may be NULL. */
unsigned rung_trace_target(const struct rung_device *device, const struct rung_nvrtc *nvrtc);

/* Compiles with line information where NVRTC is there (else an image made ahead of time serves, and
 * steps have PTX lines only), runs block 0 under the simulator's checks, and builds the trace with
 * their findings. On a card there are no such checks, steps have source lines only, and NVRTC and a
 * configuration that is no control are needed: RUNG_UNABLE. A wrong result is no failure: the trace
 * tells it. */
enum rung_status rung_trace_capture(struct rung_trace *out, struct rung_arena *arena,
                                    const struct rung_device *device,
                                    const struct rung_image_source *images,
                                    const struct rung_trace_request *request,
                                    struct rung_error *err);

#endif
