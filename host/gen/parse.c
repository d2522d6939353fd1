/* Template text to lines: tells directives from code, and reads those that describe the version as
 * a whole. What the others mean is kernel.c's. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/kernel.h"
#include "gen/parse.h"

static const char *const directives[] = {
    "version", "variant", "title", "change",    "lacks",   "claim", "control", "mistake", "caught",
    "shows",   "host",    "const", "parameter", "element", "load",  "sweep",   "move",    "steps",
    "let",     "active",  "take",  "add",       "put",     "each",  "end",     "result",
};

enum rung_status rung_template_fail(const struct rung_template *tpl, unsigned line,
                                    struct rung_error *err, const char *format, ...)
{
    char message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return rung_fail(err, RUNG_USAGE, "%s:%u: %s", tpl->file, line, message);
}

static const char *skip_blanks(const char *at)
{
    while (*at == ' ' || *at == '\t')
        at++;
    return at;
}

static size_t trimmed(const char *at, size_t length)
{
    while (length > 0 &&
           (at[length - 1] == ' ' || at[length - 1] == '\t' || at[length - 1] == '\r'))
        length--;
    return length;
}

/* The axis words: those of the values that are not defaults too. */
static bool is_axis_word(const char *word)
{
#define WORD(name, spelling, help)                                                                 \
    if (strcmp(word, spelling) == 0)                                                               \
        return true;
#define AXIS_BOUND WORD
#define AXIS_UNROLL WORD
#define AXIS_PREDICATE WORD
#define AXIS_OP WORD
#define AXIS_TYPE WORD
#define AXIS_VARIANT WORD
#include "config/axes.def"
#undef WORD
    return false;
}

static bool known_directive(const char *name)
{
    for (size_t i = 0; i < sizeof directives / sizeof *directives; i++)
        if (strcmp(directives[i], name) == 0)
            return true;
    return false;
}

struct reader {
    struct rung_template *tpl;
    struct rung_arena *arena;
    struct rung_error *err;
};

/* `name`, then `[form]`, then text. An empty `//!` separates and says nothing. */
static enum rung_status read_directive(struct reader *r, struct rung_line *line, const char *at,
                                       size_t length)
{
    char *copy = rung_arena_copy(r->arena, at, length);
    if (!copy)
        return rung_fail(r->err, RUNG_MEMORY, "out of memory");
    size_t name = strcspn(copy, " \t[");
    char *rest = copy + name;
    if (*rest == '[') {
        char *close = strchr(rest, ']');
        if (!close)
            return rung_template_fail(r->tpl, line->number, r->err, "']' is missing after '%s'",
                                      copy);
        *rest = *close = '\0';
        line->form = rest + 1;
        rest = close + 1;
        if (!is_axis_word(line->form))
            return rung_template_fail(r->tpl, line->number, r->err,
                                      "[%s] is no value of any axis (axes.def has them)",
                                      line->form);
    } else if (*rest) {
        *rest++ = '\0';
    }
    if (!known_directive(copy)) {
        struct rung_text known = {0};
        for (size_t i = 0; i < sizeof directives / sizeof *directives; i++)
            rung_text_format(&known, "%s%s", i ? ", " : "", directives[i]);
        enum rung_status status =
            rung_template_fail(r->tpl, line->number, r->err, "no directive '%s'; there are %s",
                               copy, rung_text_string(&known));
        rung_text_release(&known);
        return status;
    }
    line->directive = copy;
    line->text = skip_blanks(rest);
    return RUNG_OK;
}

static size_t count_lines(const char *text)
{
    size_t count = 0;
    for (; *text; text++)
        count += *text == '\n' || text[1] == '\0';
    return count;
}

static enum rung_status read_lines(struct reader *r, const char *text)
{
    struct rung_line *lines = rung_arena_array(r->arena, count_lines(text) + 1, sizeof *lines);
    if (!lines)
        return rung_fail(r->err, RUNG_MEMORY, "out of memory");
    size_t n = 0;
    unsigned number = 0;
    enum rung_status status = RUNG_OK;
    for (const char *at = text; *at && status == RUNG_OK;) {
        size_t length = strcspn(at, "\n");
        struct rung_line line = {.number = ++number};
        const char *start = skip_blanks(at);
        size_t room = trimmed(start, length - (size_t)(start - at));
        bool marked = room >= 3 && strncmp(start, "//!", 3) == 0;
        if (marked) {
            const char *body = skip_blanks(start + 3);
            size_t body_length = room - (size_t)(body - start);
            if (body < start + room)
                status = read_directive(r, &line, body, body_length);
        } else {
            line.text = rung_arena_copy(r->arena, at, trimmed(at, length));
            if (!line.text)
                return rung_fail(r->err, RUNG_MEMORY, "out of memory");
        }
        if (!marked || line.directive)
            lines[n++] = line;
        at += length + (at[length] == '\n');
    }
    r->tpl->lines = lines;
    r->tpl->n_lines = n;
    return status;
}

static enum rung_status read_version(struct reader *r, const struct rung_line *line)
{
    char *end;
    unsigned long value = strtoul(line->text, &end, 10);
    if (line->text[0] < '1' || line->text[0] > '9' || *end || value > 999)
        return rung_template_fail(r->tpl, line->number, r->err,
                                  "version '%s' is not a number 1 ... 999", line->text);
    r->tpl->version = (unsigned)value;
    return RUNG_OK;
}

static enum rung_status read_variant(struct reader *r, const struct rung_line *line)
{
#define AXIS_VARIANT(name, word, help)                                                             \
    if (strcmp(line->text, word) == 0) {                                                           \
        r->tpl->variant = RUNG_VARIANT_##name;                                                     \
        return RUNG_OK;                                                                            \
    }
#include "config/axes.def"
    return rung_template_fail(r->tpl, line->number, r->err,
                              "variant '%s' is not in axes.def: add its row there", line->text);
}

/* "mask, shift: why not": every word must be one of an axis, and the reason must be there. */
static enum rung_status check_lacks(struct reader *r, const struct rung_line *line)
{
    const char *colon = strchr(line->text, ':');
    if (!colon || !*skip_blanks(colon + 1))
        return rung_template_fail(r->tpl, line->number, r->err,
                                  "'lacks' reads WORD, WORD: the reason");
    char word[RUNG_WORD_SIZE];
    for (const char *at = line->text; rung_lacks_next(word, &at);)
        if (!is_axis_word(word))
            return rung_template_fail(r->tpl, line->number, r->err, "'%s' is no value of any axis",
                                      word);
    return RUNG_OK;
}

/* "block 32" or "n 4294967297": where the mistake of a control can be seen. */
static enum rung_status read_shows(struct reader *r, const struct rung_line *line)
{
    bool block = strncmp(line->text, "block ", 6) == 0;
    uint64_t *field = block ? &r->tpl->shows_block : &r->tpl->shows_n;
    struct rung_error why = {0};
    if (!block && strncmp(line->text, "n ", 2) != 0)
        return rung_template_fail(r->tpl, line->number, r->err,
                                  "'shows' reads 'block NUMBER' or 'n NUMBER'");
    if (rung_parse_n(field, line->text + (block ? 6 : 2), &why) != RUNG_OK)
        return rung_template_fail(r->tpl, line->number, r->err, "%s", why.text);
    return RUNG_OK;
}

static enum rung_status read_header_line(struct reader *r, const struct rung_line *line)
{
    const struct {
        const char *directive;
        const char **field;
    } texts[] = {
        {"title",   &r->tpl->title  },
        {"change",  &r->tpl->change },
        {"control", &r->tpl->control},
        {"mistake", &r->tpl->mistake},
        {"caught",  &r->tpl->caught },
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (strcmp(line->directive, texts[i].directive) != 0)
            continue;
        if (!*line->text || *texts[i].field)
            return rung_template_fail(r->tpl, line->number, r->err,
                                      "'%s' must stand once, with text", line->directive);
        *texts[i].field = line->text;
        return RUNG_OK;
    }
    if (strcmp(line->directive, "version") == 0)
        return read_version(r, line);
    if (strcmp(line->directive, "variant") == 0)
        return read_variant(r, line);
    if (strcmp(line->directive, "lacks") == 0)
        return check_lacks(r, line);
    if (strcmp(line->directive, "shows") == 0)
        return read_shows(r, line);
    if (strcmp(line->directive, "host") == 0) {
        r->tpl->rereads_input = strcmp(line->text, "rereads the input") == 0;
        if (!r->tpl->rereads_input)
            return rung_template_fail(r->tpl, line->number, r->err,
                                      "'host' can be 'rereads the input' only");
    }
    r->tpl->sweeps |= strcmp(line->directive, "sweep") == 0;
    r->tpl->n_loads += strcmp(line->directive, "load") == 0;
    return RUNG_OK;
}

static enum rung_status check_header(struct reader *r)
{
    const struct rung_template *tpl = r->tpl;
    if (!tpl->version)
        return rung_template_fail(tpl, 1, r->err, "the directive 'version' is missing");
    if (!tpl->title)
        return rung_template_fail(tpl, 1, r->err, "the directive 'title' is missing");
    if (tpl->control && (!tpl->mistake || !tpl->caught))
        return rung_template_fail(tpl, 1, r->err,
                                  "a control states its 'mistake' and what it is "
                                  "'caught' by");
    if (!tpl->control &&
        (tpl->mistake || tpl->caught || tpl->shows_block || tpl->shows_n || tpl->rereads_input))
        return rung_template_fail(tpl, 1, r->err,
                                  "'mistake', 'caught', 'shows' and 'host' belong to "
                                  "a 'control'");
    if (!tpl->control && !tpl->change)
        return rung_template_fail(tpl, 1, r->err, "the directive 'change' is missing");
    return RUNG_OK;
}

enum rung_status rung_template_read(struct rung_template **out, struct rung_arena *arena,
                                    const char *name, const char *text, struct rung_error *err)
{
    struct rung_template *tpl = rung_arena_alloc(arena, sizeof *tpl);
    char *file = rung_arena_copy(arena, name, strlen(name));
    if (!tpl || !file)
        return rung_fail(err, RUNG_MEMORY, "out of memory");
    tpl->file = file;
    struct reader reader = {tpl, arena, err};
    enum rung_status status = read_lines(&reader, text);
    for (size_t i = 0; i < tpl->n_lines && status == RUNG_OK; i++)
        if (tpl->lines[i].directive)
            status = read_header_line(&reader, &tpl->lines[i]);
    if (status == RUNG_OK)
        status = check_header(&reader);
    if (status == RUNG_OK)
        *out = tpl;
    return status;
}

bool rung_config_has_word(const struct rung_config *config, const char *word)
{
    const char *const words[] = {
        rung_bound_word(config->bound),         rung_unroll_word(config->unroll),
        rung_predicate_word(config->predicate), rung_op_word(config->op),
        rung_type_word(config->type),           rung_variant_word(config->variant),
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], word) == 0)
            return true;
    return false;
}

bool rung_line_applies(const struct rung_line *line, const struct rung_config *config)
{
    return !line->form || rung_config_has_word(config, line->form);
}

bool rung_lacks_next(char word[RUNG_WORD_SIZE], const char **at)
{
    size_t length = strcspn(*at, " \t,:");
    snprintf(word, RUNG_WORD_SIZE, "%.*s", (int)length, *at);
    *at += length;
    *at += strspn(*at, " \t,");
    return length > 0;
}

const char *rung_lacks_reason(const struct rung_line *line)
{
    return skip_blanks(strchr(line->text, ':') + 1);
}
