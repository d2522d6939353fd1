/* rung sweep: any product of axes, measured in a process that may die, written down as it goes. */
#define _GNU_SOURCE
#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/sweep_run.h"

enum {
    KEY_WHERE = 0x300,
    KEY_SHARD,
    KEY_ORDER,
    KEY_GROUP,
    KEY_LIST,
    KEY_DRY_RUN,
    KEY_NOISE,
    KEY_RETRY,
    KEY_MIN_SAMPLES,
    KEY_WIDTH,
    KEY_TIMEOUT,
    KEY_KILL_AFTER,
    KEY_COUNTERS
};

/* clang-format off */
static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "The cells:", 5},
    {"where", KEY_WHERE, "EXPR", 0, "Only cells that meet a condition: 'block <= 512 || version >= 3'", 5},
    {"shard", KEY_SHARD, "I/N", 0, "Every N-th cell from the I-th on, counted from 0", 5},
    {"list", KEY_LIST, NULL, 0, "Print the cells and their number, and stop", 5},
    {"dry-run", KEY_DRY_RUN, NULL, 0, "Print what would be built and measured, and stop", 5},
    {NULL, 0, NULL, 0, "How they are measured:", 6},
    {"order", KEY_ORDER, "ORDER", 0, "random (rounds over some cells at a time) or classic (one after the other)", 6},
    {"group", KEY_GROUP, "N", 0, "Cells in the rounds at a time (default 16)", 6},
    {"min-samples", KEY_MIN_SAMPLES, "N", 0, "At least so many samples of a cell (default 200, or 10 that take a second)", 6},
    {"width", KEY_WIDTH, "PERCENT", 0, "Stop when the median is known to so many per cent (default 1)", 6},
    {"timeout", KEY_TIMEOUT, "SECONDS", 0, "At most so long on the samples of a cell (default 15)", 6},
    {"kill-after", KEY_KILL_AFTER, "SECONDS", 0, "Give up on a cell that does not answer (default 60; simulator 600)", 6},
    {"noise", KEY_NOISE, NULL, 0, "Measure the machine against itself: every cell twice, compared", 6},
    {"retry", KEY_RETRY, NULL, 0, "Measure again what failed in the journal of -o", 6},
    {"counters", KEY_COUNTERS, NULL, 0, "Read the card's hardware counters for one launch of each cell", 6},
    {0},
};
/* clang-format on */

static void read_whole(size_t *out, const char *name, const char *arg, struct argp_state *state)
{
    uint64_t value;
    if (rung_parse_n(&value, arg, NULL) != RUNG_OK || value == 0 || value > 1000000)
        argp_error(state, "--%s '%s': a number from 1 to 1000000", name, arg);
    else
        *out = (size_t)value;
}

static void read_real(double *out, const char *name, const char *arg, struct argp_state *state)
{
    char *end;
    double value = strtod(arg, &end);
    if (end != arg && strcmp(end, "%") == 0)
        end++;
    if (end == arg || *end || !(value > 0) || value > 1e6)
        argp_error(state, "--%s '%s': a number above 0", name, arg);
    else
        *out = value;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct rung_sweep_arguments *arguments = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->selection;
        state->child_inputs[1] = &arguments->timing;
        return 0;
    case KEY_WHERE:
        arguments->where = arg;
        return 0;
    case KEY_SHARD:
        arguments->shard = arg;
        return 0;
    case KEY_ORDER:
        arguments->order = arg;
        if (strcmp(arg, "random") != 0 && strcmp(arg, "classic") != 0)
            argp_error(state, "--order '%s': random or classic", arg);
        return 0;
    case KEY_GROUP:
        read_whole(&arguments->group, "group", arg, state);
        return 0;
    case KEY_MIN_SAMPLES:
        read_whole(&arguments->min_samples, "min-samples", arg, state);
        return 0;
    case KEY_WIDTH:
        read_real(&arguments->width, "width", arg, state);
        return 0;
    case KEY_TIMEOUT:
        read_real(&arguments->timeout_s, "timeout", arg, state);
        return 0;
    case KEY_KILL_AFTER:
        read_real(&arguments->kill_after_s, "kill-after", arg, state);
        return 0;
    case KEY_LIST:
        arguments->list = true;
        return 0;
    case KEY_DRY_RUN:
        arguments->dry_run = true;
        return 0;
    case KEY_NOISE:
        arguments->noise = true;
        return 0;
    case KEY_RETRY:
        arguments->retry = true;
        return 0;
    case KEY_COUNTERS:
        arguments->counters = true;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "'%s': cells are chosen with options, as --version 1:4", arg);
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&rung_selection_argp, 0, NULL, 0},
    {&rung_timing_argp,                0, NULL, 0},
    {0                   },
};

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .doc =
        "Measure any product of axes, and keep every finished row.\v"
        "Every axis takes a list; --image, --state and --timer do so, too. Without axes: versions "
        "1 to 4, blocks of 32 to 1024 threads, both loop bounds. All images are built first. "
        "Cells are measured in rounds of random order by a process of their own: one that hangs or "
        "crashes is one row, and the sweep goes on. With -o FILE each row is appended to a journal "
        "when it is finished; the same command, given again, measures what is missing.\n\n"
        "Examples:\n"
        "  rung sweep -o ladder.jsonl\n"
        "  rung sweep --version 1:8 --block all --where 'bound == const || version < 6'\n"
        "  rung sweep --n 2^20:2^28:*4 --state rotate --shard 0/4 -o part0.jsonl\n"
        "  rung sweep --noise --block 256\n",
};

enum rung_status rung_cmd_sweep(int argc, char **argv, struct rung_error *err)
{
    struct rung_sweep_arguments arguments = {.verb = "sweep", .argc = argc, .argv = argv};
    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    struct rung_sweep_arguments *a = &arguments;
    if (a->noise && a->retry)
        return rung_fail(err, RUNG_USAGE, "--noise keeps no rows, so there is nothing to --retry");
    if (a->retry && !a->selection.output)
        return rung_fail(err, RUNG_USAGE, "--retry needs the journal: -o FILE");
    if (a->group && a->order && strcmp(a->order, "classic") == 0)
        return rung_fail(err, RUNG_USAGE, "--group is of --order random");
    return rung_sweep_run(a, err);
}
