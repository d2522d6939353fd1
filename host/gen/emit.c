/* The body of a template with its placeholders filled in. What a placeholder stands for is the
 * directive of its kind that was read last. */
#include "gen/emit.h"

#include <string.h>

#include "gen/strides.h"

struct emitter {
    struct rung_text *out;
    struct rung_arena *arena;
    struct rung_kernel *kernel;
    struct rung_error *err;
    struct rung_binding bindings[RUNG_NAMES_MAX];
    unsigned n_loads;                  /* load directives passed */
    unsigned n_phases;                 /* phases opened */
    bool sweeping;                     /* below a sweep: its loop guards the loads */
    bool traced;                       /* what touches data is written as TRACE_…, trace.cu.in */
    const struct rung_line *unused[8]; /* directives that wait for their placeholder */
    unsigned n_unused;
};

const char *rung_type_cuda(enum rung_type type)
{
    static const char *const names[] = {
        [RUNG_TYPE_F32] = "float", [RUNG_TYPE_F64] = "double", [RUNG_TYPE_I32] = "int"};
    return names[type];
}

const char *rung_type_zero(enum rung_type type)
{
    static const char *const zeros[] = {
        [RUNG_TYPE_F32] = "0.0f", [RUNG_TYPE_F64] = "0.0", [RUNG_TYPE_I32] = "0"};
    return zeros[type];
}

void rung_kernel_bind(struct rung_binding bindings[RUNG_NAMES_MAX],
                      const struct rung_kernel *kernel)
{
    memset(bindings, 0, RUNG_NAMES_MAX * sizeof *bindings);
    for (size_t i = 0; i < kernel->scope.n_names; i++)
        if (kernel->constant[i])
            bindings[i] = (struct rung_binding){
                .kind = RUNG_BIND_VALUE, .value = kernel->values[i], .hex = kernel->hex[i]};
    bindings[RUNG_SLOT_WIDTH] =
        kernel->config.bound == RUNG_BOUND_CONST
            ? (struct rung_binding){.kind = RUNG_BIND_VALUE, .value = kernel->config.block}
            : (struct rung_binding){.kind = RUNG_BIND_TEXT, .text = "blockDim.x"};
}

static void print(struct emitter *e, const struct rung_expr *expr)
{
    rung_expr_print(e->out, expr, &e->kernel->scope, e->bindings);
}

static void print_slot(struct emitter *e, const char *array, const struct rung_operand *operand)
{
    rung_text_format(e->out, "%s[", array);
    print(e, operand->index);
    rung_text_append(e->out, "]");
}

/* The same, as what is read. */
static void print_read(struct emitter *e, const char *trace, const char *array,
                       const struct rung_operand *operand)
{
    rung_text_append(e->out, e->traced ? trace : "");
    print_slot(e, array, operand);
    rung_text_append(e->out, e->traced ? ")" : "");
}

static void print_operand(struct emitter *e, const struct rung_operand *operand)
{
    bool dot = e->kernel->config.op == RUNG_OP_DOT;
    switch (operand->kind) {
    case RUNG_OPERAND_NONE:
        return;
    case RUNG_OPERAND_SUM:
        rung_text_append(e->out, "sum");
        return;
    case RUNG_OPERAND_TILE:
        print_read(e, "TRACE_READ(", "tile", operand);
        return;
    case RUNG_OPERAND_INPUT:
        print_read(e, "TRACE_LOAD(", dot ? "a" : "in", operand);
        if (dot) {
            rung_text_append(e->out, " * ");
            print_read(e, "TRACE_LOAD(", "b", operand);
        }
        return;
    case RUNG_OPERAND_SHUFFLE:
        rung_text_append(e->out, e->traced ? "TRACE_SHUFFLE(" : "__shfl_down_sync(");
        print(e, operand->mask);
        rung_text_append(e->out, ", sum, ");
        print(e, operand->index);
        rung_text_append(e->out, ", ");
        print(e, operand->lanes);
        rung_text_append(e->out, ")");
        return;
    }
}

/* What stands around the value that `to` is given. */
static void begin_assignment(struct emitter *e, const struct rung_operand *to)
{
    bool stores = e->traced && to->kind == RUNG_OPERAND_TILE;
    rung_text_append(e->out, stores ? "TRACE_STORE(" : "");
    if (to->kind == RUNG_OPERAND_TILE)
        print_slot(e, "tile", to);
    else
        print_operand(e, to);
    rung_text_append(e->out, stores ? ", " : " = ");
}

static void end_assignment(struct emitter *e, const struct rung_operand *to)
{
    rung_text_append(e->out, e->traced && to->kind == RUNG_OPERAND_TILE ? ");" : ";");
}

static void print_traced_addition(struct emitter *e, const struct rung_statement *addition)
{
    bool loaded = addition->from.kind == RUNG_OPERAND_INPUT;
    bool product = loaded && e->kernel->config.op == RUNG_OP_DOT;
    begin_assignment(e, &addition->to);
    rung_text_append(e->out, product  ? "TRACE_ADD_PRODUCT("
                             : loaded ? "TRACE_ADD_LOADED("
                                      : "TRACE_ADD(");
    print_operand(e, &addition->to);
    rung_text_append(e->out, ", ");
    if (product) {
        print_read(e, "TRACE_LOAD(", "a", &addition->from);
        rung_text_append(e->out, ", ");
        print_read(e, "TRACE_LOAD(", "b", &addition->from);
    } else {
        print_operand(e, &addition->from);
    }
    rung_text_append(e->out, ")");
    end_assignment(e, &addition->to);
}

static void print_statement(struct emitter *e, const struct rung_statement *statement)
{
    if (e->traced && statement->adds) {
        print_traced_addition(e, statement);
    } else if (statement->adds) {
        print_operand(e, &statement->to);
        rung_text_append(e->out, " += ");
        print_operand(e, &statement->from);
        rung_text_append(e->out, ";");
    } else {
        begin_assignment(e, &statement->to);
        print_operand(e, &statement->from);
        end_assignment(e, &statement->to);
    }
}

/* A copy with a condition: into the register it leaves the identity where it does not hold, into
 * the shared array it leaves the slot alone. */
static void print_copy(struct emitter *e, const struct rung_statement *copy)
{
    if (!copy->only_if) {
        print_statement(e, copy);
    } else if (copy->to.kind == RUNG_OPERAND_SUM) {
        rung_text_append(e->out, "sum = ");
        print(e, copy->only_if);
        rung_text_append(e->out, " ? ");
        print_operand(e, &copy->from);
        rung_text_format(e->out, " : %s;", rung_type_zero(e->kernel->config.type));
    } else {
        rung_text_append(e->out, "if (");
        print(e, copy->only_if);
        rung_text_append(e->out, ")\n    ");
        print_statement(e, copy);
    }
}

static const struct rung_phase *phase_of(const struct emitter *e)
{
    return e->n_phases > 0 ? &e->kernel->phases[e->n_phases - 1] : NULL;
}

/* A load never reads at or past n: a first one gives the identity there, a further one is left
 * out, and in a sweep the loop has tested the index. */
static bool fill_load(struct emitter *e)
{
    if (e->n_loads == 0)
        return false;
    const struct rung_statement *load = &e->kernel->loads[e->n_loads - 1];
    if (load->adds) {
        if (!e->sweeping) {
            rung_text_append(e->out, "if (");
            print(e, load->from.index);
            rung_text_append(e->out, " < n)\n    ");
        }
        print_statement(e, load);
        return true;
    }
    begin_assignment(e, &load->to);
    print(e, load->from.index);
    rung_text_append(e->out, " < n ? ");
    print_operand(e, &load->from);
    rung_text_format(e->out, " : %s", rung_type_zero(e->kernel->config.type));
    end_assignment(e, &load->to);
    return true;
}

static bool fill_sweep(struct emitter *e)
{
    for (int part = 0; part < 3; part++) {
        rung_text_append(e->out, part ? "; " : "");
        rung_text_append(e->out, part == 1 ? "i < n" : "i += ");
        if (part != 1)
            print(e, e->kernel->sweep);
    }
    return true;
}

static bool fill_element(struct emitter *e)
{
    print(e, e->kernel->element);
    return true;
}

static bool fill_steps(struct emitter *e)
{
    const struct rung_phase *phase = phase_of(e);
    if (!phase)
        return false;
    const char *name = e->kernel->scope.names[phase->variable];
    rung_text_format(e->out, "unsigned int %s = ", name);
    print(e, phase->first);
    rung_text_append(e->out, "; ");
    print(e, phase->more);
    rung_text_format(e->out, "; %s %s ", name, phase->operation);
    print(e, phase->update);
    return true;
}

/* With a run-time bound there is nothing to forbid: the loop stays because its end is not known. */
static bool fill_unroll(struct emitter *e)
{
    const struct rung_config *config = &e->kernel->config;
    if (config->bound == RUNG_BOUND_CONST && config->unroll == RUNG_UNROLL_NONE)
        rung_text_append(e->out, "#pragma unroll 1");
    return true;
}

static bool fill_let(struct emitter *e)
{
    const struct rung_phase *phase = phase_of(e);
    for (unsigned i = 0; phase && i < phase->n_lets; i++) {
        rung_text_format(e->out, "%sconst unsigned int %s = ", i ? "\n" : "",
                         e->kernel->scope.names[phase->lets[i].slot]);
        print(e, phase->lets[i].value);
        rung_text_append(e->out, ";");
    }
    return phase != NULL;
}

static bool fill_active(struct emitter *e)
{
    const struct rung_phase *phase = phase_of(e);
    if (!phase || !phase->active)
        return false;
    print(e, phase->active);
    return true;
}

static bool fill_add(struct emitter *e)
{
    const struct rung_phase *phase = phase_of(e);
    if (!phase || !phase->add.line)
        return false;
    print_statement(e, &phase->add);
    return true;
}

static bool fill_take(struct emitter *e)
{
    const struct rung_phase *phase = phase_of(e);
    if (!phase || !phase->take.line)
        return false;
    print_copy(e, &phase->take);
    return true;
}

static bool fill_put(struct emitter *e)
{
    const struct rung_phase *phase = phase_of(e);
    if (!phase || !phase->put.line)
        return false;
    print_copy(e, &phase->put);
    return true;
}

static bool fill_result(struct emitter *e)
{
    rung_text_append(e->out, e->traced ? "TRACE_RESULT(" : "");
    print_operand(e, &e->kernel->result);
    rung_text_append(e->out, e->traced ? ")" : "");
    return true;
}

static bool fill_type(struct emitter *e)
{
    rung_text_append(e->out, rung_type_cuda(e->kernel->config.type));
    return true;
}

static bool fill_symbol(struct emitter *e)
{
    char symbol[RUNG_ID_SIZE];
    rung_config_symbol(&e->kernel->config, symbol);
    rung_text_append(e->out, symbol);
    return true;
}

static bool fill_parameters(struct emitter *e)
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
    bool (*fill)(struct emitter *e);
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

static void used(struct emitter *e, const char *directive)
{
    for (unsigned i = 0; directive && i < e->n_unused;)
        if (strcmp(e->unused[i]->directive, directive) == 0)
            e->unused[i] = e->unused[--e->n_unused];
        else
            i++;
}

/* An expression between the signs: "@threads / 2@". */
static enum rung_status fill_expression(struct emitter *e, const struct rung_line *line,
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
        print(e, expr);
    return status;
}

static enum rung_status fill(struct emitter *e, const struct rung_line *line, const char *name,
                             size_t length)
{
    for (size_t i = 0; i < sizeof placeholders / sizeof *placeholders; i++) {
        if (strlen(placeholders[i].name) != length ||
            memcmp(placeholders[i].name, name, length) != 0)
            continue;
        if (!placeholders[i].fill(e))
            return rung_template_fail(e->kernel->tpl, line->number, e->err,
                                      "@%s@ has no directive above it", placeholders[i].name);
        used(e, placeholders[i].uses);
        return RUNG_OK;
    }
    if (name[0] >= 'A' && name[0] <= 'Z')
        return rung_template_fail(e->kernel->tpl, line->number, e->err, "no placeholder @%.*s@",
                                  (int)length, name);
    const char *text = rung_arena_copy(e->arena, name, length);
    return text ? fill_expression(e, line, text) : rung_fail(e->err, RUNG_MEMORY, "out of memory");
}

/* Puts `indent` blanks after each newline from `start` on. */
static void indent_lines(struct emitter *e, size_t start, size_t indent)
{
    struct rung_text *out = e->out;
    if (!out->data || !strchr(out->data + start, '\n'))
        return;
    const char *tail = rung_arena_copy(e->arena, out->data + start, out->length - start);
    if (!tail)
        return;
    out->length = start;
    for (; *tail; tail++) {
        rung_text_append_bytes(out, tail, 1);
        if (*tail == '\n')
            rung_text_format(out, "%*s", (int)indent, "");
    }
}

/* One line of code. A line that is nothing but a placeholder which stands for nothing vanishes. */
static enum rung_status emit_code(struct emitter *e, const struct rung_line *line)
{
    size_t line_start = e->out->length;
    size_t indent = strspn(line->text, " ");
    bool filled = false;
    for (const char *at = line->text; *at;) {
        size_t plain = strcspn(at, "@");
        rung_text_append_bytes(e->out, at, plain);
        at += plain;
        if (!*at)
            break;
        const char *end = strchr(at + 1, '@');
        if (!end)
            return rung_template_fail(e->kernel->tpl, line->number, e->err, "a single @");
        size_t start = e->out->length;
        enum rung_status status = fill(e, line, at + 1, (size_t)(end - at - 1));
        if (status != RUNG_OK)
            return status;
        indent_lines(e, start, indent);
        filled = true;
        at = end + 1;
    }
    if (filled && e->out->length == line_start + indent) {
        e->out->length = line_start;
        e->out->data[line_start] = '\0';
        return RUNG_OK;
    }
    rung_text_append(e->out, "\n");
    return RUNG_OK;
}

static bool same_active(const struct rung_kernel *k, unsigned phase)
{
    const struct rung_phase *a = &k->phases[phase];
    const struct rung_phase *b = phase > 0 ? &k->phases[phase - 1] : NULL;
    return b && b->stepping && a->active && b->active && rung_expr_same(a->active, b->active);
}

/* A directive becomes the current one of its kind, and waits for its placeholder. */
static enum rung_status pass_directive(struct emitter *e, const struct rung_line *line)
{
    static const char *const printed[] = {"element", "load", "sweep", "move", "steps", "let",
                                          "active",  "take", "add",   "put",  "result"};
    bool prints = false;
    for (size_t i = 0; i < sizeof printed / sizeof *printed; i++)
        prints |= strcmp(line->directive, printed[i]) == 0;
    if (!prints)
        return RUNG_OK;
    if (strcmp(line->directive, "load") == 0)
        e->n_loads++;
    e->sweeping |= strcmp(line->directive, "sweep") == 0;
    if (strcmp(line->directive, "move") == 0 ||
        (strcmp(line->directive, "steps") == 0 && !line->form))
        e->n_phases++;
    /* active[mask] stands for active; "all" and what an enclosing if has tested need no text. */
    used(e, line->form ? line->directive : NULL);
    if (strcmp(line->directive, "active") == 0 &&
        (!phase_of(e)->active || same_active(e->kernel, e->n_phases - 1)))
        return RUNG_OK;
    if (strcmp(line->directive, "let") == 0)
        used(e, "let"); /* @LET@ prints them all */
    for (unsigned i = 0; i < e->n_unused; i++)
        if (strcmp(e->unused[i]->directive, line->directive) == 0)
            return rung_template_fail(e->kernel->tpl, e->unused[i]->number, e->err,
                                      "'%s' is stated here and the code below never uses it",
                                      line->directive);
    if (e->n_unused == sizeof e->unused / sizeof *e->unused)
        return rung_template_fail(e->kernel->tpl, line->number, e->err,
                                  "too many directives without code between them");
    e->unused[e->n_unused++] = line;
    return RUNG_OK;
}

static bool is_directive(const struct rung_line *line, const char *name)
{
    return line->directive && strcmp(line->directive, name) == 0;
}

/* `each` … `end`: the lines between once per stride, with its value in place. */
static enum rung_status emit_each(struct emitter *e, size_t first, size_t *end)
{
    const struct rung_template *tpl = e->kernel->tpl;
    size_t last = first + 1;
    while (last < tpl->n_lines && !is_directive(&tpl->lines[last], "end"))
        if (tpl->lines[last++].directive)
            return rung_template_fail(tpl, tpl->lines[last - 1].number, e->err,
                                      "between 'each' and 'end' stands code only");
    const struct rung_phase *phase = phase_of(e);
    if (last == tpl->n_lines || !phase || !phase->stepping)
        return rung_template_fail(tpl, tpl->lines[first].number, e->err,
                                  phase ? "'end' is missing" : "'each' belongs below 'steps'");
    used(e, "steps");
    enum rung_status status = RUNG_OK;
    struct rung_strides strides;
    bool any = false;
    for (status = rung_strides_begin(&strides, e->kernel, phase, e->err);
         status == RUNG_OK && strides.more; status = rung_strides_next(&strides, e->err)) {
        e->bindings[phase->variable] = (struct rung_binding){
            .kind = RUNG_BIND_VALUE, .value = e->kernel->values[phase->variable]};
        for (size_t i = first + 1; i < last && status == RUNG_OK; i++)
            status = emit_code(e, &tpl->lines[i]);
        any = true;
    }
    e->bindings[phase->variable] = (struct rung_binding){0};
    if (!any) { /* a block this small has no such step */
        used(e, "add");
        used(e, "put");
        used(e, "active");
    }
    *end = last;
    return status;
}

enum rung_status rung_emit_kernel(struct rung_text *out, struct rung_arena *arena,
                                  struct rung_kernel *kernel, bool traced, struct rung_error *err)
{
    struct emitter e = {.out = out, .arena = arena, .kernel = kernel, .traced = traced, .err = err};
    rung_kernel_bind(e.bindings, kernel);
    const struct rung_template *tpl = kernel->tpl;
    enum rung_status status = RUNG_OK;
    bool begun = false; /* blank lines before the kernel are left out */
    for (size_t i = 0; i < tpl->n_lines && status == RUNG_OK; i++) {
        const struct rung_line *line = &tpl->lines[i];
        begun |= !line->directive && line->text[0];
        if (!line->directive)
            status = begun ? emit_code(&e, line) : RUNG_OK;
        else if (is_directive(line, "each"))
            status = emit_each(&e, i, &i);
        else if (is_directive(line, "end"))
            status = rung_template_fail(tpl, line->number, err, "'end' without 'each'");
        else if (rung_line_applies(line, &kernel->config))
            status = pass_directive(&e, line);
    }
    if (status == RUNG_OK && e.n_unused > 0)
        status = rung_template_fail(tpl, e.unused[0]->number, err,
                                    "'%s' is stated here and the code below never uses it",
                                    e.unused[0]->directive);
    return status;
}
