/* What this machine can do, as a list of findings. */
#ifndef RUNG_CLI_DOCTOR_H
#define RUNG_CLI_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum rung_finding_state { RUNG_FINDING_OK, RUNG_FINDING_NOTE, RUNG_FINDING_MISSING };

struct rung_finding {
    const char *part; /* "driver", "nvrtc", ... */
    enum rung_finding_state state;
    char *found;             /* what is there, or why it is not */
    const char *provided_by; /* what would provide it; NULL where nothing is missing */
};

struct rung_findings {
    struct rung_finding list[64];
    size_t count;
    bool failed; /* out of memory */
    /* The verbs of the last lines. */
    bool compiles, simulates, times, disassembles;
};

/* Looks everywhere. Paths may be NULL. Makes no context on a card. */
void rung_findings_collect(struct rung_findings *out, const char *nvrtc_path,
                           const char *driver_path);
void rung_findings_release(struct rung_findings *findings);

const char *rung_finding_word(enum rung_finding_state state); /* "ok", "note", "missing" */

#endif
