/* Makes, keeps and lets go of shared inputs. */
#include "sweep/inputs.h"

#include <stdlib.h>

#include "bench/timing.h"

static const enum rung_pattern_kind kinds[RUNG_INPUT_PATTERNS] = {RUNG_PATTERN_RANDOM01,
                                                                  RUNG_PATTERN_WEIGHTS};

static void input_release(struct rung_input *input)
{
    for (size_t i = 0; i < RUNG_INPUT_PATTERNS; i++)
        rung_workspace_release(&input->workspaces[i]);
    free(input);
}

static void let_go(struct rung_inputs *inputs)
{
    for (size_t i = 0; i < inputs->n_inputs;) {
        if (inputs->inputs[i]->users) {
            i++;
            continue;
        }
        input_release(inputs->inputs[i]);
        inputs->inputs[i] = inputs->inputs[--inputs->n_inputs];
    }
}

static enum rung_status add_pattern(struct rung_input *input, const struct rung_inputs *inputs,
                                    const struct rung_workspace_spec *spec, struct rung_error *err)
{
    struct rung_workspace *workspace = &input->workspaces[input->n];
    struct rung_pattern *pattern = &input->patterns[input->n];
    enum rung_status status = rung_workspace_open(workspace, inputs->device, spec, err);
    if (status != RUNG_OK)
        return status;
    *pattern = (struct rung_pattern){.kind = kinds[input->n], .seed = inputs->seed};
    status = rung_pattern_upload(&input->expected[input->n], workspace, pattern, err);
    if (status == RUNG_OK)
        status = rung_workspace_replicate(workspace, err);
    if (status == RUNG_OK)
        input->n++;
    return status;
}

static enum rung_status make(struct rung_input **out, const struct rung_inputs *inputs,
                             struct rung_workspace_spec *spec, struct rung_error *err)
{
    struct rung_input *input = calloc(1, sizeof *input);
    if (!input)
        return rung_fail(err, RUNG_MEMORY, "out of memory");
    enum rung_status status = add_pattern(input, inputs, spec, err);
    spec->places = 1; /* only the first is timed */
    /* The second pattern is left out where the card has no room for it. */
    if (status == RUNG_OK && rung_workspace_fits(inputs->device, spec, NULL) == RUNG_OK)
        status = add_pattern(input, inputs, spec, err);
    if (status != RUNG_OK) {
        input_release(input);
        return status;
    }
    *out = input;
    return RUNG_OK;
}

enum rung_status rung_inputs_get(struct rung_input **out, struct rung_inputs *inputs,
                                 const struct rung_cell *cell, uint64_t partials_room,
                                 struct rung_error *err)
{
    uint64_t bytes = cell->n * rung_type_size(cell->config.type);
    struct rung_workspace_spec spec = {
        .op = cell->config.op,
        .type = cell->config.type,
        .n = cell->n,
        .places = rung_timing_places(cell->state, bytes, inputs->device->l2_bytes),
        /* Blocks of 16 threads and more, whichever comes first: remaking an input costs more. */
        .room = partials_room > cell->n / 16 ? partials_room : cell->n / 16 + 1,
    };
    for (size_t i = 0; i < inputs->n_inputs; i++) {
        const struct rung_workspace *there = &inputs->inputs[i]->workspaces[0];
        if (there->n != spec.n || there->op != spec.op || there->type != spec.type)
            continue;
        if (there->room >= spec.room && there->places >= spec.places) {
            *out = inputs->inputs[i];
            return RUNG_OK;
        }
        spec.room = there->room > spec.room ? there->room : spec.room;
        spec.places = there->places > spec.places ? there->places : spec.places;
    }
    let_go(inputs);
    if (inputs->n_inputs == RUNG_INPUTS_MAX)
        return rung_fail(err, RUNG_MEMORY, "more than %d inputs in use at a time", RUNG_INPUTS_MAX);
    struct rung_input *input = NULL;
    enum rung_status status = make(&input, inputs, &spec, err);
    if (status != RUNG_OK)
        return status;
    inputs->inputs[inputs->n_inputs++] = input;
    *out = input;
    return RUNG_OK;
}
