/* Where the image of a configuration comes from: folders made ahead of time, the cache, NVRTC; and
 * in the end, with no compiler for the target, what a folder has for an older one. */
#include "image/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/folder.h"

/* One call of rung_images_get. */
struct request {
    struct rung_image *images;
    enum rung_status *statuses;
    struct rung_error *errors;
    const struct rung_image_source *from;
    const struct rung_config *configs;
    size_t n;
    unsigned target;
    struct rung_image_folders folders;
    struct rung_text *sources; /* emitted, of each configuration */
    char (*symbols)[RUNG_ID_SIZE];
    bool *missing; /* has no image yet, and nothing has failed */
    bool stale;    /* some image was there and not to be used */
};

static enum rung_status emit(struct request *request, size_t i)
{
    const struct rung_config *config = &request->configs[i];
    struct rung_error *err = &request->errors[i];
    rung_config_symbol(config, request->symbols[i]);
    const struct rung_template *tpl =
        rung_ladder_find(request->from->ladder, config->version, config->variant);
    if (!tpl)
        return rung_fail(err, RUNG_USAGE, "the ladder has no version %u%s%s", config->version,
                         config->variant ? " in variant " : "",
                         config->variant ? rung_variant_word(config->variant) : "");
    enum rung_status status = rung_template_supports(tpl, config, err);
    if (status == RUNG_OK)
        status = rung_template_emit(&request->sources[i], tpl, config, err);
    if (status == RUNG_OK && !rung_text_ok(&request->sources[i]))
        status = rung_fail(err, RUNG_MEMORY, "out of memory");
    return status;
}

static void emit_all(struct request *request)
{
    for (size_t i = 0; i < request->n; i++) {
        request->statuses[i] = emit(request, i);
        request->missing[i] = request->statuses[i] == RUNG_OK;
    }
}

static bool look_in(struct request *request, size_t i, const struct rung_image_folder *folder,
                    unsigned target)
{
    bool stale = false;
    enum rung_status status = rung_image_folder_get(
        &request->images[i], folder, request->symbols[i], target, &request->sources[i], &stale);
    request->stale = request->stale || stale;
    return status == RUNG_OK;
}

/* Images for this very target. PTX without a cubin is enough only where nothing can compile, or
 * where PTX is what is executed. */
static void take_exact(struct request *request)
{
    for (size_t i = 0; i < request->n; i++)
        for (size_t f = 0; request->missing[i] && f < request->folders.count; f++) {
            if (!look_in(request, i, &request->folders.list[f], request->target))
                continue;
            if (request->images[i].cubin || !request->from->nvrtc || request->from->ptx_only)
                request->missing[i] = false;
            else
                rung_image_release(&request->images[i]);
        }
}

/* Of NVRTC's targets the one to compile for: the device's own, else the newest before it, as PTX.
 * 0: this NVRTC has none that the device can run. */
static unsigned choose_target(const struct rung_image_source *from, unsigned target)
{
    unsigned targets[RUNG_TARGETS_MAX];
    unsigned best = 0;
    size_t n = from->nvrtc ? rung_nvrtc_targets(from->nvrtc, targets) : 0;
    for (size_t i = 0; i < n; i++)
        if (targets[i] <= target && targets[i] > best)
            best = targets[i];
    return best;
}

static enum rung_status adopt(struct rung_image *image, struct rung_compiled *compiled,
                              const struct rung_image_source *from, struct rung_error *err)
{
    struct rung_image_facts facts;
    enum rung_status status = rung_image_check(&facts, compiled->ptx, compiled->ptx_length, err);
    if (status != RUNG_OK)
        return status;
    image->ptx_target = facts.target;
    if (compiled->cubin) {
        status = rung_image_check(&facts, compiled->cubin, compiled->cubin_length, err);
        if (status != RUNG_OK)
            return status;
        image->cubin_target = facts.target;
    }
    image->ptx = compiled->ptx;
    image->ptx_length = compiled->ptx_length;
    image->cubin = compiled->cubin;
    image->cubin_length = compiled->cubin_length;
    image->compile_ms = compiled->compile_ms;
    image->origin = compiled->from_cache ? RUNG_ORIGIN_CACHE : RUNG_ORIGIN_NVRTC;
    const char *version = rung_nvrtc_version(from->nvrtc);
    if (compiled->from_cache)
        snprintf(image->where, sizeof image->where, "cache %s, NVRTC %s", compiled->key, version);
    else
        snprintf(image->where, sizeof image->where, "NVRTC %s", version);
    compiled->ptx = NULL;
    compiled->cubin = NULL;
    return RUNG_OK;
}

/* The jobs of what is still missing, and where their results go. */
struct batch {
    struct rung_compile_job *jobs;
    struct rung_compiled *compiled;
    enum rung_status *statuses;
    struct rung_error *errors;
    size_t *of;             /* the configuration of each job */
    const char *options[1]; /* of all of them */
    char (*names)[RUNG_ID_SIZE + 4];
    size_t n;
};

static void batch_release(struct batch *batch)
{
    for (size_t j = 0; batch->compiled && j < batch->n; j++)
        rung_compiled_release(&batch->compiled[j]);
    free(batch->jobs);
    free(batch->compiled);
    free(batch->statuses);
    free(batch->errors);
    free(batch->of);
    free(batch->names);
}

static enum rung_status batch_make(struct batch *batch, const struct request *request,
                                   const char *target)
{
    size_t n = request->n;
    *batch = (struct batch){
        calloc(n, sizeof *batch->jobs),     calloc(n, sizeof *batch->compiled),
        calloc(n, sizeof *batch->statuses), calloc(n, sizeof *batch->errors),
        calloc(n, sizeof *batch->of),       {rung_nvrtc_lean_option(request->from->nvrtc)},
        calloc(n, sizeof *batch->names),    0};
    if (!batch->jobs || !batch->compiled || !batch->statuses || !batch->errors || !batch->of ||
        !batch->names)
        return RUNG_MEMORY;
    for (size_t i = 0; i < n; i++) {
        if (!request->missing[i])
            continue;
        size_t j = batch->n++;
        snprintf(batch->names[j], sizeof batch->names[j], "%s.cu", request->symbols[i]);
        batch->jobs[j] = (struct rung_compile_job){.source = rung_text_string(&request->sources[i]),
                                                   .name = batch->names[j],
                                                   .target = target,
                                                   .options = batch->options,
                                                   .n_options = batch->options[0] != NULL};
        batch->of[j] = i;
    }
    return RUNG_OK;
}

static enum rung_status compile_missing(struct request *request)
{
    unsigned chosen = choose_target(request->from, request->target);
    char target[24];
    struct batch batch;
    if (chosen == 0)
        return RUNG_OK;
    bool with_cubin = chosen == request->target && !request->from->ptx_only;
    snprintf(target, sizeof target, "%s_%u", with_cubin ? "sm" : "compute", chosen);
    enum rung_status status = batch_make(&batch, request, target);
    if (status == RUNG_OK && batch.n)
        rung_cached_compile_all(batch.compiled, batch.statuses, batch.errors, request->from->cache,
                                request->from->nvrtc, batch.jobs, batch.n);
    for (size_t j = 0; status == RUNG_OK && j < batch.n; j++) {
        size_t i = batch.of[j];
        request->missing[i] = false;
        if (batch.statuses[j] == RUNG_OK) {
            request->statuses[i] =
                adopt(&request->images[i], &batch.compiled[j], request->from, &request->errors[i]);
        } else {
            request->statuses[i] = batch.statuses[j];
            request->errors[i] = batch.errors[j];
        }
    }
    batch_release(&batch);
    return status;
}

/* With no compiler: the newest older target that a folder has. Its PTX is compiled by the driver.
 */
static void take_older(struct request *request)
{
    for (size_t i = 0; i < request->n; i++)
        for (size_t f = 0; request->missing[i] && f < request->folders.count; f++) {
            const struct rung_image_folder *folder = &request->folders.list[f];
            for (size_t t = 0; request->missing[i] && t < folder->n_targets; t++)
                if (folder->targets[t] < request->target &&
                    look_in(request, i, folder, folder->targets[t]))
                    request->missing[i] = false;
        }
}

static void give_up(struct request *request, size_t i)
{
    const struct rung_image_source *from = request->from;
    char id[RUNG_ID_SIZE];
    struct rung_text why = {0};
    rung_config_id(&request->configs[i], id);
    for (size_t f = 0; f < request->folders.count; f++)
        rung_text_format(&why, "%s %s", f ? "," : " in", request->folders.list[f].path);
    request->statuses[i] = rung_fail(
        &request->errors[i], RUNG_UNABLE,
        "no image of %s for sm_%u: none made ahead of time%s%s; %s", id, request->target,
        rung_text_string(&why), request->stale ? " that belongs to this version of the source" : "",
        from->nvrtc       ? "NVRTC has no target that this device runs"
        : from->nvrtc_why ? from->nvrtc_why
                          : "no NVRTC");
    rung_text_release(&why);
}

static enum rung_status first_failure(const struct request *request)
{
    for (size_t i = 0; i < request->n; i++)
        if (request->statuses[i] != RUNG_OK)
            return request->statuses[i];
    return RUNG_OK;
}

static enum rung_status get(struct request *request)
{
    enum rung_status status = RUNG_OK;
    if (!request->from->compile_only)
        status = rung_image_folders_open(&request->folders, NULL);
    if (status == RUNG_OK) {
        emit_all(request);
        take_exact(request);
        status = compile_missing(request);
    }
    if (status != RUNG_OK)
        return status;
    take_older(request);
    for (size_t i = 0; i < request->n; i++)
        if (request->missing[i])
            give_up(request, i);
        else if (request->statuses[i] == RUNG_OK)
            request->images[i].source = rung_text_take(&request->sources[i]);
    return first_failure(request);
}

enum rung_status rung_images_get(struct rung_image *images, enum rung_status *statuses,
                                 struct rung_error *errors, const struct rung_image_source *from,
                                 const struct rung_config *configs, size_t n, unsigned target)
{
    if (n == 0)
        return RUNG_OK;
    for (size_t i = 0; i < n; i++) {
        images[i] = (struct rung_image){0};
        errors[i] = (struct rung_error){0};
        statuses[i] = RUNG_MEMORY;
    }
    struct request request = {.images = images,
                              .statuses = statuses,
                              .errors = errors,
                              .from = from,
                              .configs = configs,
                              .n = n,
                              .target = target,
                              .sources = calloc(n, sizeof *request.sources),
                              .symbols = calloc(n, sizeof *request.symbols),
                              .missing = calloc(n, sizeof *request.missing)};
    bool room = request.sources && request.symbols && request.missing;
    enum rung_status status = room ? get(&request) : RUNG_MEMORY;
    for (size_t i = 0; i < n; i++)
        if (statuses[i] == RUNG_MEMORY)
            rung_fail(&errors[i], RUNG_MEMORY, "out of memory");
    for (size_t i = 0; request.sources && i < n; i++)
        rung_text_release(&request.sources[i]);
    rung_image_folders_close(&request.folders);
    free(request.sources);
    free(request.symbols);
    free(request.missing);
    return status;
}
