/* Owns the course of a verification: which sizes, which patterns, which subjects. */
#include "bench/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/sim.h"

#define PATTERNS_MAX 96 /* four kinds, and 40 bits of each vector */
#define ALL_BITS_MAX                                                                               \
    ((uint64_t)1 << 28) /* beyond, one upload takes seconds: the bits are left out */

struct course {
    const struct rung_subject *subjects;
    size_t count;
    const struct rung_verify_options *options;
    const struct rung_device *device;
    enum rung_op op;
    enum rung_type type;
};

static void add_size(uint64_t *sizes, size_t *count, uint64_t size)
{
    size_t at = *count;
    while (at > 0 && sizes[at - 1] > size)
        at--;
    if (at > 0 && sizes[at - 1] == size)
        return;
    memmove(sizes + at + 1, sizes + at, (*count - at) * sizeof *sizes);
    sizes[at] = size;
    ++*count;
}

size_t rung_awkward_sizes(uint64_t sizes[RUNG_AWKWARD_MAX], unsigned block)
{
    uint64_t b = block;
    const uint64_t wanted[] = {0,
                               1,
                               2,
                               3,
                               31,
                               33,
                               b - 1,
                               b,
                               b + 1,
                               2 * b - 1,
                               2 * b,
                               2 * b + 1,
                               3 * b + 1,
                               4 * b,
                               4 * b + 3,
                               7 * b - 1,
                               2 * b * b + b + 1};
    size_t count = 0;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        add_size(sizes, &count, wanted[i]);
    return count;
}

static unsigned bits_of(uint64_t n)
{
    unsigned bits = 0; /* that the index n - 1 has */
    for (uint64_t last = n ? n - 1 : 0; last; last >>= 1)
        bits++;
    return bits;
}

/* All of them, the ones first; without bits only those kinds that find most in one run each. */
static size_t list_patterns(struct rung_pattern patterns[PATTERNS_MAX], const struct course *course,
                            uint64_t n, bool bits)
{
    size_t count = 0;
    uint64_t seed = course->options->seed + n;
    patterns[count++] = (struct rung_pattern){.kind = RUNG_PATTERN_ONES, .seed = seed};
    patterns[count++] = (struct rung_pattern){.kind = RUNG_PATTERN_RANDOM01, .seed = seed};
    patterns[count++] = (struct rung_pattern){.kind = RUNG_PATTERN_WEIGHTS, .seed = seed};
    if (course->type != RUNG_TYPE_I32)
        patterns[count++] = (struct rung_pattern){.kind = RUNG_PATTERN_RANDOM, .seed = seed};
    unsigned vectors = course->op == RUNG_OP_DOT ? 2 : 1;
    for (unsigned bit = 0; bits && bit < bits_of(n); bit++)
        for (unsigned vector = 0; vector < vectors; vector++)
            patterns[count++] = (struct rung_pattern){
                .kind = RUNG_PATTERN_BIT, .bit = bit, .vector = vector, .seed = seed};
    return count;
}

/* Whether subject `i` still has a name to lose and takes part at this block (0: at every). */
static bool takes_part(const struct course *course, size_t i, unsigned block)
{
    const struct rung_subject *subject = &course->subjects[i];
    return (subject->verdict->status == RUNG_ROW_OK || course->options->go_on) &&
           (block == 0 || subject->reduction->config.block == block);
}

static enum rung_status largest_room(uint64_t *room, const struct course *course, uint64_t n,
                                     unsigned block, struct rung_error *err)
{
    *room = 1;
    for (size_t i = 0; i < course->count; i++) {
        struct rung_plan plan;
        if (!takes_part(course, i, block))
            continue;
        enum rung_status status = rung_reduction_plan(&plan, course->subjects[i].reduction, n, err);
        if (status != RUNG_OK)
            return status;
        if (plan.partials_room > *room)
            *room = plan.partials_room;
    }
    return RUNG_OK;
}

static enum rung_status try_patterns(const struct course *course,
                                     const struct rung_workspace *workspace, unsigned block,
                                     const struct rung_pattern *patterns, size_t n_patterns,
                                     struct rung_error *err)
{
    enum rung_status status = RUNG_OK;
    for (size_t p = 0; status == RUNG_OK && p < n_patterns; p++) {
        struct rung_expected expected;
        if (course->options->interrupted && course->options->interrupted(course->options->context))
            return rung_fail(err, RUNG_INTERRUPTED, "interrupted");
        status = rung_pattern_upload(&expected, workspace, &patterns[p], err);
        for (size_t i = 0; status == RUNG_OK && i < course->count; i++)
            if (takes_part(course, i, block))
                status =
                    rung_verify_run(&course->subjects[i], workspace, &patterns[p], &expected, err);
    }
    return status;
}

/* The memory for n is asked for before anything is launched. */
static enum rung_status check_room(const struct course *course, struct rung_error *err)
{
    struct rung_workspace_spec spec = {
        .op = course->op, .type = course->type, .n = course->options->n};
    enum rung_status status = largest_room(&spec.room, course, spec.n, 0, err);
    return status == RUNG_OK ? rung_workspace_fits(course->device, &spec, err) : status;
}

static enum rung_status try_size(const struct course *course, uint64_t n, unsigned block,
                                 const struct rung_pattern *patterns, size_t n_patterns,
                                 struct rung_error *err)
{
    struct rung_workspace workspace = {0};
    struct rung_workspace_spec spec = {.op = course->op,
                                       .type = course->type,
                                       .n = n,
                                       .without_guards = rung_device_checks(course->device)};
    enum rung_status status = largest_room(&spec.room, course, n, block, err);
    if (status == RUNG_OK)
        status = rung_workspace_open(&workspace, course->device, &spec, err);
    if (status == RUNG_OK)
        status = try_patterns(course, &workspace, block, patterns, n_patterns, err);
    rung_workspace_release(&workspace);
    return status;
}

static void tell(const struct course *course, const char *what, uint64_t n)
{
    char text[96];
    if (!course->options->progress)
        return;
    snprintf(text, sizeof text, "verifying %s n = %llu", what, (unsigned long long)n);
    course->options->progress(course->options->context, text);
}

static enum rung_status try_awkward_sizes(const struct course *course, unsigned block,
                                          struct rung_error *err)
{
    uint64_t sizes[RUNG_AWKWARD_MAX];
    struct rung_pattern patterns[PATTERNS_MAX];
    size_t n_sizes = rung_awkward_sizes(sizes, block);
    enum rung_status status = RUNG_OK;
    for (size_t i = 0; status == RUNG_OK && i < n_sizes; i++) {
        bool last = i + 1 == n_sizes; /* the three passes: large, so without the bits */
        size_t n_patterns = list_patterns(patterns, course, sizes[i], !last);
        tell(course, "awkward sizes,", sizes[i]);
        status = try_size(course, sizes[i], block, patterns, n_patterns, err);
    }
    return status;
}

static enum rung_status try_every_block(const struct course *course, struct rung_error *err)
{
    enum rung_status status = RUNG_OK;
    for (unsigned block = RUNG_BLOCK_MIN; status == RUNG_OK && block <= RUNG_BLOCK_MAX;
         block *= 2) {
        bool any = false;
        for (size_t i = 0; i < course->count; i++)
            any |= takes_part(course, i, block);
        if (any)
            status = try_awkward_sizes(course, block, err);
    }
    return status;
}

/* At n. The simulator takes seconds for one large run, so there one pattern has to do: random01,
 * which sees a dropped or doubled element with even odds each, and a systematic mistake surely. */
static enum rung_status try_n(const struct course *course, struct rung_error *err)
{
    struct rung_pattern patterns[PATTERNS_MAX];
    uint64_t n = course->options->n;
    bool all = course->options->all_patterns;
    size_t n_patterns = list_patterns(patterns, course, n, all && n <= ALL_BITS_MAX);
    tell(course, "at", n);
    if (all)
        return try_size(course, n, 0, patterns, n_patterns, err);
    return try_size(course, n, 0, patterns + 1, 1, err);
}

/* The counts of one block that has all its elements. */
static enum rung_status count_block(const struct course *course, const struct rung_subject *subject,
                                    struct rung_error *err)
{
    const struct rung_reduction *reduction = subject->reduction;
    const struct rung_pattern pattern = {.kind = RUNG_PATTERN_WEIGHTS,
                                         .seed = course->options->seed};
    const struct course alone = {.subjects = subject,
                                 .count = 1,
                                 .options = course->options,
                                 .device = course->device,
                                 .op = course->op,
                                 .type = course->type};
    uint64_t n = (uint64_t)reduction->config.block * reduction->shape.elements_per_thread;
    enum rung_status status = try_size(&alone, n, 0, &pattern, 1, err);
    if (status != RUNG_OK || subject->verdict->status != RUNG_ROW_OK)
        return status;
    struct rung_sim_counters counters = {0};
    course->device->driver.sim->read_counters(&counters);
    subject->verdict->counters = counters;
    subject->verdict->executed = (struct rung_counts){.known = true,
                                                      .additions = counters.additions,
                                                      .body_runs = counters.body_runs,
                                                      .serialised = counters.serialised};
    return RUNG_OK;
}

enum rung_status rung_verify(const struct rung_subject *subjects, size_t count,
                             const struct rung_verify_options *options, struct rung_error *err)
{
    if (count == 0)
        return RUNG_OK;
    const struct rung_reduction *first = subjects[0].reduction;
    const struct course course = {.subjects = subjects,
                                  .count = count,
                                  .options = options,
                                  .device = first->device,
                                  .op = first->config.op,
                                  .type = first->config.type};
    enum rung_status status = check_room(&course, err);
    if (status == RUNG_OK && options->awkward_sizes)
        status = try_every_block(&course, err);
    for (size_t i = 0; status == RUNG_OK && course.device->driver.sim && i < count; i++)
        if (takes_part(&course, i, 0))
            status = count_block(&course, &subjects[i], err);
    if (status == RUNG_OK) /* last: the sum at n is the one that the row shows */
        status = try_n(&course, err);
    return status;
}
