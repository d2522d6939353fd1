/* A template made specific to one configuration: its directives as expressions whose constants are
 * known. The emitter prints it, the model runs it. Used inside host/gen only. */
#ifndef RUNG_GEN_KERNEL_H
#define RUNG_GEN_KERNEL_H

#include "gen/expr.h"
#include "gen/template.h"

/* One line of a template file. A directive has a name; the text of any other line is its code. */
struct rung_line {
    unsigned number;
    const char *directive; /* "active"; NULL for a line of code */
    const char *form;      /* "mask" of active[mask]; NULL without */
    const char *text;      /* after the name, or the whole line of code */
};

struct rung_template {
    const char *file;
    const struct rung_line *lines;
    size_t n_lines;
    unsigned version;
    enum rung_variant variant;
    const char *title, *change;
    bool sweeps; /* a grid-stride loop: the grid is fixed */
    unsigned n_loads;
    const struct rung_ladder *ladder; /* for claims about other versions; NULL if parsed alone */
    /* Of a negative control only: */
    const char *control, *mistake, *caught;
    uint64_t shows_block, shows_n; /* 0: at any */
    bool rereads_input;
};

/* Where a value lives, or comes from. */
enum rung_operand_kind {
    RUNG_OPERAND_NONE,
    RUNG_OPERAND_TILE,    /* tile[index], the block's shared array */
    RUNG_OPERAND_SUM,     /* sum, each thread's register */
    RUNG_OPERAND_INPUT,   /* in[index] */
    RUNG_OPERAND_SHUFFLE, /* __shfl_down_sync(mask, sum, index, lanes) */
};
struct rung_operand {
    enum rung_operand_kind kind;
    const struct rung_expr *index, *mask, *lanes;
};

/* `to = from`, `to += from`, or with a condition `to = from if only_if`. */
struct rung_statement {
    unsigned line; /* 0: there is no such statement */
    bool adds;
    struct rung_operand to, from;
    const struct rung_expr *only_if; /* NULL: always */
};

#define RUNG_LETS_MAX 4

/* A part of the kernel between the loads and the result: a move on its own, or steps of a stride.
 * All active threads of a statement read before any of them writes. */
struct rung_phase {
    unsigned line;
    bool stepping; /* false: `take` alone, once, by every thread */
    int variable;  /* slot of the loop variable */
    const struct rung_expr *first, *more, *update;
    const char *operation; /* "*=" */
    struct {
        int slot;
        const struct rung_expr *value;
    } lets[RUNG_LETS_MAX];
    unsigned n_lets;
    bool everyone; /* active all */
    const struct rung_expr *active;
    struct rung_statement take; /* once, before the first step, by those active then */
    struct rung_statement add;  /* at every step: the addition of the tree */
    struct rung_statement put;  /* at every step, after it */
};

#define RUNG_PHASES_MAX 8
#define RUNG_LOADS_MAX 8

enum rung_slot {
    RUNG_SLOT_TID,
    RUNG_SLOT_THREADS,
    RUNG_SLOT_WIDTH,
    RUNG_SLOT_BLOCK,
    RUNG_SLOT_GRID,
    RUNG_SLOT_N,
    RUNG_SLOT_I,
    RUNG_SLOT_S,
    RUNG_SLOTS_FIXED
};

struct rung_claim {
    unsigned line;
    const char *text;
    const struct rung_expr *holds; /* over the claim scope; NULL for a claim on active threads */
    unsigned same_threads;         /* version whose active threads are the same at every step */
};
#define RUNG_CLAIMS_MAX 8

struct rung_kernel {
    const struct rung_template *tpl;
    struct rung_config config;
    struct rung_scope scope;
    uint64_t values[RUNG_NAMES_MAX]; /* those of constants are filled; the rest is scratch */
    bool constant[RUNG_NAMES_MAX];
    bool hex[RUNG_NAMES_MAX];
    int parameter;                   /* slot of the further kernel argument, -1 without */
    const struct rung_expr *element; /* index of a thread's first element */
    const struct rung_expr *sweep;   /* added to i by the grid-stride loop; NULL without */
    struct rung_statement loads[RUNG_LOADS_MAX];
    unsigned first_swept; /* with a sweep: the first load of its loop */
    unsigned n_loads;
    struct rung_phase phases[RUNG_PHASES_MAX];
    unsigned n_phases;
    struct rung_operand result;
    struct rung_scope claim_scope; /* width, bytes, additions, runs, serialised, vN.… */
    struct rung_claim claims[RUNG_CLAIMS_MAX];
    unsigned n_claims;
};

/* Whether a line applies to a configuration: it has no form, or the configuration has that word. */
bool rung_line_applies(const struct rung_line *line, const struct rung_config *config);

/* Makes a template specific. Everything lives in the arena. */
enum rung_status rung_kernel_make(struct rung_kernel *out, struct rung_arena *arena,
                                  const struct rung_template *tpl, const struct rung_config *config,
                                  struct rung_error *err);

/* RUNG_USAGE "file:line: message". */
enum rung_status rung_template_fail(const struct rung_template *tpl, unsigned line,
                                    struct rung_error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The values that a claim's names have. `vN.x` are those of version N at the same block. */
enum rung_claim_slot {
    RUNG_CLAIM_WIDTH,
    RUNG_CLAIM_BYTES,
    RUNG_CLAIM_ADDITIONS,
    RUNG_CLAIM_RUNS,
    RUNG_CLAIM_SERIALISED,
    RUNG_CLAIM_FIXED /* then three names per version that is mentioned */
};

#endif
