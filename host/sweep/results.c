/* Reads result files line by line, keeping what is whole. */
#define _GNU_SOURCE
#include "sweep/results.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "sweep/journal.h"

#define DOCUMENT_SCHEMA "rung/1"

struct loader {
    struct rung_results *results;
    size_t left_out_room;
    bool foreign; /* below a run record of another schema */
    struct rung_error *err;
};

/* Room for one more element in a growing array. */
static enum rung_status grow(void **array, size_t *room, size_t count, size_t size,
                             struct rung_error *err)
{
    if (count < *room)
        return RUNG_OK;
    size_t wanted = *room ? *room * 2 : 64;
    void *larger = realloc(*array, wanted * size);
    if (!larger)
        return rung_fail(err, RUNG_MEMORY, "no memory for %zu rows", wanted);
    *array = larger;
    *room = wanted;
    return RUNG_OK;
}

static enum rung_status leave_out(struct loader *loader, size_t line, const char *why)
{
    struct rung_results *results = loader->results;
    enum rung_status status = grow((void **)&results->left_out, &loader->left_out_room,
                                   results->n_left_out, sizeof *results->left_out, loader->err);
    if (status != RUNG_OK)
        return status;
    struct rung_left_out *entry = &results->left_out[results->n_left_out++];
    entry->line = line;
    snprintf(entry->why, sizeof entry->why, "%.*s", (int)sizeof entry->why - 1, why);
    return RUNG_OK;
}

static enum rung_status add_row(struct loader *loader, const json_t *object, size_t line)
{
    struct rung_results *results = loader->results;
    enum rung_status status = grow((void **)&results->rows, &results->room, results->n_rows,
                                   sizeof *results->rows, loader->err);
    if (status != RUNG_OK)
        return status;
    struct rung_result *result = &results->rows[results->n_rows];
    memset(result, 0, sizeof *result);
    struct rung_error why = {0};
    if (rung_row_from_json(&result->row, object, &why) != RUNG_OK)
        return why.status == RUNG_MEMORY ? rung_fail(loader->err, RUNG_MEMORY, "%s", why.text)
                                         : leave_out(loader, line, why.text);
    json_object_del(result->row.extra, "record"); /* of the line, not of the row */
    rung_row_key(&result->row, result->key);
    result->line = line;
    size_t runs = json_array_size(results->runs);
    result->run = runs ? runs - 1 : SIZE_MAX;
    results->n_rows++;
    return RUNG_OK;
}

static enum rung_status add_run(struct loader *loader, json_t *record, size_t line)
{
    const char *schema = json_string_value(json_object_get(record, "schema"));
    loader->foreign = !schema || strcmp(schema, RUNG_JOURNAL_SCHEMA) != 0;
    if (loader->foreign) {
        char why[200];
        snprintf(why, sizeof why,
                 "schema '%.60s', and the rows below it; this program reads " RUNG_JOURNAL_SCHEMA,
                 schema ? schema : "(none)");
        return leave_out(loader, line, why);
    }
    loader->results->ended = false;
    if (json_array_append(loader->results->runs, record) != 0)
        return rung_fail(loader->err, RUNG_MEMORY, "out of memory");
    return RUNG_OK;
}

static enum rung_status add_line(struct loader *loader, const char *text, size_t length,
                                 size_t line)
{
    json_error_t why;
    json_t *record = json_loadb(text, length, JSON_REJECT_DUPLICATES, &why);
    if (!record)
        return leave_out(loader, line, why.text);
    const char *kind = json_string_value(json_object_get(record, "record"));
    enum rung_status status = RUNG_OK;
    if (!kind)
        status = leave_out(loader, line, "not a record of a journal");
    else if (strcmp(kind, "run") == 0)
        status = add_run(loader, record, line);
    else if (strcmp(kind, "end") == 0)
        loader->results->ended = true;
    else if (strcmp(kind, "row") == 0 && loader->foreign)
        status = leave_out(loader, line, "a row of another schema");
    else if (strcmp(kind, "row") == 0)
        status = add_row(loader, record, line);
    json_decref(record); /* other kinds are later programs' and are passed over */
    return status;
}

static enum rung_status add_lines(struct loader *loader, const char *data, size_t length)
{
    enum rung_status status = RUNG_OK;
    size_t line = 1;
    for (size_t at = 0; at < length && status == RUNG_OK; line++) {
        const char *newline = memchr(data + at, '\n', length - at);
        size_t end = newline ? (size_t)(newline - data) : length;
        if (strspn(data + at, " \t\r") < end - at) /* the bytes end in a NUL: rung_file_read */
            status = add_line(loader, data + at, end - at, line);
        at = end + 1;
    }
    return status;
}

static enum rung_status add_document(struct loader *loader, json_t *document, const char *path)
{
    const char *schema = json_string_value(json_object_get(document, "schema"));
    if (!schema || strcmp(schema, DOCUMENT_SCHEMA) != 0)
        return rung_fail(loader->err, RUNG_USAGE, "%s has schema '%s'; this program reads %s", path,
                         schema ? schema : "(none)", DOCUMENT_SCHEMA);
    if (!json_is_array(json_object_get(document, "rows")))
        return rung_fail(loader->err, RUNG_USAGE, "%s: 'rows' is not a list", path);
    json_t *run = json_pack("{s:O?, s:O?, s:O?}", "argv", json_object_get(document, "argv"),
                            "environment", json_object_get(document, "environment"), "command",
                            json_object_get(document, "command"));
    if (!run || json_array_append_new(loader->results->runs, run) != 0)
        return rung_fail(loader->err, RUNG_MEMORY, "out of memory");
    loader->results->ended = true;
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(document, "rows"), i, row)
    {
        enum rung_status status = add_row(loader, row, 0);
        if (status != RUNG_OK)
            return status;
    }
    return RUNG_OK;
}

static int by_key_then_place(const void *a, const void *b)
{
    const struct rung_result *const *x = a, *const *y = b;
    int order = strcmp((*x)->key, (*y)->key);
    return order ? order : (*x > *y) - (*x < *y);
}

/* Keeps of rows with one key the last, and the order of the file. */
static enum rung_status drop_replaced(struct rung_results *results, struct rung_error *err)
{
    if (results->n_rows < 2)
        return RUNG_OK;
    struct rung_result **order = malloc(results->n_rows * sizeof *order);
    bool *dropped = calloc(results->n_rows, sizeof *dropped);
    if (!order || !dropped) {
        free(order);
        free(dropped);
        return rung_fail(err, RUNG_MEMORY, "no memory for %zu rows", results->n_rows);
    }
    for (size_t i = 0; i < results->n_rows; i++)
        order[i] = &results->rows[i];
    qsort(order, results->n_rows, sizeof *order, by_key_then_place);
    for (size_t i = 0; i + 1 < results->n_rows; i++)
        if (strcmp(order[i]->key, order[i + 1]->key) == 0)
            dropped[order[i] - results->rows] = true;
    size_t kept = 0;
    for (size_t i = 0; i < results->n_rows; i++) {
        if (dropped[i])
            rung_row_release(&results->rows[i].row);
        else
            results->rows[kept++] = results->rows[i];
    }
    results->n_replaced = results->n_rows - kept;
    results->n_rows = kept;
    free(order);
    free(dropped);
    return RUNG_OK;
}

enum rung_status rung_results_read(struct rung_results *out, const char *data, size_t length,
                                   const char *path, struct rung_error *err)
{
    struct rung_results results = {.path = strdup(path), .runs = json_array()};
    struct loader loader = {.results = &results, .err = err};
    enum rung_status status = RUNG_OK;
    json_t *whole = json_loadb(data, length, JSON_REJECT_DUPLICATES, NULL);
    if (!results.path || !results.runs)
        status = rung_fail(err, RUNG_MEMORY, "out of memory");
    else if (json_object_get(whole, "rows") && !json_object_get(whole, "record"))
        status = add_document(&loader, whole, path);
    else
        status = add_lines(&loader, data, length);
    json_decref(whole);
    if (status == RUNG_OK && results.n_left_out && results.n_rows == 0 &&
        json_array_size(results.runs) == 0)
        status = rung_fail(err, RUNG_USAGE, "%s holds no results: line %zu: %s", path,
                           results.left_out[0].line, results.left_out[0].why);
    if (status == RUNG_OK)
        status = drop_replaced(&results, err);
    if (status != RUNG_OK) {
        rung_results_release(&results);
        return status;
    }
    *out = results;
    return RUNG_OK;
}

enum rung_status rung_results_load(struct rung_results *out, const char *path,
                                   struct rung_error *err)
{
    char *data;
    size_t length;
    enum rung_status status = rung_file_read(&data, &length, path, err);
    if (status != RUNG_OK)
        return status;
    status = rung_results_read(out, data, length, path, err);
    free(data);
    return status;
}

void rung_results_release(struct rung_results *results)
{
    for (size_t i = 0; i < results->n_rows; i++)
        rung_row_release(&results->rows[i].row);
    free(results->rows);
    free(results->left_out);
    free(results->path);
    json_decref(results->runs);
    *results = (struct rung_results){0};
}

const struct rung_result *rung_results_find(const struct rung_results *results, const char *key)
{
    for (size_t i = 0; i < results->n_rows; i++)
        if (strcmp(results->rows[i].key, key) == 0)
            return &results->rows[i];
    return NULL;
}

const json_t *rung_results_run_field(const struct rung_results *results, size_t run,
                                     const char *field)
{
    return json_object_get(json_array_get(results->runs, run), field);
}

static bool is_base_of(const struct rung_result *base, const struct rung_result *result)
{
    const struct rung_config *a = &base->row.config, *b = &result->row.config;
    const char *other_axes = strchr(base->key, ' '), *own_axes = strchr(result->key, ' ');
    return a->version == 1 && base->row.status == RUNG_ROW_OK && base->row.time_ms.known &&
           a->block == b->block && a->bound == b->bound && a->unroll == b->unroll &&
           a->op == b->op && a->type == b->type && other_axes && own_axes &&
           strcmp(other_axes, own_axes) == 0;
}

void rung_results_relate(struct rung_result *rows, size_t n_rows)
{
    for (size_t i = 0; i < n_rows; i++) {
        const struct rung_result *base = NULL;
        if (rows[i].row.status != RUNG_ROW_OK || !rows[i].row.time_ms.known)
            continue;
        for (size_t j = 0; j < n_rows; j++)
            if (is_base_of(&rows[j], &rows[i]) &&
                (!base || rows[j].row.config.predicate == RUNG_PREDICATE_MOD))
                base = &rows[j];
        if (base)
            rows[i].row.vs_v1 = base->row.time_ms.median / rows[i].row.time_ms.median;
    }
}

void rung_result_question(char question[RUNG_QUESTION_SIZE], const struct rung_result *result)
{
    const char *rest = strchr(result->key, ' '); /* behind the id */
    snprintf(question, RUNG_QUESTION_SIZE, "%s %s%.170s%s%s", rung_op_word(result->row.config.op),
             rung_type_word(result->row.config.type), rest ? rest : "", result->source ? ", " : "",
             result->source ? result->source : "");
}

enum rung_status rung_results_add(struct rung_results *results, const struct rung_row *row,
                                  struct rung_error *err)
{
    struct loader loader = {.results = results, .err = err};
    json_t *object = rung_row_to_json(row);
    if (!object)
        return rung_fail(err, RUNG_MEMORY, "out of memory");
    enum rung_status status = add_row(&loader, object, 0);
    json_decref(object);
    return status;
}

struct rung_row *rung_results_bare(const struct rung_results *results)
{
    struct rung_row *rows = calloc(results->n_rows + 1, sizeof *rows);
    for (size_t i = 0; rows && i < results->n_rows; i++)
        rows[i] = results->rows[i].row;
    return rows;
}
