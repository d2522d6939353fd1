/* Builds images in parallel and keeps their hashes. */
#include "sweep/made.h"

#include <stdlib.h>
#include <string.h>

#include "bench/reduce.h"

static struct rung_made_image *find(const struct rung_made *made, const struct rung_config *config,
                                    unsigned target)
{
    for (size_t i = 0; i < made->n; i++)
        if (made->images[i].target == target && rung_config_equal(&made->images[i].config, config))
            return &made->images[i];
    return NULL;
}

static void want_one(struct rung_made *made, const struct rung_config *config, unsigned target)
{
    if (find(made, config, target))
        return;
    if (made->n == made->room) {
        size_t room = made->room ? 2 * made->room : 64;
        struct rung_made_image *larger = realloc(made->images, room * sizeof *larger);
        if (!larger)
            return;
        made->images = larger;
        made->room = room;
    }
    made->images[made->n++] = (struct rung_made_image){.config = *config, .target = target};
}

void rung_made_want(struct rung_made *made, const struct rung_config *config, unsigned target)
{
    struct rung_config later = rung_later_config(config);
    want_one(made, config, target);
    want_one(made, &later, target);
}

static void hash_bytes(char hex[RUNG_HASH_HEX], const void *bytes, size_t length)
{
    SHA2_CTX context;
    SHA256Init(&context);
    SHA256Update(&context, bytes, length);
    SHA256End(&context, hex);
}

static void hash_source(struct rung_made_image *made, const struct rung_ladder *ladder)
{
    struct rung_text source = {0};
    const struct rung_template *tpl =
        rung_ladder_find(ladder, made->config.version, made->config.variant);
    if (tpl && rung_template_emit(&source, tpl, &made->config, NULL) == RUNG_OK)
        hash_bytes(made->source_sha256, rung_text_string(&source), source.length);
    rung_text_release(&source);
}

static void keep(struct rung_made_image *made, const struct rung_image *image,
                 const struct rung_image_source *from)
{
    made->built = true;
    made->origin = image->origin;
    made->compile_ms = image->origin == RUNG_ORIGIN_NVRTC ? image->compile_ms : 0;
    hash_source(made, from->ladder);
    if (image->ptx)
        hash_bytes(made->ptx_sha256, image->ptx, image->ptx_length);
    if (image->cubin)
        hash_bytes(made->cubin_sha256, image->cubin, image->cubin_length);
}

/* Builds images first ... first + n - 1, which have one target. */
static void build_some(struct rung_made *made, size_t first, size_t n,
                       const struct rung_image_source *from)
{
    struct rung_config *configs = calloc(n, sizeof *configs);
    struct rung_image *images = calloc(n, sizeof *images);
    enum rung_status *statuses = calloc(n, sizeof *statuses);
    struct rung_error *errors = calloc(n, sizeof *errors);
    if (configs && images && statuses && errors) {
        for (size_t i = 0; i < n; i++)
            configs[i] = made->images[first + i].config;
        (void)rung_images_get(images, statuses, errors, from, configs, n,
                              made->images[first].target);
        for (size_t i = 0; i < n; i++)
            if (statuses[i] == RUNG_OK)
                keep(&made->images[first + i], &images[i], from);
    }
    for (size_t i = 0; images && i < n; i++)
        rung_image_release(&images[i]);
    free(configs);
    free(images);
    free(statuses);
    free(errors);
}

static int by_target(const void *a, const void *b)
{
    const struct rung_made_image *x = a, *y = b;
    if (x->target != y->target)
        return x->target < y->target ? -1 : 1;
    return rung_config_compare(&x->config, &y->config);
}

void rung_made_build(struct rung_made *made, const struct rung_image_source *from)
{
    if (made->n)
        qsort(made->images, made->n, sizeof *made->images, by_target);
    for (size_t first = 0, n; first < made->n; first += n) {
        for (n = 1; first + n < made->n;)
            if (made->images[first + n].target == made->images[first].target)
                n++;
            else
                break;
        build_some(made, first, n, from);
    }
}

static json_t *hash_or_null(const char *hex)
{
    return hex[0] ? json_string(hex) : json_null();
}

json_t *rung_made_json(struct rung_made *made, const struct rung_image_source *from,
                       const struct rung_config *config, unsigned target)
{
    static const char *const origins[] = {"ahead", "cache", "nvrtc"};
    want_one(made, config, target);
    struct rung_made_image *image = find(made, config, target);
    if (!image)
        return NULL;
    if (!image->built)
        build_some(made, (size_t)(image - made->images), 1, from);
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "source_sha256",
                     hash_or_null(image->source_sha256), "ptx_sha256",
                     hash_or_null(image->ptx_sha256), "cubin_sha256",
                     hash_or_null(image->cubin_sha256), "image_from",
                     image->built ? json_string(origins[image->origin]) : json_null(), "compile_ms",
                     image->built ? json_real(image->compile_ms) : json_null());
}
