/* The ladder: the templates that the build embedded, in order. */
#include <stdlib.h>
#include <string.h>

#include "gen/control.h"
#include "gen/embedded.h"
#include "gen/kernel.h"

#define CONTROLS_FOLDER "controls/"

const char *rung_embedded_text(const char *name)
{
    for (size_t i = 0; i < rung_embedded_count; i++)
        if (strcmp(rung_embedded_files[i].name, name) == 0)
            return rung_embedded_files[i].text;
    return NULL;
}

static int compare(const void *a, const void *b)
{
    const struct rung_template *left = *(const struct rung_template *const *)a;
    const struct rung_template *right = *(const struct rung_template *const *)b;
    if (left->version != right->version)
        return left->version < right->version ? -1 : 1;
    return (left->variant > right->variant) - (left->variant < right->variant);
}

/* Versions count from 1 without a gap, each with one base template and each variant once. */
static enum rung_status check_order(struct rung_template *const *versions, size_t count,
                                    struct rung_error *err)
{
    unsigned expected = 1;
    for (size_t i = 0; i < count; i++) {
        const struct rung_template *tpl = versions[i];
        bool again = i > 0 && compare(&versions[i - 1], &versions[i]) == 0;
        if (again)
            return rung_template_fail(tpl, 1, err, "version %u stands in %s too", tpl->version,
                                      versions[i - 1]->file);
        if (tpl->variant == RUNG_VARIANT_BASE && tpl->version != expected++)
            return rung_template_fail(tpl, 1, err, "version %u, but version %u is missing",
                                      tpl->version, expected - 1);
        if (tpl->variant != RUNG_VARIANT_BASE && tpl->version >= expected)
            return rung_template_fail(tpl, 1, err, "a variant of version %u, which is missing",
                                      tpl->version);
    }
    return RUNG_OK;
}

enum rung_status rung_ladder_load(struct rung_ladder *out, struct rung_arena *arena,
                                  struct rung_error *err)
{
    struct rung_template **versions =
        rung_arena_array(arena, rung_embedded_count, sizeof *versions);
    struct rung_ladder *ladder = rung_arena_alloc(arena, sizeof *ladder);
    if (!versions || !ladder)
        return rung_fail(err, RUNG_MEMORY, "out of memory");
    size_t count = 0;
    for (size_t i = 0; i < rung_embedded_count; i++) {
        const struct rung_embedded *file = &rung_embedded_files[i];
        if (strncmp(file->name, "reduce_v", 8) != 0)
            continue;
        const struct rung_template *tpl;
        enum rung_status status = rung_template_parse(&tpl, arena, file->name, file->text, err);
        if (status != RUNG_OK)
            return status;
        versions[count] = (struct rung_template *)tpl; /* the arena's, and not shared yet */
        versions[count++]->ladder = ladder;
    }
    qsort(versions, count, sizeof *versions, compare);
    enum rung_status status = check_order(versions, count, err);
    if (status != RUNG_OK)
        return status;
    *ladder = (struct rung_ladder){(const struct rung_template *const *)versions, count};
    *out = *ladder;
    return RUNG_OK;
}

const struct rung_template *rung_ladder_find(const struct rung_ladder *ladder, unsigned version,
                                             enum rung_variant variant)
{
    for (size_t i = 0; i < ladder->n_versions; i++)
        if (ladder->versions[i]->version == version && ladder->versions[i]->variant == variant)
            return ladder->versions[i];
    return NULL;
}

enum rung_status rung_controls_load(struct rung_controls *out, struct rung_arena *arena,
                                    struct rung_error *err)
{
    struct rung_control *controls = rung_arena_array(arena, rung_embedded_count, sizeof *controls);
    if (!controls)
        return rung_fail(err, RUNG_MEMORY, "out of memory");
    size_t count = 0;
    for (size_t i = 0; i < rung_embedded_count; i++) {
        const struct rung_embedded *file = &rung_embedded_files[i];
        if (strncmp(file->name, CONTROLS_FOLDER, strlen(CONTROLS_FOLDER)) != 0)
            continue;
        const struct rung_template *tpl;
        enum rung_status status = rung_template_parse(&tpl, arena, file->name, file->text, err);
        if (status == RUNG_OK && !tpl->control)
            status = rung_template_fail(tpl, 1, err, "the directive 'control' is missing");
        if (status != RUNG_OK)
            return status;
        controls[count++] = (struct rung_control){
            .name = tpl->control,
            .title = tpl->mistake,
            .against = tpl->title,
            .caught_by = tpl->caught,
            .block = (unsigned)tpl->shows_block,
            .least_n = tpl->shows_n,
            .tpl = tpl,
        };
    }
    *out = (struct rung_controls){controls, count};
    return RUNG_OK;
}
