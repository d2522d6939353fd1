/* The inputs that cells of a card share: of one n, operation and type, filled once with patterns
 * whose sums are known. The first is what is timed. */
#ifndef RUNG_SWEEP_INPUTS_H
#define RUNG_SWEEP_INPUTS_H

#include "bench/pattern.h"
#include "bench/workspace.h"
#include "sweep/cell.h"

#define RUNG_INPUT_PATTERNS 2

struct rung_input {
    size_t n; /* patterns; at least 1 */
    struct rung_workspace workspaces[RUNG_INPUT_PATTERNS];
    struct rung_pattern patterns[RUNG_INPUT_PATTERNS];
    struct rung_expected expected[RUNG_INPUT_PATTERNS];
    size_t users; /* counted by those who hold it; at 0 it may be let go for another */
};

#define RUNG_INPUTS_MAX 8

struct rung_inputs {
    const struct rung_device *device;
    uint64_t seed;
    struct rung_input *inputs[RUNG_INPUTS_MAX];
    size_t n_inputs;
};

/* An input of the cell's n, operation and type with room for `partials_room` partial sums and, for
 * the state rotate, with as many places as that needs. Inputs that nobody uses are let go first
 * where it is not there yet. RUNG_USAGE where the memory is not enough. */
enum rung_status rung_inputs_get(struct rung_input **out, struct rung_inputs *inputs,
                                 const struct rung_cell *cell, uint64_t partials_room,
                                 struct rung_error *err);

#endif
