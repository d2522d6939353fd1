/* `rung verify --control`: the kernels that are wrong on purpose, and which checks tell. */
#ifndef RUNG_CLI_CONTROLS_H
#define RUNG_CLI_CONTROLS_H

#include "cli/stage.h"

/* `name`: a control, or "all". An unknown name is RUNG_USAGE with those that there are. Prints one
 * row a control; RUNG_WRONG when one of them was caught by no check, or not by the check that its
 * file names. `*printed` tells that the output is complete. */
enum rung_status rung_controls_verify(struct rung_stage *stage, const char *name,
                                      const struct rung_selection *selection, int argc, char **argv,
                                      bool *printed, struct rung_error *err);

/* What became of one control: whether any check told, whether a sum was among them, and which told,
 * in words. For commands that rest on it and print something else. */
struct rung_control_outcome {
    bool caught, wrong_sum;
    char what[512];
};
enum rung_status rung_control_try(struct rung_control_outcome *out, struct rung_stage *stage,
                                  const char *name, const struct rung_selection *selection,
                                  struct rung_error *err);

#endif
