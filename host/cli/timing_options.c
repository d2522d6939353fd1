/* Owns the options of timing. */
#include "cli/timing_options.h"

#include "config/config.h"

enum { KEY_STATE = 0x200, KEY_TIMER, KEY_STOP, KEY_SAMPLES };

/* clang-format off */
static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "How times are taken (on a GPU):", 4},
    {"state", KEY_STATE, "STATE", 0,
     "Cache before a sample: clean, dirty, rotate, warm (default clean)", 4},
    {"timer", KEY_TIMER, "TIMER", 0,
     "What is between the stamps: isolated, batch, graph, wall (default isolated)", 4},
    {"stop", KEY_STOP, "RULE", 0, "When samples are enough: ci, stdrel, count (default ci)", 4},
    {"samples", KEY_SAMPLES, "N", 0, "Take N samples: --stop count", 4},
    {0},
};
/* clang-format on */

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct rung_timing_selection *selection = state->input;
    switch (key) {
    case KEY_STATE:
        selection->state = arg;
        return 0;
    case KEY_TIMER:
        selection->timer = arg;
        return 0;
    case KEY_STOP:
        selection->stop = arg;
        return 0;
    case KEY_SAMPLES:
        selection->samples = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp rung_timing_argp = {.options = options, .parser = parse_option};

static enum rung_status read_samples(struct rung_stop_rule *stop,
                                     const struct rung_timing_selection *selection,
                                     struct rung_error *err)
{
    uint64_t count = 0;
    struct rung_error inner = {0};
    if (rung_parse_n(&count, selection->samples, &inner) != RUNG_OK || count == 0 ||
        count > stop->max_samples)
        return rung_fail(err, RUNG_USAGE, "--samples '%s': allowed are 1 to %zu",
                         selection->samples, stop->max_samples);
    if (selection->stop && stop->rule != RUNG_STOP_COUNT)
        return rung_fail(err, RUNG_USAGE, "--samples goes with --stop count, not with --stop %s",
                         selection->stop);
    stop->rule = RUNG_STOP_COUNT;
    stop->count = (size_t)count;
    stop->min_samples = stop->count < stop->min_samples ? stop->count : stop->min_samples;
    return RUNG_OK;
}

enum rung_status rung_timing_resolve(struct rung_sampling *how, struct rung_stop_rule *stop,
                                     const struct rung_timing_selection *selection,
                                     struct rung_error *err)
{
    *how = (struct rung_sampling){0};
    *stop = rung_stop_rule_default();
    enum rung_status status = RUNG_OK;
    if (selection->timer)
        status = rung_timer_parse(&how->timer, selection->timer, err);
    if (how->timer == RUNG_TIMER_BATCH || how->timer == RUNG_TIMER_GRAPH)
        how->state = RUNG_STATE_WARM;
    if (status == RUNG_OK && selection->state)
        status = rung_state_parse(&how->state, selection->state, err);
    if (status == RUNG_OK && selection->stop)
        status = rung_stop_parse(&stop->rule, selection->stop, err);
    if (status == RUNG_OK && selection->samples)
        status = read_samples(stop, selection, err);
    return status == RUNG_OK ? rung_sampler_combines(how->state, how->timer, err) : status;
}
