/* Runs gnuplot and turns its colours into those of the page. */
#define _GNU_SOURCE
#include "report/plot.h"

#include <errno.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

const char *rung_plot_colour(unsigned number)
{
    static const char *const colours[RUNG_PLOT_SERIES] = {
        "#0a0b01", "#0a0b02", "#0a0b03", "#0a0b04", "#0a0b05", "#0a0b06", "#0a0b07", "#0a0b08"};
    return colours[number % RUNG_PLOT_SERIES];
}

/* What stands for a colour in the page; NULL if it is none of ours. */
static bool css_variable(char out[24], int red, int green, int blue)
{
    if (red == 1 && green == 1 && blue == 1)
        snprintf(out, 24, "var(--ink)");
    else if (red == 2 && green == 2 && blue == 2)
        snprintf(out, 24, "var(--grid)");
    else if (red == 3 && green == 3 && blue == 3)
        snprintf(out, 24, "var(--paper)");
    else if (red == 10 && green == 11 && blue >= 1 && blue <= RUNG_PLOT_SERIES)
        snprintf(out, 24, "var(--s%d)", blue);
    else
        return false;
    return true;
}

void rung_plot_release(struct rung_plot *plot)
{
    rung_text_release(&plot->script);
}

void rung_plot_script(struct rung_text *out, const struct rung_plot *plot)
{
    rung_text_format(out,
                     "set terminal svg size %u,%u noenhanced font 'sans-serif,12' linewidth 1\n"
                     "set border 3 linecolor rgb '" RUNG_PLOT_INK "'\n"
                     "set grid ytics linecolor rgb '" RUNG_PLOT_GRID "' linetype 1\n"
                     "set tics nomirror textcolor rgb '" RUNG_PLOT_INK "'\n"
                     "set key textcolor rgb '" RUNG_PLOT_INK "' samplen 1.5 spacing 1.1\n"
                     "set xlabel textcolor rgb '" RUNG_PLOT_INK "'\n"
                     "set ylabel textcolor rgb '" RUNG_PLOT_INK "'\n",
                     plot->width, plot->height);
    rung_text_append(out, rung_text_string(&plot->script));
}

/* Runs gnuplot on a file; what it prints and what it complains of come back in one text each. */
static int run(struct rung_text *svg, char complaint[512], const char *file)
{
    int out[2], status = -1;
    char log_path[] = "/tmp/rung-gnuplot-XXXXXX";
    int log = mkstemp(log_path);
    if (log < 0)
        return -1;
    unlink(log_path);
    if (pipe(out) != 0) {
        close(log);
        return -1;
    }
    char program[] = "gnuplot", *argv[] = {program, (char *)(uintptr_t)file, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, log, STDERR_FILENO);
    posix_spawn_file_actions_addclose(&actions, out[0]);
    pid_t pid;
    int failed = posix_spawnp(&pid, "gnuplot", &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(out[1]);
    while (!failed && rung_text_read(svg, out[0]) > 0)
        continue;
    close(out[0]);
    while (!failed && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    ssize_t length = pread(log, complaint, 511, 0);
    complaint[length > 0 ? length : 0] = '\0';
    close(log);
    return failed ? -1 : status;
}

bool rung_plot_possible(void)
{
    struct rung_text nothing = {0};
    char complaint[512];
    int status = run(&nothing, complaint, "--version");
    rung_text_release(&nothing);
    return status == 0;
}

/* Copies the SVG from its <svg on, with colours as variables and ids made this plot's own. */
static void adapt(struct rung_text *out, const char *svg, const char *name)
{
    while (*svg) {
        int red, green, blue, length = 0;
        char variable[24];
        if (strncmp(svg, "rgb(", 4) == 0 &&
            sscanf(svg, "rgb( %d , %d , %d )%n", &red, &green, &blue, &length) == 3 && length &&
            css_variable(variable, red, green, blue)) {
            rung_text_append(out, variable);
            svg += length;
        } else if (strncmp(svg, "gpPt", 4) == 0 || strncmp(svg, "gpDot", 5) == 0 ||
                   strncmp(svg, "gnuplot_", 8) == 0) {
            rung_text_format(out, "%s-", name);
            rung_text_append_bytes(out, svg, 2); /* so that it is not found again */
            svg += 2;
        } else {
            rung_text_append_bytes(out, svg++, 1);
        }
    }
}

enum rung_status rung_plot_svg(struct rung_text *out, const struct rung_plot *plot,
                               struct rung_error *err)
{
    struct rung_text script = {0}, svg = {0};
    char path[] = "/tmp/rung-plot-XXXXXX", complaint[512] = "";
    enum rung_status status = RUNG_OK;
    int fd = mkstemp(path);
    rung_plot_script(&script, plot);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!file || !rung_text_ok(&script)) {
        status = rung_fail(err, RUNG_IO, "no file for a plot: %s", strerror(errno));
        goto done;
    }
    bool written = fputs(rung_text_string(&script), file) >= 0;
    written &= fclose(file) == 0;
    file = NULL;
    int code = written ? run(&svg, complaint, path) : -1;
    const char *begin = strstr(rung_text_string(&svg), "<svg");
    if (code != 0 || !begin)
        status = rung_fail(err, RUNG_UNABLE, "gnuplot on plot %s: %s", plot->name,
                           complaint[0] ? complaint : "no SVG came back");
    else
        adapt(out, begin, plot->name);
done:
    if (file)
        fclose(file);
    if (fd >= 0)
        unlink(path);
    rung_text_release(&script);
    rung_text_release(&svg);
    return status;
}
