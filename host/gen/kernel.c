/* Directives to expressions: reads the lines of a template that apply to one configuration. */
#include "gen/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct builder {
    struct rung_kernel *kernel;
    struct rung_arena *arena;
    struct rung_error *err;
    const struct rung_line *line;
    const char *at; /* in the line's text */
};

static enum rung_status fail(struct builder *b, const char *message)
{
    return rung_template_fail(b->kernel->tpl, b->line->number, b->err, "%s: %s", b->line->directive,
                              message);
}

static bool take(struct builder *b, const char *token)
{
    size_t length = strlen(token);
    if (strncmp(b->at, token, length) != 0)
        return false;
    b->at += length;
    while (*b->at == ' ' || *b->at == '\t')
        b->at++;
    return true;
}

static enum rung_status expression_in(struct builder *b, const struct rung_expr **out,
                                      const struct rung_scope *scope)
{
    struct rung_place place = {b->kernel->tpl->file, b->line->number};
    return rung_expr_parse(out, b->arena, scope, place, &b->at, b->err);
}

static enum rung_status expression(struct builder *b, const struct rung_expr **out)
{
    return expression_in(b, out, &b->kernel->scope);
}

/* Reads a name and gives it a slot: the one it has, or a new one. */
static enum rung_status new_name(struct builder *b, int *slot)
{
    struct rung_scope *scope = &b->kernel->scope;
    size_t length = 0;
    while ((b->at[length] >= 'a' && b->at[length] <= 'z') || b->at[length] == '_')
        length++;
    if (length == 0)
        return fail(b, "a name in lower case must stand first");
    *slot = rung_scope_find(scope, b->at, length);
    if (*slot >= 0 && *slot != RUNG_SLOT_S && *slot < RUNG_SLOTS_FIXED)
        return fail(b, "the name is taken");
    if (*slot < 0) {
        char *name = rung_arena_copy(b->arena, b->at, length);
        if (!name)
            return rung_fail(b->err, RUNG_MEMORY, "out of memory");
        if (scope->n_names == RUNG_NAMES_MAX)
            return fail(b, "too many names");
        *slot = (int)scope->n_names;
        scope->names[scope->n_names++] = name;
    }
    char end = b->at[length];
    b->at += length;
    take(b, "");
    return end == ' ' || end == '=' ? RUNG_OK : fail(b, "a name in lower case must stand first");
}

static enum rung_status line_end(struct builder *b)
{
    if (!*b->at)
        return RUNG_OK;
    return rung_template_fail(b->kernel->tpl, b->line->number, b->err, "%s: '%s' is left over",
                              b->line->directive, b->at);
}

/* NAME = EXPRESSION of constants, evaluated at once. */
static enum rung_status read_constant(struct builder *b, bool is_parameter)
{
    struct rung_kernel *k = b->kernel;
    int slot;
    const struct rung_expr *expr;
    const char *why;
    enum rung_status status = new_name(b, &slot);
    if (status == RUNG_OK && !take(b, "="))
        status = fail(b, "'=' is missing");
    if (status == RUNG_OK)
        status = expression(b, &expr);
    if (status == RUNG_OK)
        status = line_end(b);
    if (status != RUNG_OK)
        return status;
    if (!rung_expr_uses_only(expr, k->constant))
        return fail(b, "only threads and constants before it may stand there");
    if (!rung_expr_eval(&k->values[slot], expr, k->values, &why))
        return fail(b, why);
    k->hex[slot] = rung_expr_is_hex(expr);
    if (is_parameter)
        k->parameter = slot;
    else
        k->constant[slot] = true;
    return RUNG_OK;
}

static enum rung_status index_of(struct builder *b, struct rung_operand *out,
                                 enum rung_operand_kind kind)
{
    out->kind = kind;
    enum rung_status status = expression(b, &out->index);
    if (status == RUNG_OK && !take(b, "]"))
        status = fail(b, "']' is missing");
    return status;
}

static enum rung_status read_shuffle(struct builder *b, struct rung_operand *out)
{
    out->kind = RUNG_OPERAND_SHUFFLE;
    enum rung_status status = expression(b, &out->mask);
    if (status == RUNG_OK && !(take(b, ",") && take(b, "sum") && take(b, ",")))
        status = fail(b, "a shuffle reads __shfl_down_sync(mask, sum, distance, lanes)");
    if (status == RUNG_OK)
        status = expression(b, &out->index);
    if (status == RUNG_OK && !take(b, ","))
        status = fail(b, "a shuffle reads __shfl_down_sync(mask, sum, distance, lanes)");
    if (status == RUNG_OK)
        status = expression(b, &out->lanes);
    if (status == RUNG_OK && !take(b, ")"))
        status = fail(b, "')' is missing");
    return status;
}

static enum rung_status read_operand(struct builder *b, struct rung_operand *out)
{
    *out = (struct rung_operand){0};
    if (take(b, "tile["))
        return index_of(b, out, RUNG_OPERAND_TILE);
    if (take(b, "in["))
        return index_of(b, out, RUNG_OPERAND_INPUT);
    if (take(b, "__shfl_down_sync("))
        return read_shuffle(b, out);
    if (!take(b, "sum"))
        return fail(b, "an operand is tile[…], in[…], sum or __shfl_down_sync(…)");
    out->kind = RUNG_OPERAND_SUM;
    return RUNG_OK;
}

static enum rung_status read_statement(struct builder *b, struct rung_statement *out)
{
    struct rung_statement statement = {.line = b->line->number};
    enum rung_status status = read_operand(b, &statement.to);
    if (status == RUNG_OK && statement.to.kind != RUNG_OPERAND_TILE &&
        statement.to.kind != RUNG_OPERAND_SUM)
        status = fail(b, "only tile[…] and sum can be written");
    if (status == RUNG_OK) {
        statement.adds = take(b, "+=");
        if (!statement.adds && !take(b, "="))
            status = fail(b, "'=' or '+=' is missing");
    }
    if (status == RUNG_OK)
        status = read_operand(b, &statement.from);
    if (status == RUNG_OK && take(b, "if "))
        status = expression(b, &statement.only_if);
    if (status == RUNG_OK)
        status = line_end(b);
    if (status == RUNG_OK)
        *out = statement;
    return status;
}

static struct rung_phase *current_phase(struct builder *b)
{
    struct rung_kernel *k = b->kernel;
    return k->n_phases > 0 && k->phases[k->n_phases - 1].stepping ? &k->phases[k->n_phases - 1]
                                                                  : NULL;
}

/* A new phase, or, for `steps[form]`, the one above that it replaces the loop of. */
static enum rung_status open_phase(struct builder *b, bool stepping, struct rung_phase **out)
{
    struct rung_kernel *k = b->kernel;
    if (stepping && b->line->form) {
        *out = current_phase(b);
        return *out ? RUNG_OK : fail(b, "the plain form must stand first");
    }
    if (k->n_phases == RUNG_PHASES_MAX)
        return fail(b, "too many phases");
    *out = &k->phases[k->n_phases++];
    **out = (struct rung_phase){.line = b->line->number, .stepping = stepping};
    return RUNG_OK;
}

static enum rung_status read_update(struct builder *b, struct rung_phase *phase)
{
    static const char *const operations[] = {"*=", "/=", "+=", "-=", ">>=", "<<="};
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (take(b, operations[i])) {
            phase->operation = operations[i];
            return expression(b, &phase->update);
        }
    return fail(b, "the loop must end in NAME *= …, /=, +=, -=, >>= or <<=");
}

/* NAME = FIRST; MORE; NAME op= UPDATE */
static enum rung_status read_steps(struct builder *b)
{
    struct rung_phase *phase = NULL;
    enum rung_status status = open_phase(b, true, &phase);
    if (status == RUNG_OK)
        status = new_name(b, &phase->variable);
    if (status == RUNG_OK && !take(b, "="))
        status = fail(b, "'=' is missing");
    if (status == RUNG_OK)
        status = expression(b, &phase->first);
    if (status == RUNG_OK && !take(b, ";"))
        status = fail(b, "';' is missing");
    if (status == RUNG_OK)
        status = expression(b, &phase->more);
    if (status == RUNG_OK && !take(b, ";"))
        status = fail(b, "';' is missing");
    const char *name = status == RUNG_OK ? b->kernel->scope.names[phase->variable] : "";
    if (status == RUNG_OK && !take(b, name))
        status = fail(b, "the loop must change its own variable");
    if (status == RUNG_OK)
        status = read_update(b, phase);
    return status == RUNG_OK ? line_end(b) : status;
}

static enum rung_status read_let(struct builder *b, struct rung_phase *phase)
{
    int slot;
    enum rung_status status = new_name(b, &slot);
    if (status == RUNG_OK && !take(b, "="))
        status = fail(b, "'=' is missing");
    unsigned at = 0;
    while (at < phase->n_lets && phase->lets[at].slot != slot)
        at++;
    if (status == RUNG_OK && at == RUNG_LETS_MAX)
        status = fail(b, "too many lets");
    if (status == RUNG_OK)
        status = expression(b, &phase->lets[at].value);
    if (status != RUNG_OK)
        return status;
    phase->lets[at].slot = slot;
    phase->n_lets += at == phase->n_lets;
    return line_end(b);
}

static enum rung_status read_active(struct builder *b, struct rung_phase *phase)
{
    phase->everyone = strcmp(b->at, "all") == 0;
    phase->active = NULL;
    if (phase->everyone)
        return RUNG_OK;
    enum rung_status status = expression(b, &phase->active);
    return status == RUNG_OK ? line_end(b) : status;
}

static enum rung_status read_addition(struct builder *b, struct rung_phase *phase)
{
    enum rung_status status = read_statement(b, &phase->add);
    if (status == RUNG_OK && (!phase->add.adds || phase->add.only_if ||
                              (phase->add.from.kind != RUNG_OPERAND_TILE &&
                               phase->add.from.kind != RUNG_OPERAND_SHUFFLE)))
        status =
            fail(b, "an addition of the tree reads PLACE += tile[…] or += __shfl_down_sync(…)");
    return status;
}

/* take, put, move: a copy between the shared array and the register. */
static enum rung_status read_copy(struct builder *b, struct rung_statement *out)
{
    enum rung_status status = read_statement(b, out);
    if (status == RUNG_OK &&
        (out->adds || out->from.kind == RUNG_OPERAND_INPUT ||
         out->from.kind == RUNG_OPERAND_SHUFFLE || out->from.kind == out->to.kind))
        status = fail(b, "a copy reads sum = tile[…] or tile[…] = sum");
    return status;
}

static enum rung_status read_in_phase(struct builder *b)
{
    struct rung_phase *phase = current_phase(b);
    if (!phase)
        return fail(b, "belongs below 'steps'");
    if (strcmp(b->line->directive, "let") == 0)
        return read_let(b, phase);
    if (strcmp(b->line->directive, "active") == 0)
        return read_active(b, phase);
    if (strcmp(b->line->directive, "take") == 0)
        return read_copy(b, &phase->take);
    if (strcmp(b->line->directive, "put") == 0)
        return read_copy(b, &phase->put);
    return read_addition(b, phase);
}

static enum rung_status read_move(struct builder *b)
{
    struct rung_phase *phase = NULL;
    enum rung_status status = open_phase(b, false, &phase);
    return status == RUNG_OK ? read_copy(b, &phase->take) : status;
}

static enum rung_status read_load(struct builder *b)
{
    struct rung_kernel *k = b->kernel;
    if (k->n_loads == RUNG_LOADS_MAX)
        return fail(b, "too many loads");
    struct rung_statement *load = &k->loads[k->n_loads];
    enum rung_status status = read_statement(b, load);
    if (status == RUNG_OK && (load->from.kind != RUNG_OPERAND_INPUT || load->only_if))
        status = fail(b, "a load reads PLACE = in[…] or PLACE += in[…]");
    if (status == RUNG_OK && load->adds != (k->n_loads > 0))
        status = fail(b, "the first load sets (=), the others add (+=)");
    if (status == RUNG_OK)
        k->n_loads++;
    return status;
}

static enum rung_status read_sweep(struct builder *b)
{
    if (!take(b, "i") || !take(b, "+="))
        return fail(b, "a sweep reads i += DISTANCE");
    if (b->kernel->sweep || b->kernel->n_loads == 0)
        return fail(b, "one sweep may stand, after the first load");
    b->kernel->first_swept = b->kernel->n_loads;
    enum rung_status status = expression(b, &b->kernel->sweep);
    return status == RUNG_OK ? line_end(b) : status;
}

static enum rung_status read_element(struct builder *b)
{
    enum rung_status status = expression(b, &b->kernel->element);
    return status == RUNG_OK ? line_end(b) : status;
}

static enum rung_status read_result(struct builder *b)
{
    enum rung_status status = read_operand(b, &b->kernel->result);
    if (status == RUNG_OK && b->kernel->result.kind != RUNG_OPERAND_TILE &&
        b->kernel->result.kind != RUNG_OPERAND_SUM)
        status = fail(b, "the result is tile[…] or sum");
    return status == RUNG_OK ? line_end(b) : status;
}

/* Adds vN.additions, vN.runs and vN.serialised for each vN. that the text mentions. */
static enum rung_status mention_versions(struct builder *b, const char *text)
{
    static const char *const fields[] = {"additions", "runs", "serialised"};
    struct rung_scope *scope = &b->kernel->claim_scope;
    for (const char *at = strchr(text, 'v'); at; at = strchr(at + 1, 'v')) {
        char *end;
        unsigned long version = strtoul(at + 1, &end, 10);
        if (end == at + 1 || *end != '.')
            continue;
        for (size_t i = 0; i < 3; i++) {
            char name[32];
            int length = snprintf(name, sizeof name, "v%lu.%s", version, fields[i]);
            if (rung_scope_find(scope, name, (size_t)length) >= 0)
                break;
            if (scope->n_names == RUNG_NAMES_MAX)
                return fail(b, "too many versions are mentioned");
            scope->names[scope->n_names] = rung_arena_copy(b->arena, name, (size_t)length);
            if (!scope->names[scope->n_names++])
                return rung_fail(b->err, RUNG_MEMORY, "out of memory");
        }
    }
    return RUNG_OK;
}

static enum rung_status read_claim(struct builder *b)
{
    struct rung_kernel *k = b->kernel;
    if (k->n_claims == RUNG_CLAIMS_MAX)
        return fail(b, "too many claims");
    struct rung_claim claim = {.line = b->line->number, .text = b->at};
    enum rung_status status = RUNG_OK;
    if (take(b, "active as in version")) {
        char *end;
        claim.same_threads = (unsigned)strtoul(b->at, &end, 10);
        b->at = end;
        if (claim.same_threads == 0)
            status = fail(b, "reads 'active as in version N'");
    } else {
        status = mention_versions(b, b->at);
        if (status == RUNG_OK)
            status = expression_in(b, &claim.holds, &k->claim_scope);
    }
    if (status == RUNG_OK)
        status = line_end(b);
    if (status == RUNG_OK)
        k->claims[k->n_claims++] = claim;
    return status;
}

static enum rung_status read_const(struct builder *b)
{
    return read_constant(b, false);
}

static enum rung_status read_parameter(struct builder *b)
{
    return read_constant(b, true);
}

static const struct {
    const char *directive;
    enum rung_status (*read)(struct builder *b);
} readers[] = {
    {"const",     read_const    },
    {"parameter", read_parameter},
    {"element",   read_element  },
    {"load",      read_load     },
    {"sweep",     read_sweep    },
    {"move",      read_move     },
    {"steps",     read_steps    },
    {"let",       read_in_phase },
    {"active",    read_in_phase },
    {"take",      read_in_phase },
    {"add",       read_in_phase },
    {"put",       read_in_phase },
    {"result",    read_result   },
    {"claim",     read_claim    },
};

static bool defines_s(const struct rung_phase *phase)
{
    bool known = phase->variable == RUNG_SLOT_S;
    for (unsigned i = 0; i < phase->n_lets; i++)
        known |= phase->lets[i].slot == RUNG_SLOT_S;
    return known;
}

static enum rung_status check_kernel(const struct rung_kernel *k, struct rung_error *err)
{
    const struct rung_template *tpl = k->tpl;
    if (!k->element || k->n_loads == 0)
        return rung_template_fail(tpl, 1, err, "'element' and at least one 'load' are missing");
    if (k->result.kind == RUNG_OPERAND_NONE)
        return rung_template_fail(tpl, 1, err, "the directive 'result' is missing");
    for (unsigned i = 0; i < k->n_phases; i++) {
        const struct rung_phase *phase = &k->phases[i];
        if (!phase->stepping)
            continue;
        if (!phase->add.line || (!phase->active && !phase->everyone))
            return rung_template_fail(tpl, phase->line, err, "steps need 'active' and 'add'");
        if (!defines_s(phase))
            return rung_template_fail(tpl, phase->line, err,
                                      "the stride must be named s, by the loop or by a let");
    }
    return RUNG_OK;
}

enum rung_status rung_kernel_make(struct rung_kernel *out, struct rung_arena *arena,
                                  const struct rung_template *tpl, const struct rung_config *config,
                                  struct rung_error *err)
{
    static const char *const names[RUNG_SLOTS_FIXED] = {"tid",  "threads", "width", "block",
                                                        "grid", "n",       "i",     "s"};
    static const char *const claim_names[RUNG_CLAIM_FIXED] = {"width", "bytes", "additions", "runs",
                                                              "serialised"};
    *out = (struct rung_kernel){.tpl = tpl, .config = *config, .parameter = -1};
    memcpy(out->scope.names, names, sizeof names);
    out->scope.n_names = RUNG_SLOTS_FIXED;
    memcpy(out->claim_scope.names, claim_names, sizeof claim_names);
    out->claim_scope.n_names = RUNG_CLAIM_FIXED;
    out->values[RUNG_SLOT_THREADS] = out->values[RUNG_SLOT_WIDTH] = config->block;
    out->constant[RUNG_SLOT_THREADS] = true;
    struct builder builder = {.kernel = out, .arena = arena, .err = err};
    enum rung_status status = RUNG_OK;
    for (size_t i = 0; i < tpl->n_lines && status == RUNG_OK; i++) {
        builder.line = &tpl->lines[i];
        if (!builder.line->directive || !rung_line_applies(builder.line, config))
            continue;
        builder.at = builder.line->text;
        for (size_t r = 0; r < sizeof readers / sizeof *readers; r++)
            if (strcmp(readers[r].directive, builder.line->directive) == 0)
                status = readers[r].read(&builder);
    }
    return status == RUNG_OK ? check_kernel(out, err) : status;
}
