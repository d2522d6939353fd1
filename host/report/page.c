/* The parts of the page in their order. */
#define _GNU_SOURCE
#include "report/page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "report/best.h"
#include "report/groups.h"
#include "report/html.h"
#include "report/page_tables.h"
#include "report/plots.h"
#include "report/sources.h"

struct page {
    struct rung_text *out;
    const struct rung_page_options *options;
    bool plots; /* gnuplot is there */
    const struct rung_sources *sources;
    struct rung_error *err;
};

static void card(struct rung_text *out, const char *label, const char *value, const char *note)
{
    rung_text_append(out, "<li><span class=soft>");
    rung_text_append_xml(out, label);
    rung_text_append(out, "</span><b>");
    rung_text_append_xml(out, value);
    rung_text_append(out, "</b><span class=soft>");
    rung_text_append_xml(out, note);
    rung_text_append(out, "</span></li>\n");
}

/* Each once, with the day of the first file that is of it. */
static void devices(struct page *page)
{
    const struct rung_source *sources = page->sources->sources;
    for (size_t f = 0; f < page->sources->n; f++) {
        bool first = true;
        for (size_t before = 0; before < f; before++)
            first &= strcmp(sources[before].device, sources[f].device) != 0;
        if (first)
            rung_html_format(page->out, "%s%s, %s", f ? "; " : "", sources[f].device,
                             sources[f].date);
    }
}

/* One where the files are one result, else one for each that has it. */
static void ceilings(struct page *page)
{
    const struct rung_sources *sources = page->sources;
    for (size_t f = 0; f < sources->n; f++) {
        const struct rung_result of = {.source = sources->apart ? sources->sources[f].label : NULL};
        double ceiling = rung_sources_ceiling(sources, &of);
        char text[32];
        if (!isfinite(ceiling) || (!sources->apart && f > 0))
            continue;
        snprintf(text, sizeof text, "%.0f GB/s", ceiling);
        card(page->out, "Read ceiling", text,
             of.source ? of.source : "measured on this card in the same run");
    }
}

static void head(struct page *page, const struct rung_results *files, size_t n_files)
{
    size_t rows = 0, wrong = 0, failed = 0;
    char text[64], note[160];
    for (size_t f = 0; f < n_files; f++)
        for (size_t i = 0; i < files[f].n_rows; i++) {
            enum rung_row_status status = files[f].rows[i].row.status;
            rows++;
            wrong += status == RUNG_ROW_WRONG;
            failed += status != RUNG_ROW_OK && status != RUNG_ROW_WRONG;
        }
    rung_text_append(page->out, "<header><h1>");
    rung_text_append_xml(page->out, page->options->title);
    rung_text_append(page->out, "</h1><p class=soft>");
    devices(page);
    rung_text_append(page->out, "</p></header>\n<ul class=cards>\n");
    snprintf(text, sizeof text, "%zu", rows);
    snprintf(note, sizeof note, "%zu wrong, %zu without a result", wrong, failed);
    card(page->out, "Rows", text, note);
    ceilings(page);
}

static void best_cards(struct page *page, const struct rung_bests *bests)
{
    for (size_t i = 0; i < bests->n && i < 4; i++) {
        const struct rung_best *best = &bests->bests[i];
        char id[RUNG_ID_SIZE], note[256];
        const struct rung_row *row = &best->set[0]->row;
        rung_config_id(&row->config, id);
        if (best->n_set > 1)
            snprintf(note, sizeof note, "%.4g µs; %zu other%s cannot be told from it",
                     row->time_ms.median * 1e3, best->n_set - 1, best->n_set == 2 ? "" : "s");
        else if (best->next)
            snprintf(note, sizeof note, "%.4g µs; the next takes %.3f times as long",
                     row->time_ms.median * 1e3, best->gap.ratio);
        else
            snprintf(note, sizeof note, "%.4g µs", row->time_ms.median * 1e3);
        if (best->set[0]->source) {
            size_t length = strlen(note);
            snprintf(note + length, sizeof note - length, "; %s", best->set[0]->source);
        }
        card(page->out, best->n_set > 1 ? "Fastest, one of a tie" : "Fastest", id, note);
    }
}

static enum rung_status keep_file(const struct page *page, const char *name, const char *suffix,
                                  const struct rung_text *text)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s%s", page->options->keep, name, suffix) < 0)
        return rung_fail(page->err, RUNG_MEMORY, "out of memory");
    enum rung_status status =
        rung_file_write(path, rung_text_string(text), text->length, page->err);
    free(path);
    return status;
}

static enum rung_status add_plot(struct page *page, const struct rung_plot *plot, bool wide)
{
    struct rung_text svg = {0}, script = {0};
    enum rung_status status = page->plots ? rung_plot_svg(&svg, plot, page->err) : RUNG_OK;
    if (status == RUNG_OK && page->options->keep) {
        rung_plot_script(&script, plot);
        status = keep_file(page, plot->name, ".gp", &script);
        if (status == RUNG_OK && page->plots)
            status = keep_file(page, plot->name, ".svg", &svg);
    }
    if (status == RUNG_OK && page->plots) {
        rung_text_format(page->out, "<figure%s id=\"%s\" role=group aria-label=\"",
                         wide ? " class=wide" : "", plot->name);
        rung_text_append_xml(page->out, plot->caption);
        rung_text_append(page->out, "\">\n");
        rung_text_append_bytes(page->out, rung_text_string(&svg), svg.length);
        rung_text_append(page->out, "<figcaption>");
        rung_text_append_xml(page->out, plot->caption);
        rung_text_append(page->out, "</figcaption></figure>\n");
    }
    rung_text_release(&svg);
    rung_text_release(&script);
    return status;
}

static enum rung_status add_plots(struct page *page, const struct rung_group *group, size_t number,
                                  enum rung_plot_kind kind, const char *heading, const char *text)
{
    struct rung_plots plots = {0};
    enum rung_status status =
        rung_plots_make(&plots, group, kind, number,
                        rung_sources_ceiling(page->sources, group->rows[0]), page->err);
    if (status == RUNG_OK && plots.n && page->plots) {
        rung_text_append(page->out, "<h3>");
        rung_text_append_xml(page->out, heading);
        rung_text_append(page->out, "</h3><p>");
        rung_text_append_xml(page->out, text);
        rung_text_append(page->out, kind == RUNG_PLOTS_DISTRIBUTION ? "</p>\n<div>\n"
                                                                    : "</p>\n<div class=plots>\n");
    }
    for (size_t i = 0; i < plots.n && status == RUNG_OK; i++)
        status = add_plot(page, &plots.plots[i], kind == RUNG_PLOTS_DISTRIBUTION);
    if (plots.n && page->plots)
        rung_text_append(page->out, "</div>\n");
    rung_plots_release(&plots);
    return status;
}

static enum rung_status add_group(struct page *page, const struct rung_group *group, size_t number)
{
    static const struct {
        enum rung_plot_kind kind;
        const char *heading, *text;
    } parts[] = {
        {RUNG_PLOTS_LADDER,       "The ladder, block by block",
         "Each rung changes one thing against the one before it. A line that falls is a step that "
         "pays on this card at this block size; where the two bounds disagree, the compiler made "
         "different code of the same loop."                                                                                  },
        {RUNG_PLOTS_BLOCKS,       "Block size",                      "The same times along the other axis, both logarithmic."},
        {RUNG_PLOTS_RATIO,        "Counted against measured",
         "Version 1 keeps more warps busy than version 3 does, and the count says how many more. "
         "If "
         "those runs were all that a block costs, the measured lines would lie on the counted "
         "one."                                                                                                              },
        {RUNG_PLOTS_BOUNDS,       "Constant against run-time bound",
         "Above 1 the bound that is read at run time costs time. Where the compiler cannot turn "
         "the "
         "modulo of version 1 into a mask, that is where it shows."                                                          },
        {RUNG_PLOTS_ROOF,         "Against the memory",
         "A reduction reads every byte once. How near a version comes to what the card can read "
         "says "
         "whether the memory bounds it, or the work between the loads."                                                      },
        {RUNG_PLOTS_DISTRIBUTION, "Every sample",
         "How far the samples of a row lie from their median. Rows with wide or lopsided boxes "
         "need "
         "more samples, or a quieter machine."                                                                               },
    };
    static const char *const counts_text =
        "Nothing was timed here. Counted are the warp-wide runs of the tree's addition, and the "
        "same "
        "weighted by bank conflicts: what each rung saves, before any clock has a say.";
    rung_text_append(page->out, "<section><h2>");
    rung_text_append_xml(page->out, group->question);
    rung_text_append(page->out, "</h2>\n");
    enum rung_status status = RUNG_OK;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && status == RUNG_OK; i++)
        status = add_plots(page, group, number, parts[i].kind, parts[i].heading,
                           group->timed || parts[i].kind != RUNG_PLOTS_LADDER ? parts[i].text
                                                                              : counts_text);
    rung_text_append(page->out, "</section>\n");
    return status;
}

static enum rung_status fill(struct page *page, const struct rung_result *all, size_t n,
                             const struct rung_results *files, size_t n_files)
{
    struct rung_groups groups = {0};
    struct rung_bests bests = {0};
    enum rung_status status = rung_best_find(&bests, all, n, page->err);
    if (status == RUNG_OK)
        status = rung_groups_make(&groups, all, n, page->err);
    if (status == RUNG_OK) {
        head(page, files, n_files);
        best_cards(page, &bests);
        rung_text_append(page->out, "</ul>\n");
        if (!page->plots)
            rung_text_append(page->out, "<p class=bad>There are no plots: gnuplot could not be run "
                                        "when this page was made.</p>\n");
        rung_page_bests(page->out, &bests);
    }
    for (size_t g = 0; g < groups.n && status == RUNG_OK; g++)
        status = add_group(page, &groups.groups[g], g + 1);
    if (status == RUNG_OK) {
        rung_page_failures(page->out, files, n_files);
        rung_page_counters(page->out, all, n);
        rung_page_rows(page->out, all, n);
        rung_page_environment(page->out, files, n_files);
    }
    rung_groups_release(&groups);
    rung_bests_release(&bests);
    return status;
}

enum rung_status rung_page_make(struct rung_text *out, struct rung_results *files, size_t n_files,
                                const struct rung_page_options *options, struct rung_error *err)
{
    size_t n;
    struct rung_sources sources = {0};
    struct page page = {.out = out,
                        .options = options,
                        .plots = rung_plot_possible(),
                        .sources = &sources,
                        .err = err};
    enum rung_status status = rung_sources_make(&sources, files, n_files, err);
    if (status != RUNG_OK)
        return status;
    struct rung_result *all = rung_sources_gather(&n, &sources, files);
    if (!all)
        status = rung_fail(err, RUNG_MEMORY, "out of memory");
    rung_html_begin(out, options->title);
    if (status == RUNG_OK && options->keep)
        status = rung_folder_make(options->keep, err);
    if (status == RUNG_OK)
        status = fill(&page, all, n, files, n_files);
    rung_html_end(out);
    free(all);
    rung_sources_release(&sources);
    if (status == RUNG_OK && !rung_text_ok(out))
        status = rung_fail(err, RUNG_MEMORY, "no memory for the page");
    return status;
}
