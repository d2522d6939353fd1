/* Walks over the lines of a template: code with its placeholders filled in, directives that wait
 * for theirs, and the lines that stand once for each stride. */
#include "gen/emit.h"

#include <string.h>

#include "gen/emitter.h"
#include "gen/strides.h"

const struct rung_phase *rung_emit_phase(const struct rung_emitter *e)
{
    return e->n_phases > 0 ? &e->kernel->phases[e->n_phases - 1] : NULL;
}

void rung_emit_used(struct rung_emitter *e, const char *directive)
{
    for (unsigned i = 0; directive && i < e->n_unused;)
        if (strcmp(e->unused[i]->directive, directive) == 0)
            e->unused[i] = e->unused[--e->n_unused];
        else
            i++;
}

/* Puts `indent` blanks after each newline from `start` on. */
static void indent_lines(struct rung_emitter *e, size_t start, size_t indent)
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
static enum rung_status emit_code(struct rung_emitter *e, const struct rung_line *line)
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
        enum rung_status status = rung_emit_placeholder(e, line, at + 1, (size_t)(end - at - 1));
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
static enum rung_status pass_directive(struct rung_emitter *e, const struct rung_line *line)
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
    rung_emit_used(e, line->form ? line->directive : NULL);
    if (strcmp(line->directive, "active") == 0 &&
        (!rung_emit_phase(e)->active || same_active(e->kernel, e->n_phases - 1)))
        return RUNG_OK;
    if (strcmp(line->directive, "let") == 0)
        rung_emit_used(e, "let"); /* @LET@ prints them all */
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
static enum rung_status emit_each(struct rung_emitter *e, size_t first, size_t *end)
{
    const struct rung_template *tpl = e->kernel->tpl;
    size_t last = first + 1;
    while (last < tpl->n_lines && !is_directive(&tpl->lines[last], "end"))
        if (tpl->lines[last++].directive)
            return rung_template_fail(tpl, tpl->lines[last - 1].number, e->err,
                                      "between 'each' and 'end' stands code only");
    const struct rung_phase *phase = rung_emit_phase(e);
    if (last == tpl->n_lines || !phase || !phase->stepping)
        return rung_template_fail(tpl, tpl->lines[first].number, e->err,
                                  phase ? "'end' is missing" : "'each' belongs below 'steps'");
    rung_emit_used(e, "steps");
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
        rung_emit_used(e, "add");
        rung_emit_used(e, "put");
        rung_emit_used(e, "active");
    }
    *end = last;
    return status;
}

enum rung_status rung_emit_kernel(struct rung_text *out, struct rung_arena *arena,
                                  struct rung_kernel *kernel, bool traced, struct rung_error *err)
{
    struct rung_emitter e = {
        .out = out, .arena = arena, .kernel = kernel, .traced = traced, .err = err};
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
