/* What the compiler makes of version 1's modulo, for `rung claims`. */
#ifndef RUNG_CLI_CLAIMS_CODE_H
#define RUNG_CLI_CLAIMS_CODE_H

#include "report/claims.h"

/* Compiles version 1 for each target, with a run-time bound, a constant one, and a constant one
 * whose loop is kept, and reads the verdicts from the PTX. What cannot be had is "". */
void rung_claims_read_code(struct rung_claim_code *out, const unsigned *targets, size_t n_targets,
                           const struct rung_image_source *from);

#endif
