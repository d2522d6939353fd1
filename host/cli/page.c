/* Owns the page of `rung run`: one section for each set of axes, version after version. */
#include "cli/page.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/text.h"

bool rung_page_same_but_version(const struct rung_row *a, const struct rung_row *b)
{
    struct rung_config left = a->config, right = b->config;
    left.version = right.version;
    return rung_config_equal(&left, &right) && a->n == b->n && a->ptx_target == b->ptx_target;
}

void rung_page_label(char label[80], const struct rung_page *page, const struct rung_row *row)
{
    const struct rung_template *tpl =
        rung_ladder_find(page->ladder, row->config.version, row->config.variant);
    snprintf(label, 80, "%u  %s", row->config.version, tpl ? rung_template_title(tpl) : "");
}

static size_t section_end(const struct rung_page *page, size_t begin)
{
    size_t end = begin + 1;
    while (end < page->n_rows && rung_page_same_but_version(&page->rows[begin], &page->rows[end]) &&
           page->rows[end].config.version > page->rows[end - 1].config.version)
        end++;
    return end;
}

static bool targets_differ(const struct rung_page *page)
{
    for (size_t i = 1; i < page->n_rows; i++)
        if (page->rows[i].ptx_target != page->rows[0].ptx_target)
            return true;
    return false;
}

/* Sections of one row each are no sections: then the rows stand in one table, by id. */
static bool is_flat(const struct rung_page *page)
{
    size_t sections = 0, single = 0;
    for (size_t i = 0; i < page->n_rows; i = section_end(page, i)) {
        sections++;
        single += section_end(page, i) == i + 1;
    }
    return sections > 1 && single > 0;
}

static void row_label(char label[96], const struct rung_page *page, const struct rung_row *row,
                      bool flat)
{
    if (flat)
        rung_config_id(&row->config, label);
    else
        rung_page_label(label, page, row);
}

static void print_model(const struct rung_page *page, size_t begin, size_t end, FILE *to,
                        enum rung_status *status, struct rung_error *err)
{
    static const struct rung_column columns[] = {
        {"version",    "version",    false},
        {"body_runs",  "body runs",  true },
        {"serialised", "serialised", true },
        {"additions",  "additions",  true }
    };
    struct rung_table *table = rung_table_new(columns, 4);
    for (size_t i = begin; i < end; i++) {
        const struct rung_counts *model = &page->rows[i].model;
        char label[80];
        rung_page_label(label, page, &page->rows[i]);
        rung_table_row(table);
        rung_table_text(table, label);
        if (!model->known)
            continue;
        rung_table_format(table, "%" PRIu64, model->body_runs);
        rung_table_format(table, "%" PRIu64, model->serialised);
        rung_table_format(table, "%" PRIu64, model->additions);
    }
    const struct rung_config *config = &page->rows[begin].config;
    fprintf(to, "\nModel per block of %u threads, ", config->block);
    if (config->op != RUNG_OP_SUM || config->type != RUNG_TYPE_F32)
        fprintf(to, "%s of %s, ", rung_op_word(config->op), rung_type_word(config->type));
    fputs("counted from the templates\n", to);
    if (page->format == RUNG_FORMAT_MD)
        fputc('\n', to);
    if (*status == RUNG_OK)
        *status = rung_table_print(table, page->format, to, err);
    rung_table_free(table);
}

/* Whether two sections, each up to the next, count the same: f64 has other conflicts than f32. */
static bool same_model(const struct rung_page *page, size_t a, size_t b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct rung_row *x = &page->rows[a + i], *y = &page->rows[b + i];
        if (x->config.block != y->config.block || x->config.version != y->config.version ||
            x->config.variant != y->config.variant || x->model.additions != y->model.additions ||
            x->model.body_runs != y->model.body_runs || x->model.serialised != y->model.serialised)
            return false;
    }
    return true;
}

static void print_size(const struct rung_row *row, FILE *to)
{
    double vectors = row->config.op == RUNG_OP_DOT ? 2 : 1;
    double bytes = vectors * (double)row->n * (double)rung_type_size(row->config.type);
    fprintf(to, "%s%" PRIu64 " element%s of %s, ", vectors > 1 ? "2 x " : "", row->n,
            row->n == 1 ? "" : "s", rung_type_word(row->config.type));
    if (bytes < 1048576)
        fprintf(to, "%.0f bytes in", bytes);
    else
        fprintf(to, "%.2f MiB in", bytes / 1048576);
}

/* "Block 256, bound const, dot: 16776605 elements of f32, 64.00 MiB in, 3 passes" */
static void print_heading(const struct rung_page *page, size_t begin, bool flat, bool passes_agree,
                          FILE *to)
{
    const struct rung_row *row = &page->rows[begin];
    const struct rung_config *config = &row->config;
    fputc('\n', to);
    if (!flat) {
        fprintf(to, "Block %u, bound %s", config->block, rung_bound_word(config->bound));
        if (config->bound == RUNG_BOUND_CONST && config->unroll == RUNG_UNROLL_NONE)
            fputs(", unroll none", to);
        if (config->predicate != RUNG_PREDICATE_MOD)
            fprintf(to, ", predicate %s", rung_predicate_word(config->predicate));
        if (config->op != RUNG_OP_SUM)
            fprintf(to, ", %s", rung_op_word(config->op));
        if (config->variant != RUNG_VARIANT_BASE)
            fprintf(to, ", %s", rung_variant_word(config->variant));
        if (targets_differ(page))
            fprintf(to, ", PTX sm_%u", row->ptx_target);
        fputs(": ", to);
    }
    print_size(row, to);
    if (passes_agree && row->planned)
        fprintf(to, ", %u pass%s", row->passes, row->passes == 1 ? "" : "es");
    fputc('\n', to);
    if (page->format == RUNG_FORMAT_MD)
        fputc('\n', to);
}

/* The results table; which columns it has depends on what the rows have to say. `narrow` leaves out
 * one that stands elsewhere too, or follows from others, for 80 columns hold no more. */
struct results {
    const struct rung_page *page;
    size_t begin, end;
    bool flat, target, passes, launches, ceiling, vs_v1, narrow;
};

static struct results look_at(const struct rung_page *page, size_t begin, size_t end, bool flat)
{
    struct results out = {.page = page, .begin = begin, .end = end, .flat = flat};
    out.target = flat && targets_differ(page);
    for (size_t i = begin; i < end; i++) {
        const struct rung_row *row = &page->rows[i];
        out.passes |= row->passes != page->rows[begin].passes;
        out.launches |= row->launches != row->passes;
        out.ceiling |= isfinite(row->of_ceiling);
        out.vs_v1 |= isfinite(row->vs_v1);
    }
    out.narrow = page->format == RUNG_FORMAT_TABLE && (out.target || out.passes || out.launches);
    return out;
}

static size_t list_columns(struct rung_column columns[11], const struct results *results)
{
    static const struct rung_column counted[] = {
        {"sum",        "sum",        true},
        {"body_runs",  "body runs",  true},
        {"serialised", "serialised", true},
        {"additions",  "additions",  true}
    };
    static const struct rung_column timed[] = {
        {"time_ms",  "time (ms)", true},
        {"iqr",      "IQR",       true},
        {"gb_per_s", "GB/s",      true}
    };
    bool sim = results->page->counted;
    size_t n = 0;
    columns[n++] = (struct rung_column){"version", results->flat ? "id" : "version", false};
    if (results->target)
        columns[n++] = (struct rung_column){"ptx_target", "PTX", false};
    if (results->passes)
        columns[n++] = (struct rung_column){"passes", "passes", true};
    if (results->launches)
        columns[n++] = (struct rung_column){"launches", "launches", true};
    if (sim || !results->narrow)
        columns[n++] = (struct rung_column){"mib", "MiB", true};
    for (size_t i = 0; i < (sim && !results->narrow ? 4 : 3); i++)
        columns[n++] = sim ? counted[i] : timed[i];
    if (results->ceiling)
        columns[n++] = (struct rung_column){"of_ceiling", "ceiling", true};
    if (results->vs_v1)
        columns[n++] = (struct rung_column){"vs_v1", "vs v1", true};
    return n;
}

static void counted_cells(struct rung_table *table, const struct rung_row *row, bool narrow)
{
    if (row->status == RUNG_ROW_OK)
        rung_table_format(table, "%.9g", row->sum);
    else
        rung_table_text(table, rung_row_status_word(row->status));
    if (!row->executed.known)
        return;
    rung_table_format(table, "%" PRIu64, row->executed.body_runs);
    rung_table_format(table, "%" PRIu64, row->executed.serialised);
    if (!narrow)
        rung_table_format(table, "%" PRIu64, row->executed.additions);
}

static void timed_cells(struct rung_table *table, const struct rung_row *row,
                        const struct results *results)
{
    const struct rung_times *times = &row->time_ms;
    if (!times->known) {
        rung_table_text(table,
                        row->status == RUNG_ROW_OK ? "-" : rung_row_status_word(row->status));
        return;
    }
    rung_table_format(table, "%.4f", times->median);
    rung_table_format(table, "%.1f %%", 100 * (times->q3 - times->q1) / times->median);
    rung_table_format(table, "%.1f", row->gb_per_s);
    if (results->ceiling && isfinite(row->of_ceiling))
        rung_table_format(table, "%.1f %%", 100 * row->of_ceiling);
    else if (results->ceiling)
        rung_table_empty(table);
    if (results->vs_v1 && isfinite(row->vs_v1))
        rung_table_format(table, "%.2f", row->vs_v1);
}

static void add_result(struct rung_table *table, const struct results *results,
                       const struct rung_row *row)
{
    char label[96];
    row_label(label, results->page, row, results->flat);
    rung_table_row(table);
    rung_table_text(table, label);
    if (results->target)
        rung_table_format(table, "sm_%u", row->ptx_target);
    if (results->passes)
        rung_table_format(table, "%u", row->passes);
    if (results->launches)
        rung_table_format(table, "%" PRIu64, row->launches);
    double mib = (double)row->bytes / 1048576;
    if (!results->page->counted && results->narrow)
        ;
    else if (row->planned)
        rung_table_format(table, mib > 0 && mib < 0.005 ? "<0.01" : "%.2f", mib);
    else
        rung_table_empty(table);
    if (results->page->counted)
        counted_cells(table, row, results->narrow);
    else
        timed_cells(table, row, results);
}

static enum rung_status print_results(const struct results *results, FILE *to,
                                      struct rung_error *err)
{
    struct rung_column columns[11];
    size_t n = list_columns(columns, results);
    struct rung_table *table = rung_table_new(columns, n);
    for (size_t i = results->begin; i < results->end; i++)
        add_result(table, results, &results->page->rows[i]);
    enum rung_status status = rung_table_print(table, results->page->format, to, err);
    rung_table_free(table);
    for (size_t i = results->begin; i < results->end; i++) {
        const struct rung_row *row = &results->page->rows[i];
        if (row->status != RUNG_ROW_OK)
            fprintf(to, "%s: %s\n", rung_row_status_word(row->status), row->reason);
    }
    return status;
}

/* What a rung costs: its time, or the serialised runs of one block where nothing was timed. */
static double cost(const struct rung_page *page, const struct rung_row *row)
{
    if (row->status != RUNG_ROW_OK)
        return NAN;
    if (page->counted)
        return row->executed.known ? (double)row->executed.serialised : NAN;
    return row->time_ms.known ? row->time_ms.median : NAN;
}

static void print_steps(const struct rung_page *page, size_t begin, size_t end, FILE *to)
{
    double largest = -1;
    unsigned from = 0, until = 0, steps = 0;
    for (size_t i = begin + 1; i < end; i++) {
        const struct rung_row *row = &page->rows[i], *before = &page->rows[i - 1];
        double step = cost(page, before) / cost(page, row);
        if (!isfinite(step))
            continue;
        if (largest < 0)
            fprintf(to, "\n%s\n",
                    page->counted ? "Counted steps, serialised runs per block" : "Step speed-ups");
        fprintf(to, "%s v%u -> v%u  %.2fx\n", page->format == RUNG_FORMAT_MD ? "-" : " ",
                before->config.version, row->config.version, step);
        steps++;
        if (step > largest) {
            largest = step;
            from = before->config.version;
            until = row->config.version;
        }
    }
    if (steps > 1)
        fprintf(to, "%sLargest single step: v%u -> v%u\n",
                page->format == RUNG_FORMAT_MD ? "\n" : "", from, until);
}

static uint64_t verified_runs(const struct rung_page *page)
{
    uint64_t runs = 0;
    for (size_t i = 0; i < page->n_rows; i++)
        runs += (uint64_t)json_integer_value(json_object_get(page->rows[i].extra, "verified_runs"));
    return runs;
}

/* "Code: cubin for sm_90 from PTX sm_90; times: clean, isolated" */
static void print_code(const struct rung_page *page, FILE *to)
{
    const struct rung_row *row = NULL;
    for (size_t i = 0; !row && i < page->n_rows; i++)
        if (page->rows[i].image[0])
            row = &page->rows[i];
    if (!row)
        return;
    const json_t *timing = json_object_get(row->extra, "timing");
    fprintf(to, "Loaded as %s", row->image);
    if (!targets_differ(page))
        fprintf(to, ", compiled for sm_%u", row->ptx_target);
    if (row->sass_target)
        fprintf(to, ", running as sm_%u", row->sass_target);
    if (timing)
        fprintf(to, "; times: %s cache, %s", json_string_value(json_object_get(timing, "state")),
                json_string_value(json_object_get(timing, "timer")));
    fputc('\n', to);
}

static void print_verdict(const struct rung_page *page, FILE *to)
{
    size_t right = 0;
    for (size_t i = 0; i < page->n_rows; i++)
        right += page->rows[i].correct;
    fprintf(to, "\nVerified in %" PRIu64 " runs: %zu of %zu configurations right%s.\n",
            verified_runs(page), right, page->n_rows,
            page->counted ? ", counts equal to the model" : "");
}

static enum rung_status print_sections(const struct rung_page *page, FILE *to,
                                       struct rung_error *err)
{
    enum rung_status status = RUNG_OK;
    size_t shown = 0, n_shown = 0; /* the section whose model was printed last */
    for (size_t begin = 0; status == RUNG_OK && begin < page->n_rows;) {
        size_t end = section_end(page, begin);
        if (end - begin != n_shown || !same_model(page, shown, begin, n_shown)) {
            print_model(page, begin, end, to, &status, err);
            shown = begin;
            n_shown = end - begin;
        }
        struct results results = look_at(page, begin, end, false);
        print_heading(page, begin, false, !results.passes, to);
        if (status == RUNG_OK)
            status = print_results(&results, to, err);
        print_steps(page, begin, end, to);
        begin = end;
    }
    return status;
}

static enum rung_status print_flat(const struct rung_page *page, FILE *to, struct rung_error *err)
{
    enum rung_status status = RUNG_OK;
    for (size_t begin = 0; status == RUNG_OK && begin < page->n_rows;) {
        size_t end = begin + 1;
        while (end < page->n_rows && page->rows[end].n == page->rows[begin].n &&
               page->rows[end].config.type == page->rows[begin].config.type &&
               page->rows[end].config.op == page->rows[begin].config.op)
            end++;
        struct results results = look_at(page, begin, end, true);
        print_heading(page, begin, true, !results.passes, to);
        status = print_results(&results, to, err);
        begin = end;
    }
    return status;
}

enum rung_status rung_page_print(const struct rung_page *page, FILE *to, struct rung_error *err)
{
    print_code(page, to);
    enum rung_status status =
        is_flat(page) ? print_flat(page, to, err) : print_sections(page, to, err);
    if (status == RUNG_OK)
        status = rung_page_compare_bounds(page, to, err);
    if (status == RUNG_OK)
        status = rung_page_compare_blocks(page, to, err);
    print_verdict(page, to);
    if (isfinite(page->ceiling_gb_per_s))
        fprintf(to, "Read ceiling of this card, measured in this run: %.0f GB/s\n",
                page->ceiling_gb_per_s);
    return status;
}
