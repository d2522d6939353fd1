/* What a command that runs kernels opens before it does: the selection as configurations, the
 * output, the device, the compiler and its cache. Everything that can be wrong about what was typed
 * is told before anything is opened, and everything is closed by one call. */
#ifndef RUNG_CLI_STAGE_H
#define RUNG_CLI_STAGE_H

#include "bench/bench.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/select.h"

struct rung_stage {
    struct rung_arena arena;
    struct rung_ladder ladder;
    struct rung_expanded expanded;
    struct rung_output output;
    struct rung_device device;
    char no_card[512]; /* why the simulator stands in for a card; "" if it does not */
    struct rung_nvrtc *nvrtc;
    struct rung_error no_nvrtc; /* why there is none */
    struct rung_cache *cache;
    struct rung_image_source images;
    enum rung_image_kind image;
    unsigned *targets;
    size_t n_targets;
    struct rung_interrupt *interrupt;
    struct rung_progress progress;
};

/* `command` is the verb, for what is told on standard error. On failure nothing is left open. */
enum rung_status rung_stage_open(struct rung_stage *out, const struct rung_selection *selection,
                                 const char *command, struct rung_error *err);

/* `keep`: the output is complete and replaces the file of -o. Accepts a zeroed stage. */
enum rung_status rung_stage_close(struct rung_stage *stage, bool keep, struct rung_error *err);

/* Opens the device anew, where a launch that failed has taken its context with it. Whatever was
 * loaded or allocated there must have been released. */
enum rung_status rung_stage_reopen_device(struct rung_stage *stage,
                                          const struct rung_selection *selection,
                                          struct rung_error *err);

/* For rung_measure_options: `context` is the stage. */
void rung_stage_progress(void *context, const char *text);
bool rung_stage_interrupted(void *context);

/* "NVIDIA H200 (compute capability 9.0), 132 SMs, warp size 32" and what else a reader must know of
 * where it ran, as lines of text. */
void rung_stage_print(const struct rung_stage *stage, FILE *to);

#endif
