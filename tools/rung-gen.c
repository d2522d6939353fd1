/* rung-gen: writes what generated/ holds, or checks it. Sources and PTX depend on ptx_src/, on the
 * generator, and, for the PTX, on the NVRTC build that generated/ptx/TOOLKIT names; on nothing of
 * the machine. The work is done by host/gen and host/nvrtc. */
#include <argp.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/text.h"
#include "gen/template.h"
#include "image/ptx_text.h"
#include "nvrtc/cache.h"

#define EXIT_SKIPPED 77 /* CTest's convention for a test that cannot run here */
#define PTX_TARGET "compute_75"
#define PTX_FOLDER "ptx/sm_75"

extern const char rung_gen_timing_cu[], rung_gen_read_cu[], rung_gen_sum_cu[]; /* of ptx_src/ */

/* Sources that stand as they are, and the PTX that generated/ has of each. */
static const struct plain {
    const char *source, *name, *option, *folder, *file;
    bool oldest_driver; /* its .version is the oldest that it can be */
} plains[] = {
    {rung_gen_timing_cu, "timing.cu", NULL,                   "support", "timing",  false},
    {rung_gen_read_cu,   "read.cu",   NULL,                   "support", "read",    false},
    {rung_gen_sum_cu,    "sum.cu",    "-DRUNG_TYPE=float",    "library", "sum_f32", true },
    {rung_gen_sum_cu,    "sum.cu",    "-DRUNG_TYPE=double",   "library", "sum_f64", true },
    {rung_gen_sum_cu,    "sum.cu",    "-DRUNG_TYPE=unsigned", "library", "sum_i32", true },
};

const char *argp_program_version = "rung-gen " RUNG_VERSION;

enum mode { MODE_WRITE, MODE_CHECK, MODE_LIST };

struct arguments {
    enum mode mode;
    bool sources, ptx;
    const char *folder, *nvrtc, *emit, *code_for;
};

/* One configuration that generated/ holds. */
struct item {
    struct rung_config config;
    const struct rung_template *tpl;
    char symbol[RUNG_ID_SIZE];
    char *source; /* owned */
};

struct set {
    struct rung_arena arena;
    struct rung_ladder ladder;
    struct item *items;
    size_t count, room;
};

/* What was found different from what would be written. */
struct tally {
    const struct arguments *arguments;
    unsigned same, differing, missing, extra;
};

/* ---- which configurations ---- */

static enum rung_status add(struct set *set, const struct rung_config *config,
                            struct rung_error *err)
{
    const struct rung_template *tpl =
        rung_ladder_find(&set->ladder, config->version, config->variant);
    if (!tpl || rung_template_supports(tpl, config, NULL) != RUNG_OK)
        return RUNG_OK;
    if (set->count == set->room) {
        size_t room = set->room ? 2 * set->room : 256;
        struct item *items = realloc(set->items, room * sizeof *items);
        if (!items)
            return rung_fail(err, RUNG_MEMORY, "out of memory");
        set->items = items;
        set->room = room;
    }
    struct item *item = &set->items[set->count++];
    *item = (struct item){.config = *config, .tpl = tpl};
    rung_config_symbol(config, item->symbol);
    struct rung_text text = {0};
    enum rung_status status = rung_template_emit(&text, tpl, config, err);
    item->source = status == RUNG_OK ? rung_text_take(&text) : NULL;
    rung_text_release(&text);
    if (status == RUNG_OK && !item->source)
        status = rung_fail(err, RUNG_MEMORY, "out of memory");
    return status;
}

/* How many axes of loop form and element type are away from their defaults. */
static unsigned departures(const struct rung_config *config)
{
    bool unrolled = config->bound == RUNG_BOUND_CONST && config->unroll == RUNG_UNROLL_NONE;
    return unrolled + (config->predicate != 0) + (config->type != 0) + (config->variant != 0);
}

/* Every block size in the default form, with either bound, of either operation; at the default
 * block also each other form and each other type, one departure at a time. */
static bool committed(const struct rung_config *config)
{
    return departures(config) == 0 || (departures(config) == 1 && config->block == 256);
}

static enum rung_status choose(struct set *set, const struct rung_template *tpl,
                               struct rung_error *err)
{
    enum rung_status status = RUNG_OK;
    struct rung_config config = {.version = rung_template_version(tpl),
                                 .variant = rung_template_variant(tpl)};
    for (config.block = RUNG_BLOCK_MIN; config.block <= RUNG_BLOCK_MAX; config.block *= 2)
        for (unsigned form = 0; form < 2 * 2 * 4 * 2 * 3 && status == RUNG_OK; form++) {
            config.bound = (enum rung_bound)(form % 2);
            config.unroll = (enum rung_unroll)(form / 2 % 2);
            config.predicate = (enum rung_predicate)(form / 4 % 4);
            config.op = (enum rung_op)(form / 16 % 2);
            config.type = (enum rung_type)(form / 32);
            if (committed(&config))
                status = add(set, &config, err);
        }
    return status;
}

static int compare_items(const void *a, const void *b)
{
    return rung_config_compare(&((const struct item *)a)->config,
                               &((const struct item *)b)->config);
}

static enum rung_status set_make(struct set *set, struct rung_error *err)
{
    enum rung_status status = rung_ladder_load(&set->ladder, &set->arena, err);
    for (size_t i = 0; i < set->ladder.n_versions && status == RUNG_OK; i++)
        status = choose(set, set->ladder.versions[i], err);
    if (status == RUNG_OK)
        qsort(set->items, set->count, sizeof *set->items, compare_items);
    return status;
}

static void set_release(struct set *set)
{
    for (size_t i = 0; i < set->count; i++)
        free(set->items[i].source);
    free(set->items);
    rung_arena_release(&set->arena);
}

/* ---- one file ---- */

static char *path_of(const struct arguments *arguments, const char *folder, const char *name,
                     const char *ending)
{
    struct rung_text path = {0};
    rung_text_format(&path, "%s/%s%s%s%s", arguments->folder, folder, *folder ? "/" : "", name,
                     ending);
    return rung_text_take(&path);
}

static enum rung_status settle(struct tally *tally, const char *path, const char *expected,
                               struct rung_error *err)
{
    char *found = NULL;
    size_t length = 0;
    bool there = rung_file_exists(path);
    enum rung_status status = there ? rung_file_read(&found, &length, path, err) : RUNG_OK;
    if (status != RUNG_OK)
        return status;
    bool same = there && length == strlen(expected) && memcmp(found, expected, length) == 0;
    free(found);
    tally->same += same;
    tally->differing += there && !same;
    tally->missing += !there;
    if (same)
        return RUNG_OK;
    if (tally->arguments->mode == MODE_WRITE)
        return rung_file_write(path, expected, strlen(expected), err);
    fprintf(stderr, "rung-gen: %s: %s\n", there ? "stale" : "missing", path);
    return RUNG_OK;
}

static bool expected_file(const struct set *set, const char *name, const char *ending)
{
    size_t length = strlen(name), tail = strlen(ending);
    if (length <= tail || strcmp(name + length - tail, ending) != 0)
        return false;
    for (size_t i = 0; i < set->count; i++)
        if (strlen(set->items[i].symbol) == length - tail &&
            memcmp(set->items[i].symbol, name, length - tail) == 0)
            return true;
    return false;
}

/* Files that nothing here writes any more. */
static enum rung_status sweep(struct tally *tally, const struct set *set, const char *folder,
                              const char *ending, struct rung_error *err)
{
    char *path = path_of(tally->arguments, folder, "", "");
    if (!path)
        return rung_fail(err, RUNG_MEMORY, "out of memory");
    DIR *listing = opendir(path);
    free(path);
    enum rung_status status = RUNG_OK;
    for (struct dirent *entry; listing && status == RUNG_OK && (entry = readdir(listing));) {
        if (entry->d_name[0] == '.' || expected_file(set, entry->d_name, ending))
            continue;
        char *file = path_of(tally->arguments, folder, entry->d_name, "");
        if (!file)
            status = rung_fail(err, RUNG_MEMORY, "out of memory");
        else if (tally->arguments->mode == MODE_CHECK)
            fprintf(stderr, "rung-gen: extra: %s\n", file);
        else if (unlink(file) != 0)
            status = rung_fail(err, RUNG_IO, "cannot remove %s", file);
        tally->extra++;
        free(file);
    }
    if (listing)
        closedir(listing);
    return status;
}

/* ---- the two parts ---- */

static enum rung_status do_sources(struct tally *tally, const struct set *set,
                                   struct rung_error *err)
{
    enum rung_status status = RUNG_OK;
    for (size_t i = 0; i < set->count && status == RUNG_OK; i++) {
        char *path = path_of(tally->arguments, "cu", set->items[i].symbol, ".cu");
        status = path ? settle(tally, path, set->items[i].source, err)
                      : rung_fail(err, RUNG_MEMORY, "out of memory");
        free(path);
    }
    return status == RUNG_OK ? sweep(tally, set, "cu", ".cu", err) : status;
}

static enum rung_status settle_ptx(struct tally *tally, const struct set *set,
                                   const struct rung_compiled *compiled, struct rung_error *err)
{
    enum rung_status status = RUNG_OK;
    for (size_t i = 0; i < set->count && status == RUNG_OK; i++) {
        char *path = path_of(tally->arguments, PTX_FOLDER, set->items[i].symbol, ".ptx");
        status = path ? settle(tally, path, compiled[i].ptx, err)
                      : rung_fail(err, RUNG_MEMORY, "out of memory");
        free(path);
    }
    return status == RUNG_OK ? sweep(tally, set, PTX_FOLDER, ".ptx", err) : status;
}

static enum rung_status compile(struct tally *tally, const struct set *set,
                                const struct rung_nvrtc *nvrtc, struct rung_error *err)
{
    struct rung_compiled *compiled = calloc(set->count, sizeof *compiled);
    struct rung_compile_job *jobs = calloc(set->count, sizeof *jobs);
    enum rung_status *statuses = calloc(set->count, sizeof *statuses);
    struct rung_error *errors = calloc(set->count, sizeof *errors);
    enum rung_status status = RUNG_OK;
    if (!compiled || !jobs || !statuses || !errors)
        status = rung_fail(err, RUNG_MEMORY, "out of memory");
    for (size_t i = 0; i < set->count && status == RUNG_OK; i++)
        jobs[i] = (struct rung_compile_job){
            .source = set->items[i].source, .name = set->items[i].symbol, .target = PTX_TARGET};
    if (status == RUNG_OK)
        status = rung_cached_compile_all(compiled, statuses, errors, NULL, nvrtc, jobs, set->count);
    for (size_t i = 0; i < set->count && errors; i++)
        if (errors[i].status != RUNG_OK)
            rung_fail(err, errors[i].status, "%s: %s", set->items[i].symbol, errors[i].text);
    if (status == RUNG_OK)
        status = settle_ptx(tally, set, compiled, err);
    for (size_t i = 0; i < set->count && compiled; i++)
        rung_compiled_release(&compiled[i]);
    free(compiled);
    free(jobs);
    free(statuses);
    free(errors);
    return status;
}

static enum rung_status compile_cubin(const struct plain *plain, const struct arguments *arguments,
                                      const struct rung_nvrtc *nvrtc, struct rung_error *err)
{
    struct rung_compile_job job = {.source = plain->source,
                                   .name = plain->name,
                                   .target = arguments->code_for,
                                   .options = &plain->option,
                                   .n_options = plain->option != NULL};
    struct rung_compiled compiled;
    struct rung_text path = {0};
    rung_text_format(&path, "%s/%s/%s_%s.cubin", arguments->folder, plain->folder, plain->file,
                     arguments->code_for);
    enum rung_status status = rung_nvrtc_compile(&compiled, nvrtc, &job, err);
    if (status == RUNG_OK && !compiled.cubin)
        status = rung_fail(err, RUNG_USAGE, "--library %s: must be a target that runs, as sm_90",
                           arguments->code_for);
    if (status == RUNG_OK)
        status =
            rung_file_write(rung_text_string(&path), compiled.cubin, compiled.cubin_length, err);
    rung_compiled_release(&compiled);
    rung_text_release(&path);
    return status;
}

/* librung's kernels as code for one target: what a build carries beside their PTX. */
static enum rung_status do_library(const struct arguments *arguments, struct rung_error *err)
{
    struct rung_nvrtc *nvrtc = NULL;
    enum rung_status status = rung_nvrtc_open(&nvrtc, arguments->nvrtc, err);
    for (size_t i = 0; i < sizeof plains / sizeof *plains && status == RUNG_OK; i++)
        if (strcmp(plains[i].folder, "library") == 0)
            status = compile_cubin(&plains[i], arguments, nvrtc, err);
    rung_nvrtc_close(nvrtc);
    return status;
}

static enum rung_status compile_plain(struct tally *tally, const struct plain *plain,
                                      const struct rung_nvrtc *nvrtc, struct rung_error *err)
{
    struct rung_compile_job job = {.source = plain->source,
                                   .name = plain->name,
                                   .target = PTX_TARGET,
                                   .options = &plain->option,
                                   .n_options = plain->option != NULL};
    struct rung_compiled compiled;
    char *lowered = NULL, *path = path_of(tally->arguments, plain->folder, plain->file, ".ptx");
    size_t length;
    enum rung_status status = rung_nvrtc_compile(&compiled, nvrtc, &job, err);
    if (status == RUNG_OK && plain->oldest_driver)
        status = rung_ptx_with_version(&lowered, &length, compiled.ptx, compiled.ptx_length,
                                       rung_ptx_floor(compiled.ptx, compiled.ptx_length), err);
    if (status == RUNG_OK)
        status = path ? settle(tally, path, lowered ? lowered : compiled.ptx, err)
                      : rung_fail(err, RUNG_MEMORY, "out of memory");
    rung_compiled_release(&compiled);
    free(lowered);
    free(path);
    return status;
}

/* Whether generated/ptx/TOOLKIT names this NVRTC build. */
static enum rung_status same_toolkit(bool *same, const char *path, const char *line,
                                     struct rung_error *err)
{
    char *found = NULL;
    size_t length;
    *same = false;
    if (!rung_file_exists(path))
        return RUNG_OK;
    enum rung_status status = rung_file_read(&found, &length, path, err);
    *same = status == RUNG_OK && strcmp(found, line) == 0;
    free(found);
    return status;
}

/* PTX of another NVRTC build differs without being wrong: then checking it says nothing, and
 * writing it moves the whole folder to that build. */
static enum rung_status do_ptx(struct tally *tally, const struct set *set, bool *skipped,
                               struct rung_error *err)
{
    struct rung_nvrtc *nvrtc = NULL;
    enum rung_status status = rung_nvrtc_open(&nvrtc, tally->arguments->nvrtc, err);
    if (status != RUNG_OK) {
        if (tally->arguments->mode == MODE_CHECK && status == RUNG_UNABLE) {
            fprintf(stderr, "rung-gen: PTX not checked: %s\n", err->text);
            rung_error_clear(err);
            *skipped = true;
            return RUNG_OK;
        }
        return status;
    }
    char line[128];
    bool same = false;
    snprintf(line, sizeof line, "NVRTC %s %s\n", rung_nvrtc_version(nvrtc),
             rung_nvrtc_build(nvrtc));
    char *path = path_of(tally->arguments, "ptx", "TOOLKIT", "");
    status =
        path ? same_toolkit(&same, path, line, err) : rung_fail(err, RUNG_MEMORY, "out of memory");
    *skipped = status == RUNG_OK && !same && tally->arguments->mode == MODE_CHECK;
    if (*skipped)
        fprintf(stderr,
                "rung-gen: PTX not checked: this is %srung-gen: and %s names another build\n", line,
                path);
    else if (status == RUNG_OK)
        status = compile(tally, set, nvrtc, err);
    for (size_t i = 0; i < sizeof plains / sizeof *plains && status == RUNG_OK && !*skipped; i++)
        status = compile_plain(tally, &plains[i], nvrtc, err);
    if (status == RUNG_OK && !*skipped)
        status = settle(tally, path, line, err);
    free(path);
    rung_nvrtc_close(nvrtc);
    return status;
}

/* ---- the program ---- */

static const struct argp_option options[] = {
    {"check",                                                           'c', 0, 0, "Change nothing; name each file that is stale, missing or extra", 0},
    {"list",                                                                'l', 0, 0, "Print the id of every configuration in generated/", 0},
    {"emit", 'e', "ID", 0, "Print the source of one configuration, of any that exists", 0},
    {"only",                                                                 'o', "PART", 0, "sources or ptx; both without", 0},
    {"folder",'f', "FOLDER", 0, "The folder to write or check (generated)", 0},
    {"library",                                                                'L', "TARGET", 0,
     "Write only librung's code for a target, sm_90, into FOLDER/library", 0},
    {"nvrtc",                                                                'n', "PATH", 0, "Which NVRTC compiles the PTX", 0},
    {0                                                           }
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case 'c':
        arguments->mode = MODE_CHECK;
        return 0;
    case 'l':
        arguments->mode = MODE_LIST;
        return 0;
    case 'e':
        arguments->emit = value;
        return 0;
    case 'o':
        arguments->sources = strcmp(value, "sources") == 0;
        arguments->ptx = strcmp(value, "ptx") == 0;
        if (!arguments->sources && !arguments->ptx)
            argp_error(state, "--only %s: must be sources or ptx", value);
        return 0;
    case 'f':
        arguments->folder = value;
        return 0;
    case 'L':
        arguments->code_for = value;
        return 0;
    case 'n':
        arguments->nvrtc = value;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static enum rung_status emit_one(const char *id, struct rung_error *err)
{
    struct rung_arena arena = {0};
    struct rung_ladder ladder;
    struct rung_config config;
    struct rung_text text = {0};
    const struct rung_template *tpl = NULL;
    enum rung_status status = rung_config_parse_id(&config, id, err);
    if (status == RUNG_OK)
        status = rung_ladder_load(&ladder, &arena, err);
    if (status == RUNG_OK) {
        tpl = rung_ladder_find(&ladder, config.version, config.variant);
        status = tpl ? rung_template_emit(&text, tpl, &config, err)
                     : rung_fail(err, RUNG_USAGE, "%s: there is no such version", id);
    }
    if (status == RUNG_OK)
        fputs(rung_text_string(&text), stdout);
    rung_text_release(&text);
    rung_arena_release(&arena);
    return status;
}

static void list(const struct set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        char id[RUNG_ID_SIZE];
        rung_config_id(&set->items[i].config, id);
        puts(id);
    }
}

static enum rung_status run(const struct arguments *arguments, bool *skipped,
                            struct rung_error *err)
{
    struct set set = {0};
    struct tally tally = {.arguments = arguments};
    enum rung_status status = set_make(&set, err);
    if (status == RUNG_OK && arguments->mode == MODE_LIST) {
        list(&set);
    } else {
        if (status == RUNG_OK && arguments->sources)
            status = do_sources(&tally, &set, err);
        if (status == RUNG_OK && arguments->ptx)
            status = do_ptx(&tally, &set, skipped, err);
        unsigned wrong = tally.differing + tally.missing + tally.extra;
        if (status == RUNG_OK && arguments->mode == MODE_CHECK && wrong)
            status = rung_fail(err, RUNG_WRONG,
                               "%u stale, %u missing, %u extra: `cmake --build build --target "
                               "generate` writes them anew",
                               tally.differing, tally.missing, tally.extra);
        else if (status == RUNG_OK && !*skipped)
            fprintf(stderr, "rung-gen: %u files as they should be, %u written, %u removed\n",
                    tally.same, tally.differing + tally.missing, tally.extra);
    }
    set_release(&set);
    return status;
}

int main(int argc, char **argv)
{
    static const struct argp argp = {options,
                                     parse_option,
                                     0,
                                     "Write generated/: the specialised sources, and their PTX for "
                                     "the oldest target. Only files "
                                     "that differ are written.",
                                     0,
                                     0,
                                     0};
    struct arguments arguments = {.sources = true, .ptx = true, .folder = "generated"};
    argp_err_exit_status = rung_exit_status(RUNG_USAGE);
    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    struct rung_error err = {0};
    bool skipped = false;
    enum rung_status status = arguments.emit       ? emit_one(arguments.emit, &err)
                              : arguments.code_for ? do_library(&arguments, &err)
                                                   : run(&arguments, &skipped, &err);
    if (err.text[0])
        fprintf(stderr, "rung-gen: %s\n", err.text);
    if (status == RUNG_OK && skipped && !arguments.sources)
        return EXIT_SKIPPED;
    return rung_exit_status(status);
}
