/* Plots by gnuplot. A plot is a gnuplot script that carries its own data, and becomes an SVG whose
 * colours are CSS variables of the page, so that it is right in light and in dark. */
#ifndef RUNG_REPORT_PLOT_H
#define RUNG_REPORT_PLOT_H

#include <stdbool.h>

#include "base/error.h"
#include "base/text.h"

/* Colours that a script may name, each the CSS variable of the same place: ink (text, axes), grid,
 * paper, and series 1 to 8. */
#define RUNG_PLOT_INK "#010101"
#define RUNG_PLOT_GRID "#020202"
#define RUNG_PLOT_PAPER "#030303"
#define RUNG_PLOT_SERIES 8
const char *rung_plot_colour(unsigned series); /* from 0; wraps */

struct rung_plot {
    char name[48];     /* of its files: "ladder-256" */
    char caption[256]; /* what is to be seen in it */
    unsigned width, height;
    struct rung_text script; /* behind the common settings; owned */
};
void rung_plot_release(struct rung_plot *plot);

/* Whether gnuplot can be run here. */
bool rung_plot_possible(void);

/* The whole script as it is given to gnuplot. */
void rung_plot_script(struct rung_text *out, const struct rung_plot *plot);

/* Runs gnuplot and appends the SVG: without the XML head, its ids made unique by the plot's name.
 * RUNG_UNABLE with what gnuplot said. */
enum rung_status rung_plot_svg(struct rung_text *out, const struct rung_plot *plot,
                               struct rung_error *err);

#endif
