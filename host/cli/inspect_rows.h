/* What `rung inspect` looks at, and what it found: configurations and files, compiled by one NVRTC
 * or several for one target or several, each compilation one row. */
#ifndef RUNG_CLI_INSPECT_ROWS_H
#define RUNG_CLI_INSPECT_ROWS_H

#include "cli/select.h"
#include "inspect/inspect.h"
#include "nvrtc/cache.h"

enum rung_inspect_kind {
    RUNG_INSPECT_CONFIG,
    RUNG_INSPECT_SOURCE,
    RUNG_INSPECT_PTX,
    RUNG_INSPECT_CUBIN
};

/* One thing to inspect. */
struct rung_inspect_item {
    enum rung_inspect_kind kind;
    const char *name; /* the id, or the file as typed */
    char id[RUNG_ID_SIZE];
    struct rung_config config;
    char *bytes; /* CUDA source, PTX or cubin, with a NUL behind */
    size_t length;
    unsigned target; /* asked for this one alone (NAME@sm_90); 0 for those of the command */
};

/* One compilation of it, or the file itself. */
struct rung_inspect_row {
    const struct rung_inspect_item *item;
    const struct rung_nvrtc *nvrtc; /* NULL for PTX and cubins */
    unsigned target;                /* 75; of a file, what it says itself */
    struct rung_compiled compiled; /* of PTX from a file, the cubin alone, if the driver made one */
    bool from_driver;              /* the cubin is what the driver makes of the PTX */
    struct rung_inspection inspection;
    enum rung_status status;
    struct rung_error err;
};

struct rung_inspect_request {
    struct rung_selection selection;
    char **names; /* ids and files; none: what the axes select */
    size_t n_names;
    const char *nvdisasm;
    const char **compile_options;
    size_t n_compile_options;
    bool jit; /* SASS as the driver's own compiler makes it of the PTX */
};

struct rung_inspect_result {
    struct rung_arena arena; /* of the ladder */
    struct rung_inspect_item *items;
    size_t n_items;
    struct rung_nvrtc **toolkits;
    size_t n_toolkits;
    struct rung_cache *cache;
    struct rung_inspect_row *rows; /* by item, then toolkit, then target */
    size_t n_rows;
    char sass_why[512]; /* why there is no disassembler, "" if there is */
};

/* Compiles and inspects everything. A row that fails tells so itself; the status is of what stops
 * all rows. Released by the caller in every case. */
enum rung_status rung_inspect_collect(struct rung_inspect_result *out,
                                      const struct rung_inspect_request *request,
                                      struct rung_error *err);
void rung_inspect_result_release(struct rung_inspect_result *result);

/* Replaces the cubin of every row that has PTX by what the driver of `request` makes of it. A row
 * that it refuses fails with its log; RUNG_UNABLE without a card. */
enum rung_status rung_inspect_jit(struct rung_inspect_result *result,
                                  const struct rung_inspect_request *request,
                                  struct rung_error *err);

/* The status of the whole: RUNG_OK, RUNG_COMPILE or another where all rows failed (the first one's
 * text), RUNG_INCOMPLETE where some did, RUNG_WRONG where verdicts disagree. */
enum rung_status rung_inspect_conclude(const struct rung_inspect_result *result,
                                       struct rung_error *err);

#endif
