/* What others may ask of a template, and the source of a configuration as a whole. */
#include "gen/template.h"

#include <string.h>

#include "gen/embedded.h"
#include "gen/emit.h"
#include "gen/kernel.h"
#include "gen/model.h"
#include "gen/parse.h"
#include "gen/traced.h"

unsigned rung_template_version(const struct rung_template *tpl)
{
    return tpl->version;
}

enum rung_variant rung_template_variant(const struct rung_template *tpl)
{
    return tpl->variant;
}

const char *rung_template_title(const struct rung_template *tpl)
{
    return tpl->title;
}

const char *rung_template_change(const struct rung_template *tpl)
{
    return tpl->change ? tpl->change : "";
}

const char *rung_template_file(const struct rung_template *tpl)
{
    return tpl->file;
}

/* The axis that a word stands on, as the command line names it. */
static const char *axis_of(const char *word)
{
#define ON(axis, spelling)                                                                         \
    if (strcmp(word, spelling) == 0)                                                               \
        return axis;
#define AXIS_BOUND(name, spelling, help) ON("bound", spelling)
#define AXIS_UNROLL(name, spelling, help) ON("unroll", spelling)
#define AXIS_PREDICATE(name, spelling, help) ON("predicate", spelling)
#define AXIS_OP(name, spelling, help) ON("op", spelling)
#define AXIS_TYPE(name, spelling, help) ON("type", spelling)
#define AXIS_VARIANT(name, spelling, help) ON("variant", spelling)
#include "config/axes.def"
    return "axis";
}

static bool is_lacks(const struct rung_line *line)
{
    return line->directive && strcmp(line->directive, "lacks") == 0;
}

const char *rung_template_lacks(const struct rung_template *tpl, const char *word)
{
    for (size_t i = 0; i < tpl->n_lines; i++) {
        char lacked[RUNG_WORD_SIZE];
        if (!is_lacks(&tpl->lines[i]))
            continue;
        for (const char *at = tpl->lines[i].text; rung_lacks_next(lacked, &at);)
            if (strcmp(lacked, word) == 0)
                return rung_lacks_reason(&tpl->lines[i]);
    }
    return NULL;
}

enum rung_status rung_template_supports(const struct rung_template *tpl,
                                        const struct rung_config *config, struct rung_error *err)
{
    if (config->version != tpl->version || config->variant != tpl->variant)
        return rung_fail(err, RUNG_USAGE, "version %u has no variant %s", config->version,
                         rung_variant_word(config->variant));
    if (config->block < RUNG_BLOCK_MIN || config->block > RUNG_BLOCK_MAX ||
        (config->block & (config->block - 1)) != 0)
        return rung_fail(err, RUNG_USAGE, "%u threads per block: a power of two, %d ... %d",
                         config->block, RUNG_BLOCK_MIN, RUNG_BLOCK_MAX);
    if (config->bound == RUNG_BOUND_RUNTIME && config->unroll == RUNG_UNROLL_FULL)
        return rung_fail(err, RUNG_USAGE, "a loop with a run-time bound is never unrolled in full");
    for (size_t i = 0; i < tpl->n_lines; i++) {
        char word[RUNG_WORD_SIZE];
        if (!is_lacks(&tpl->lines[i]))
            continue;
        for (const char *at = tpl->lines[i].text; rung_lacks_next(word, &at);)
            if (rung_config_has_word(config, word))
                return rung_fail(err, RUNG_USAGE, "version %u has no %s %s: %s", tpl->version,
                                 axis_of(word), word, rung_lacks_reason(&tpl->lines[i]));
    }
    return RUNG_OK;
}

void rung_template_shape(struct rung_shape *out, const struct rung_template *tpl,
                         const struct rung_config *config)
{
    *out = (struct rung_shape){
        .grid_rule = tpl->sweeps ? RUNG_GRID_FIXED : RUNG_GRID_TILES,
        .elements_per_thread = tpl->n_loads,
        .rereads_input = tpl->rereads_input,
    };
    for (size_t i = 0; i < tpl->n_lines; i++)
        out->takes_step |= tpl->lines[i].directive &&
                           strcmp(tpl->lines[i].directive, "parameter") == 0 &&
                           rung_line_applies(&tpl->lines[i], config);
}

static void append_words(struct rung_text *out, const struct rung_config *config)
{
    rung_text_format(out, "// %u threads per block, ", config->block);
    if (config->bound == RUNG_BOUND_RUNTIME)
        rung_text_append(out, "loop bound read at run time, ");
    else
        rung_text_format(out, "loop bound known, %s, ",
                         config->unroll == RUNG_UNROLL_FULL ? "unrolled" : "loop kept");
    if (config->predicate != RUNG_PREDICATE_MOD)
        rung_text_format(out, "predicate as %s, ", rung_predicate_word(config->predicate));
    rung_text_format(out, "%s of %s.\n", rung_op_word(config->op), rung_type_word(config->type));
}

/* What the reader must know before the kernel: where it comes from, which one it is, its counts. */
static enum rung_status emit_heading(struct rung_text *out, const struct rung_template *tpl,
                                     const struct rung_config *config, struct rung_error *err)
{
    struct rung_model model;
    char id[RUNG_ID_SIZE];
    rung_config_id(config, id);
    enum rung_status status = rung_model_block(&model, tpl, config, err);
    if (status != RUNG_OK)
        return status;
    rung_text_format(out,
                     "// Written by rung-gen from ptx_src/%s. Do not edit:\n"
                     "// `cmake --build build --target generate` writes it anew.\n//\n"
                     "// %s: %s.\n",
                     tpl->file, id, tpl->control ? tpl->mistake : tpl->title);
    append_words(out, config);
    if (tpl->control)
        rung_text_append(
            out, "// A negative control, wrong on purpose: nothing here holds its model.\n\n");
    else
        rung_text_format(out,
                         "// One full block: %llu additions, %llu of them in the tree; %llu body "
                         "runs, %llu serialised.\n\n",
                         (unsigned long long)model.additions,
                         (unsigned long long)model.tree_additions,
                         (unsigned long long)model.body_runs, (unsigned long long)model.serialised);
    return RUNG_OK;
}

static enum rung_status emit(struct rung_text *out, const struct rung_template *tpl,
                             const struct rung_config *config, bool traced, struct rung_error *err)
{
    struct rung_arena arena = {0};
    struct rung_kernel kernel;
    enum rung_status status = rung_template_supports(tpl, config, err);
    if (status == RUNG_OK)
        status = rung_kernel_make(&kernel, &arena, tpl, config, err);
    if (status == RUNG_OK)
        status = emit_heading(out, tpl, config, err);
    if (status == RUNG_OK)
        status = rung_emit_kernel(out, &arena, &kernel, traced, err);
    if (status == RUNG_OK && !tpl->control && !traced)
        status = rung_emit_checks(out, &arena, &kernel, err);
    if (status == RUNG_OK && !rung_text_ok(out))
        status = rung_fail(err, RUNG_MEMORY, "out of memory");
    rung_arena_release(&arena);
    return status;
}

enum rung_status rung_template_emit(struct rung_text *out, const struct rung_template *tpl,
                                    const struct rung_config *config, struct rung_error *err)
{
    return emit(out, tpl, config, false, err);
}

enum rung_status rung_template_emit_traced(struct rung_text *out, const struct rung_template *tpl,
                                           const struct rung_config *config, struct rung_error *err)
{
    const char *functions = rung_embedded_text("trace.cu.in");
    if (!functions)
        return rung_fail(err, RUNG_UNABLE, "trace.cu.in is not part of this build");
    rung_text_format(out, "%s#line 1\n", functions);
    return emit(out, tpl, config, true, err);
}

/* Every form that the template says it has must be readable and print, at both ends of the block
 * sizes. */
static enum rung_status check_forms(const struct rung_template *tpl, struct rung_arena *arena,
                                    struct rung_error *err)
{
    struct rung_text scratch = {0};
    enum rung_status status = RUNG_OK;
    for (unsigned form = 0; form < 2 * 4 && status == RUNG_OK; form++) {
        struct rung_config config = {
            .version = tpl->version,
            .variant = tpl->variant,
            .block = form % 2 ? RUNG_BLOCK_MIN : RUNG_BLOCK_MAX,
            .predicate = (enum rung_predicate)(form / 2),
        };
        struct rung_kernel kernel;
        if (rung_template_supports(tpl, &config, NULL) != RUNG_OK)
            continue;
        status = rung_kernel_make(&kernel, arena, tpl, &config, err);
        if (status == RUNG_OK)
            status = rung_emit_kernel(&scratch, arena, &kernel, false, err);
        rung_text_clear(&scratch);
    }
    rung_text_release(&scratch);
    return status;
}

enum rung_status rung_template_parse(const struct rung_template **out, struct rung_arena *arena,
                                     const char *name, const char *text, struct rung_error *err)
{
    struct rung_template *tpl;
    struct rung_arena scratch = {0};
    enum rung_status status = rung_template_read(&tpl, arena, name, text, err);
    if (status == RUNG_OK)
        status = check_forms(tpl, &scratch, err);
    rung_arena_release(&scratch);
    if (status == RUNG_OK)
        *out = tpl;
    return status;
}
