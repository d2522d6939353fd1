/* Printing traces in their four forms. */
#define _GNU_SOURCE
#include "cli/trace_print.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "bench/row.h"
#include "cli/environment.h"
#include "cli/output.h"

static unsigned terminal_columns(FILE *stream)
{
    struct winsize size;
    if (isatty(fileno(stream)) && ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col)
        return size.ws_col;
    return 80;
}

/* The counts that separate several versions. */
static enum rung_status print_comparison(const struct rung_trace_print *print, FILE *to,
                                         struct rung_error *err)
{
    static const struct rung_column columns[] = {
        {"id",         "id",         false},
        {"additions",  "additions",  true },
        {"body_runs",  "body runs",  true },
        {"serialised", "serialised", true },
        {"result",     "result",     true }
    };
    struct rung_table *table = rung_table_new(columns, 5);
    for (size_t i = 0; i < print->n_traces; i++) {
        const struct rung_trace *trace = &print->traces[i];
        char result[32];
        rung_trace_format_value(result, trace->result, trace->config.type);
        rung_table_row(table);
        rung_table_text(table, trace->id);
        rung_table_format(table, "%llu", (unsigned long long)trace->additions);
        rung_table_format(table, "%llu", (unsigned long long)trace->body_runs);
        rung_table_format(table, "%llu", (unsigned long long)trace->serialised);
        rung_table_format(table, "%s%s", trace->wrote ? result : "none",
                          trace->correct ? "" : " (wrong)");
    }
    enum rung_status status = rung_table_print(table, RUNG_FORMAT_TABLE, to, err);
    rung_table_free(table);
    return status;
}

static enum rung_status print_text(const struct rung_trace_print *print, FILE *to,
                                   struct rung_error *err)
{
    struct rung_trace_look look = {
        .colour = rung_colour_wanted(to), .columns = terminal_columns(to), .all = print->all};
    struct rung_text text = {0};
    for (size_t i = 0; i < print->n_traces; i++) {
        rung_text_append(&text, i ? "\n\n" : "");
        rung_trace_write_text(&text, &print->traces[i], &look);
    }
    rung_text_append(&text, print->n_traces > 1 ? "\n" : "");
    enum rung_status status =
        rung_text_ok(&text) ? RUNG_OK : rung_fail(err, RUNG_MEMORY, "out of memory for the text");
    fputs(rung_text_string(&text), to);
    rung_text_release(&text);
    if (status == RUNG_OK && print->n_traces > 1)
        status = print_comparison(print, to, err);
    return status;
}

static json_t *row_json(const struct rung_trace *trace, unsigned target)
{
    struct rung_row row;
    rung_row_init(&row, &trace->config, trace->n);
    row.ptx_target = target;
    snprintf(row.image, sizeof row.image, "%s", trace->image);
    row.summed = trace->wrote;
    row.sum = trace->result;
    row.expected = trace->expected;
    row.correct = trace->correct;
    row.model = (struct rung_counts){trace->has_model, trace->model.additions,
                                     trace->model.body_runs, trace->model.serialised};
    row.executed =
        (struct rung_counts){true, trace->additions, trace->body_runs, trace->serialised};
    row.status = trace->correct ? RUNG_ROW_OK : RUNG_ROW_WRONG;
    if (!trace->correct)
        snprintf(row.reason, sizeof row.reason, "the block made another value of its input");
    row.extra = rung_trace_to_json(trace, false);
    json_t *object = row.extra ? rung_row_to_json(&row) : NULL;
    if (object && trace->control)
        json_object_set_new(object, "id", json_string(trace->id));
    rung_row_release(&row);
    return object;
}

static enum rung_status print_json(const struct rung_trace_print *print, FILE *to,
                                   struct rung_error *err)
{
    json_t *rows = json_array();
    for (size_t i = 0; rows && i < print->n_traces; i++)
        if (json_array_append_new(rows, row_json(&print->traces[i], print->target)) != 0) {
            json_decref(rows);
            rows = NULL;
        }
    return rung_document_print(rung_document("trace", print->argc, print->argv,
                                             rung_environment(print->device, print->nvrtc), rows),
                               to, err);
}

static enum rung_status print_picture(const struct rung_trace_print *print, FILE *to,
                                      struct rung_error *err)
{
    struct rung_text text = {0}, command = {0};
    rung_text_append(&command, "rung trace");
    for (int i = 1; i < print->argc; i++)
        rung_text_format(&command, " %s", print->argv[i]);
    enum rung_status status = print->form == RUNG_TRACE_AS_SVG
                                  ? rung_trace_write_svg(&text, &print->traces[0], err)
                                  : rung_trace_write_page(&text, print->traces, print->n_traces,
                                                          rung_text_string(&command), err);
    if (status == RUNG_OK)
        fputs(rung_text_string(&text), to);
    rung_text_release(&text);
    rung_text_release(&command);
    return status;
}

enum rung_status rung_trace_print(const struct rung_trace_print *print, FILE *to,
                                  struct rung_error *err)
{
    switch (print->form) {
    case RUNG_TRACE_AS_TEXT:
        return print_text(print, to, err);
    case RUNG_TRACE_AS_JSON:
        return print_json(print, to, err);
    case RUNG_TRACE_AS_HTML:
    case RUNG_TRACE_AS_SVG:
        break;
    }
    return print_picture(print, to, err);
}
