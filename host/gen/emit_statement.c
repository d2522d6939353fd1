/* Expressions, operands and statements as CUDA; in a traced kernel what touches data is a macro
 * that writes down what it does. */
#include <string.h>

#include "gen/emitter.h"

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

void rung_emit_expr(struct rung_emitter *e, const struct rung_expr *expr)
{
    rung_expr_print(e->out, expr, &e->kernel->scope, e->bindings);
}

static void print_slot(struct rung_emitter *e, const char *array,
                       const struct rung_operand *operand)
{
    rung_text_format(e->out, "%s[", array);
    rung_emit_expr(e, operand->index);
    rung_text_append(e->out, "]");
}

/* The same, as what is read. */
static void print_read(struct rung_emitter *e, const char *trace, const char *array,
                       const struct rung_operand *operand)
{
    rung_text_append(e->out, e->traced ? trace : "");
    print_slot(e, array, operand);
    rung_text_append(e->out, e->traced ? ")" : "");
}

void rung_emit_operand(struct rung_emitter *e, const struct rung_operand *operand)
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
        rung_emit_expr(e, operand->mask);
        rung_text_append(e->out, ", sum, ");
        rung_emit_expr(e, operand->index);
        rung_text_append(e->out, ", ");
        rung_emit_expr(e, operand->lanes);
        rung_text_append(e->out, ")");
        return;
    }
}

void rung_emit_assignment_begin(struct rung_emitter *e, const struct rung_operand *to)
{
    bool stores = e->traced && to->kind == RUNG_OPERAND_TILE;
    rung_text_append(e->out, stores ? "TRACE_STORE(" : "");
    if (to->kind == RUNG_OPERAND_TILE)
        print_slot(e, "tile", to);
    else
        rung_emit_operand(e, to);
    rung_text_append(e->out, stores ? ", " : " = ");
}

void rung_emit_assignment_end(struct rung_emitter *e, const struct rung_operand *to)
{
    rung_text_append(e->out, e->traced && to->kind == RUNG_OPERAND_TILE ? ");" : ";");
}

static void print_traced_addition(struct rung_emitter *e, const struct rung_statement *addition)
{
    bool loaded = addition->from.kind == RUNG_OPERAND_INPUT;
    bool product = loaded && e->kernel->config.op == RUNG_OP_DOT;
    rung_emit_assignment_begin(e, &addition->to);
    rung_text_append(e->out, product  ? "TRACE_ADD_PRODUCT("
                             : loaded ? "TRACE_ADD_LOADED("
                                      : "TRACE_ADD(");
    rung_emit_operand(e, &addition->to);
    rung_text_append(e->out, ", ");
    if (product) {
        print_read(e, "TRACE_LOAD(", "a", &addition->from);
        rung_text_append(e->out, ", ");
        print_read(e, "TRACE_LOAD(", "b", &addition->from);
    } else {
        rung_emit_operand(e, &addition->from);
    }
    rung_text_append(e->out, ")");
    rung_emit_assignment_end(e, &addition->to);
}

void rung_emit_statement(struct rung_emitter *e, const struct rung_statement *statement)
{
    if (e->traced && statement->adds) {
        print_traced_addition(e, statement);
    } else if (statement->adds) {
        rung_emit_operand(e, &statement->to);
        rung_text_append(e->out, " += ");
        rung_emit_operand(e, &statement->from);
        rung_text_append(e->out, ";");
    } else {
        rung_emit_assignment_begin(e, &statement->to);
        rung_emit_operand(e, &statement->from);
        rung_emit_assignment_end(e, &statement->to);
    }
}

void rung_emit_copy(struct rung_emitter *e, const struct rung_statement *copy)
{
    if (!copy->only_if) {
        rung_emit_statement(e, copy);
    } else if (copy->to.kind == RUNG_OPERAND_SUM) {
        rung_text_append(e->out, "sum = ");
        rung_emit_expr(e, copy->only_if);
        rung_text_append(e->out, " ? ");
        rung_emit_operand(e, &copy->from);
        rung_text_format(e->out, " : %s;", rung_type_zero(e->kernel->config.type));
    } else {
        rung_text_append(e->out, "if (");
        rung_emit_expr(e, copy->only_if);
        rung_text_append(e->out, ")\n    ");
        rung_emit_statement(e, copy);
    }
}
