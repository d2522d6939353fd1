/* Owns the shared options: their names, their help, and the words that are no axis. */
#define _GNU_SOURCE
#include "cli/select.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_VERSION = 0x100,
    KEY_BLOCK,
    KEY_BOUND,
    KEY_UNROLL,
    KEY_PREDICATE,
    KEY_OP,
    KEY_TYPE,
    KEY_VARIANT,
    KEY_N,
    KEY_NO_N,
    KEY_TARGET,
    KEY_IMAGE,
    KEY_DEVICE,
    KEY_NVRTC,
    KEY_DRIVER,
    KEY_FORMAT,
    KEY_CHECK,
    KEY_SEED
};

/* clang-format off */
static const struct argp_option axis_options[] = {
    {NULL, 0, NULL, 0, "Configurations (lists 1,2; ranges 1:4; geometric 64:1024:*2; all):", 1},
    /* argp moves a visible option of this name to the end, beside --help. */
    {"version", KEY_VERSION, "LIST", OPTION_HIDDEN, NULL, 1},
    {"    --version=LIST", 0, NULL, OPTION_DOC | OPTION_NO_USAGE,
     "Rungs of the ladder (default 1,2,3,4; see rung list)", 1},
    {"block", KEY_BLOCK, "LIST", 0, "Threads per block, powers of two 2...1024 (default 256)", 1},
    {"bound", KEY_BOUND, "LIST", 0, "Loop bound: const, runtime (default const)", 1},
    {"unroll", KEY_UNROLL, "LIST", 0, "Unrolling: full, none (default full where const)", 1},
    {"predicate", KEY_PREDICATE, "LIST", 0,
     "Predicate of version 1: mod, mask, shift, opaque (default mod)", 1},
    {"op", KEY_OP, "LIST", 0, "Operation: sum, dot (default sum)", 1},
    {"type", KEY_TYPE, "LIST", 0, "Element type: f32, f64, i32 (default f32)", 1},
    {"variant", KEY_VARIANT, "LIST", 0, "Variant of a version: base, twolevel (default base)", 1},
    {0},
};

/* Else --n would be taken for the beginning of --nvrtc. */
static const struct argp_option no_n_options[] = {
    {"n", KEY_NO_N, "LIST", OPTION_HIDDEN, NULL, 1},
    {0},
};

static const struct argp_option n_options[] = {
    {"n", KEY_N, "LIST", 0, "Elements, 0...2^40, as 1000, 64Ki, 2^24-611 (default 16776605)", 1},
    {0},
};
/* clang-format on */

/* clang-format off */
static const struct argp_option where_options[] = {
    {NULL, 0, NULL, 0, "Where and how it runs:", 2},
    {"device", KEY_DEVICE, "DEVICE", 0,
     "auto, cuda, cuda:K or sim (default auto: a GPU if there is one, else the simulator)", 2},
    {"target", KEY_TARGET, "TARGET", 0,
     "PTX target: sm_75..., native, all (default native, sm_75 without a GPU)", 2},
    {"image", KEY_IMAGE, "KIND", 0, "What the driver loads: cubin, ptx, auto (default auto)", 2},
    {"nvrtc", KEY_NVRTC, "PATH", 0, "The NVRTC library, or the folder that holds it", 2},
    {"driver", KEY_DRIVER, "PATH", 0, "The driver library in place of libcuda.so.1", 2},
    {0},
};

static const struct argp_option check_options[] = {
    {"check", KEY_CHECK, NULL, 0,
     "Turn on the simulator's checks: races, barriers, bounds, uninitialised reads", 2},
    {0},
};

static const struct argp_option seed_options[] = {
    {"seed", KEY_SEED, "N", 0, "Seed of random input and of the simulator's warp order", 2},
    {0},
};
/* clang-format on */

/* clang-format off */
static const struct argp_option output_options[] = {
    {NULL, 0, NULL, 0, "Output:", 3},
    {"format", KEY_FORMAT, "FORMAT", 0, "table, json, csv or md (default table)", 3},
    {"output", 'o', "FILE", 0,
     "Write to FILE instead of standard output; it is replaced only if all goes well", 3},
    {0},
};
/* clang-format on */

static const char **field_of(struct rung_selection *selection, int key)
{
    switch (key) {
    case KEY_VERSION:
        return &selection->version;
    case KEY_BLOCK:
        return &selection->block;
    case KEY_BOUND:
        return &selection->bound;
    case KEY_UNROLL:
        return &selection->unroll;
    case KEY_PREDICATE:
        return &selection->predicate;
    case KEY_OP:
        return &selection->op;
    case KEY_TYPE:
        return &selection->type;
    case KEY_VARIANT:
        return &selection->variant;
    case KEY_N:
        return &selection->n;
    case KEY_TARGET:
        return &selection->target;
    case KEY_IMAGE:
        return &selection->image;
    case KEY_DEVICE:
        return &selection->device;
    case KEY_NVRTC:
        return &selection->nvrtc;
    case KEY_DRIVER:
        return &selection->driver;
    case KEY_FORMAT:
        return &selection->format;
    case 'o':
        return &selection->output;
    default:
        return NULL;
    }
}

static void parse_seed(struct rung_selection *selection, const char *text,
                       const struct argp_state *state)
{
    char *end;
    errno = 0;
    selection->seed = strtoull(text, &end, 0);
    if (errno || *end || end == text || strchr(text, '-'))
        argp_error(state, "--seed '%s': a whole number from 0 to 2^64-1 must stand there", text);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct rung_selection *selection = state->input;
    const char **field = field_of(selection, key);
    if (field)
        *field = arg;
    else if (key == KEY_CHECK)
        selection->check = true;
    else if (key == KEY_SEED)
        parse_seed(selection, arg, state);
    else if (key == KEY_NO_N)
        argp_error(state, "--n '%s': code does not depend on the number of elements", arg);
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

const struct argp rung_axes_argp = {.options = axis_options, .parser = parse_option};
const struct argp rung_no_n_argp = {.options = no_n_options, .parser = parse_option};
const struct argp rung_n_argp = {.options = n_options, .parser = parse_option};
const struct argp rung_where_argp = {.options = where_options, .parser = parse_option};
const struct argp rung_check_argp = {.options = check_options, .parser = parse_option};
const struct argp rung_seed_argp = {.options = seed_options, .parser = parse_option};
const struct argp rung_output_argp = {.options = output_options, .parser = parse_option};

/* clang-format off */
static const struct argp_child all_children[] = {
    {&rung_axes_argp, 0, NULL, 0},
    {&rung_n_argp, 0, NULL, 0},
    {&rung_where_argp, 0, NULL, 0},
    {&rung_check_argp, 0, NULL, 0},
    {&rung_seed_argp, 0, NULL, 0},
    {&rung_output_argp, 0, NULL, 0},
    {0},
};
/* clang-format on */

static error_t pass_input(int key, char *arg, struct argp_state *state)
{
    (void)arg;
    if (key != ARGP_KEY_INIT)
        return ARGP_ERR_UNKNOWN;
    for (size_t i = 0; i + 1 < sizeof all_children / sizeof *all_children; i++)
        state->child_inputs[i] = state->input;
    return 0;
}

const struct argp rung_selection_argp = {.parser = pass_input, .children = all_children};

enum rung_status rung_selection_image(enum rung_image_kind *out,
                                      const struct rung_selection *selection,
                                      struct rung_error *err)
{
    const char *word = selection->image ? selection->image : "auto";
    if (strcmp(word, "auto") == 0)
        *out = RUNG_IMAGE_AUTO;
    else if (strcmp(word, "cubin") == 0)
        *out = RUNG_IMAGE_CUBIN;
    else if (strcmp(word, "ptx") == 0)
        *out = RUNG_IMAGE_PTX;
    else
        return rung_fail(err, RUNG_USAGE, "--image '%s': allowed are cubin, ptx, auto", word);
    return RUNG_OK;
}

/* Targets. */

static const unsigned known_targets[] = {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};
#define N_KNOWN_TARGETS (sizeof known_targets / sizeof *known_targets)

struct target_list {
    unsigned *values;
    size_t n;
    const unsigned *supported;
    size_t n_supported;
    unsigned native;
};

static bool has_target(const unsigned *targets, size_t n, unsigned target)
{
    for (size_t i = 0; i < n; i++)
        if (targets[i] == target)
            return true;
    return false;
}

static void write_targets(struct rung_text *text, const unsigned *targets, size_t n)
{
    for (size_t i = 0; i < n; i++)
        rung_text_format(text, "%ssm_%u", i ? ", " : "", targets[i]);
}

static enum rung_status refuse_target(const struct target_list *list, bool known, const char *item,
                                      struct rung_error *err)
{
    struct rung_text names = {0};
    if (list->n_supported)
        write_targets(&names, list->supported, list->n_supported);
    else
        write_targets(&names, known_targets, N_KNOWN_TARGETS);
    enum rung_status status =
        known ? rung_fail(err, RUNG_UNABLE, "--target '%s': this NVRTC has only %s", item,
                          rung_text_string(&names))
              : rung_fail(err, RUNG_USAGE, "--target '%s': allowed are native, all, %s", item,
                          rung_text_string(&names));
    rung_text_release(&names);
    return status;
}

static void add_target(struct target_list *list, unsigned target)
{
    if (!has_target(list->values, list->n, target))
        list->values[list->n++] = target;
}

static enum rung_status add_item(struct target_list *list, const char *item, struct rung_error *err)
{
    unsigned target;
    char end;
    if (strcmp(item, "all") == 0) {
        const unsigned *from = list->n_supported ? list->supported : known_targets;
        size_t n = list->n_supported ? list->n_supported : N_KNOWN_TARGETS;
        for (size_t i = 0; i < n; i++)
            add_target(list, from[i]);
        return RUNG_OK;
    }
    if (strcmp(item, "native") == 0) {
        if (list->native == 0)
            return rung_fail(err, RUNG_UNABLE, "--target native: there is no device to ask");
        add_target(list, list->native);
        return RUNG_OK;
    }
    bool written = sscanf(item, "sm_%u%c", &target, &end) == 1;
    bool known = written && has_target(known_targets, N_KNOWN_TARGETS, target);
    bool supported = written && has_target(list->supported, list->n_supported, target);
    if (!supported && (!known || list->n_supported))
        return refuse_target(list, known, item, err);
    add_target(list, target);
    return RUNG_OK;
}

static enum rung_status add_items(struct target_list *list, char *text, struct rung_error *err)
{
    enum rung_status status = RUNG_OK;
    for (char *item; status == RUNG_OK && (item = strsep(&text, ","));)
        status = add_item(list, item, err);
    return status;
}

enum rung_status rung_selection_targets(unsigned **targets, size_t *n_targets,
                                        const struct rung_selection *selection, unsigned native,
                                        const unsigned *supported, size_t n_supported,
                                        struct rung_error *err)
{
    char *text = strdup(selection->target ? selection->target : native ? "native" : "sm_75");
    struct target_list list = {
        .values = calloc(N_KNOWN_TARGETS + n_supported + 1, sizeof(unsigned)),
        .supported = supported,
        .n_supported = n_supported,
        .native = native,
    };
    enum rung_status status = text && list.values ? add_items(&list, text, err)
                                                  : rung_fail(err, RUNG_MEMORY, "out of memory");
    free(text);
    if (status != RUNG_OK) {
        free(list.values);
        return status;
    }
    *targets = list.values;
    *n_targets = list.n;
    return RUNG_OK;
}
