/* `rung build`: sources, PTX and cubins of the selected configurations into a folder, ahead of
 * time, for as many targets as wanted. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/device.h"
#include "cli/command.h"
#include "cli/environment.h"
#include "cli/interrupt.h"
#include "cli/select.h"
#include "cubin/elf.h"
#include "image/portable.h"
#include "image/ptxas.h"
#include "image/writer.h"

#define KEY_PORTABLE 0x200
#define KEY_FORMAT 0x201
#define KEY_TARGET 0x202
#define KEY_NVRTC 0x203

struct arguments {
    struct rung_selection selection;
    bool portable, quiet;
};

/* clang-format off */
static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "What is written:", 2},
    {"output", 'o', "FOLDER", 0, "Where to write; a folder that exists is added to", 2},
    {"target", KEY_TARGET, "TARGET", 0,
     "A list of sm_75..., native, all (default native, sm_75 without a GPU)", 2},
    {"portable", KEY_PORTABLE, NULL, 0,
     "Only PTX, in the oldest version that its target and instructions need", 2},
    {"nvrtc", KEY_NVRTC, "PATH", 0, "The NVRTC library, or the folder that holds it", 2},
    {"format", KEY_FORMAT, "FORMAT", 0, "Of the list: table, json, csv or md (default table)", 2},
    {"quiet", 'q', NULL, 0, "Print no list of what was written", 2},
    {0},
};
/* clang-format on */

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = state->child_inputs[1] = &arguments->selection;
        return 0;
    case 'o':
        arguments->selection.output = arg;
        return 0;
    case 'q':
        arguments->quiet = true;
        return 0;
    case KEY_TARGET:
        arguments->selection.target = arg;
        return 0;
    case KEY_NVRTC:
        arguments->selection.nvrtc = arg;
        return 0;
    case KEY_FORMAT:
        arguments->selection.format = arg;
        return 0;
    case KEY_PORTABLE:
        arguments->portable = true;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "'%s' is not expected: build takes options only", arg);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* clang-format off */
static const struct argp_child children[] = {
    {&rung_axes_argp, 0, NULL, 0},
    {&rung_no_n_argp, 0, NULL, 0},
    {0},
};
/* clang-format on */
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .doc = "Compile ahead of time: sources, PTX and cubins into a folder.\v"
           "The folder holds cu/NAME.cu, sm_XX/NAME.ptx and .cubin, and a MANIFEST that sha256sum "
           "-c checks. Name it in RUNG_IMAGE_PATH, and every command loads from it what belongs to "
           "its own sources.",
    .children = children};

/* All that one run holds. */
struct build {
    struct rung_arena arena;
    struct rung_ladder ladder;
    struct rung_expanded expanded;
    struct rung_nvrtc *nvrtc;
    struct rung_cache *cache;
    struct rung_image_writer *writer;
    struct rung_interrupt *interrupt;
    char *ptxas;
    unsigned *targets;
    size_t n_targets;
    struct rung_table *table;
    json_t *rows;
    bool portable, quiet;
    size_t written, from_cache, failed;
};

static const struct rung_column columns[] = {
    {"id",           "ID",         false},
    {"target",       "TARGET",     false},
    {"ptx_version",  "PTX",        true },
    {"compile_ms",   "COMPILE ms", true },
    {"from",         "FROM",       false},
    {"registers",    "REGISTERS",  true },
    {"shared_bytes", "SHARED B",   true },
    {"cubin_bytes",  "CUBIN B",    true },
};

/* Portable PTX has no cubin to tell of. */
static const struct rung_column portable_columns[] = {
    {"id",          "ID",         false},
    {"target",      "TARGET",     false},
    {"ptx_version", "PTX",        true },
    {"compile_ms",  "COMPILE ms", true },
    {"from",        "FROM",       false},
    {"note",        "NOTE",       false},
};

/* What is said of one image. */
struct outcome {
    char id[RUNG_ID_SIZE], target[16], ptx_version[16];
    const struct rung_image *image;         /* NULL: it failed */
    const struct rung_cubin_kernel *kernel; /* NULL without a cubin */
    const char *note;
    const char *reason; /* why it failed */
};

static json_t *integer_or_null(bool known, uint64_t value)
{
    return known ? json_integer((json_int_t)value) : json_null();
}

static json_t *outcome_json(const struct outcome *outcome)
{
    const struct rung_image *image = outcome->image;
    const struct rung_cubin_kernel *kernel = outcome->kernel;
    return json_pack(
        "{s:s, s:s, s:s?, s:o, s:o, s:o, s:o, s:s?, s:s, s:s?, s:s?}", "id", outcome->id, "target",
        outcome->target, "ptx_version", image ? outcome->ptx_version : NULL, "registers",
        integer_or_null(kernel, kernel ? kernel->registers : 0), "shared_bytes",
        integer_or_null(kernel, kernel ? kernel->shared_bytes : 0), "cubin_bytes",
        integer_or_null(image && image->cubin, image ? image->cubin_length : 0), "compile_ms",
        image ? json_real(image->compile_ms) : json_null(), "from",
        image ? (image->origin == RUNG_ORIGIN_CACHE ? "cache" : "nvrtc") : NULL, "status",
        image ? "ok" : "compile", "reason", outcome->reason, "note", outcome->note);
}

static void number_cell(struct rung_table *table, bool known, uint64_t value)
{
    if (known)
        rung_table_format(table, "%llu", (unsigned long long)value);
    else
        rung_table_empty(table);
}

static void outcome_row(struct rung_table *table, const struct outcome *outcome)
{
    const struct rung_image *image = outcome->image;
    const struct rung_cubin_kernel *kernel = outcome->kernel;
    rung_table_row(table);
    rung_table_text(table, outcome->id);
    rung_table_text(table, outcome->target);
    if (!image)
        return;
    rung_table_text(table, outcome->ptx_version);
    rung_table_format(table, "%.1f", image->compile_ms);
    rung_table_text(table, image->origin == RUNG_ORIGIN_CACHE ? "cache" : "nvrtc");
    if (outcome->note) {
        rung_table_text(table, outcome->note);
        return;
    }
    number_cell(table, kernel, kernel ? kernel->registers : 0);
    number_cell(table, kernel, kernel ? kernel->shared_bytes : 0);
    number_cell(table, image->cubin, image->cubin_length);
}

static const char *note_of(bool portable, enum rung_proof proof)
{
    static const char *const notes[] = {"not proven", "proven by ptxas", "raised by ptxas"};
    return portable ? notes[proof] : NULL;
}

static void record(struct build *build, struct outcome *outcome)
{
    struct rung_cubin cubin = {0};
    const struct rung_image *image = outcome->image;
    struct rung_image_facts facts = {0};
    if (image) {
        rung_image_check(&facts, image->ptx, image->ptx_length, NULL);
        snprintf(outcome->ptx_version, sizeof outcome->ptx_version, "%u.%u", facts.ptx_version / 10,
                 facts.ptx_version % 10);
    }
    if (image && image->cubin &&
        rung_cubin_read(&cubin, image->cubin, image->cubin_length, NULL) == RUNG_OK &&
        cubin.n_kernels == 1)
        outcome->kernel = &cubin.kernels[0];
    json_array_append_new(build->rows, outcome_json(outcome));
    outcome_row(build->table, outcome);
    rung_cubin_release(&cubin);
}

/* Writes one image; a compilation that failed is told at once, and the others go on. */
static enum rung_status finish_one(struct build *build, const struct rung_config *config,
                                   unsigned target, struct rung_image *image, enum rung_status made,
                                   const struct rung_error *why, struct rung_error *err)
{
    struct outcome outcome = {0};
    enum rung_proof proof = RUNG_PROOF_NONE;
    char symbol[RUNG_ID_SIZE];
    rung_config_id(config, outcome.id);
    rung_config_symbol(config, symbol);
    snprintf(outcome.target, sizeof outcome.target, "sm_%u",
             made == RUNG_OK ? image->ptx_target : target);
    if (made != RUNG_OK) {
        build->failed++;
        outcome.reason = why->text;
        fprintf(stderr, "rung build: %s for sm_%u: %s\n", outcome.id, target, why->text);
        record(build, &outcome);
        return RUNG_OK;
    }
    enum rung_status status = RUNG_OK;
    if (build->portable)
        status = rung_image_make_portable(image, &proof, build->ptxas, err);
    if (status == RUNG_OK)
        status = rung_image_writer_put(build->writer, symbol, image, err);
    if (status != RUNG_OK)
        return status;
    build->written++;
    build->from_cache += image->origin == RUNG_ORIGIN_CACHE;
    outcome.image = image;
    outcome.note = note_of(build->portable, proof);
    record(build, &outcome);
    return RUNG_OK;
}

static enum rung_status build_target(struct build *build, unsigned target, struct rung_error *err)
{
    size_t n = build->expanded.n_configs;
    const struct rung_config *configs = build->expanded.configs;
    struct rung_image_source from = {.ladder = &build->ladder,
                                     .nvrtc = build->nvrtc,
                                     .cache = build->cache,
                                     .compile_only = true,
                                     .ptx_only = build->portable};
    struct rung_image *images = calloc(n, sizeof *images);
    enum rung_status *statuses = calloc(n, sizeof *statuses);
    struct rung_error *errors = calloc(n, sizeof *errors);
    enum rung_status status = RUNG_OK;
    if (images && statuses && errors)
        rung_images_get(images, statuses, errors, &from, configs, n, target);
    else
        status = rung_fail(err, RUNG_MEMORY, "out of memory");
    for (size_t i = 0; i < n && status == RUNG_OK; i++)
        status = finish_one(build, &configs[i], target, &images[i], statuses[i], &errors[i], err);
    for (size_t i = 0; images && i < n; i++)
        rung_image_release(&images[i]);
    free(images);
    free(statuses);
    free(errors);
    return status;
}

static enum rung_status open_tools(struct build *build, const struct rung_selection *selection,
                                   struct rung_error *err)
{
    unsigned supported[RUNG_TARGETS_MAX];
    char why[256];
    struct rung_survey survey = {0};
    enum rung_status status = rung_nvrtc_open(&build->nvrtc, selection->nvrtc, err);
    if (status != RUNG_OK)
        return status;
    rung_device_survey(&survey, NULL);
    status = rung_selection_targets(&build->targets, &build->n_targets, selection,
                                    survey.n_cards > 0 ? survey.cards[0].cc : 0, supported,
                                    rung_nvrtc_targets(build->nvrtc, supported), err);
    if (status != RUNG_OK)
        return status;
    rung_cache_open(&build->cache, NULL, why);
    if (!build->cache)
        fprintf(stderr, "rung build: no compile cache: %s\n", why);
    if (build->portable)
        build->ptxas = rung_ptxas_find();
    return rung_image_writer_open(&build->writer, selection->output, err);
}

static enum rung_status open_build(struct build *build, const struct rung_selection *selection,
                                   struct rung_error *err)
{
    if (!selection->output)
        return rung_fail(err, RUNG_USAGE, "-o FOLDER is needed: where to write");
    enum rung_status status = rung_ladder_load(&build->ladder, &build->arena, err);
    if (status == RUNG_OK)
        status = rung_selection_expand(&build->expanded, selection, &build->ladder, err);
    if (status != RUNG_OK)
        return status;
    if (!build->quiet)
        rung_expanded_report(&build->expanded, "build", stderr);
    build->table =
        build->portable ? rung_table_new(portable_columns, 6) : rung_table_new(columns, 8);
    build->rows = json_array();
    status = rung_interrupt_watch(&build->interrupt, err);
    return status == RUNG_OK ? open_tools(build, selection, err) : status;
}

static void close_build(struct build *build)
{
    rung_image_writer_close(build->writer);
    rung_cache_close(build->cache);
    rung_nvrtc_close(build->nvrtc);
    rung_interrupt_stop(build->interrupt);
    rung_expanded_release(&build->expanded);
    rung_table_free(build->table);
    json_decref(build->rows);
    free(build->ptxas);
    free(build->targets);
    rung_arena_release(&build->arena);
}

/* Compiles target after target; what was written until a failure or Ctrl-C stays, and is in the
 * manifest. */
static enum rung_status build_all(struct build *build, struct rung_error *err)
{
    char comment[160];
    enum rung_status status = RUNG_OK;
    for (size_t t = 0; t < build->n_targets && status == RUNG_OK; t++) {
        if (rung_interrupted(build->interrupt))
            status = rung_fail(err, RUNG_INTERRUPTED, "interrupted; %zu images are kept",
                               build->written);
        else
            status = build_target(build, build->targets[t], err);
    }
    snprintf(comment, sizeof comment, "rung %s, NVRTC %s %s", RUNG_VERSION,
             rung_nvrtc_version(build->nvrtc), rung_nvrtc_build(build->nvrtc));
    enum rung_status finished = rung_image_writer_finish(build->writer, comment, err);
    if (status == RUNG_OK)
        status = finished;
    if (status == RUNG_OK && build->failed)
        status = rung_fail(err, build->written ? RUNG_INCOMPLETE : RUNG_COMPILE,
                           "%zu of %zu images could not be made", build->failed,
                           build->failed + build->written);
    return status;
}

static enum rung_status print_list(struct build *build, int argc, char **argv,
                                   enum rung_format format, struct rung_error *err)
{
    if (format != RUNG_FORMAT_JSON)
        return rung_table_print(build->table, format, stdout, err);
    return rung_document_print(rung_document("build", argc, argv,
                                             rung_environment(NULL, build->nvrtc),
                                             json_incref(build->rows)),
                               stdout, err);
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

enum rung_status rung_cmd_build(int argc, char **argv, struct rung_error *err)
{
    struct arguments arguments = {0};
    enum rung_format format;
    double start_s = now_s();
    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    struct build build = {.portable = arguments.portable, .quiet = arguments.quiet};
    enum rung_status status = rung_format_parse(&format, arguments.selection.format, err);
    if (status == RUNG_OK)
        status = open_build(&build, &arguments.selection, err);
    if (status == RUNG_OK) {
        status = build_all(&build, err);
        enum rung_status printed =
            build.quiet ? RUNG_OK : print_list(&build, argc, argv, format, err);
        if (status == RUNG_OK)
            status = printed;
        if (!build.quiet)
            fprintf(stderr, "rung build: %zu images in %s, %zu of them from the cache, %.2f s\n",
                    build.written, arguments.selection.output, build.from_cache, now_s() - start_s);
    }
    close_build(&build);
    return status;
}
