/* What the files that fill in a template share: the state of the walk over its lines, and the
 * pieces of CUDA that are written on the way. For emit*.c only. */
#ifndef RUNG_GEN_EMITTER_H
#define RUNG_GEN_EMITTER_H

#include "gen/emit.h"

struct rung_emitter {
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

/* The phase that was opened last; NULL before the first. */
const struct rung_phase *rung_emit_phase(const struct rung_emitter *e);

/* The directive of this name, if any waits, has been put to use. `directive` may be NULL. */
void rung_emit_used(struct rung_emitter *e, const char *directive);

/* --- emit_statement.c: expressions, operands and statements ---------------------------------- */

void rung_emit_expr(struct rung_emitter *e, const struct rung_expr *expr);
void rung_emit_operand(struct rung_emitter *e, const struct rung_operand *operand);

/* What stands before and behind the value that `to` is given. */
void rung_emit_assignment_begin(struct rung_emitter *e, const struct rung_operand *to);
void rung_emit_assignment_end(struct rung_emitter *e, const struct rung_operand *to);

void rung_emit_statement(struct rung_emitter *e, const struct rung_statement *statement);

/* A copy with a condition: into the register it leaves the identity where it does not hold, into
 * the shared array it leaves the slot alone. */
void rung_emit_copy(struct rung_emitter *e, const struct rung_statement *copy);

/* --- emit_placeholder.c ---------------------------------------------------------------------- */

/* Writes what stands for @name@ on `line`: one of the placeholders, or the value of an expression.
 * RUNG_USAGE names the line where there is no such placeholder or nothing that it stands for. */
enum rung_status rung_emit_placeholder(struct rung_emitter *e, const struct rung_line *line,
                                       const char *name, size_t length);

#endif
