/* Writes the gnuplot script of every plot, its data inside. */
#include "report/plots.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/stats.h"

#define WIDTH 400
#define HEIGHT 280
#define WIDE 430
#define ROW_HEIGHT 15 /* of the distribution */

static const char *const bound_titles[] = {"constant bound", "run-time bound"};

struct maker {
    const struct rung_group *group;
    struct rung_plots *plots;
    size_t number, room;
    double ceiling;
};

static struct rung_text *begin(struct maker *maker, const char *kind, const char *which)
{
    if (maker->plots->n == maker->room)
        return NULL;
    struct rung_plot *plot = &maker->plots->plots[maker->plots->n++];
    *plot = (struct rung_plot){.width = WIDTH, .height = HEIGHT};
    snprintf(plot->name, sizeof plot->name, "%s%s%s-%zu", kind, which[0] ? "-" : "", which,
             maker->number);
    return &plot->script;
}

static void caption(struct maker *maker, const char *text)
{
    snprintf(maker->plots->plots[maker->plots->n - 1].caption,
             sizeof maker->plots->plots[0].caption, "%s", text);
}

static void block_axis(struct rung_text *script, const struct rung_group *group)
{
    rung_text_append(script, "set logscale x 2\nset xlabel 'threads per block'\nset xtics (");
    for (size_t i = 0; i < group->n_blocks; i++)
        rung_text_format(script, "%s'%u' %u", i ? ", " : "", group->blocks[i], group->blocks[i]);
    rung_text_append(script, ")\n");
    if (group->n_blocks)
        rung_text_format(script, "set xrange [%g:%g]\n", group->blocks[0] / 1.3,
                         group->blocks[group->n_blocks - 1] * 1.3);
}

static void version_axis(struct rung_text *script, const struct rung_group *group)
{
    rung_text_append(script, "set xtics (");
    for (size_t i = 0; i < group->n_versions; i++)
        rung_text_format(script, "%s'v%u' %zu", i ? ", " : "", group->versions[i], i);
    rung_text_format(script, ")\nset xrange [-0.4:%g]\n", (double)group->n_versions - 0.6);
}

/* One line of points in the colour of `series`, its data in $d<number>. */
static void line(struct rung_text *plot, unsigned number, unsigned series, const char *title)
{
    rung_text_format(
        plot,
        "%s$d%u using 1:2 with linespoints linecolor rgb '%s' linewidth 2 pointtype %u "
        "pointsize 0.7 title '%s'",
        number ? ", \\\n  " : "plot ", number, rung_plot_colour(series), series % 2 ? 13 : 7,
        title);
}

static void open_data(struct rung_text *script, unsigned number)
{
    rung_text_format(script, "$d%u << EOD\n", number);
}

static void close_data(struct rung_text *script)
{
    rung_text_append(script, "EOD\n");
}

static double time_us(const struct rung_result *result)
{
    return result && result->row.time_ms.known ? result->row.time_ms.median * 1e3 : NAN;
}

static void point(struct rung_text *script, double x, double y)
{
    if (isfinite(y))
        rung_text_format(script, "%g %.7g\n", x, y);
}

/* Time of each version at one block: a line a bound. */
static void ladder_of_times(struct maker *maker, unsigned block)
{
    const struct rung_group *group = maker->group;
    char which[16];
    snprintf(which, sizeof which, "%u", block);
    struct rung_text *script = begin(maker, "ladder", which), plot = {0};
    if (!script)
        return;
    version_axis(script, group);
    rung_text_append(script, "set ylabel 'µs'\nset yrange [0:*]\nset key above horizontal\n"
                             "set offsets 0, 0, graph 0.12, 0\n");
    unsigned number = 0;
    for (int bound = 0; bound < 2; bound++) {
        if (!group->has_bound[bound])
            continue;
        open_data(script, number);
        for (size_t v = 0; v < group->n_versions; v++)
            point(
                script, (double)v,
                time_us(rung_group_find(group, group->versions[v], block, (enum rung_bound)bound)));
        close_data(script);
        line(&plot, number, bound ? 1 : 0, bound_titles[bound]);
        rung_text_format(&plot,
                         ", \\\n  $d%u using 1:2:(sprintf('%%.4g', $2)) with labels offset 0,%s "
                         "font ',10' textcolor rgb '%s' notitle",
                         number, bound ? "0.8" : "-0.8", rung_plot_colour(bound ? 1 : 0));
        number++;
    }
    rung_text_format(script, "%s\n", rung_text_string(&plot));
    rung_text_release(&plot);
    char text[128];
    snprintf(text, sizeof text,
             "The ladder at %u threads per block: median time of a complete "
             "reduction",
             block);
    caption(maker, text);
}

/* Body runs and serialised runs of each version at one block. */
static void ladder_of_counts(struct maker *maker, unsigned block)
{
    const struct rung_group *group = maker->group;
    char which[16];
    snprintf(which, sizeof which, "%u", block);
    struct rung_text *script = begin(maker, "counts", which), plot = {0};
    static const char *const titles[] = {"serialised", "body runs"};
    if (!script)
        return;
    version_axis(script, group);
    rung_text_append(script,
                     "set ylabel 'per block'\nset yrange [0:*]\nset key above horizontal\n");
    for (unsigned which_count = 0; which_count < 2; which_count++) {
        open_data(script, which_count);
        for (size_t v = 0; v < group->n_versions; v++) {
            const struct rung_result *row = NULL;
            for (int bound = 0; bound < 2 && !row; bound++)
                row = rung_group_find(group, group->versions[v], block, (enum rung_bound)bound);
            if (!row)
                continue;
            const struct rung_counts *counts =
                row->row.executed.known ? &row->row.executed : &row->row.model;
            point(script, (double)v,
                  (double)(which_count ? counts->body_runs : counts->serialised));
        }
        close_data(script);
        line(&plot, which_count, which_count, titles[which_count]);
    }
    rung_text_format(script, "%s\n", rung_text_string(&plot));
    rung_text_release(&plot);
    char text[128];
    snprintf(text, sizeof text,
             "Counted at %u threads per block: warp-wide body runs, and those "
             "weighted by their bank conflicts",
             block);
    caption(maker, text);
}

static void against_block(struct maker *maker, enum rung_bound bound, bool rate)
{
    const struct rung_group *group = maker->group;
    struct rung_text *script = begin(maker, rate ? "roof" : "blocks", rung_bound_word(bound));
    struct rung_text plot = {0};
    if (!script)
        return;
    block_axis(script, group);
    rung_text_append(script, rate
                                 ? "set ylabel 'GB/s'\nset yrange [0:*]\nset key above horizontal\n"
                                 : "set ylabel 'µs'\nset logscale y\nset key above horizontal\n");
    unsigned number = 0;
    for (size_t v = 0; v < group->n_versions; v++) {
        char title[16];
        snprintf(title, sizeof title, "v%u", group->versions[v]);
        open_data(script, number);
        for (size_t b = 0; b < group->n_blocks; b++) {
            const struct rung_result *row =
                rung_group_find(group, group->versions[v], group->blocks[b], bound);
            point(script, group->blocks[b], rate && row ? row->row.gb_per_s : time_us(row));
        }
        close_data(script);
        line(&plot, number++, (unsigned)v, title);
    }
    bool roof = rate && maker->ceiling > 0;
    if (roof)
        rung_text_format(&plot,
                         ", \\\n  %.6g with lines linecolor rgb '" RUNG_PLOT_INK
                         "' linewidth 1 dashtype 2 title 'ceiling'",
                         maker->ceiling);
    rung_text_format(script, "%s\n", rung_text_string(&plot));
    rung_text_release(&plot);
    char text[160];
    snprintf(text, sizeof text,
             rate ? "Input bytes over median time, %s; the dashed line is what this card can read"
                  : "Median time against block size, %s",
             bound_titles[bound]);
    caption(maker, text);
}

static double counted_ratio(const struct rung_group *group, unsigned block)
{
    for (int bound = 0; bound < 2; bound++) {
        const struct rung_result *one = rung_group_find(group, 1, block, (enum rung_bound)bound);
        const struct rung_result *three = rung_group_find(group, 3, block, (enum rung_bound)bound);
        if (one && three && one->row.model.known && three->row.model.body_runs)
            return (double)one->row.model.body_runs / (double)three->row.model.body_runs;
    }
    return NAN;
}

static double measured_ratio(const struct rung_group *group, unsigned block, enum rung_bound bound)
{
    return time_us(rung_group_find(group, 1, block, bound)) /
           time_us(rung_group_find(group, 3, block, bound));
}

/* The exercise of the page: does the measured ratio follow the counted one? */
static void ratio(struct maker *maker)
{
    const struct rung_group *group = maker->group;
    size_t found = 0;
    for (size_t b = 0; b < group->n_blocks; b++)
        found += isfinite(counted_ratio(group, group->blocks[b]));
    struct rung_text *script = found > 1 ? begin(maker, "ratio", "") : NULL, plot = {0};
    if (!script)
        return;
    block_axis(script, group);
    rung_text_append(script, "set ylabel 'version 1 over version 3'\nset yrange [0:*]\n"
                             "set key above horizontal\n");
    open_data(script, 0);
    for (size_t b = 0; b < group->n_blocks; b++)
        point(script, group->blocks[b], counted_ratio(group, group->blocks[b]));
    close_data(script);
    line(&plot, 0, 2, "counted");
    unsigned number = 1;
    for (int bound = 0; bound < 2; bound++) {
        char title[48];
        if (!group->has_bound[bound] || !group->timed)
            continue;
        open_data(script, number);
        for (size_t b = 0; b < group->n_blocks; b++)
            point(script, group->blocks[b],
                  measured_ratio(group, group->blocks[b], (enum rung_bound)bound));
        close_data(script);
        snprintf(title, sizeof title, "measured, %s", rung_bound_word((enum rung_bound)bound));
        line(&plot, number++, bound ? 1 : 0, title);
    }
    rung_text_format(script, "%s\n", rung_text_string(&plot));
    rung_text_release(&plot);
    caption(maker, "Version 1 over version 3: the ratio of counted body runs beside that of the "
                   "times");
}

static void bounds(struct maker *maker)
{
    const struct rung_group *group = maker->group;
    struct rung_text *script = group->timed && group->has_bound[0] && group->has_bound[1]
                                   ? begin(maker, "bounds", "")
                                   : NULL;
    struct rung_text plot = {0};
    if (!script)
        return;
    block_axis(script, group);
    rung_text_append(script, "set ylabel 'run-time over constant bound'\nset yrange [0:*]\n"
                             "set key above horizontal\n");
    for (size_t v = 0; v < group->n_versions; v++) {
        char title[16];
        snprintf(title, sizeof title, "v%u", group->versions[v]);
        open_data(script, (unsigned)v);
        for (size_t b = 0; b < group->n_blocks; b++)
            point(script, group->blocks[b],
                  time_us(rung_group_find(group, group->versions[v], group->blocks[b],
                                          RUNG_BOUND_RUNTIME)) /
                      time_us(rung_group_find(group, group->versions[v], group->blocks[b],
                                              RUNG_BOUND_CONST)));
        close_data(script);
        line(&plot, (unsigned)v, (unsigned)v, title);
    }
    rung_text_format(script, "%s\n", rung_text_string(&plot));
    rung_text_release(&plot);
    caption(maker, "What a loop bound that is read at run time costs: its time over that of a "
                   "constant bound");
}

/* A box from the first to the third quartile, whiskers over the middle 95 %, the median marked. */
static void distribution(struct maker *maker)
{
    const struct rung_group *group = maker->group;
    struct rung_text *script = group->timed ? begin(maker, "samples", "") : NULL;
    struct rung_text labels = {0};
    if (!script)
        return;
    open_data(script, 0);
    size_t shown = 0;
    for (size_t i = 0; i < group->n_rows; i++) {
        const struct rung_times *times = &group->rows[i]->row.time_ms;
        char id[RUNG_ID_SIZE];
        double *sorted = times->n_samples ? malloc(times->n_samples * sizeof *sorted) : NULL;
        if (!sorted)
            continue;
        memcpy(sorted, times->samples, times->n_samples * sizeof *sorted);
        rung_stats_sort(sorted, times->n_samples);
        rung_text_format(script, "%zu", shown);
        const double quantiles[] = {0.025, 0.25, 0.75, 0.975};
        for (size_t q = 0; q < 4; q++)
            rung_text_format(
                script, " %.5g",
                100 * (rung_stats_quantile(sorted, times->n_samples, quantiles[q]) / times->median -
                       1));
        rung_text_append(script, "\n");
        free(sorted);
        rung_config_id(&group->rows[i]->row.config, id);
        rung_text_format(&labels, "%s'%s' %zu", shown ? ", " : "", id, shown);
        shown++;
    }
    close_data(script);
    rung_text_format(
        script,
        "set yrange [%g:-1]\nset ytics (%s) font ',10'\nset xlabel '%% from the median'\n"
        "set grid xtics noytics\nset style fill solid 0.5 noborder\nunset key\n"
        "plot $d0 using (0):1:2:5:($1-0.001):($1+0.001) with boxxyerror linecolor rgb "
        "'%s', \\\n  $d0 using (0):1:3:4:($1-0.32):($1+0.32) with boxxyerror linecolor "
        "rgb '%s', \\\n  $d0 using (0):1 with points pointtype 7 pointsize 0.4 "
        "linecolor rgb '" RUNG_PLOT_INK "'\n",
        (double)shown, rung_text_string(&labels), rung_plot_colour(0), rung_plot_colour(0));
    rung_text_release(&labels);
    maker->plots->plots[maker->plots->n - 1].width = WIDE;
    maker->plots->plots[maker->plots->n - 1].height = (unsigned)(70 + ROW_HEIGHT * shown);
    caption(maker, "The samples of each row about its median: box for the middle half, line for "
                   "the middle 95 %");
}

static void make(struct maker *maker, enum rung_plot_kind kind)
{
    const struct rung_group *group = maker->group;
    bool timed_lines = group->timed && group->n_blocks > 1;
    switch (kind) {
    case RUNG_PLOTS_LADDER:
        for (size_t b = 0; b < group->n_blocks && group->n_versions > 1; b++) {
            if (group->timed)
                ladder_of_times(maker, group->blocks[b]);
            else
                ladder_of_counts(maker, group->blocks[b]);
        }
        break;
    case RUNG_PLOTS_BLOCKS:
    case RUNG_PLOTS_ROOF:
        for (int bound = 0; bound < 2 && timed_lines; bound++)
            if (group->has_bound[bound])
                against_block(maker, (enum rung_bound)bound, kind == RUNG_PLOTS_ROOF);
        break;
    case RUNG_PLOTS_RATIO:
        ratio(maker);
        break;
    case RUNG_PLOTS_BOUNDS:
        if (timed_lines)
            bounds(maker);
        break;
    case RUNG_PLOTS_DISTRIBUTION:
        distribution(maker);
        break;
    case RUNG_PLOTS_KINDS:
        break;
    }
}

enum rung_status rung_plots_make(struct rung_plots *out, const struct rung_group *group,
                                 enum rung_plot_kind kind, size_t number, double ceiling,
                                 struct rung_error *err)
{
    struct rung_plots plots = {.plots = calloc(RUNG_GROUP_BLOCKS, sizeof *plots.plots)};
    struct maker maker = {.group = group,
                          .plots = &plots,
                          .number = number,
                          .room = RUNG_GROUP_BLOCKS,
                          .ceiling = ceiling};
    if (!plots.plots)
        return rung_fail(err, RUNG_MEMORY, "out of memory");
    make(&maker, kind);
    for (size_t i = 0; i < plots.n; i++) {
        if (!rung_text_ok(&plots.plots[i].script)) {
            rung_plots_release(&plots);
            return rung_fail(err, RUNG_MEMORY, "no memory for a plot");
        }
    }
    *out = plots;
    return RUNG_OK;
}

void rung_plots_release(struct rung_plots *plots)
{
    for (size_t i = 0; i < plots->n; i++)
        rung_plot_release(&plots->plots[i]);
    free(plots->plots);
    *plots = (struct rung_plots){0};
}
