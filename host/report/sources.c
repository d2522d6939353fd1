/* Tells files apart that hold the same rows. */
#include "report/sources.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *environment_word(const struct rung_results *file, const char *object,
                                    const char *field)
{
    const json_t *place = rung_results_run_field(file, 0, "environment");
    if (object)
        place = json_object_get(place, object);
    return json_string_value(json_object_get(place, field));
}

static double ceiling_of(const struct rung_results *file)
{
    double ceiling = NAN;
    for (size_t r = 0; r < json_array_size(file->runs); r++) {
        const json_t *value = json_object_get(rung_results_run_field(file, r, "environment"),
                                              "read_ceiling_gb_per_s");
        if (json_is_number(value))
            ceiling = json_number_value(value);
    }
    return ceiling;
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* The file's name, its path where two names are alike, and a number where two paths are. */
static void write_label(struct rung_source *out, const struct rung_results *files, size_t n,
                        size_t file)
{
    const char *path = files[file].path, *name = name_of(path);
    bool one_name = true, one_path = true;
    for (size_t f = 0; f < n; f++) {
        one_name &= f == file || strcmp(name_of(files[f].path), name) != 0;
        one_path &= f == file || strcmp(files[f].path, path) != 0;
    }
    if (one_path)
        snprintf(out->label, sizeof out->label, "%.60s", one_name ? name : path);
    else
        snprintf(out->label, sizeof out->label, "%.60s (%zu)", path, file + 1);
}

static void add_devices(struct rung_sources *sources)
{
    bool differ = false;
    for (size_t f = 1; f < sources->n; f++)
        differ |= strcmp(sources->sources[f].device, sources->sources[0].device) != 0;
    for (size_t f = 0; f < sources->n && differ; f++) {
        struct rung_source *source = &sources->sources[f];
        size_t length = strlen(source->label);
        snprintf(source->label + length, sizeof source->label - length, ", %s", source->device);
    }
}

struct place {
    const char *key;
    size_t file;
};

static int by_key(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return strcmp(x->key, y->key);
}

static enum rung_status find_shared(bool *out, const struct rung_results *files, size_t n_files,
                                    struct rung_error *err)
{
    size_t total = 0, n = 0;
    for (size_t f = 0; f < n_files; f++)
        total += files[f].n_rows;
    struct place *places = calloc(total + 1, sizeof *places);
    if (!places)
        return rung_fail(err, RUNG_MEMORY, "no memory for %zu rows", total);
    for (size_t f = 0; f < n_files; f++)
        for (size_t i = 0; i < files[f].n_rows; i++)
            places[n++] = (struct place){files[f].rows[i].key, f};
    qsort(places, n, sizeof *places, by_key);
    *out = false;
    for (size_t i = 1; i < n; i++)
        *out |= by_key(&places[i - 1], &places[i]) == 0 && places[i - 1].file != places[i].file;
    free(places);
    return RUNG_OK;
}

enum rung_status rung_sources_make(struct rung_sources *out, const struct rung_results *files,
                                   size_t n_files, struct rung_error *err)
{
    struct rung_sources sources = {.sources = calloc(n_files + 1, sizeof *sources.sources),
                                   .n = n_files};
    if (!sources.sources)
        return rung_fail(err, RUNG_MEMORY, "out of memory");
    for (size_t f = 0; f < n_files; f++) {
        struct rung_source *source = &sources.sources[f];
        const char *device = environment_word(&files[f], "device", "name");
        const char *date = environment_word(&files[f], NULL, "date");
        source->device = device ? device : "an unknown device";
        source->date = date ? date : "";
        source->ceiling = ceiling_of(&files[f]);
        write_label(source, files, n_files, f);
    }
    add_devices(&sources);
    enum rung_status status = find_shared(&sources.apart, files, n_files, err);
    if (status == RUNG_OK)
        *out = sources;
    else
        rung_sources_release(&sources);
    return status;
}

void rung_sources_release(struct rung_sources *sources)
{
    free(sources->sources);
    *sources = (struct rung_sources){0};
}

static int by_place(const void *a, const void *b)
{
    const struct rung_result *x = a, *y = b;
    const char *rest_x = strchr(x->key, ' '), *rest_y = strchr(y->key, ' ');
    int order = rest_x && rest_y ? strcmp(rest_x, rest_y) : 0;
    if (order == 0)
        order = rung_config_compare(&x->row.config, &y->row.config);
    return order ? order : (x->source > y->source) - (x->source < y->source);
}

struct rung_result *rung_sources_gather(size_t *n, const struct rung_sources *sources,
                                        struct rung_results *files)
{
    size_t total = 0;
    for (size_t f = 0; f < sources->n; f++)
        total += files[f].n_rows;
    struct rung_result *all = calloc(total + 1, sizeof *all);
    *n = 0;
    if (!all)
        return NULL;
    for (size_t f = 0; f < sources->n; f++) {
        if (sources->apart)
            rung_results_relate(files[f].rows, files[f].n_rows);
        for (size_t i = 0; i < files[f].n_rows; i++) {
            all[*n] = files[f].rows[i];
            all[(*n)++].source = sources->apart ? sources->sources[f].label : NULL;
        }
    }
    qsort(all, *n, sizeof *all, by_place);
    if (!sources->apart)
        rung_results_relate(all, *n);
    return all;
}

double rung_sources_ceiling(const struct rung_sources *sources, const struct rung_result *result)
{
    double ceiling = NAN;
    for (size_t f = 0; f < sources->n; f++)
        if (isfinite(sources->sources[f].ceiling) &&
            (!result->source || result->source == sources->sources[f].label))
            ceiling = sources->sources[f].ceiling;
    return ceiling;
}
