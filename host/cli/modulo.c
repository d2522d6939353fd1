/* Verdicts of the inspector on the images of measured rows. */
#include "cli/modulo.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/inspect.h"

static void note(struct rung_row *row, const struct rung_image *image)
{
    char symbol[RUNG_ID_SIZE], word[RUNG_INSPECT_WORD];
    const struct rung_inspect_input input = {.ptx = image->ptx, .ptx_length = image->ptx_length};
    rung_config_symbol(&row->config, symbol);
    rung_inspect_image(word, &input, symbol, NULL);
    if (!row->extra)
        row->extra = json_object();
    if (word[0])
        json_object_set_new(row->extra, "modulo", json_string(word));
}

void rung_modulo_note(struct rung_row *rows, size_t n_rows, const struct rung_image_source *images,
                      unsigned target)
{
    struct rung_config *configs = calloc(n_rows + 1, sizeof *configs);
    struct rung_image *found = calloc(n_rows + 1, sizeof *found);
    enum rung_status *statuses = calloc(n_rows + 1, sizeof *statuses);
    struct rung_error *errors = calloc(n_rows + 1, sizeof *errors);
    if (configs && found && statuses && errors) {
        for (size_t i = 0; i < n_rows; i++)
            configs[i] = rows[i].config;
        rung_images_get(found, statuses, errors, images, configs, n_rows, target);
        for (size_t i = 0; i < n_rows; i++) {
            if (statuses[i] == RUNG_OK && found[i].ptx)
                note(&rows[i], &found[i]);
            rung_image_release(&found[i]);
        }
    }
    free(configs);
    free(found);
    free(statuses);
    free(errors);
}

static const char *word_of(const struct rung_row *row)
{
    const char *word = json_string_value(json_object_get(row->extra, "modulo"));
    return word && strcmp(word, "none") != 0 ? word : NULL;
}

/* Compiled from the same version for the same work, in whatever way. */
static bool same_work(const struct rung_row *a, const struct rung_row *b)
{
    return a->config.version == b->config.version && a->config.block == b->config.block &&
           a->config.op == b->config.op && a->config.type == b->config.type &&
           a->config.variant == b->config.variant && a->n == b->n;
}

static bool is_one_of_several(const struct rung_row *rows, size_t n_rows, size_t i)
{
    for (size_t j = 0; j < n_rows; j++)
        if (j != i && word_of(&rows[j]) && same_work(&rows[i], &rows[j]))
            return true;
    return false;
}

static double least_time(const struct rung_row *rows, size_t n_rows, const struct rung_row *like)
{
    double least = INFINITY;
    for (size_t j = 0; j < n_rows; j++)
        if (word_of(&rows[j]) && rows[j].time_ms.known && same_work(&rows[j], like))
            least = fmin(least, rows[j].time_ms.median);
    return least;
}

static void add_row(struct rung_table *table, const struct rung_row *rows, size_t n_rows,
                    const struct rung_row *row)
{
    char id[RUNG_ID_SIZE];
    rung_config_id(&row->config, id);
    rung_table_row(table);
    rung_table_text(table, id);
    if (row->ptx_target)
        rung_table_format(table, "sm_%u", row->ptx_target);
    else
        rung_table_empty(table);
    rung_table_text(table, word_of(row));
    if (!row->time_ms.known)
        return;
    rung_table_format(table, "%.4f", row->time_ms.median);
    rung_table_format(table, "%.2fx", row->time_ms.median / least_time(rows, n_rows, row));
}

enum rung_status rung_modulo_print(const struct rung_row *rows, size_t n_rows,
                                   enum rung_format format, FILE *to, struct rung_error *err)
{
    static const struct rung_column columns[] = {
        {"id",         "id",        false},
        {"ptx_target", "PTX",       false},
        {"modulo",     "modulo",    false},
        {"time_ms",    "time (ms)", true },
        {"vs_least",   "vs least",  true },
    };
    size_t n_columns = 3, n_shown = 0;
    for (size_t i = 0; i < n_rows; i++)
        if (rows[i].time_ms.known)
            n_columns = 5;
    struct rung_table *table = rung_table_new(columns, n_columns);
    for (size_t i = 0; i < n_rows; i++)
        if (word_of(&rows[i]) && is_one_of_several(rows, n_rows, i)) {
            add_row(table, rows, n_rows, &rows[i]);
            n_shown++;
        }
    enum rung_status status = RUNG_OK;
    if (n_shown > 0) {
        fputs(format == RUNG_FORMAT_MD ? "\n## What became of the modulo\n\n"
                                       : "\nWhat became of the modulo\n",
              to);
        status = rung_table_print(table, format, to, err);
        if (n_columns == 3)
            fputs("A division is one instruction of PTX: what it costs shows on a card.\n", to);
    }
    rung_table_free(table);
    return status;
}
