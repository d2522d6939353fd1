/* Owns the tables that put rows of one axis beside each other. */
#include "cli/page.h"

#include <inttypes.h>
#include <math.h>

static void print_title(const struct rung_page *page, const char *title, FILE *to)
{
    fprintf(to, "\n%s\n", title);
    if (page->format == RUNG_FORMAT_MD)
        fputc('\n', to);
}

/* What the bound changes: the time, or the instructions of one block. */
static double bound_cost(const struct rung_page *page, const struct rung_row *row)
{
    if (!row || row->status != RUNG_ROW_OK)
        return NAN;
    if (!page->counted)
        return row->time_ms.known ? row->time_ms.median : NAN;
    const json_t *counters = json_object_get(row->extra, "counters");
    const json_t *count = json_object_get(counters, "warp_instructions");
    return count ? (double)json_integer_value(count) : NAN;
}

/* The row that differs from `row`, of a constant bound, in the run-time bound alone. */
static const struct rung_row *runtime_twin(const struct rung_page *page, const struct rung_row *row)
{
    struct rung_config wanted = row->config;
    if (row->config.bound != RUNG_BOUND_CONST || row->config.unroll != RUNG_UNROLL_FULL)
        return NULL;
    wanted.bound = RUNG_BOUND_RUNTIME;
    wanted.unroll = RUNG_UNROLL_NONE;
    for (size_t i = 0; i < page->n_rows; i++)
        if (page->rows[i].n == row->n && page->rows[i].ptx_target == row->ptx_target &&
            rung_config_equal(&page->rows[i].config, &wanted))
            return &page->rows[i];
    return NULL;
}

static void cost_cell(struct rung_table *table, const struct rung_page *page, double cost)
{
    if (isfinite(cost))
        rung_table_format(table, page->counted ? "%.0f" : "%.4f", cost);
    else
        rung_table_empty(table);
}

static void ratio_cell(struct rung_table *table, double ratio)
{
    if (isfinite(ratio))
        rung_table_format(table, "%.2fx", ratio);
    else
        rung_table_empty(table);
}

/* Whether block, version and bound say all that tells the rows apart. */
static bool is_plain(const struct rung_page *page)
{
    for (size_t i = 0; i < page->n_rows; i++) {
        struct rung_config config = page->rows[i].config;
        config.version = page->rows[0].config.version;
        config.block = page->rows[0].config.block;
        config.bound = page->rows[0].config.bound;
        config.unroll = page->rows[0].config.unroll;
        if (!rung_config_equal(&config, &page->rows[0].config) ||
            page->rows[i].n != page->rows[0].n)
            return false;
    }
    return true;
}

/* One row, with its steps from the one above it where that is the rung below. */
static void add_bounds(struct rung_table *table, const struct rung_page *page,
                       const struct rung_row *row, const struct rung_row *before)
{
    char label[RUNG_ID_SIZE];
    double constant = bound_cost(page, row), runtime = bound_cost(page, runtime_twin(page, row));
    if (is_plain(page))
        rung_page_label(label, page, row);
    else
        rung_config_id(&row->config, label);
    rung_table_row(table);
    rung_table_format(table, "%u", row->config.block);
    rung_table_text(table, label);
    cost_cell(table, page, constant);
    cost_cell(table, page, runtime);
    ratio_cell(table, runtime / constant);
    if (!before || !rung_page_same_but_version(before, row))
        return;
    ratio_cell(table, bound_cost(page, before) / constant);
    ratio_cell(table, bound_cost(page, runtime_twin(page, before)) / runtime);
}

enum rung_status rung_page_compare_bounds(const struct rung_page *page, FILE *to,
                                          struct rung_error *err)
{
    const struct rung_column columns[] = {
        {"block",        "block",   true },
        {"version",      "version", false},
        {"const",        "const",   true },
        {"runtime",      "runtime", true },
        {"ratio",        "ratio",   true },
        {"step_const",   "step",    true },
        {"step_runtime", "step",    true }
    };
    struct rung_table *table = rung_table_new(columns, sizeof columns / sizeof *columns);
    const struct rung_row *before = NULL;
    for (size_t i = 0; i < page->n_rows; i++) {
        if (!runtime_twin(page, &page->rows[i]))
            continue;
        add_bounds(table, page, &page->rows[i], before);
        before = &page->rows[i];
    }
    enum rung_status status = RUNG_OK;
    if (before) {
        print_title(page,
                    page->counted
                        ? "Both loop bounds, warp instructions of one block; steps of each bound"
                        : "Both loop bounds, median ms; steps of each bound",
                    to);
        status = rung_table_print(table, page->format, to, err);
    }
    rung_table_free(table);
    return status;
}

static const struct rung_row *version_beside(const struct rung_page *page,
                                             const struct rung_row *row, unsigned version)
{
    for (size_t i = 0; i < page->n_rows; i++)
        if (page->rows[i].config.version == version &&
            rung_page_same_but_version(&page->rows[i], row))
            return &page->rows[i];
    return NULL;
}

static void add_blocks(struct rung_table *table, const struct rung_page *page,
                       const struct rung_row *one, const struct rung_row *three)
{
    rung_table_row(table);
    rung_table_format(table, "%u", one->config.block);
    rung_table_text(table, rung_bound_word(one->config.bound));
    rung_table_format(table, "%" PRIu64 ":%" PRIu64, one->model.body_runs, three->model.body_runs);
    ratio_cell(table, (double)one->model.body_runs / (double)three->model.body_runs);
    if (!page->counted)
        ratio_cell(table, one->time_ms.known && three->time_ms.known
                              ? one->time_ms.median / three->time_ms.median
                              : NAN);
}

enum rung_status rung_page_compare_blocks(const struct rung_page *page, FILE *to,
                                          struct rung_error *err)
{
    const struct rung_column columns[] = {
        {"block",     "block",           true },
        {"bound",     "bound",           false},
        {"body_runs", "body runs v1:v3", true },
        {"counted",   "counted",         true },
        {"measured",  "measured",        true }
    };
    struct rung_table *table = rung_table_new(columns, page->counted ? 4 : 5);
    unsigned first = 0;
    bool several = false;
    for (size_t i = 0; i < page->n_rows; i++) {
        const struct rung_row *one = &page->rows[i];
        if (one->config.version != 1 || !one->model.known)
            continue;
        const struct rung_row *three = version_beside(page, one, 3);
        if (!three || !three->model.known)
            continue;
        add_blocks(table, page, one, three);
        first = first ? first : one->config.block;
        several |= one->config.block != first;
    }
    enum rung_status status = RUNG_OK;
    if (several) {
        print_title(page, "Version 1 over version 3, counted beside measured", to);
        status = rung_table_print(table, page->format, to, err);
    }
    rung_table_free(table);
    return status;
}
