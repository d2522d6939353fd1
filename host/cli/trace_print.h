/* What `rung trace` prints. */
#ifndef RUNG_CLI_TRACE_PRINT_H
#define RUNG_CLI_TRACE_PRINT_H

#include <stdio.h>

#include "bench/device.h"
#include "nvrtc/nvrtc.h"
#include "trace/trace.h"

enum rung_trace_form {
    RUNG_TRACE_AS_TEXT,
    RUNG_TRACE_AS_JSON,
    RUNG_TRACE_AS_HTML,
    RUNG_TRACE_AS_SVG /* of the first trace */
};

struct rung_trace_print {
    const struct rung_trace *traces;
    size_t n_traces;
    enum rung_trace_form form;
    bool all; /* text: fold nothing */
    const struct rung_device *device;
    const struct rung_nvrtc *nvrtc; /* may be NULL */
    unsigned target;                /* that was compiled for */
    int argc; /* of the command, as it stands in the document and on the page */
    char **argv;
};

enum rung_status rung_trace_print(const struct rung_trace_print *print, FILE *to,
                                  struct rung_error *err);

#endif
