/* The claims of a template as static_asserts, and the other versions that they speak of. Used
 * inside host/gen only. */
#ifndef RUNG_GEN_CLAIMS_H
#define RUNG_GEN_CLAIMS_H

#include "gen/kernel.h"

struct rung_claims {
    struct rung_text text; /* the static_asserts of what is claimed of a block of this size */
    struct rung_claimed {
        struct rung_kernel kernel; /* another version at the same block, operation and type */
        bool counted; /* the text speaks of its counts */
    } * others;
    unsigned n_others;
};

/* RUNG_USAGE where a claim speaks of a version that does not stand below this one. */
enum rung_status rung_claims_make(struct rung_claims *out, struct rung_arena *arena,
                                  const struct rung_kernel *kernel, struct rung_error *err);
void rung_claims_release(struct rung_claims *claims);

#endif
