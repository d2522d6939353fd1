/* Owns the rendering of tables and documents, and the atomic replacement of the file of -o. */
#define _GNU_SOURCE
#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <libsmartcols.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

#define WIDTH 79
#define INDENT 4 /* of what stands under a row */

struct rung_table {
    const struct rung_column *columns;
    size_t n_columns;
    char **cells; /* row after row; NULL where a cell does not apply */
    size_t n_cells, capacity;
    size_t n_rows;
    bool last_below;
    bool failed;
};

const char *rung_path_ending(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    const char *name = slash ? slash + 1 : path ? path : "";
    const char *dot = strrchr(name, '.');
    return dot && dot != name ? dot + 1 : "";
}

enum rung_status rung_format_parse(enum rung_format *out, const char *word, struct rung_error *err)
{
    static const char *const words[] = {"table", "json", "csv", "md"};
    if (!word)
        word = words[0];
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0) {
            *out = (enum rung_format)i;
            return RUNG_OK;
        }
    return rung_fail(err, RUNG_USAGE, "--format '%s': allowed are table, json, csv, md", word);
}

struct rung_table *rung_table_new(const struct rung_column *columns, size_t n_columns)
{
    struct rung_table *table = calloc(1, sizeof *table);
    if (!table)
        return NULL;
    table->columns = columns;
    table->n_columns = n_columns;
    return table;
}

static void push(struct rung_table *table, char *cell)
{
    if (table->n_cells == table->capacity) {
        size_t capacity = table->capacity ? 2 * table->capacity : 64;
        char **cells = realloc(table->cells, capacity * sizeof *cells);
        if (!cells) {
            table->failed = true;
            free(cell);
            return;
        }
        table->cells = cells;
        table->capacity = capacity;
    }
    table->cells[table->n_cells++] = cell;
}

/* Only a cell that has a column is kept: a row cannot spill into the next one. */
static void add(struct rung_table *table, char *cell)
{
    if (table->n_cells < table->n_rows * table->n_columns)
        push(table, cell);
    else
        free(cell);
}

static void fill_row(struct rung_table *table)
{
    while (!table->failed && table->n_cells < table->n_rows * table->n_columns)
        push(table, NULL);
}

void rung_table_row(struct rung_table *table)
{
    if (!table)
        return;
    fill_row(table);
    table->n_rows++;
}

void rung_table_text(struct rung_table *table, const char *text)
{
    if (!table)
        return;
    char *copy = strdup(text);
    table->failed |= !copy;
    add(table, copy);
}

void rung_table_format(struct rung_table *table, const char *format, ...)
{
    if (!table)
        return;
    va_list args;
    va_start(args, format);
    char *text = NULL;
    if (vasprintf(&text, format, args) < 0) {
        text = NULL;
        table->failed = true;
    }
    va_end(args);
    add(table, text);
}

void rung_table_last_below(struct rung_table *table)
{
    if (table)
        table->last_below = true;
}

void rung_table_empty(struct rung_table *table)
{
    if (table)
        add(table, NULL);
}

void rung_table_free(struct rung_table *table)
{
    if (!table)
        return;
    for (size_t i = 0; i < table->n_cells; i++)
        free(table->cells[i]);
    free(table->cells);
    free(table);
}

static const char *cell_at(const struct rung_table *table, size_t row, size_t column)
{
    size_t at = row * table->n_columns + column;
    return at < table->n_cells ? table->cells[at] : NULL;
}

bool rung_colour_wanted(FILE *stream)
{
    const char *no_colour = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    return isatty(fileno(stream)) && !(no_colour && no_colour[0]) && term &&
           strcmp(term, "dumb") != 0;
}

static bool fill_smartcols(struct libscols_table *scols, const struct rung_table *table, bool bold)
{
    size_t n_columns = table->n_columns - table->last_below;
    for (size_t c = 0; c < n_columns; c++) {
        int flags = table->columns[c].right ? SCOLS_FL_RIGHT : 0;
        struct libscols_column *column =
            scols_table_new_column(scols, table->columns[c].heading, 0, flags);
        if (!column)
            return false;
        if (bold && scols_cell_set_color(scols_column_get_header(column), "bold") != 0)
            return false;
    }
    for (size_t r = 0; r < table->n_rows; r++) {
        struct libscols_line *line = scols_table_new_line(scols, NULL);
        if (!line)
            return false;
        for (size_t c = 0; c < n_columns; c++) {
            const char *cell = cell_at(table, r, c);
            if (scols_line_set_data(line, c, cell ? cell : "-") != 0)
                return false;
        }
    }
    return true;
}

/* The library pads the last column; blanks at a line's end help nobody. The first line is that of
 * the headings, and each row is one line. */
static void print_lines(const struct rung_table *table, const char *text, FILE *to)
{
    for (size_t line = 0; *text; line++) {
        size_t length = strcspn(text, "\n"), kept = length;
        while (kept > 0 && text[kept - 1] == ' ')
            kept--;
        fwrite(text, 1, kept, to);
        fputc('\n', to);
        const char *below =
            table->last_below && line > 0 ? cell_at(table, line - 1, table->n_columns - 1) : NULL;
        if (below) {
            fprintf(to, "%*s", INDENT, "");
            rung_print_wrapped(below, INDENT, INDENT, to);
        }
        text += length + (text[length] == '\n');
    }
}

/* Nothing is cut to the width of the terminal: a figure cut short is a wrong figure. */
static enum rung_status print_aligned(const struct rung_table *table, FILE *to,
                                      struct rung_error *err)
{
    struct libscols_table *scols = scols_new_table();
    char *text = NULL;
    enum rung_status status = RUNG_OK;
    bool bold = rung_colour_wanted(to);
    if (!scols || scols_table_enable_colors(scols, bold) != 0 ||
        scols_table_set_termforce(scols, SCOLS_TERMFORCE_NEVER) != 0 ||
        scols_table_set_column_separator(scols, "  ") != 0 || !fill_smartcols(scols, table, bold) ||
        scols_print_table_to_string(scols, &text) != 0)
        status = rung_fail(err, RUNG_MEMORY, "out of memory printing a table");
    else
        print_lines(table, text, to);
    free(text);
    scols_unref_table(scols);
    return status;
}

static void print_csv_cell(const char *text, FILE *to)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, to);
        return;
    }
    fputc('"', to);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', to);
        fputc(*text, to);
    }
    fputc('"', to);
}

static void print_csv(const struct rung_table *table, FILE *to)
{
    for (size_t c = 0; c < table->n_columns; c++) {
        fputs(c ? "," : "", to);
        print_csv_cell(table->columns[c].key, to);
    }
    fputc('\n', to);
    for (size_t r = 0; r < table->n_rows; r++) {
        for (size_t c = 0; c < table->n_columns; c++) {
            const char *cell = cell_at(table, r, c);
            fputs(c ? "," : "", to);
            print_csv_cell(cell ? cell : "", to);
        }
        fputc('\n', to);
    }
}

static void print_md_cell(const char *text, FILE *to)
{
    fputc(' ', to);
    for (; *text; text++) {
        if (*text == '|')
            fputc('\\', to);
        fputc(*text == '\n' ? ' ' : *text, to);
    }
    fputs(" |", to);
}

static void print_md(const struct rung_table *table, FILE *to)
{
    fputc('|', to);
    for (size_t c = 0; c < table->n_columns; c++)
        print_md_cell(table->columns[c].heading, to);
    fputs("\n|", to);
    for (size_t c = 0; c < table->n_columns; c++)
        fputs(table->columns[c].right ? " ---: |" : " --- |", to);
    fputc('\n', to);
    for (size_t r = 0; r < table->n_rows; r++) {
        fputc('|', to);
        for (size_t c = 0; c < table->n_columns; c++) {
            const char *cell = cell_at(table, r, c);
            print_md_cell(cell ? cell : "-", to);
        }
        fputc('\n', to);
    }
}

static enum rung_status print_json(const struct rung_table *table, FILE *to, struct rung_error *err)
{
    json_t *rows = json_array();
    for (size_t r = 0; rows && r < table->n_rows; r++) {
        json_t *row = json_object();
        for (size_t c = 0; c < table->n_columns; c++) {
            const char *cell = cell_at(table, r, c);
            json_object_set_new(row, table->columns[c].key, cell ? json_string(cell) : json_null());
        }
        json_array_append_new(rows, row);
    }
    return rung_document_print(rows, to, err);
}

enum rung_status rung_table_print(const struct rung_table *table, enum rung_format format, FILE *to,
                                  struct rung_error *err)
{
    if (!table || table->failed)
        return rung_fail(err, RUNG_MEMORY, "out of memory printing a table");
    switch (format) {
    case RUNG_FORMAT_TABLE:
        return print_aligned(table, to, err);
    case RUNG_FORMAT_CSV:
        print_csv(table, to);
        return RUNG_OK;
    case RUNG_FORMAT_MD:
        print_md(table, to);
        return RUNG_OK;
    case RUNG_FORMAT_JSON:
        return print_json(table, to, err);
    }
    return RUNG_OK;
}

/* A file without a name in the folder of `path`: whatever ends the program, nothing stays. -1 where
 * the file system has none, or /proc, through which it is named later, is not there. */
static int open_unnamed(const char *path)
{
    char *folder = strdup(path);
    if (!folder || access("/proc/self/fd", X_OK) != 0) {
        free(folder);
        return -1;
    }
    int fd = open(dirname(folder), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
    free(folder);
    return fd;
}

/* Gives the file a name next to the one that it replaces: no call replaces a file by an unnamed. */
static bool name_it(struct rung_output *out)
{
    struct rung_text name = {0};
    char self[64];
    rung_text_format(&name, "%s.%ld.tmp", out->path, (long)getpid());
    snprintf(self, sizeof self, "/proc/self/fd/%d", fileno(out->stream));
    out->temporary = rung_text_take(&name);
    if (!out->temporary)
        return false;
    unlink(out->temporary); /* of a process that had our number */
    return linkat(AT_FDCWD, self, AT_FDCWD, out->temporary, AT_SYMLINK_FOLLOW) == 0;
}

static enum rung_status open_temporary(struct rung_output *out, struct rung_error *err)
{
    int unnamed = open_unnamed(out->path);
    if (unnamed >= 0) {
        out->stream = fdopen(unnamed, "w");
        return out->stream ? RUNG_OK : rung_fail(err, RUNG_MEMORY, "out of memory");
    }
    struct rung_text name = {0};
    rung_text_format(&name, "%s.XXXXXX", out->path);
    out->temporary = rung_text_take(&name);
    if (!out->temporary)
        return rung_fail(err, RUNG_MEMORY, "out of memory");
    int fd = mkostemp(out->temporary, O_CLOEXEC);
    if (fd < 0) {
        enum rung_status status =
            rung_fail(err, RUNG_IO, "cannot write %s: %s", out->path, strerror(errno));
        free(out->temporary);
        out->temporary = NULL;
        return status;
    }
    mode_t mask = umask(0);
    umask(mask);
    fchmod(fd, 0666 & ~mask);
    out->stream = fdopen(fd, "w");
    return out->stream ? RUNG_OK : rung_fail(err, RUNG_MEMORY, "out of memory");
}

/* Follows a link, so that the file it names is replaced and not the link. */
static char *resolve(const char *path)
{
    char *real = realpath(path, NULL);
    return real ? real : strdup(path);
}

enum rung_status rung_output_open(struct rung_output *out, enum rung_format format,
                                  const char *path, struct rung_error *err)
{
    *out = (struct rung_output){.format = format, .stream = stdout};
    if (!path || strcmp(path, "-") == 0)
        return RUNG_OK;
    out->stream = NULL;
    struct stat info;
    bool exists = stat(path, &info) == 0;
    if (!*path || (exists && S_ISDIR(info.st_mode)))
        return rung_fail(err, RUNG_USAGE, "output '%s' is not a file that can be written", path);
    enum rung_status status = RUNG_OK;
    out->path = resolve(path);
    out->replaces = !exists || S_ISREG(info.st_mode); /* not /dev/null, nor a pipe */
    if (!out->path)
        status = rung_fail(err, RUNG_MEMORY, "out of memory");
    else if (out->replaces)
        status = open_temporary(out, err);
    else if (!(out->stream = fopen(path, "we")))
        status = rung_fail(err, RUNG_IO, "cannot write %s: %s", path, strerror(errno));
    if (status != RUNG_OK)
        rung_output_close(out, false, NULL);
    return status;
}

enum rung_status rung_output_close(struct rung_output *out, bool keep, struct rung_error *err)
{
    const char *where = out->path ? out->path : "standard output";
    enum rung_status status = RUNG_OK;
    if (out->stream) {
        bool bad = fflush(out->stream) != 0 || ferror(out->stream);
        if (out->replaces && keep && !bad)
            bad = fsync(fileno(out->stream)) != 0 || (!out->temporary && !name_it(out));
        int code = errno;
        if (out->stream != stdout && fclose(out->stream) != 0)
            bad = true;
        if (bad)
            status = rung_fail(err, RUNG_IO, "cannot write %s: %s", where, strerror(code));
    }
    if (out->temporary && keep && status == RUNG_OK && rename(out->temporary, out->path) != 0)
        status = rung_fail(err, RUNG_IO, "cannot rename onto %s: %s", where, strerror(errno));
    if (out->temporary && (!keep || status != RUNG_OK))
        unlink(out->temporary);
    free(out->temporary);
    free(out->path);
    *out = (struct rung_output){0};
    return status;
}

void rung_print_wrapped(const char *text, size_t column, size_t indent, FILE *to)
{
    bool first = true;
    while (*(text += strspn(text, " \n"))) {
        size_t length = strcspn(text, " \n");
        if (!first && column + 1 + length > WIDTH) {
            fprintf(to, "\n%*s", (int)indent, "");
            column = indent;
            first = true;
        }
        fprintf(to, "%s%.*s", first ? "" : " ", (int)length, text);
        column += length + !first;
        first = false;
        text += length;
    }
    fputc('\n', to);
}

json_t *rung_argv_json(int argc, char **argv)
{
    json_t *array = json_array();
    const char *verb = argc > 0 ? strchr(argv[0], ' ') : NULL; /* argp's name: "rung run" */
    if (array && verb) {
        json_array_append_new(array, json_stringn(argv[0], (size_t)(verb - argv[0])));
        json_array_append_new(array, json_string(verb + 1));
    }
    for (int i = verb ? 1 : 0; array && i < argc; i++) {
        json_t *word = json_string(argv[i]);
        if (!word) /* not UTF-8: the bytes that JSON can hold */
            word = json_string("(not UTF-8)");
        json_array_append_new(array, word);
    }
    return array;
}

json_t *rung_document(const char *command, int argc, char **argv, json_t *environment, json_t *rows)
{
    return json_pack("{s:s, s:s, s:o, s:o, s:o}", "schema", "rung/1", "command", command, "argv",
                     rung_argv_json(argc, argv), "environment", environment, "rows", rows);
}

enum rung_status rung_document_print(json_t *document, FILE *to, struct rung_error *err)
{
    if (!document)
        return rung_fail(err, RUNG_MEMORY, "out of memory making the JSON document");
    int result = json_dumpf(document, to, JSON_INDENT(2));
    json_decref(document);
    fputc('\n', to);
    return result == 0 ? RUNG_OK : rung_fail(err, RUNG_IO, "cannot write the JSON document");
}
