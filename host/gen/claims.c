/* Claims: in the emitted source `vN` holds the counts of version N. */
#include "gen/claims.h"

#include <stdio.h>
#include <string.h>

/* The names of a claim as C++: counts of this version, or of the one that is mentioned. */
static void claim_bindings(struct rung_binding bindings[RUNG_NAMES_MAX],
                           const struct rung_kernel *kernel, struct rung_arena *arena)
{
    memset(bindings, 0, RUNG_NAMES_MAX * sizeof *bindings);
    bindings[RUNG_CLAIM_WIDTH] =
        (struct rung_binding){.kind = RUNG_BIND_VALUE, .value = kernel->config.block};
    bindings[RUNG_CLAIM_BYTES] = (struct rung_binding){
        .kind = RUNG_BIND_VALUE, .value = rung_type_size(kernel->config.type)};
    for (size_t i = RUNG_CLAIM_ADDITIONS; i < kernel->claim_scope.n_names; i++) {
        const char *name = kernel->claim_scope.names[i];
        const char *dot = strchr(name, '.');
        struct rung_text text = {0};
        if (dot)
            rung_text_append(&text, name);
        else
            rung_text_format(&text, "v%u.%s", kernel->tpl->version, name);
        bindings[i] = (struct rung_binding){
            .kind = RUNG_BIND_TEXT,
            .text = rung_arena_copy(arena, rung_text_string(&text), text.length)};
        rung_text_release(&text);
    }
}

static void print_claim(struct rung_text *out, const struct rung_kernel *kernel,
                        const struct rung_claim *claim, struct rung_arena *arena)
{
    struct rung_binding bindings[RUNG_NAMES_MAX];
    claim_bindings(bindings, kernel, arena);
    if (claim->holds && rung_expr_constant(claim->holds, bindings))
        return; /* says nothing about a block of this size */
    rung_text_append(out, "    static_assert(");
    if (claim->same_threads) {
        rung_text_format(out, "same_threads(v%u, v%u)", kernel->tpl->version, claim->same_threads);
    } else {
        rung_expr_print(out, claim->holds, &kernel->claim_scope, bindings);
    }
    rung_text_format(out, ",\n                  \"%s\");\n", claim->text);
}

static const struct rung_kernel *find_other(const struct rung_claims *claims, unsigned version)
{
    for (unsigned i = 0; i < claims->n_others; i++)
        if (claims->others[i].kernel.tpl->version == version)
            return &claims->others[i].kernel;
    return NULL;
}

static enum rung_status add_other(struct rung_claims *claims, struct rung_arena *arena,
                                  const struct rung_kernel *kernel, unsigned version,
                                  struct rung_error *err)
{
    const struct rung_config *config = &kernel->config;
    const struct rung_template *tpl = NULL;
    if (find_other(claims, version))
        return RUNG_OK;
    if (kernel->tpl->ladder && version < kernel->tpl->version)
        tpl = rung_ladder_find(kernel->tpl->ladder, version, RUNG_VARIANT_BASE);
    if (!tpl)
        return rung_template_fail(kernel->tpl, kernel->claims[0].line, err,
                                  "the claims speak of version %u, which is not below this one",
                                  version);
    const struct rung_config other = {
        .version = version, .block = config->block, .op = config->op, .type = config->type};
    return rung_kernel_make(&claims->others[claims->n_others++].kernel, arena, tpl, &other, err);
}

static enum rung_status find_others(struct rung_claims *claims, struct rung_arena *arena,
                                    const struct rung_kernel *kernel, struct rung_error *err)
{
    enum rung_status status = RUNG_OK;
    claims->others = rung_arena_array(arena, RUNG_NAMES_MAX, sizeof *claims->others);
    if (!claims->others)
        return rung_fail(err, RUNG_MEMORY, "out of memory");
    for (unsigned i = 0; i < kernel->n_claims && status == RUNG_OK; i++)
        if (kernel->claims[i].same_threads)
            status = add_other(claims, arena, kernel, kernel->claims[i].same_threads, err);
    for (size_t i = RUNG_CLAIM_FIXED; i < kernel->claim_scope.n_names && status == RUNG_OK; i++) {
        unsigned version = 0;
        if (sscanf(kernel->claim_scope.names[i], "v%u.", &version) == 1)
            status = add_other(claims, arena, kernel, version, err);
    }
    return status;
}

/* Whether the text names version N, as "vN.runs" or "vN)". What it leaves out needs no counting. */
static bool mentioned(const char *text, unsigned version)
{
    char name[16];
    int length = snprintf(name, sizeof name, "v%u", version);
    for (const char *at = strstr(text, name); at; at = strstr(at + 1, name))
        if (at[length] == '.' || at[length] == ')')
            return true;
    return false;
}

enum rung_status rung_claims_make(struct rung_claims *out, struct rung_arena *arena,
                                  const struct rung_kernel *kernel, struct rung_error *err)
{
    *out = (struct rung_claims){0};
    enum rung_status status = find_others(out, arena, kernel, err);
    if (status != RUNG_OK)
        return status;
    for (unsigned i = 0; i < kernel->n_claims; i++)
        print_claim(&out->text, kernel, &kernel->claims[i], arena);
    for (unsigned i = 0; i < out->n_others; i++)
        out->others[i].counted =
            mentioned(rung_text_string(&out->text), out->others[i].kernel.tpl->version);
    return RUNG_OK;
}

void rung_claims_release(struct rung_claims *claims)
{
    rung_text_release(&claims->text);
}
