/* From what was typed to things to inspect: ids, files, or the axes. */
#define _GNU_SOURCE
#include "cli/inspect_items.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"

static bool ends_in(const char *text, const char *suffix)
{
    size_t length = strlen(text), tail = strlen(suffix);
    return length >= tail && strcmp(text + length - tail, suffix) == 0;
}

static enum rung_status emit_source(struct rung_inspect_item *item,
                                    const struct rung_ladder *ladder, struct rung_error *err)
{
    const struct rung_template *tpl =
        rung_ladder_find(ladder, item->config.version, item->config.variant);
    if (!tpl)
        return rung_fail(err, RUNG_USAGE, "'%s': there is no version %u of that variant",
                         item->name, item->config.version);
    struct rung_text source = {0};
    enum rung_status status = rung_template_supports(tpl, &item->config, err);
    if (status == RUNG_OK)
        status = rung_template_emit(&source, tpl, &item->config, err);
    item->length = source.length;
    if (status == RUNG_OK && !(item->bytes = rung_text_take(&source)))
        status = rung_fail(err, RUNG_MEMORY, "out of memory");
    rung_text_release(&source);
    return status;
}

static enum rung_status read_file(struct rung_inspect_item *item, const char *path,
                                  struct rung_error *err)
{
    enum rung_status status = rung_file_read(&item->bytes, &item->length, path, err);
    if (status != RUNG_OK)
        return status;
    struct rung_image_facts facts;
    struct rung_error not_an_image = {0};
    status = rung_image_check(&facts, item->bytes, item->length, &not_an_image);
    if (status == RUNG_OK) {
        item->kind = facts.is_ptx ? RUNG_INSPECT_PTX : RUNG_INSPECT_CUBIN;
        return RUNG_OK;
    }
    bool source = ends_in(path, ".cu") || ends_in(path, ".cuh") || strcmp(path, "-") == 0;
    if (!source)
        return rung_fail(err, RUNG_USAGE, "%s: %s; CUDA source is known by its name, FILE.cu", path,
                         not_an_image.text);
    item->kind = RUNG_INSPECT_SOURCE;
    return RUNG_OK;
}

/* "NAME@sm_90": cuts the target off. A file of the full name comes first. */
static unsigned split_target(char *name)
{
    char *at = strrchr(name, '@'), end;
    unsigned target;
    if (!at || rung_file_exists(name) || sscanf(at, "@sm_%u%c", &target, &end) != 1)
        return 0;
    *at = '\0';
    return target;
}

static enum rung_status read_name(struct rung_inspect_item *item, char *name,
                                  const struct rung_ladder *ladder, struct rung_error *err)
{
    item->target = split_target(name);
    item->name = name;
    if (strcmp(name, "-") == 0 || rung_file_exists(name))
        return read_file(item, name, err);
    struct rung_error not_an_id = {0};
    item->kind = RUNG_INSPECT_CONFIG;
    if (rung_config_parse_id(&item->config, name, &not_an_id) == RUNG_OK) {
        rung_config_id(&item->config, item->id);
        return emit_source(item, ladder, err);
    }
    if (name[0] == 'v' && name[1] >= '0' && name[1] <= '9' && !strchr(name, '.'))
        return rung_fail(err, RUNG_USAGE, "%s", not_an_id.text);
    return rung_fail(err, RUNG_USAGE, "'%s' is neither a file nor an id such as v1-b256-const",
                     name);
}

static enum rung_status read_names(struct rung_inspect_result *out,
                                   const struct rung_inspect_request *request,
                                   const struct rung_ladder *ladder, struct rung_error *err)
{
    out->items = calloc(request->n_names, sizeof *out->items);
    if (!out->items)
        return rung_fail(err, RUNG_MEMORY, "out of memory");
    out->n_items = request->n_names;
    enum rung_status status = RUNG_OK;
    for (size_t i = 0; status == RUNG_OK && i < request->n_names; i++)
        status = read_name(&out->items[i], request->names[i], ladder, err);
    return status;
}

static enum rung_status read_axes(struct rung_inspect_result *out,
                                  const struct rung_inspect_request *request,
                                  const struct rung_ladder *ladder, struct rung_error *err)
{
    struct rung_expanded expanded = {0};
    enum rung_status status = rung_selection_expand(&expanded, &request->selection, ladder, err);
    if (status == RUNG_OK)
        rung_expanded_report(&expanded, "inspect", stderr);
    if (status == RUNG_OK && !(out->items = calloc(expanded.n_configs + 1, sizeof *out->items)))
        status = rung_fail(err, RUNG_MEMORY, "out of memory");
    for (size_t i = 0; status == RUNG_OK && i < expanded.n_configs; i++) {
        struct rung_inspect_item *item = &out->items[out->n_items++];
        item->kind = RUNG_INSPECT_CONFIG;
        item->config = expanded.configs[i];
        rung_config_id(&item->config, item->id);
        item->name = item->id;
        status = emit_source(item, ladder, err);
    }
    rung_expanded_release(&expanded);
    return status;
}

enum rung_status rung_inspect_read_items(struct rung_inspect_result *out,
                                         const struct rung_inspect_request *request,
                                         struct rung_error *err)
{
    struct rung_ladder ladder;
    enum rung_status status = rung_ladder_load(&ladder, &out->arena, err);
    if (status != RUNG_OK)
        return status;
    return request->n_names > 0 ? read_names(out, request, &ladder, err)
                                : read_axes(out, request, &ladder, err);
}
