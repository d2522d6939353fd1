/* Owns the product that a sweep measures. */
#define _GNU_SOURCE
#include "cli/space.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sweep/where.h"

#define WORDS_MAX 8

struct words {
    int values[WORDS_MAX];
    size_t n;
};

typedef enum rung_status read_word(int *out, const char *word, struct rung_error *err);

static enum rung_status read_image(int *out, const char *word, struct rung_error *err)
{
    enum rung_image_kind kind = RUNG_IMAGE_AUTO;
    enum rung_status status = rung_image_kind_parse(&kind, word, err);
    *out = (int)kind;
    return status;
}

static enum rung_status read_state(int *out, const char *word, struct rung_error *err)
{
    enum rung_state state = RUNG_STATE_CLEAN;
    enum rung_status status = rung_state_parse(&state, word, err);
    *out = (int)state;
    return status;
}

static enum rung_status read_timer(int *out, const char *word, struct rung_error *err)
{
    enum rung_timer timer = RUNG_TIMER_ISOLATED;
    enum rung_status status = rung_timer_parse(&timer, word, err);
    *out = (int)timer;
    return status;
}

/* A list of words; `otherwise` where none was given. A word twice counts once. */
static enum rung_status read_words(struct words *out, const char *list, int otherwise,
                                   read_word *read, struct rung_error *err)
{
    *out = (struct words){.values = {otherwise}, .n = list ? 0 : 1};
    while (list && *list != '\0') {
        char word[32];
        size_t length = strcspn(list, ",");
        int value = 0;
        snprintf(word, sizeof word, "%.*s", (int)length, list);
        enum rung_status status = read(&value, word, err);
        if (status != RUNG_OK)
            return status;
        bool known = false;
        for (size_t i = 0; i < out->n; i++)
            known |= out->values[i] == value;
        if (!known && out->n < WORDS_MAX)
            out->values[out->n++] = value;
        list += length + (list[length] == ',');
    }
    return out->n ? RUNG_OK : rung_fail(err, RUNG_USAGE, "an empty list of words");
}

struct rung_selection rung_space_defaults(const struct rung_selection *selection)
{
    struct rung_selection filled = *selection;
    if (!filled.block)
        filled.block = "32:1024:*2";
    /* Axes that say what the loop is leave no second bound to ask for. */
    if (!filled.bound && !filled.unroll && !filled.predicate && !filled.variant)
        filled.bound = "const,runtime";
    return filled;
}

struct axes {
    struct rung_expanded configs;
    unsigned *targets;
    size_t n_targets;
    struct words images, states, timers;
};

/* Without a state, timers that repeat the work take warm data and the others flush. */
static enum rung_status read_timing(struct axes *axes, const struct rung_timing_selection *timing,
                                    struct rung_error *err)
{
    enum rung_status status =
        read_words(&axes->timers, timing->timer, RUNG_TIMER_ISOLATED, read_timer, err);
    if (status != RUNG_OK)
        return status;
    bool repeats = true;
    for (size_t i = 0; i < axes->timers.n; i++)
        repeats &= rung_sampler_combines(RUNG_STATE_CLEAN, (enum rung_timer)axes->timers.values[i],
                                         NULL) != RUNG_OK;
    return read_words(&axes->states, timing->state, repeats ? RUNG_STATE_WARM : RUNG_STATE_CLEAN,
                      read_state, err);
}

static enum rung_status read_axes(struct axes *axes, const struct rung_space_request *request,
                                  const struct rung_ladder *ladder, struct rung_error *err)
{
    enum rung_status status =
        rung_selection_expand(&axes->configs, request->selection, ladder, err);
    if (status == RUNG_OK)
        status =
            rung_selection_targets(&axes->targets, &axes->n_targets, request->selection,
                                   request->native, request->supported, request->n_supported, err);
    if (status == RUNG_OK)
        status =
            read_words(&axes->images, request->selection->image, RUNG_IMAGE_AUTO, read_image, err);
    return status == RUNG_OK ? read_timing(axes, request->timing, err) : status;
}

/* The pairs of state and timer that go together; what does not is named once. */
static size_t pair_up(struct rung_sampling pairs[WORDS_MAX * WORDS_MAX], const struct axes *axes)
{
    size_t n = 0;
    for (size_t s = 0; s < axes->states.n; s++)
        for (size_t t = 0; t < axes->timers.n; t++) {
            struct rung_error why = {0};
            struct rung_sampling pair = {(enum rung_state)axes->states.values[s],
                                         (enum rung_timer)axes->timers.values[t]};
            if (rung_sampler_combines(pair.state, pair.timer, &why) == RUNG_OK)
                pairs[n++] = pair;
            else if (axes->states.n * axes->timers.n > 1)
                fprintf(stderr, "rung sweep: left out: %s\n", why.text);
        }
    return n;
}

static enum rung_status multiply(struct rung_space *space, const struct axes *axes,
                                 struct rung_error *err)
{
    struct rung_sampling pairs[WORDS_MAX * WORDS_MAX];
    size_t n_pairs = pair_up(pairs, axes);
    if (n_pairs == 0)
        return rung_sampler_combines((enum rung_state)axes->states.values[0],
                                     (enum rung_timer)axes->timers.values[0], err);
    size_t n =
        axes->configs.n_ns * axes->n_targets * axes->images.n * n_pairs * axes->configs.n_configs;
    space->cells = calloc(n + 1, sizeof *space->cells);
    if (!space->cells)
        return rung_fail(err, RUNG_MEMORY, "no memory for %zu cells", n);
    for (size_t i = 0; i < n; i++) { /* configurations turn fastest */
        size_t rest = i;
        struct rung_cell *cell = &space->cells[i];
        cell->config = axes->configs.configs[rest % axes->configs.n_configs];
        rest /= axes->configs.n_configs;
        cell->state = pairs[rest % n_pairs].state;
        cell->timer = pairs[rest % n_pairs].timer;
        rest /= n_pairs;
        cell->image = (enum rung_image_kind)axes->images.values[rest % axes->images.n];
        rest /= axes->images.n;
        cell->target = axes->targets[rest % axes->n_targets];
        cell->n = axes->configs.ns[rest / axes->n_targets];
    }
    space->n_cells = space->n_product = n;
    return RUNG_OK;
}

static enum rung_status filter(struct rung_space *space, const char *text, struct rung_error *err)
{
    if (!text)
        return RUNG_OK;
    struct rung_arena arena = {0};
    const struct rung_where *where = NULL;
    enum rung_status status = rung_where_parse(&where, &arena, text, err);
    size_t kept = 0;
    for (size_t i = 0; i < space->n_cells && status == RUNG_OK; i++)
        if (rung_where_accepts(where, &space->cells[i]))
            space->cells[kept++] = space->cells[i];
    space->n_cells = kept;
    rung_arena_release(&arena);
    if (status == RUNG_OK && kept == 0)
        status = rung_fail(err, RUNG_USAGE, "--where '%s' leaves none of %zu cells", text,
                           space->n_product);
    return status;
}

static enum rung_status read_shard(struct rung_space *space, const char *text,
                                   struct rung_error *err)
{
    unsigned shard = 0, n = 1;
    char rest;
    /* Nine digits: a number that would wrap round is none, for it would name another shard. */
    if (text && (sscanf(text, "%9u/%9u%c", &shard, &n, &rest) != 2 || n == 0 || shard >= n ||
                 strpbrk(text, "+- ")))
        return rung_fail(err, RUNG_USAGE,
                         "--shard '%s': I/N with N shards counted from 0, as 0/3, 1/3, 2/3", text);
    space->shard = shard;
    space->n_shards = n;
    size_t kept = 0;
    for (size_t i = shard; i < space->n_cells; i += n)
        space->cells[kept++] = space->cells[i];
    space->n_cells = kept;
    return RUNG_OK;
}

enum rung_status rung_space_make(struct rung_space *out, const struct rung_space_request *request,
                                 const struct rung_ladder *ladder, struct rung_error *err)
{
    struct axes axes = {0};
    struct rung_space space = {0};
    enum rung_status status = read_axes(&axes, request, ladder, err);
    if (status == RUNG_OK) {
        rung_expanded_report(&axes.configs, "sweep", stderr);
        status = multiply(&space, &axes, err);
    }
    if (status == RUNG_OK)
        status = filter(&space, request->where, err);
    if (status == RUNG_OK)
        status = read_shard(&space, request->shard, err);
    rung_expanded_release(&axes.configs);
    free(axes.targets);
    if (status == RUNG_OK)
        *out = space;
    else
        rung_space_release(&space);
    return status;
}

void rung_space_release(struct rung_space *space)
{
    free(space->cells);
    *space = (struct rung_space){0};
}
