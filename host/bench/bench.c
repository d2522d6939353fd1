/* Owns loading: images for every configuration and for the later passes of dot, and what became of
 * each. */
#include "bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum rung_row_status row_status(enum rung_status status)
{
    switch (status) {
    case RUNG_OK:
        return RUNG_ROW_OK;
    case RUNG_WRONG:
        return RUNG_ROW_WRONG;
    case RUNG_USAGE:
        return RUNG_ROW_CONSTRAINTS;
    case RUNG_COMPILE:
        return RUNG_ROW_COMPILE;
    case RUNG_UNABLE:
        return RUNG_ROW_UNSUPPORTED;
    default:
        return RUNG_ROW_RUNTIME;
    }
}

static void give_up(struct rung_bench_entry *entry, enum rung_status status, const char *reason)
{
    entry->status = row_status(status);
    snprintf(entry->reason, sizeof entry->reason, "%.*s", (int)sizeof entry->reason - 1, reason);
}

/* The images of one loading: entry i's own at i, that of its later passes at later[i]. */
struct images {
    struct rung_config *configs;
    struct rung_image *images;
    enum rung_status *statuses;
    struct rung_error *errors;
    size_t *later;
    size_t n;
};

static void images_release(struct images *images)
{
    for (size_t i = 0; images->images && i < images->n; i++)
        rung_image_release(&images->images[i]);
    free(images->configs);
    free(images->images);
    free(images->statuses);
    free(images->errors);
    free(images->later);
}

static size_t index_of(struct images *images, const struct rung_config *config)
{
    size_t at = 0;
    while (at < images->n && !rung_config_equal(&images->configs[at], config))
        at++;
    if (at == images->n)
        images->configs[images->n++] = *config;
    return at;
}

static enum rung_status list_images(struct images *images, const struct rung_bench *bench,
                                    struct rung_error *err)
{
    size_t n = bench->n_entries, room = 2 * n + 1;
    images->configs = calloc(room, sizeof *images->configs);
    images->images = calloc(room, sizeof *images->images);
    images->statuses = calloc(room, sizeof *images->statuses);
    images->errors = calloc(room, sizeof *images->errors);
    images->later = calloc(room, sizeof *images->later);
    if (!images->configs || !images->images || !images->statuses || !images->errors ||
        !images->later)
        return rung_fail(err, RUNG_MEMORY, "out of memory for %zu configurations", n);
    for (size_t i = 0; i < n; i++) /* no two entries alike: entry i's image is image i */
        images->configs[images->n++] = bench->entries[i].config;
    for (size_t i = 0; i < n; i++) {
        struct rung_config later = rung_later_config(&bench->entries[i].config);
        images->later[i] = index_of(images, &later);
    }
    return RUNG_OK;
}

static void load_entry(struct rung_bench *bench, size_t i, const struct images *images)
{
    struct rung_bench_entry *entry = &bench->entries[i];
    size_t later = images->later[i];
    struct rung_error failure = {0};
    for (int k = 0; k < 2; k++) {
        size_t at = k == 0 ? i : later;
        if (images->statuses[at] != RUNG_OK) {
            give_up(entry, images->statuses[at], images->errors[at].text);
            return;
        }
    }
    const struct rung_reduction_images chosen = {
        .first = &images->images[i], .later = &images->images[later], .kind = bench->spec.image};
    enum rung_status status = rung_reduction_load(&entry->reduction, bench->spec.device, entry->tpl,
                                                  &entry->config, &chosen, &failure);
    if (status != RUNG_OK)
        give_up(entry, status, failure.text);
}

static enum rung_status make_entries(struct rung_bench *bench, const struct rung_config *configs,
                                     struct rung_error *err)
{
    for (size_t i = 0; i < bench->n_entries; i++) {
        struct rung_bench_entry *entry = &bench->entries[i];
        entry->config = configs[i];
        entry->target = bench->spec.target;
        entry->tpl = rung_ladder_find(bench->spec.ladder, configs[i].version, configs[i].variant);
        if (!entry->tpl) {
            char id[RUNG_ID_SIZE];
            rung_config_id(&configs[i], id);
            return rung_fail(err, RUNG_USAGE, "the ladder has no %s", id);
        }
    }
    return RUNG_OK;
}

enum rung_status rung_bench_open(struct rung_bench *out, const struct rung_bench_spec *spec,
                                 const struct rung_config *configs, size_t n_configs,
                                 struct rung_error *err)
{
    struct rung_bench bench = {.spec = *spec, .n_entries = n_configs};
    struct images images = {0};
    *out = (struct rung_bench){0};
    bench.entries = calloc(n_configs ? n_configs : 1, sizeof *bench.entries);
    enum rung_status status = bench.entries ? make_entries(&bench, configs, err)
                                            : rung_fail(err, RUNG_MEMORY, "out of memory");
    if (status == RUNG_OK)
        status = list_images(&images, &bench, err);
    if (status == RUNG_OK) {
        /* The first failure is in errors[], too: each entry tells its own. */
        (void)rung_images_get(images.images, images.statuses, images.errors, spec->images,
                              images.configs, images.n, spec->target);
        for (size_t i = 0; i < n_configs; i++)
            load_entry(&bench, i, &images);
    }
    images_release(&images);
    if (status == RUNG_OK)
        *out = bench;
    else
        rung_bench_close(&bench);
    return status;
}

void rung_bench_remember(struct rung_bench *bench, const struct rung_row *rows)
{
    for (size_t i = 0; i < bench->n_entries; i++)
        if (bench->entries[i].status == RUNG_ROW_OK && rows[i].status == RUNG_ROW_WRONG) {
            bench->entries[i].status = rows[i].status;
            snprintf(bench->entries[i].reason, sizeof bench->entries[i].reason, "%s",
                     rows[i].reason);
        }
}

void rung_bench_close(struct rung_bench *bench)
{
    for (size_t i = 0; bench->entries && i < bench->n_entries; i++)
        rung_reduction_release(&bench->entries[i].reduction);
    free(bench->entries);
    *bench = (struct rung_bench){0};
}
