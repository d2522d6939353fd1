/* What each placeholder stands for: the directive of its kind that was read last, or something of
 * the configuration. */
#include <string.h>

#include "gen/emitter.h"

/* A load never reads at or past n: a first one gives the identity there, a further one is left
 * out, and in a sweep the loop has tested the index. */
static bool fill_load(struct rung_emitter *e)
{
    if (e->n_loads == 0)
        return false;
    const struct rung_statement *load = &e->kernel->loads[e->n_loads - 1];
    if (load->adds) {
        if (!e->sweeping) {
            rung_text_append(e->out, "if (");
            rung_emit_expr(e, load->from.index);
            rung_text_append(e->out, " < n)\n    ");
        }
        rung_emit_statement(e, load);
        return true;
    }
    rung_emit_assignment_begin(e, &load->to);
    rung_emit_expr(e, load->from.index);
    rung_text_append(e->out, " < n ? ");
    rung_emit_operand(e, &load->from);
    rung_text_format(e->out, " : %s", rung_type_zero(e->kernel->config.type));
    rung_emit_assignment_end(e, &load->to);
    return true;
}

static bool fill_sweep(struct rung_emitter *e)
{
    for (int part = 0; part < 3; part++) {
        rung_text_append(e->out, part ? "; " : "");
        rung_text_append(e->out, part == 1 ? "i < n" : "i += ");
        if (part != 1)
            rung_emit_expr(e, e->kernel->sweep);
    }
    return true;
}

static bool fill_element(struct rung_emitter *e)
{
    rung_emit_expr(e, e->kernel->element);
    return true;
}

static bool fill_steps(struct rung_emitter *e)
{
    const struct rung_phase *phase = rung_emit_phase(e);
    if (!phase)
        return false;
    const char *name = e->kernel->scope.names[phase->variable];
    rung_text_format(e->out, "unsigned int %s = ", name);
    rung_emit_expr(e, phase->first);
    rung_text_append(e->out, "; ");
    rung_emit_expr(e, phase->more);
    rung_text_format(e->out, "; %s %s ", name, phase->operation);
    rung_emit_expr(e, phase->update);
    return true;
}

/* With a run-time bound there is nothing to forbid: the loop stays because its end is not known. */
static bool fill_unroll(struct rung_emitter *e)
{
    const struct rung_config *config = &e->kernel->config;
    if (config->bound == RUNG_BOUND_CONST && config->unroll == RUNG_UNROLL_NONE)
        rung_text_append(e->out, "#pragma unroll 1");
    return true;
}

static bool fill_let(struct rung_emitter *e)
{
    const struct rung_phase *phase = rung_emit_phase(e);
    for (unsigned i = 0; phase && i < phase->n_lets; i++) {
        rung_text_format(e->out, "%sconst unsigned int %s = ", i ? "\n" : "",
                         e->kernel->scope.names[phase->lets[i].slot]);
        rung_emit_expr(e, phase->lets[i].value);
        rung_text_append(e->out, ";");
    }
    return phase != NULL;
}

static bool fill_active(struct rung_emitter *e)
{
    const struct rung_phase *phase = rung_emit_phase(e);
    if (!phase || !phase->active)
        return false;
    rung_emit_expr(e, phase->active);
    return true;
}

static bool fill_add(struct rung_emitter *e)
{
    const struct rung_phase *phase = rung_emit_phase(e);
    if (!phase || !phase->add.line)
        return false;
    rung_emit_statement(e, &phase->add);
    return true;
}

static bool fill_take(struct rung_emitter *e)
{
    const struct rung_phase *phase = rung_emit_phase(e);
    if (!phase || !phase->take.line)
        return false;
    rung_emit_copy(e, &phase->take);
    return true;
}

static bool fill_put(struct rung_emitter *e)
{
    const struct rung_phase *phase = rung_emit_phase(e);
    if (!phase || !phase->put.line)
        return false;
    rung_emit_copy(e, &phase->put);
    return true;
}

static bool fill_result(struct rung_emitter *e)
{
    rung_text_append(e->out, e->traced ? "TRACE_RESULT(" : "");
    rung_emit_operand(e, &e->kernel->result);
    rung_text_append(e->out, e->traced ? ")" : "");
    return true;
}

static bool fill_type(struct rung_emitter *e)
{
    rung_text_append(e->out, rung_type_cuda(e->kernel->config.type));
    return true;
}

static bool fill_symbol(struct rung_emitter *e)
{
    char symbol[RUNG_ID_SIZE];
    rung_config_symbol(&e->kernel->config, symbol);
    rung_text_append(e->out, symbol);
    return true;
}

static bool fill_parameters(struct rung_emitter *e)
{
    const struct rung_kernel *k = e->kernel;
    const char *type = rung_type_cuda(k->config.type);
    if (k->config.op == RUNG_OP_DOT)
        rung_text_format(e->out, "const %s *a, const %s *b", type, type);
    else
        rung_text_format(e->out, "const %s *in", type);
    rung_text_format(e->out, ", %s *out, unsigned long long n", type);
    if (k->parameter >= 0)
        rung_text_format(e->out, ", unsigned int %s", k->scope.names[k->parameter]);
    rung_text_append(e->out, e->traced ? ", trace_log trace" : "");
    return true;
}

/* `uses`: the directive that the placeholder puts to use. */
static const struct {
    const char *name;
    bool (*fill)(struct rung_emitter *e);
    const char *uses;
} placeholders[] = {
    {"SYMBOL",     fill_symbol,     NULL     },
    {"PARAMETERS", fill_parameters, NULL     },
    {"T",          fill_type,       NULL     },
    {"ELEMENT",    fill_element,    "element"},
    {"LOAD",       fill_load,       "load"   },
    {"SWEEP",      fill_sweep,      "sweep"  },
    {"MOVE",       fill_take,       "move"   },
    {"UNROLL",     fill_unroll,     NULL     },
    {"STEPS",      fill_steps,      "steps"  },
    {"LET",        fill_let,        "let"    },
    {"ACTIVE",     fill_active,     "active" },
    {"TAKE",       fill_take,       "take"   },
    {"ADD",        fill_add,        "add"    },
    {"PUT",        fill_put,        "put"    },
    {"RESULT",     fill_result,     "result" },
};

/* An expression between the signs: "@threads / 2@". */
static enum rung_status fill_expression(struct rung_emitter *e, const struct rung_line *line,
                                        const char *text)
{
    const struct rung_expr *expr;
    const char *at = text;
    struct rung_place place = {e->kernel->tpl->file, line->number};
    enum rung_status status =
        rung_expr_parse(&expr, e->arena, &e->kernel->scope, place, &at, e->err);
    if (status == RUNG_OK && *at)
        status = rung_template_fail(e->kernel->tpl, line->number, e->err, "'%s' is left over", at);
    if (status == RUNG_OK)
        rung_emit_expr(e, expr);
    return status;
}

enum rung_status rung_emit_placeholder(struct rung_emitter *e, const struct rung_line *line,
                                       const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof placeholders / sizeof *placeholders; i++) {
        if (strlen(placeholders[i].name) != length ||
            memcmp(placeholders[i].name, name, length) != 0)
            continue;
        if (!placeholders[i].fill(e))
            return rung_template_fail(e->kernel->tpl, line->number, e->err,
                                      "@%s@ has no directive above it", placeholders[i].name);
        rung_emit_used(e, placeholders[i].uses);
        return RUNG_OK;
    }
    if (name[0] >= 'A' && name[0] <= 'Z')
        return rung_template_fail(e->kernel->tpl, line->number, e->err, "no placeholder @%.*s@",
                                  (int)length, name);
    const char *text = rung_arena_copy(e->arena, name, length);
    return text ? fill_expression(e, line, text) : rung_fail(e->err, RUNG_MEMORY, "out of memory");
}
