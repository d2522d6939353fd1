/* The grids of a large block, one panel a step: threads with a row for each warp, words with a
 * column for each bank. Cells are joined into one path a colour, so that 1024 threads stay small.
 */
#include "trace/svg.h"

#include <stdio.h>

#define CELL 8.0
#define PANEL_GAP 36.0
#define GRID_GAP 28.0
#define GRID_WIDTH (32 * CELL)
#define BARS 30.0 /* height of the bars over the banks */
#define HEAD 46.0
#define TOP 50.0 /* the legend's */

struct grid {
    struct rung_text *out;
    const struct rung_trace *trace;
    double x, y;         /* of the grid's first cell */
    unsigned worst_ways; /* of the whole trace: the scale of the bars */
};

static void frame(const struct grid *grid, unsigned rows)
{
    rung_text_format(grid->out,
                     "<rect class=\"quiet\" x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" "
                     "fill=\"" RUNG_SVG_CELL "\" stroke=\"" RUNG_SVG_FAINT "\"/>\n",
                     grid->x - 0.5, grid->y - 0.5, GRID_WIDTH + 1, rows * CELL + 1);
}

static void open_cells(const struct grid *grid, const char *class, const char *colour)
{
    rung_text_format(grid->out,
                     "<path class=\"%s\" transform=\"translate(%g %g) scale(%g)\" fill=\"%s\" d=\"",
                     class, grid->x, grid->y, CELL, colour);
}

static void cell(const struct grid *grid, unsigned column, unsigned row)
{
    rung_text_format(grid->out, "M%u.06 %u.06h.88v.88h-.88z", column, row);
}

static void close_cells(const struct grid *grid)
{
    rung_text_append(grid->out, "\"/>\n");
}

static void threads(const struct grid *grid, const struct rung_trace_step *step)
{
    frame(grid, grid->trace->n_warps);
    const char *const classes[3] = {"active", "asleep", "bad"};
    const char *const colours[3] = {RUNG_SVG_ACTIVE, RUNG_SVG_ASLEEP, RUNG_SVG_BAD};
    size_t index = (size_t)(step - grid->trace->steps);
    for (int pass = 0; pass < 3; pass++) {
        open_cells(grid, classes[pass], colours[pass]);
        for (size_t i = 0; i < step->n_warps; i++) {
            uint32_t active = step->warps[i].active;
            uint32_t lanes = pass == 1 ? (active ? ~active : 0) : active;
            for (unsigned lane = 0; lane < 32; lane++)
                if ((lanes >> lane & 1) &&
                    (pass < 2 ||
                     rung_trace_is_marked(grid->trace, index, step->warps[i].warp * 32 + lane)))
                    cell(grid, lane, step->warps[i].warp);
        }
        close_cells(grid);
    }
}

static void words(const struct grid *grid, const struct rung_trace_step *step, unsigned rows)
{
    unsigned per_slot = (unsigned)rung_type_size(grid->trace->config.type) / 4;
    frame(grid, rows);
    for (int stores = 0; stores < 2; stores++) {
        open_cells(grid, stores ? "active" : "fetch", stores ? RUNG_SVG_ACTIVE : RUNG_SVG_FETCH);
        for (size_t i = 0; i < step->n_accesses; i++) {
            const struct rung_trace_access *access = &step->accesses[i];
            for (unsigned lane = 0; lane < 32 && access->store == (stores == 1); lane++)
                for (unsigned w = 0; w < per_slot && (access->lanes >> lane & 1); w++) {
                    unsigned word = access->slots[lane] * per_slot + w;
                    if (word / 32 < rows)
                        cell(grid, word % 32, word / 32);
                }
        }
        close_cells(grid);
    }
}

static const struct rung_trace_access *worst_access(const struct rung_trace_step *step)
{
    const struct rung_trace_access *worst = NULL;
    for (size_t i = 0; i < step->n_accesses; i++)
        if (!worst || step->accesses[i].ways > worst->ways)
            worst = &step->accesses[i];
    return worst;
}

/* How many words each bank serves for the worst access of the step. */
static void bars(const struct grid *grid, const struct rung_trace_step *step)
{
    const struct rung_trace_access *worst = worst_access(step);
    if (!worst || worst->ways < 2)
        return;
    unsigned served[RUNG_TRACE_BANKS];
    rung_trace_bank_words(served, worst, grid->trace->config.type);
    for (unsigned bank = 0; bank < 32; bank++) {
        double height = (BARS - 6) * served[bank] / grid->worst_ways;
        if (served[bank])
            rung_text_format(grid->out,
                             "<rect class=\"bad\" x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" "
                             "fill=\"" RUNG_SVG_BAD "\"/>\n",
                             grid->x + bank * CELL + 1, grid->y - 3 - height, CELL - 2, height);
    }
}

static void panel(struct grid *grid, size_t index, double x, double y, unsigned rows)
{
    const struct rung_trace_step *step = &grid->trace->steps[index];
    const struct rung_trace_access *worst = worst_access(step);
    char name[48], left[160], right[96];
    rung_trace_step_name(name, grid->trace, index);
    snprintf(left, sizeof left, "%u of %u threads, %llu body runs", step->active,
             grid->trace->config.block, (unsigned long long)step->body_runs);
    if (worst && worst->ways > 1)
        snprintf(right, sizeof right, "%u-way bank conflict, %llu body runs weigh %llu",
                 worst->ways, (unsigned long long)step->body_runs,
                 (unsigned long long)step->serialised);
    else
        snprintf(right, sizeof right, "%s", worst ? "no bank conflict" : "no shared memory");
    rung_text_format(grid->out, "<g class=\"row\" data-step=\"%zu\">\n", index);
    rung_svg_text(grid->out, x, y + 12,
                  "class=\"ink\" font-size=\"13\" font-weight=\"600\" fill=\"" RUNG_SVG_INK "\"",
                  name);
    rung_svg_text(grid->out, x, y + 29,
                  "class=\"soft\" font-size=\"11\" fill=\"" RUNG_SVG_SOFT "\"", left);
    bool conflict = worst && worst->ways > 1;
    rung_svg_text(grid->out, x + GRID_WIDTH + GRID_GAP, y + 12,
                  conflict ? "class=\"bad\" font-size=\"11\" fill=\"" RUNG_SVG_BAD "\""
                           : "class=\"soft\" font-size=\"11\" fill=\"" RUNG_SVG_SOFT "\"",
                  right);
    grid->y = y + HEAD;
    grid->x = x;
    threads(grid, step);
    grid->x = x + GRID_WIDTH + GRID_GAP;
    words(grid, step, rows);
    bars(grid, step);
    rung_text_append(grid->out, "</g>\n");
}

static void legend(struct rung_text *out, double y)
{
    static const struct {
        const char *class, *colour, *text;
        double x;
    } items[] = {
        {"active", RUNG_SVG_ACTIVE, "adds; word written",                                  0  },
        {"asleep", RUNG_SVG_ASLEEP, "asleep in a warp that runs",                          150},
        {"fetch",  RUNG_SVG_FETCH,  "word only read",                                      350},
        {"bad",    RUNG_SVG_BAD,    "words that one bank must serve, one after the other", 470}
    };
    for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
        rung_text_format(out,
                         "<rect class=\"%s\" x=\"%g\" y=\"%g\" width=\"10\" height=\"10\" "
                         "fill=\"%s\"/>",
                         items[i].class, items[i].x, y - 9, items[i].colour);
        rung_svg_text(out, items[i].x + 15, y,
                      "class=\"soft\" font-size=\"11\" fill=\"" RUNG_SVG_SOFT "\"", items[i].text);
    }
    rung_svg_text(out, 0, y + 18, "class=\"soft\" font-size=\"11\" fill=\"" RUNG_SVG_SOFT "\"",
                  "Left: threads, a row is a warp. Right: words of shared memory, a column is a "
                  "bank.");
}

void rung_svg_grid(struct rung_text *out, struct rung_svg_size *size,
                   const struct rung_trace *trace)
{
    unsigned per_slot = (unsigned)rung_type_size(trace->config.type) / 4;
    unsigned rows = (trace->n_slots * per_slot + 31) / 32;
    unsigned tallest = rows > trace->n_warps ? rows : trace->n_warps;
    double width = 2 * GRID_WIDTH + GRID_GAP, height = HEAD + tallest * CELL + PANEL_GAP - 12;
    struct grid grid = {.out = out, .trace = trace};
    for (size_t i = 0; i < trace->n_steps; i++) {
        const struct rung_trace_access *worst = worst_access(&trace->steps[i]);
        if (worst && worst->ways > grid.worst_ways)
            grid.worst_ways = worst->ways;
    }
    legend(out, 10);
    size_t shown = 0;
    for (size_t i = 0; i < trace->n_steps; i++) {
        if (trace->steps[i].kind == RUNG_TRACE_WRITE)
            continue;
        panel(&grid, i, shown % 2 * (width + PANEL_GAP), TOP + (double)(shown / 2) * height, rows);
        shown++;
    }
    size->width = 2 * width + PANEL_GAP;
    size->height = TOP + (double)((shown + 1) / 2) * height;
}
