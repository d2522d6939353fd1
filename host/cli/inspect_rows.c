/* Toolkits, targets, compilations and inspections. */
#define _GNU_SOURCE
#include "cli/inspect_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "bench/device.h"
#include "cli/inspect_items.h"

static enum rung_status no_memory(struct rung_error *err)
{
    return rung_fail(err, RUNG_MEMORY, "out of memory");
}

static bool is_compiled(const struct rung_inspect_item *item)
{
    return item->kind == RUNG_INSPECT_CONFIG || item->kind == RUNG_INSPECT_SOURCE;
}

/* Opens each NVRTC of "PATH,PATH", or the usual one. */
static enum rung_status open_toolkits(struct rung_inspect_result *out,
                                      const struct rung_inspect_request *request,
                                      struct rung_error *err)
{
    const char *paths = request->selection.nvrtc;
    size_t most = 1;
    for (const char *comma = paths; comma && (comma = strchr(comma, ',')); comma++)
        most++;
    char *copy = paths ? strdup(paths) : NULL, *rest = copy;
    out->toolkits = calloc(most, sizeof(struct rung_nvrtc *));
    enum rung_status status = RUNG_OK;
    if (!out->toolkits || (paths && !copy))
        status = no_memory(err);
    while (status == RUNG_OK && out->n_toolkits < most) {
        const char *path = rest ? strsep(&rest, ",") : NULL;
        status = rung_nvrtc_open(&out->toolkits[out->n_toolkits], path, err);
        if (status == RUNG_OK)
            out->n_toolkits++;
    }
    free(copy);
    return status;
}

/* The target of the device, 0 where it is not asked for or there is none. A device that was named
 * must be there. */
static enum rung_status native_target(unsigned *out, const struct rung_selection *selection,
                                      struct rung_error *err)
{
    *out = 0;
    if (selection->target && !strstr(selection->target, "native"))
        return RUNG_OK;
    struct rung_device device;
    struct rung_error absent = {0};
    char why[512];
    enum rung_status status = rung_device_open(
        &device, selection->device ? selection->device : "auto", selection->driver, why, &absent);
    if (status != RUNG_OK)
        return selection->device ? rung_fail(err, status, "%s", absent.text) : RUNG_OK;
    *out = device.driver.kind == RUNG_DRIVER_CUDA ? device.cc : 75;
    rung_device_close(&device);
    return RUNG_OK;
}

static struct rung_inspect_row *add_row(struct rung_inspect_result *out,
                                        const struct rung_inspect_item *item,
                                        const struct rung_nvrtc *nvrtc, unsigned target)
{
    struct rung_inspect_row *rows =
        reallocarray(out->rows, out->n_rows + 1, sizeof *rows); /* rows are few: no need to guess */
    if (!rows)
        return NULL;
    out->rows = rows;
    rows[out->n_rows] = (struct rung_inspect_row){.item = item, .nvrtc = nvrtc, .target = target};
    return &rows[out->n_rows++];
}

struct targets {
    unsigned *values;
    size_t n;
    struct rung_error err; /* why there are none */
};

/* The targets of one toolkit. One that it lacks stops the command only if it is the only toolkit;
 * beside others it becomes a row that says so. */
static enum rung_status read_targets(struct targets *out, const struct rung_inspect_result *result,
                                     const struct rung_nvrtc *nvrtc, unsigned native,
                                     const struct rung_inspect_request *request,
                                     struct rung_error *err)
{
    unsigned supported[RUNG_TARGETS_MAX];
    size_t n = rung_nvrtc_targets(nvrtc, supported);
    enum rung_status status = rung_selection_targets(&out->values, &out->n, &request->selection,
                                                     native, supported, n, &out->err);
    if (status == RUNG_OK || (status == RUNG_UNABLE && result->n_toolkits > 1))
        return RUNG_OK;
    return rung_fail(err, status, "%s", out->err.text);
}

static enum rung_status add_compiled(struct rung_inspect_result *out,
                                     const struct rung_inspect_item *item,
                                     const struct targets *targets, struct rung_error *err)
{
    for (size_t k = 0; k < out->n_toolkits; k++) {
        size_t n = item->target ? 1 : targets[k].n;
        for (size_t t = 0; t < n; t++)
            if (!add_row(out, item, out->toolkits[k],
                         item->target ? item->target : targets[k].values[t]))
                return no_memory(err);
        if (n > 0)
            continue;
        struct rung_inspect_row *row = add_row(out, item, out->toolkits[k], 0);
        if (!row)
            return no_memory(err);
        row->status = RUNG_UNABLE;
        row->err = targets[k].err;
    }
    return RUNG_OK;
}

static enum rung_status make_rows(struct rung_inspect_result *out,
                                  const struct rung_inspect_request *request,
                                  struct rung_error *err)
{
    bool compiles = false;
    for (size_t i = 0; i < out->n_items; i++)
        compiles = compiles || is_compiled(&out->items[i]);
    enum rung_status status = compiles ? open_toolkits(out, request, err) : RUNG_OK;
    struct targets *targets = calloc(out->n_toolkits + 1, sizeof *targets);
    if (!targets && status == RUNG_OK)
        status = no_memory(err);
    unsigned native = 0;
    if (compiles && status == RUNG_OK)
        status = native_target(&native, &request->selection, err);
    for (size_t k = 0; status == RUNG_OK && k < out->n_toolkits; k++)
        status = read_targets(&targets[k], out, out->toolkits[k], native, request, err);
    for (size_t i = 0; status == RUNG_OK && i < out->n_items; i++) {
        if (is_compiled(&out->items[i]))
            status = add_compiled(out, &out->items[i], targets, err);
        else if (!add_row(out, &out->items[i], NULL, 0))
            status = no_memory(err);
    }
    for (size_t k = 0; targets && k < out->n_toolkits; k++)
        free(targets[k].values);
    free(targets);
    return status;
}

/* "--include-path=..." of the headers beside an NVRTC, for a file that includes cuda_fp16.h or the
 * like; NULL where there are none. The caller frees it. */
static char *include_option(const struct rung_nvrtc *nvrtc)
{
    const char *path = rung_nvrtc_path(nvrtc), *slash = strrchr(path, '/');
    struct rung_text option = {0};
    rung_text_format(&option, "--include-path=%.*s/../include", slash ? (int)(slash - path) : 1,
                     slash ? path : ".");
    char *text = rung_text_take(&option);
    if (text && rung_file_exists(strchr(text, '=') + 1))
        return text;
    free(text);
    return NULL;
}

/* NVRTC compiles device code alone. What that means for a file that is a whole program is told once
 * its log shows one. */
static void explain_whole_programs(struct rung_error *err, const struct rung_inspect_row *row)
{
    struct rung_error told = *err;
    if (row->item->kind != RUNG_INSPECT_SOURCE || err->status != RUNG_COMPILE ||
        !(strstr(err->text, "open source file") || strstr(err->text, "cudaMalloc") ||
          strstr(err->text, "host code")))
        return;
    rung_error_clear(err);
    rung_fail_native(err, told.status, told.native,
                     "%s\nNVRTC compiles kernels without host code and standard headers. For a "
                     "whole program: nvcc -arch=sm_%u -cubin -o k.cubin %s; rung inspect k.cubin",
                     told.text, row->target, row->item->name);
}

/* The compilations of one toolkit, all at once. */
static enum rung_status compile_rows(struct rung_inspect_result *out,
                                     const struct rung_nvrtc *nvrtc,
                                     const struct rung_inspect_request *request,
                                     struct rung_error *err)
{
    size_t n = 0, n_options = request->n_compile_options;
    char *include = include_option(nvrtc);
    const char **options =
        calloc(n_options + 1, sizeof *options); /* the user's, then the include */
    struct rung_compile_job *jobs = calloc(out->n_rows + 1, sizeof *jobs);
    char(*words)[16] = calloc(out->n_rows + 1, sizeof *words);
    size_t *rows = calloc(out->n_rows + 1, sizeof *rows);
    struct rung_compiled *compiled = calloc(out->n_rows + 1, sizeof *compiled);
    enum rung_status *statuses = calloc(out->n_rows + 1, sizeof *statuses);
    struct rung_error *errors = calloc(out->n_rows + 1, sizeof *errors);
    enum rung_status status = RUNG_OK;
    if (!options || !jobs || !words || !rows || !compiled || !statuses || !errors)
        status = no_memory(err);
    for (size_t i = 0; status == RUNG_OK && i < n_options; i++)
        options[i] = request->compile_options[i];
    if (status == RUNG_OK && include)
        options[n_options] = include;
    for (size_t i = 0; status == RUNG_OK && i < out->n_rows; i++) {
        const struct rung_inspect_row *row = &out->rows[i];
        if (row->nvrtc != nvrtc || row->status != RUNG_OK)
            continue;
        snprintf(words[n], sizeof words[n], "sm_%u", row->target);
        jobs[n] = (struct rung_compile_job){.source = row->item->bytes,
                                            .name = row->item->name,
                                            .target = words[n],
                                            .options = options,
                                            .n_options = n_options};
        if (row->item->kind == RUNG_INSPECT_SOURCE && include)
            jobs[n].n_options++;
        rows[n++] = i;
    }
    if (status == RUNG_OK && n > 0)
        rung_cached_compile_all(compiled, statuses, errors, out->cache, nvrtc, jobs, n);
    for (size_t i = 0; status == RUNG_OK && i < n; i++) {
        struct rung_inspect_row *row = &out->rows[rows[i]];
        row->compiled = compiled[i];
        row->status = statuses[i];
        row->err = errors[i];
        explain_whole_programs(&row->err, row);
    }
    free(include);
    free(options);
    free(jobs);
    free(words);
    free(rows);
    free(compiled);
    free(statuses);
    free(errors);
    return status;
}

static struct rung_inspect_input input_of(const struct rung_inspect_row *row)
{
    if (row->status != RUNG_OK)
        return (struct rung_inspect_input){0};
    const struct rung_inspect_item *item = row->item;
    if (item->kind == RUNG_INSPECT_PTX)
        return (struct rung_inspect_input){.ptx = item->bytes,
                                           .ptx_length = item->length,
                                           .cubin = row->compiled.cubin,
                                           .cubin_length = row->compiled.cubin_length};
    if (item->kind == RUNG_INSPECT_CUBIN)
        return (struct rung_inspect_input){.cubin = (const unsigned char *)item->bytes,
                                           .cubin_length = item->length};
    return (struct rung_inspect_input){.ptx = row->compiled.ptx,
                                       .ptx_length = row->compiled.ptx_length,
                                       .cubin = row->compiled.cubin,
                                       .cubin_length = row->compiled.cubin_length};
}

static enum rung_status inspect_rows(struct rung_inspect_result *out,
                                     const struct rung_inspect_request *request,
                                     struct rung_error *err)
{
    struct rung_disasm disasm;
    struct rung_error why = {0};
    bool disassembles = rung_disasm_find(&disasm, request->nvdisasm, &why) == RUNG_OK;
    if (!disassembles && request->nvdisasm)
        return rung_fail(err, why.status, "%s", why.text);
    if (!disassembles)
        snprintf(out->sass_why, sizeof out->sass_why, "%.500s", why.text);
    struct rung_inspect_input *inputs = calloc(out->n_rows + 1, sizeof *inputs);
    struct rung_inspection *inspections = calloc(out->n_rows + 1, sizeof *inspections);
    if (!inputs || !inspections) {
        free(inputs);
        free(inspections);
        return no_memory(err);
    }
    for (size_t i = 0; i < out->n_rows; i++)
        inputs[i] = input_of(&out->rows[i]);
    rung_inspect(inspections, inputs, out->n_rows, disassembles ? &disasm : NULL, out->sass_why);
    for (size_t i = 0; i < out->n_rows; i++) {
        struct rung_inspect_row *row = &out->rows[i];
        row->inspection = inspections[i];
        if (row->status != RUNG_OK)
            continue;
        row->status = row->inspection.status;
        if (row->status != RUNG_OK)
            rung_fail(&row->err, row->status, "%s: %s", row->item->name, row->inspection.err.text);
        if (!row->nvrtc && row->inspection.n_kernels > 0)
            row->target = row->inspection.kernels[0].ptx_target
                              ? row->inspection.kernels[0].ptx_target
                              : row->inspection.kernels[0].sass_target;
    }
    free(inputs);
    free(inspections);
    return RUNG_OK;
}

enum rung_status rung_inspect_collect(struct rung_inspect_result *out,
                                      const struct rung_inspect_request *request,
                                      struct rung_error *err)
{
    *out = (struct rung_inspect_result){0};
    char why[256];
    enum rung_status status = rung_inspect_read_items(out, request, err);
    if (status == RUNG_OK)
        status = make_rows(out, request, err);
    if (status == RUNG_OK && out->n_toolkits > 0)
        rung_cache_open(&out->cache, NULL, why);
    for (size_t k = 0; status == RUNG_OK && k < out->n_toolkits; k++)
        status = compile_rows(out, out->toolkits[k], request, err);
    if (status == RUNG_OK && request->jit)
        status = rung_inspect_jit(out, request, err);
    return status == RUNG_OK ? inspect_rows(out, request, err) : status;
}

void rung_inspect_result_release(struct rung_inspect_result *result)
{
    for (size_t i = 0; i < result->n_rows; i++) {
        rung_inspection_release(&result->rows[i].inspection);
        rung_compiled_release(&result->rows[i].compiled);
    }
    for (size_t i = 0; i < result->n_items; i++)
        free(result->items[i].bytes);
    for (size_t k = 0; k < result->n_toolkits; k++)
        rung_nvrtc_close(result->toolkits[k]);
    rung_cache_close(result->cache);
    free(result->rows);
    free(result->items);
    free(result->toolkits);
    rung_arena_release(&result->arena);
    *result = (struct rung_inspect_result){0};
}

enum rung_status rung_inspect_conclude(const struct rung_inspect_result *result,
                                       struct rung_error *err)
{
    size_t n_failed = 0, n_disagree = 0, n_kernels = 0;
    const struct rung_inspect_row *first = NULL;
    for (size_t i = 0; i < result->n_rows; i++) {
        const struct rung_inspect_row *row = &result->rows[i];
        n_failed += row->status != RUNG_OK;
        first = !first && row->status != RUNG_OK ? row : first;
        n_kernels += row->inspection.n_kernels;
        for (size_t k = 0; row->status == RUNG_OK && k < row->inspection.n_kernels; k++)
            n_disagree += rung_inspected_agreement(&row->inspection.kernels[k]) == RUNG_DISAGREE;
    }
    if (n_failed > 0 && n_failed == result->n_rows)
        return rung_fail(err, first->status, "%s", first->err.text);
    if (n_failed > 0)
        return rung_fail(err, RUNG_INCOMPLETE, "%zu of %zu compilations failed; the first: %s",
                         n_failed, result->n_rows, first->err.text);
    if (n_disagree > 0)
        return rung_fail(err, RUNG_WRONG, "%zu of %zu verdicts from PTX and SASS disagree",
                         n_disagree, n_kernels);
    if (n_kernels == 0)
        return rung_fail(err, RUNG_UNABLE, "there is no kernel in %s",
                         result->n_items == 1 ? result->items[0].name : "any of the files");
    return RUNG_OK;
}
