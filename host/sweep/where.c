/* Reads a condition by recursive descent into a tree of nodes, and evaluates it over cells. Words
 * are compared as the numbers of their enumerations. */
#include "sweep/where.h"

#include <ctype.h>
#include <string.h>

#include "base/text.h"

#define DEPTH_MAX 64 /* of parentheses and negations: bounds the recursion over hostile text */

#define WORD(name, word, help) word,

static const char *const state_words[] = {
#define AXIS_STATE WORD
#include "bench/sampling.def"
    NULL};
static const char *const timer_words[] = {
#define AXIS_TIMER WORD
#include "bench/sampling.def"
    NULL};
static const char *const image_words[] = {"auto", "cubin", "ptx", NULL}; /* enum rung_image_kind */

enum axis_number {
    ON_VERSION,
    ON_BLOCK,
    ON_N,
    ON_TARGET,
    ON_BOUND,
    ON_UNROLL,
    ON_PREDICATE,
    ON_OP,
    ON_TYPE,
    ON_VARIANT,
    ON_IMAGE,
    ON_STATE,
    ON_TIMER,
    N_AXES
};

static const struct axis {
    const char *name;
    const char *const *words; /* NULL: an axis of numbers */
} axes[N_AXES] = {
    {"version",   NULL                },
    {"block",     NULL                },
    {"n",         NULL                },
    {"target",    NULL                },
    {"bound",     rung_bound_words    },
    {"unroll",    rung_unroll_words   },
    {"predicate", rung_predicate_words},
    {"op",        rung_op_words       },
    {"type",      rung_type_words     },
    {"variant",   rung_variant_words  },
    {"image",     image_words         },
    {"state",     state_words         },
    {"timer",     timer_words         },
};

static uint64_t value_of(const struct rung_cell *cell, enum axis_number axis)
{
    const struct rung_config *config = &cell->config;
    const uint64_t values[N_AXES] = {
        config->version, config->block,     cell->n,     cell->target, config->bound,
        config->unroll,  config->predicate, config->op,  config->type, config->variant,
        cell->image,     cell->state,       cell->timer,
    };
    return values[axis];
}

enum relation { EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL };

struct rung_where {
    enum { NODE_OR, NODE_AND, NODE_NOT, NODE_COMPARE } kind;
    const struct rung_where *left, *right; /* OR, AND; NOT has a left only */
    enum axis_number axis;                 /* COMPARE */
    enum relation relation;
    uint64_t value;
};

bool rung_where_accepts(const struct rung_where *where, const struct rung_cell *cell)
{
    if (!where)
        return true;
    switch (where->kind) {
    case NODE_OR:
        return rung_where_accepts(where->left, cell) || rung_where_accepts(where->right, cell);
    case NODE_AND:
        return rung_where_accepts(where->left, cell) && rung_where_accepts(where->right, cell);
    case NODE_NOT:
        return !rung_where_accepts(where->left, cell);
    case NODE_COMPARE:
        break;
    }
    uint64_t value = value_of(cell, where->axis);
    switch (where->relation) {
    case EQUAL:
        return value == where->value;
    case NOT_EQUAL:
        return value != where->value;
    case LESS:
        return value < where->value;
    case LESS_EQUAL:
        return value <= where->value;
    case GREATER:
        return value > where->value;
    case GREATER_EQUAL:
        return value >= where->value;
    }
    return false;
}

struct parser {
    struct rung_arena *arena;
    const char *text, *at;
    unsigned depth;
    struct rung_error *err;
};

static void skip_space(struct parser *parser)
{
    while (isspace((unsigned char)*parser->at))
        parser->at++;
}

static bool take(struct parser *parser, const char *token)
{
    skip_space(parser);
    size_t length = strlen(token);
    if (strncmp(parser->at, token, length) != 0)
        return false;
    parser->at += length;
    return true;
}

static enum rung_status fail_here(struct parser *parser, const char *at, const char *wanted)
{
    int column = (int)(at - parser->text) + 1;
    return *at ? rung_fail(parser->err, RUNG_USAGE, "where: column %d, at '%.32s': %s", column, at,
                           wanted)
               : rung_fail(parser->err, RUNG_USAGE, "where: column %d, at its end: %s", column,
                           wanted);
}

static struct rung_where *new_node(struct parser *parser)
{
    struct rung_where *node = rung_arena_alloc(parser->arena, sizeof *node);
    if (!node)
        rung_fail(parser->err, RUNG_MEMORY, "out of memory");
    return node;
}

/* A name, a word or a number: letters, digits and what stands inside "2^24-611" and "sm_90". */
static size_t take_token(struct parser *parser, char *token, size_t size)
{
    skip_space(parser);
    size_t length = 0;
    while (isalnum((unsigned char)parser->at[length]) ||
           (parser->at[length] && strchr("_^+-", parser->at[length])))
        length++;
    size_t kept = length < size ? length : size - 1;
    memcpy(token, parser->at, kept);
    token[kept] = '\0';
    return length;
}

static enum rung_status parse_axis(struct parser *parser, enum axis_number *out)
{
    char name[32];
    size_t length = take_token(parser, name, sizeof name);
    for (size_t i = 0; i < N_AXES; i++) {
        if (strcmp(name, axes[i].name) == 0) {
            parser->at += length;
            *out = (enum axis_number)i;
            return RUNG_OK;
        }
    }
    struct rung_text wanted = {0};
    rung_text_format(&wanted, "'%s' is no axis; the axes are", length ? name : "");
    for (size_t i = 0; i < N_AXES; i++)
        rung_text_format(&wanted, "%s %s", i ? "," : "", axes[i].name);
    enum rung_status status = fail_here(parser, parser->at, rung_text_string(&wanted));
    rung_text_release(&wanted);
    return status;
}

static enum rung_status parse_relation(struct parser *parser, enum relation *out)
{
    static const struct {
        const char *token;
        enum relation relation;
    } relations[] = {
        {"==", EQUAL        },
        {"!=", NOT_EQUAL    },
        {"<=", LESS_EQUAL   },
        {">=", GREATER_EQUAL},
        {"=",  EQUAL        },
        {"<",  LESS         },
        {">",  GREATER      },
    };
    for (size_t i = 0; i < sizeof relations / sizeof *relations; i++) {
        if (take(parser, relations[i].token)) {
            *out = relations[i].relation;
            return RUNG_OK;
        }
    }
    return fail_here(parser, parser->at, "one of == != < <= > >= must follow the axis");
}

static enum rung_status fail_word(struct parser *parser, const struct axis *axis)
{
    struct rung_text wanted = {0};
    rung_text_format(&wanted, "%s takes", axis->name);
    for (size_t i = 0; axis->words[i]; i++)
        rung_text_format(&wanted, "%s %s", i ? "," : "", axis->words[i]);
    enum rung_status status = fail_here(parser, parser->at, rung_text_string(&wanted));
    rung_text_release(&wanted);
    return status;
}

static enum rung_status parse_word(struct parser *parser, struct rung_where *node)
{
    const struct axis *axis = &axes[node->axis];
    char word[64];
    size_t length = take_token(parser, word, sizeof word);
    for (size_t i = 0; axis->words[i]; i++) {
        if (strcmp(word, axis->words[i]) == 0) {
            if (node->relation != EQUAL && node->relation != NOT_EQUAL)
                return fail_here(parser, parser->at, "words have no order: use == or !=");
            parser->at += length;
            node->value = i;
            return RUNG_OK;
        }
    }
    return fail_word(parser, axis);
}

static enum rung_status parse_number(struct parser *parser, struct rung_where *node)
{
    char token[64];
    size_t length = take_token(parser, token, sizeof token);
    const char *digits = token;
    if (node->axis == ON_TARGET && strncmp(token, "sm_", 3) == 0)
        digits += 3;
    if (!isdigit((unsigned char)*digits))
        return fail_here(parser, parser->at, "a number is wanted");
    struct rung_error why = {0};
    if (rung_parse_n(&node->value, digits, &why) != RUNG_OK)
        return fail_here(parser, parser->at, why.text);
    parser->at += length;
    return RUNG_OK;
}

static enum rung_status parse_or(struct parser *parser, const struct rung_where **out);

static enum rung_status parse_unary(struct parser *parser, const struct rung_where **out)
{
    if (parser->depth >= DEPTH_MAX)
        return fail_here(parser, parser->at, "nested too deeply");
    struct rung_where *node = new_node(parser);
    if (!node)
        return RUNG_MEMORY;
    *out = node;
    enum rung_status status;
    skip_space(parser);
    if (*parser->at == '(') {
        parser->at++;
        parser->depth++;
        status = parse_or(parser, out);
        parser->depth--;
        if (status == RUNG_OK && !take(parser, ")"))
            status = fail_here(parser, parser->at, "a ) is missing");
        return status;
    }
    if (*parser->at == '!' && parser->at[1] != '=') {
        parser->at++;
        parser->depth++;
        node->kind = NODE_NOT;
        status = parse_unary(parser, &node->left);
        parser->depth--;
        return status;
    }
    node->kind = NODE_COMPARE;
    if ((status = parse_axis(parser, &node->axis)) != RUNG_OK ||
        (status = parse_relation(parser, &node->relation)) != RUNG_OK)
        return status;
    return axes[node->axis].words ? parse_word(parser, node) : parse_number(parser, node);
}

/* Joins operands from left to right. */
static enum rung_status parse_chain(struct parser *parser, const struct rung_where **out, bool and)
{
    enum rung_status status = and? parse_unary(parser, out) : parse_chain(parser, out, true);
    while (status == RUNG_OK && take(parser, and? "&&" : "||")) {
        struct rung_where *node = new_node(parser);
        if (!node)
            return RUNG_MEMORY;
        node->kind = and? NODE_AND : NODE_OR;
        node->left = *out;
        status = and? parse_unary(parser, &node->right) : parse_chain(parser, &node->right, true);
        *out = node;
    }
    return status;
}

static enum rung_status parse_or(struct parser *parser, const struct rung_where **out)
{
    return parse_chain(parser, out, false);
}

enum rung_status rung_where_parse(const struct rung_where **out, struct rung_arena *arena,
                                  const char *text, struct rung_error *err)
{
    struct parser parser = {.arena = arena, .text = text, .at = text, .err = err};
    const struct rung_where *where;
    enum rung_status status = parse_or(&parser, &where);
    skip_space(&parser);
    if (status == RUNG_OK && *parser.at)
        status = fail_here(&parser, parser.at, "&& or || or the end is wanted");
    if (status == RUNG_OK)
        *out = where;
    return status;
}
