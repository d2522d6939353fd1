/* Best sets, failures, rows and provenance as tables. */
#include "report/page_tables.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/counters.h"
#include "report/html.h"

static void number(struct rung_text *out, const char *format, double value)
{
    rung_text_append(out, "<td class=n>");
    if (isfinite(value)) {
        char text[48];
        snprintf(text, sizeof text, format, value);
        rung_text_append_xml(out, text);
    }
    rung_text_append(out, "</td>");
}

static void id_cell(struct rung_text *out, const struct rung_row *row)
{
    char id[RUNG_ID_SIZE];
    rung_config_id(&row->config, id);
    rung_text_append(out, "<th scope=row class=id>");
    rung_text_append_xml(out, id);
    rung_text_append(out, "</th>");
}

void rung_page_bests(struct rung_text *out, const struct rung_bests *bests)
{
    if (bests->n == 0)
        return;
    rung_text_append(out,
                     "<h2>The best, as a set</h2><p>A configuration is in the set when the 95 % "
                     "interval of its median reaches that of the fastest. The next one behind "
                     "the set says how clear the answer is.</p>\n");
    for (size_t i = 0; i < bests->n; i++) {
        const struct rung_best *best = &bests->bests[i];
        rung_text_append(out, "<div class=scroll><table><caption class=soft>");
        rung_html_format(out, "%s: %zu of %zu rows", best->question, best->n_set, best->n_rows);
        rung_text_append(out, "</caption><tbody>\n");
        for (size_t r = 0; r < best->n_set; r++) {
            rung_text_append(out, "<tr>");
            id_cell(out, &best->set[r]->row);
            number(out, "%.2f µs", best->set[r]->row.time_ms.median * 1e3);
            rung_text_append(out, r ? "<td>tied" : "<td>fastest");
            rung_text_append(out, "</td></tr>\n");
        }
        if (best->next) {
            rung_text_append(out, "<tr>");
            id_cell(out, &best->next->row);
            number(out, "%.2f µs", best->next->row.time_ms.median * 1e3);
            rung_text_append(out, "<td>");
            rung_html_format(out, "next: %.3f times as long (%.3f to %.3f)", best->gap.ratio,
                             best->gap.low, best->gap.high);
            rung_text_append(out, "</td></tr>\n");
        }
        rung_text_append(out, "</tbody></table></div>\n");
    }
}

static bool all_well(const struct rung_results *files, size_t n_files)
{
    for (size_t f = 0; f < n_files; f++) {
        if (files[f].n_left_out || !files[f].ended)
            return false;
        for (size_t i = 0; i < files[f].n_rows; i++)
            if (files[f].rows[i].row.status != RUNG_ROW_OK)
                return false;
    }
    return true;
}

void rung_page_failures(struct rung_text *out, const struct rung_results *files, size_t n_files)
{
    if (all_well(files, n_files))
        return;
    rung_text_append(out, "<h2 class=bad>What is missing</h2><ul>\n");
    for (size_t f = 0; f < n_files; f++) {
        if (!files[f].ended) {
            rung_text_append(out, "<li>");
            rung_html_format(out, "The last run of %s was ended from outside; its rows are whole.",
                             files[f].path);
            rung_text_append(out, "</li>\n");
        }
        for (size_t i = 0; i < files[f].n_left_out; i++) {
            rung_text_append(out, "<li>");
            rung_html_format(out, "%s, line %zu, was left out: %s", files[f].path,
                             files[f].left_out[i].line, files[f].left_out[i].why);
            rung_text_append(out, "</li>\n");
        }
        for (size_t i = 0; i < files[f].n_rows; i++) {
            const struct rung_row *row = &files[f].rows[i].row;
            if (row->status == RUNG_ROW_OK)
                continue;
            rung_text_append(out, "<li><code>");
            rung_text_append_xml(out, files[f].rows[i].key);
            rung_text_append(out, "</code>");
            if (n_files > 1)
                rung_html_format(out, " of %s", files[f].path);
            rung_html_format(out, ": %s, %s", rung_row_status_word(row->status), row->reason);
            rung_text_append(out, "</li>\n");
        }
    }
    rung_text_append(out, "</ul>\n");
}

/* Whether rows say which file they are of: all of a page or none. */
static bool have_sources(const struct rung_result *rows, size_t n_rows)
{
    return n_rows && rows[0].source;
}

static void source_cell(struct rung_text *out, const struct rung_result *result)
{
    if (!result->source)
        return;
    rung_text_append(out, "<td>");
    rung_text_append_xml(out, result->source);
    rung_text_append(out, "</td>");
}

static void counted_row(struct rung_text *out, const struct rung_result *result,
                        const struct rung_counted *counted)
{
    rung_text_append(out, "<tr>");
    id_cell(out, &result->row);
    source_cell(out, result);
    rung_text_format(out, "<td>%s</td>", counted->source);
    number(out, "%.0f", counted->body_runs);
    number(out, "%.0f", counted->serialised);
    number(out, "%.6g", counted->load_wavefronts);
    number(out, "%.6g", counted->load_conflicts);
    number(out, "%.6g", counted->store_wavefronts);
    number(out, "%.6g", counted->store_conflicts);
    number(out, "%.6g", counted->warp_instructions);
    rung_text_append(out, "</tr>\n");
}

/* Whether an earlier row of the same configuration, and of the same file where files are apart,
 * showed this witness already. */
static bool shown(const struct rung_result *rows, size_t i, const char *witness)
{
    for (size_t j = 0; j < i; j++) {
        struct rung_counted counted[RUNG_COUNTED_MAX];
        if (!rung_config_equal(&rows[j].row.config, &rows[i].row.config) ||
            rows[j].source != rows[i].source)
            continue;
        size_t n = rung_counted_read(counted, &rows[j].row);
        for (size_t k = 0; k < n; k++)
            if (strcmp(counted[k].source, witness) == 0)
                return true;
    }
    return false;
}

static void counted_rows(struct rung_text *out, const struct rung_result *rows, size_t n_rows,
                         const struct rung_config *config)
{
    for (size_t i = 0; i < n_rows; i++) {
        struct rung_counted counted[RUNG_COUNTED_MAX];
        if (!rung_config_equal(&rows[i].row.config, config))
            continue;
        size_t n = rung_counted_read(counted, &rows[i].row);
        for (size_t k = 0; k < n; k++)
            if (!shown(rows, i, counted[k].source))
                counted_row(out, &rows[i], &counted[k]);
    }
}

void rung_page_counters(struct rung_text *out, const struct rung_result *rows, size_t n_rows)
{
    bool any = false;
    for (size_t i = 0; i < n_rows; i++) {
        struct rung_counted counted[RUNG_COUNTED_MAX];
        any |= rung_counted_read(counted, &rows[i].row) > 1;
    }
    if (!any)
        return;
    rung_text_append(
        out,
        "<h2>Model, simulator, silicon</h2><p>Per block. Store wavefronts are the serialised "
        "runs and one first store a warp; where the card shows fewer load wavefronts, its "
        "compiler merged neighbouring loads. Instructions are issued by every warp, also those "
        "without an active lane, and the card's are not those of the PTX.</p>\n"
        "<div class=scroll><table class=rows><thead><tr><th scope=col>configuration</th>");
    if (have_sources(rows, n_rows))
        rung_text_append(out, "<th scope=col>file</th>");
    rung_text_append(
        out,
        "<th scope=col>source</th><th scope=col class=n>body runs</th><th scope=col "
        "class=n>serialised</th><th scope=col class=n>load wavefronts</th><th scope=col "
        "class=n>conflicts</th><th scope=col class=n>store wavefronts</th><th scope=col "
        "class=n>conflicts</th><th scope=col class=n>warp instructions</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < n_rows; i++) {
        bool first = true;
        for (size_t j = 0; j < i; j++)
            first &= !rung_config_equal(&rows[j].row.config, &rows[i].row.config);
        if (first)
            counted_rows(out, rows, n_rows, &rows[i].row.config);
    }
    rung_text_append(out, "</tbody></table></div>\n");
}

static void time_cells(struct rung_text *out, const struct rung_row *row)
{
    bool timed = row->time_ms.known;
    number(out, "%.2f", timed ? row->time_ms.median * 1e3 : NAN);
    number(out, "%.2f", timed ? row->time_ms.min * 1e3 : NAN);
    number(out, "%.2f", timed ? row->time_ms.q1 * 1e3 : NAN);
    number(out, "%.2f", timed ? row->time_ms.q3 * 1e3 : NAN);
    number(out, "%.0f", timed ? (double)row->time_ms.n_samples : NAN);
    number(out, "%.0f", row->gb_per_s);
    number(out, "%.1f %%", 100 * row->of_ceiling);
    number(out, "%.2f×", row->vs_v1);
}

static void one_row(struct rung_text *out, const struct rung_result *result, bool any_timed)
{
    const struct rung_row *row = &result->row;
    const struct rung_counts *counts = row->executed.known ? &row->executed : &row->model;
    rung_text_append(out, "<tr>");
    id_cell(out, row);
    source_cell(out, result);
    rung_text_append(out, "<td class=n>");
    rung_text_format(out, "%llu", (unsigned long long)row->n);
    rung_text_append(out, "</td>");
    if (any_timed)
        time_cells(out, row);
    number(out, "%.0f", counts->known ? (double)counts->body_runs : NAN);
    number(out, "%.0f", counts->known ? (double)counts->serialised : NAN);
    number(out, "%.0f", row->registers >= 0 ? row->registers : NAN);
    rung_text_append(out, "<td>");
    rung_html_format(out, "%s %s %s", rung_row_word(row, "state", ""),
                     rung_row_word(row, "timer", ""), row->image);
    rung_text_append(out, "</td><td>");
    rung_text_append_xml(out, rung_row_status_word(row->status));
    rung_text_append(out, "</td></tr>\n");
}

void rung_page_rows(struct rung_text *out, const struct rung_result *rows, size_t n_rows)
{
    static const char *const time_heads[] = {"median µs", "min",        "q1",    "q3", "samples",
                                             "GB/s",      "of ceiling", "vs v1", NULL};
    static const char *const count_heads[] = {"body runs", "serialised", "registers", NULL};
    bool timed = false;
    for (size_t i = 0; i < n_rows; i++)
        timed |= rows[i].row.time_ms.known;
    rung_text_append(out, "<h2>All rows</h2><div class=scroll><table class=rows><thead><tr>"
                          "<th scope=col>configuration</th>");
    if (have_sources(rows, n_rows))
        rung_text_append(out, "<th scope=col>file</th>");
    rung_text_append(out, "<th scope=col class=n>n</th>");
    for (size_t i = 0; timed && time_heads[i]; i++)
        rung_text_format(out, "<th scope=col class=n>%s</th>", time_heads[i]);
    for (size_t i = 0; count_heads[i]; i++)
        rung_text_format(out, "<th scope=col class=n>%s</th>", count_heads[i]);
    rung_text_append(out, "<th scope=col>how</th><th scope=col>status</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < n_rows; i++)
        one_row(out, &rows[i], timed);
    rung_text_append(out, "</tbody></table></div>\n");
}

static void command_line(struct rung_text *out, const json_t *argv)
{
    size_t i;
    const json_t *word;
    rung_text_append(out, "<p><code>");
    json_array_foreach(argv, i, word)
    {
        const char *text = json_string_value(word);
        rung_html_format(out, "%s%s", i ? " " : "", text ? text : "");
    }
    rung_text_append(out, "</code></p>\n");
}

void rung_page_environment(struct rung_text *out, const struct rung_results *files, size_t n_files)
{
    static const char *const fields[] = {"environment", "card", "device", "host", "stop"};
    rung_text_append(out, "<h2>Where and how</h2><p>Every run as it was recorded; a run may be one "
                          "of several that filled the same file.</p>\n");
    for (size_t f = 0; f < n_files; f++)
        for (size_t r = 0; r < json_array_size(files[f].runs); r++) {
            rung_text_append(out, r ? "<details><summary>" : "<details open><summary>");
            rung_html_format(out, "%s, run %zu", files[f].path, r + 1);
            rung_text_append(out, "</summary>\n");
            command_line(out, rung_results_run_field(&files[f], r, "argv"));
            rung_text_append(out, "<div class=scroll><table><tbody>\n");
            for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
                rung_html_json_rows(out, fields[i],
                                    rung_results_run_field(&files[f], r, fields[i]));
            rung_text_append(out, "</tbody></table></div></details>\n");
        }
}
