/* Groups rows by their question. */
#include "report/groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Inserts into an ascending list, once; what does not fit is left out. */
static void insert(unsigned *list, size_t *n, size_t room, unsigned value)
{
    size_t at = 0;
    while (at < *n && list[at] < value)
        at++;
    if ((at < *n && list[at] == value) || *n == room)
        return;
    memmove(list + at + 1, list + at, (*n - at) * sizeof *list);
    list[at] = value;
    ++*n;
}

static void add(struct rung_group *group, const struct rung_result *result)
{
    const struct rung_config *config = &result->row.config;
    group->rows[group->n_rows++] = result;
    group->timed |= result->row.time_ms.known;
    group->has_bound[config->bound] = true;
    insert(group->blocks, &group->n_blocks, RUNG_GROUP_BLOCKS, config->block);
    insert(group->versions, &group->n_versions, RUNG_GROUP_VERSIONS, config->version);
}

enum rung_status rung_groups_make(struct rung_groups *out, const struct rung_result *rows,
                                  size_t n_rows, struct rung_error *err)
{
    struct rung_groups groups = {.groups = calloc(n_rows + 1, sizeof *groups.groups)};
    bool memory = groups.groups != NULL;
    for (size_t i = 0; i < n_rows && memory; i++) {
        char question[RUNG_QUESTION_SIZE];
        size_t at = 0;
        if (rows[i].row.status != RUNG_ROW_OK)
            continue;
        rung_result_question(question, &rows[i]);
        while (at < groups.n && strcmp(groups.groups[at].question, question) != 0)
            at++;
        struct rung_group *group = &groups.groups[at];
        if (at == groups.n) {
            memcpy(group->question, question, sizeof group->question);
            group->rows = calloc(n_rows, sizeof *group->rows);
            memory = group->rows != NULL;
            groups.n++;
        }
        if (memory)
            add(group, &rows[i]);
    }
    if (!memory) {
        rung_groups_release(&groups);
        return rung_fail(err, RUNG_MEMORY, "no memory for %zu rows", n_rows);
    }
    *out = groups;
    return RUNG_OK;
}

void rung_groups_release(struct rung_groups *groups)
{
    for (size_t i = 0; groups->groups && i < groups->n; i++)
        free(groups->groups[i].rows);
    free(groups->groups);
    *groups = (struct rung_groups){0};
}

const struct rung_result *rung_group_find(const struct rung_group *group, unsigned version,
                                          unsigned block, enum rung_bound bound)
{
    for (size_t i = 0; i < group->n_rows; i++) {
        const struct rung_config *config = &group->rows[i]->row.config;
        bool plain = config->predicate == RUNG_PREDICATE_MOD &&
                     config->variant == RUNG_VARIANT_BASE &&
                     (bound == RUNG_BOUND_RUNTIME || config->unroll == RUNG_UNROLL_FULL);
        if (plain && config->version == version && config->block == block && config->bound == bound)
            return group->rows[i];
    }
    return NULL;
}
