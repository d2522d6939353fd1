/* The page: a skeleton with its marks replaced by the style, the scripts, the data, and the still
 * pictures that it shows without scripts and in print. */
#include "trace/page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/svg.h"

static json_t *counts(uint64_t additions, uint64_t body_runs, uint64_t serialised)
{
    return json_pack("{s:I, s:I, s:I}", "additions", (json_int_t)additions, "body_runs",
                     (json_int_t)body_runs, "serialised", (json_int_t)serialised);
}

static json_t *trace_json(const struct rung_trace *trace)
{
    json_t *object = rung_trace_to_json(trace, true);
    if (!object)
        return NULL;
    json_object_set_new(object, "id", json_string(trace->id));
    json_object_set_new(object, "block", json_integer(trace->config.block));
    json_object_set_new(object, "n", json_integer((json_int_t)trace->n));
    json_object_set_new(object, "type", json_string(rung_type_word(trace->config.type)));
    json_object_set_new(object, "sum", trace->wrote ? json_real(trace->result) : json_null());
    json_object_set_new(object, "expected", json_real(trace->expected));
    json_object_set_new(object, "correct", json_boolean(trace->correct));
    json_object_set_new(object, "model",
                        trace->has_model ? counts(trace->model.additions, trace->model.body_runs,
                                                  trace->model.serialised)
                                         : json_null());
    return object;
}

/* Data inside a script element: '<' is spelled so that no text can close the element. */
static bool put_data(struct rung_text *out, const struct rung_trace *traces, size_t n_traces)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < n_traces; i++)
        if (json_array_append_new(list, trace_json(&traces[i])) != 0) {
            json_decref(list);
            list = NULL;
        }
    char *text = list ? json_dumps(list, JSON_COMPACT) : NULL;
    for (const char *at = text; at && *at; at++)
        if (*at == '<')
            rung_text_append(out, "\\u003c");
        else
            rung_text_append_bytes(out, at, 1);
    bool whole = text != NULL;
    free(text);
    json_decref(list);
    return whole;
}

static void put_head(struct rung_text *out, const struct rung_trace *trace)
{
    rung_text_append_xml(out, trace->title);
    rung_text_format(out, " · %s of %llu elements · one block of %u threads, %u warp%s · %s",
                     trace->inputs[1] ? "dot product" : "sum", (unsigned long long)trace->n,
                     trace->config.block, trace->n_warps, trace->n_warps == 1 ? "" : "s",
                     rung_type_word(trace->config.type));
}

static enum rung_status put_picture(struct rung_text *out, const struct rung_trace *trace)
{
    struct rung_text drawing = {0};
    struct rung_svg_size size = {0};
    bool small = trace->config.block <= 32;
    if (small)
        rung_svg_ladder(&drawing, &size, trace);
    else
        rung_svg_grid(&drawing, &size, trace);
    rung_text_format(out,
                     "<div class=\"drawing%s\"><svg viewBox=\"-2 -2 %g %g\" width=\"%g\" "
                     "height=\"%g\" data-gutter=\"%g\" data-tail=\"%g\">\n%s</svg></div>\n",
                     small ? "" : " still", size.width + 4, size.height + 4, size.width + 4,
                     size.height + 4, RUNG_SVG_GUTTER, RUNG_SVG_TAIL, rung_text_string(&drawing));
    if (!small)
        rung_text_append(
            out, "<div class=\"grids\">\n"
                 "<figure class=\"threads\"><figcaption>Threads: a row is a warp</figcaption>"
                 "<canvas tabindex=\"0\" role=\"img\"></canvas></figure>\n"
                 "<figure class=\"words\"><figcaption>Shared memory: a column is a bank "
                 "<select class=\"pick\" aria-label=\"Warp whose accesses are shown\">"
                 "<option value=\"\">all warps</option></select></figcaption>"
                 "<canvas tabindex=\"0\" role=\"img\"></canvas></figure>\n</div>\n");
    bool whole = rung_text_ok(&drawing);
    rung_text_release(&drawing);
    return whole ? RUNG_OK : RUNG_MEMORY;
}

static enum rung_status put_trace(struct rung_text *out, const struct rung_trace *trace,
                                  size_t index, bool several)
{
    rung_text_format(out, "<article class=\"trace%s\" data-trace=\"%zu\">\n",
                     trace->config.block <= 8    ? " small"
                     : trace->config.block <= 32 ? " small broad"
                                                 : "",
                     index);
    if (several) {
        rung_text_append(out, "<header><h2>");
        rung_text_append_xml(out, trace->id);
        rung_text_append(out, "</h2><p class=\"soft\">");
        rung_text_append_xml(out, trace->title);
        rung_text_append(out, "</p></header>\n");
    }
    rung_text_append(out, "<div class=\"now\"><div><div class=\"step-name\"></div>"
                          "<div class=\"step-text\"></div></div><dl class=\"facts\"></dl></div>\n"
                          "<ul class=\"findings\"></ul>\n");
    bool small = trace->config.block <= 32;
    const char *source = "<div class=\"source\"></div>\n";
    rung_text_append(out, small ? "<div class=\"body\">\n" : source);
    enum rung_status status = put_picture(out, trace);
    rung_text_append(out, small ? "<div class=\"beside\">\n" : "");
    rung_text_append(out, small ? source : "");
    rung_text_append(out, "<p class=\"detail\" role=\"status\"></p>\n<details><summary></summary>"
                          "<ul class=\"additions\"></ul></details>\n");
    rung_text_append(out, small ? "</div>\n</div>\n" : "");
    rung_text_format(out, "<p class=\"result %s\">", trace->correct ? "good" : "wrong");
    struct rung_text verification = {0};
    rung_trace_write_verification(&verification, trace, 16);
    rung_text_append_xml(out, rung_text_string(&verification));
    rung_text_release(&verification);
    rung_text_append(out, "</p>\n</article>\n");
    return status;
}

static void put_ids(struct rung_text *out, const struct rung_trace *traces, size_t n_traces)
{
    for (size_t i = 0; i < n_traces; i++) {
        rung_text_append(out, i ? ", " : "");
        rung_text_append_xml(out, traces[i].id);
    }
}

/* What stands at a mark of the skeleton. */
static enum rung_status put_mark(struct rung_text *out, const char *mark, size_t length,
                                 const struct rung_trace *traces, size_t n_traces,
                                 const char *command)
{
    bool several = n_traces > 1;
    enum rung_status status = RUNG_OK;
    struct rung_text name = {0};
    rung_text_append_bytes(&name, mark, length);
    const char *word = rung_text_string(&name);
    if (strcmp(word, "TITLE") == 0) {
        put_ids(out, traces, n_traces);
        rung_text_append(out, ", step by step");
    } else if (strcmp(word, "HEADING") == 0) {
        if (several)
            rung_text_append(out, "Side by side, step by step");
        else
            put_ids(out, traces, 1);
    } else if (strcmp(word, "SUBTITLE") == 0) {
        if (several)
            put_ids(out, traces, n_traces);
        else
            put_head(out, traces);
    } else if (strcmp(word, "CLASS") == 0) {
        rung_text_append(out, n_traces > 3 ? "several many" : several ? "several" : "single");
    } else if (strcmp(word, "COMMAND") == 0) {
        rung_text_append_xml(out, command);
    } else if (strcmp(word, "STYLE") == 0) {
        rung_text_append(out, rung_trace_page_css);
    } else if (strcmp(word, "SCRIPT") == 0) {
        rung_text_append(out, rung_trace_model_js);
        rung_text_append(out, rung_trace_grid_js);
        rung_text_append(out, rung_trace_picture_js);
        rung_text_append(out, rung_trace_page_js);
    } else if (strcmp(word, "DATA") == 0) {
        status = put_data(out, traces, n_traces) ? RUNG_OK : RUNG_MEMORY;
    } else if (strcmp(word, "TRACES") == 0) {
        for (size_t i = 0; i < n_traces && status == RUNG_OK; i++)
            status = put_trace(out, &traces[i], i, several);
    }
    rung_text_release(&name);
    return status;
}

enum rung_status rung_trace_write_page(struct rung_text *out, const struct rung_trace *traces,
                                       size_t n_traces, const char *command, struct rung_error *err)
{
    enum rung_status status = RUNG_OK;
    const char *at = rung_trace_page_html;
    while (*at && status == RUNG_OK) {
        size_t plain = strcspn(at, "@");
        rung_text_append_bytes(out, at, plain);
        at += plain;
        size_t mark = strspn(at + (*at == '@'), "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
        if (*at == '@' && at[1 + mark] == '@') {
            status = put_mark(out, at + 1, mark, traces, n_traces, command);
            at += mark + 2;
        } else if (*at) {
            rung_text_append_bytes(out, at++, 1);
        }
    }
    if (status != RUNG_OK || !rung_text_ok(out))
        return rung_fail(err, RUNG_MEMORY, "out of memory for the page");
    return RUNG_OK;
}
