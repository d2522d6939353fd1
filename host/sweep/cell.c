/* Keys of cells and rows, and the fields that tie a row to its cell. */
#include "sweep/cell.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const image_words[] = {
    [RUNG_IMAGE_AUTO] = "auto",
    [RUNG_IMAGE_CUBIN] = "cubin",
    [RUNG_IMAGE_PTX] = "ptx",
};

const char *rung_image_kind_word(enum rung_image_kind kind)
{
    return image_words[kind];
}

enum rung_status rung_image_kind_parse(enum rung_image_kind *out, const char *word,
                                       struct rung_error *err)
{
    for (size_t i = 0; i < sizeof image_words / sizeof *image_words; i++) {
        if (strcmp(word, image_words[i]) == 0) {
            *out = (enum rung_image_kind)i;
            return RUNG_OK;
        }
    }
    return rung_fail(err, RUNG_USAGE, "image '%s': one of auto, cubin, ptx", word);
}

static void join(char key[RUNG_CELL_KEY_SIZE], const struct rung_config *config, uint64_t n,
                 const char *target, const char *image, const char *state, const char *timer)
{
    char id[RUNG_ID_SIZE];
    rung_config_id(config, id);
    snprintf(key, RUNG_CELL_KEY_SIZE, "%s n=%llu %s %s %s %s", id, (unsigned long long)n, target,
             image, state, timer);
}

static void target_word(char word[16], unsigned target)
{
    snprintf(word, 16, "sm_%u", target % 10000);
}

void rung_cell_key(const struct rung_cell *cell, char key[RUNG_CELL_KEY_SIZE])
{
    char target[16];
    target_word(target, cell->target);
    join(key, &cell->config, cell->n, target, rung_image_kind_word(cell->image),
         rung_state_word(cell->state), rung_timer_word(cell->timer));
}

const char *rung_row_word(const struct rung_row *row, const char *field, const char *otherwise)
{
    const json_t *value = json_object_get(row->extra, field);
    if (!value)
        value = json_object_get(json_object_get(row->extra, "timing"), field);
    return json_is_string(value) ? json_string_value(value) : otherwise;
}

double rung_row_number(const struct rung_row *row, const char *field)
{
    const json_t *value = json_object_get(json_object_get(row->extra, "timing"), field);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

void rung_row_key(const struct rung_row *row, char key[RUNG_CELL_KEY_SIZE])
{
    char target[16];
    target_word(target, row->ptx_target);
    join(key, &row->config, row->n, rung_row_word(row, "target", target),
         rung_row_word(row, "image_asked", "auto"),
         rung_row_word(row, "state", rung_state_word(RUNG_STATE_CLEAN)),
         rung_row_word(row, "timer", rung_timer_word(RUNG_TIMER_ISOLATED)));
}

/* What was asked for; rows of `rung run` know only what was loaded. */
static unsigned target_of(const struct rung_row *row)
{
    unsigned target;
    const char *word = rung_row_word(row, "target", "");
    return sscanf(word, "sm_%u", &target) == 1 ? target : row->ptx_target;
}

int rung_row_order(const struct rung_row *a, const struct rung_row *b)
{
    static const char *const words[][2] = {
        {"image_asked", "auto"    },
        {"state",       "clean"   },
        {"timer",       "isolated"}
    };
    unsigned target_a = target_of(a), target_b = target_of(b);
    if (a->n != b->n)
        return a->n < b->n ? -1 : 1;
    if (target_a != target_b)
        return target_a < target_b ? -1 : 1;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        int order = strcmp(rung_row_word(a, words[i][0], words[i][1]),
                           rung_row_word(b, words[i][0], words[i][1]));
        if (order)
            return order;
    }
    return rung_config_order(&a->config, &b->config);
}

enum rung_status rung_cell_row(struct rung_row *out, const struct rung_cell *cell,
                               struct rung_error *err)
{
    char target[16];
    target_word(target, cell->target);
    json_t *extra = json_pack("{s:s, s:s, s:s, s:s}", "target", target, "image_asked",
                              rung_image_kind_word(cell->image), "state",
                              rung_state_word(cell->state), "timer", rung_timer_word(cell->timer));
    if (!extra)
        return rung_fail(err, RUNG_MEMORY, "out of memory");
    rung_row_init(out, &cell->config, cell->n);
    out->extra = extra;
    return RUNG_OK;
}

json_t *rung_cell_to_json(const struct rung_cell *cell)
{
    char id[RUNG_ID_SIZE];
    rung_config_id(&cell->config, id);
    return json_pack("{s:s, s:I, s:i, s:s, s:s, s:s}", "id", id, "n", (json_int_t)cell->n, "target",
                     (int)cell->target, "image", rung_image_kind_word(cell->image), "state",
                     rung_state_word(cell->state), "timer", rung_timer_word(cell->timer));
}

enum rung_status rung_cell_from_json(struct rung_cell *out, const json_t *object,
                                     struct rung_error *err)
{
    const char *id, *image, *state, *timer;
    json_int_t n;
    int target;
    if (json_unpack((json_t *)object, "{s:s, s:I, s:i, s:s, s:s, s:s}", "id", &id, "n", &n,
                    "target", &target, "image", &image, "state", &state, "timer", &timer) != 0)
        return rung_fail(err, RUNG_USAGE, "a cell lacks a field");
    struct rung_cell cell = {.n = (uint64_t)n, .target = (unsigned)target};
    enum rung_status status = rung_config_parse_id(&cell.config, id, err);
    if (status == RUNG_OK)
        status = rung_image_kind_parse(&cell.image, image, err);
    if (status == RUNG_OK)
        status = rung_state_parse(&cell.state, state, err);
    if (status == RUNG_OK)
        status = rung_timer_parse(&cell.timer, timer, err);
    if (status == RUNG_OK)
        *out = cell;
    return status;
}
