/* The picture for slides: a frame with title and verification round one of the two drawings. */
#include "trace/svg.h"

#include <stdio.h>
#include <string.h>

void rung_svg_text(struct rung_text *out, double x, double y, const char *attributes,
                   const char *text)
{
    rung_text_format(out, "<text x=\"%g\" y=\"%g\" %s>", x, y, attributes);
    rung_text_append_xml(out, text);
    rung_text_append(out, "</text>\n");
}

void rung_trace_step_name(char text[48], const struct rung_trace *trace, size_t step)
{
    const struct rung_trace_step *it = &trace->steps[step];
    if (it->kind == RUNG_TRACE_LOAD)
        snprintf(text, 48, "%s", trace->inputs[1] ? "load, multiply" : "load");
    else if (it->kind == RUNG_TRACE_WRITE)
        snprintf(text, 48, "write");
    else if (it->stride)
        snprintf(text, 48, "stride %u", it->stride);
    else
        snprintf(text, 48, "add");
}

static void write_lines(struct rung_text *out, double x, double y, const char *text)
{
    for (const char *end; *text; text = *end ? end + 1 : end, y += 18) {
        end = text + strcspn(text, "\n");
        struct rung_text line = {0};
        rung_text_append_bytes(&line, text, (size_t)(end - text));
        rung_svg_text(out, x, y, "class=\"ink mono\" font-size=\"13\" fill=\"" RUNG_SVG_INK "\"",
                      rung_text_string(&line));
        rung_text_release(&line);
    }
}

static void write_frame(struct rung_text *out, const struct rung_trace *trace,
                        const struct rung_svg_size *size, const char *drawing)
{
    const double margin = 24, head = 78, foot = 76;
    double width = size->width + 2 * margin < 560 ? 560 : size->width + 2 * margin;
    double height = head + size->height + foot;
    rung_text_format(out,
                     "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" width=\"%g\" "
                     "height=\"%g\" role=\"img\" font-family=\"system-ui, 'Segoe UI', 'DejaVu "
                     "Sans', sans-serif\">\n<title>",
                     width, height, width, height);
    rung_text_append_xml(out, trace->id);
    rung_text_append(out, ", step by step</title>\n"
                          "<style>.mono{font-family:ui-monospace,'SF Mono','DejaVu Sans "
                          "Mono',Consolas,monospace}</style>\n");
    rung_text_format(out, "<rect width=\"%g\" height=\"%g\" fill=\"" RUNG_SVG_PAPER "\"/>\n", width,
                     height);
    rung_svg_text(out, margin, 34, "font-size=\"19\" font-weight=\"600\" fill=\"" RUNG_SVG_INK "\"",
                  trace->id);
    char subtitle[256];
    snprintf(subtitle, sizeof subtitle, "%s · %s of %llu elements, one block of %u threads",
             trace->title, trace->inputs[1] ? "dot product" : "sum", (unsigned long long)trace->n,
             trace->config.block);
    rung_svg_text(out, margin, 54, "font-size=\"13\" fill=\"" RUNG_SVG_SOFT "\"", subtitle);
    rung_text_format(out, "<g transform=\"translate(%g %g)\">\n%s</g>\n", margin, head, drawing);
    struct rung_text verification = {0};
    rung_trace_write_verification(&verification, trace, 8);
    write_lines(out, margin, head + size->height + 24, rung_text_string(&verification));
    rung_text_release(&verification);
    rung_text_append(out, "</svg>\n");
}

enum rung_status rung_trace_write_svg(struct rung_text *out, const struct rung_trace *trace,
                                      struct rung_error *err)
{
    struct rung_text drawing = {0};
    struct rung_svg_size size = {0};
    if (trace->config.block <= 32)
        rung_svg_ladder(&drawing, &size, trace);
    else
        rung_svg_grid(&drawing, &size, trace);
    write_frame(out, trace, &size, rung_text_string(&drawing));
    bool whole = rung_text_ok(&drawing) && rung_text_ok(out);
    rung_text_release(&drawing);
    return whole ? RUNG_OK : rung_fail(err, RUNG_MEMORY, "out of memory for the picture");
}
