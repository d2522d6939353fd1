/* The kernel that writes down what it does, for drivers that cannot be watched: its source, and the
 * log that it leaves. ptx_src/trace.cu.in is the device's side of it. */
#ifndef RUNG_GEN_TRACED_H
#define RUNG_GEN_TRACED_H

#include <stdint.h>

#include "gen/template.h"

/* In the order in which one statement makes them. */
enum rung_traced_kind {
    RUNG_TRACED_END,        /* where a thread's records end */
    RUNG_TRACED_LOAD,       /* of an input element; `where`: its address */
    RUNG_TRACED_READ,       /* of the tile; `where`: the byte in it */
    RUNG_TRACED_SHUFFLE,    /* `where`: the source lane */
    RUNG_TRACED_ADD_LOADED, /* on load; of a product `right` is 0, its factors were loaded before */
    RUNG_TRACED_ADD,        /* of the tree */
    RUNG_TRACED_STORE,      /* into the tile; `where`: the byte in it */
    RUNG_TRACED_RESULT,     /* `where`: its address */
    RUNG_TRACED_WARP_BARRIER, /* arrives */
    RUNG_TRACED_BLOCK_BARRIER
};

/* What one thread did. Values and operands are raw bits of the element type. */
struct rung_traced_record {
    uint32_t kind, line; /* of the source that rung_template_emit prints */
    uint64_t where, left, right, value;
};

/* The further, last argument of the kernel. Thread t's records begin at records[t * room]; one that
 * has no room left writes no more of them. */
struct rung_traced_argument {
    uint64_t records; /* device address, zeroed */
    uint32_t room, used;
};

/* Appends the source of the traced kernel: that of rung_template_emit line by line, without the
 * model's assertions. Launched as one block. */
enum rung_status rung_template_emit_traced(struct rung_text *out, const struct rung_template *tpl,
                                           const struct rung_config *config,
                                           struct rung_error *err);

#endif
