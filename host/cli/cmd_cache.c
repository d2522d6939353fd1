/* `rung cache`: what the compile cache holds, and emptying it. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/environment.h"
#include "cli/select.h"
#include "nvrtc/cache.h"

struct arguments {
    struct rung_selection selection; /* --format and -o */
    const char *action, *to;
};

#define KEY_TO 0x200

static const struct argp_option options[] = {
    {"to",    KEY_TO, "SIZE", 0, "What prune leaves: bytes, or with Ki, Mi, Gi (default the limit)",
     1},
    {0}
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->selection;
        return 0;
    case KEY_TO:
        arguments->to = arg;
        return 0;
    case ARGP_KEY_ARG:
        if (arguments->action)
            argp_error(state, "one action at a time, not '%s' and '%s'", arguments->action, arg);
        arguments->action = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&rung_output_argp, 0, NULL, 0},
    {0            }
};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "[show|path|prune|clear]",
    .doc = "The cache of compiled kernels.\v"
           "show (the default) counts the entries and verifies each; path prints the folder; prune "
           "removes what is damaged or was not used for longest; clear removes everything.\n\n"
           "The folder is RUNG_CACHE_DIR, else rung under XDG_CACHE_HOME, else .cache/rung under "
           "HOME. RUNG_CACHE_LIMIT is its limit in MiB, 1024 unless set.",
    .children = children};

/* 1536 as "1.5 KiB". */
static void write_size(char text[32], uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    size_t unit = 0;
    while (value >= 1024 && unit + 1 < sizeof units / sizeof units[0]) {
        value /= 1024;
        unit++;
    }
    snprintf(text, 32, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

struct report {
    const char *action, *folder;
    struct rung_cache_usage usage, removed;
};

static json_t *report_json(const struct report *report)
{
    return json_pack(
        "[{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I}]", "action", report->action, "folder",
        report->folder, "entries", (json_int_t)report->usage.entries, "bytes",
        (json_int_t)report->usage.bytes, "damaged", (json_int_t)report->usage.damaged,
        "limit_bytes", (json_int_t)rung_cache_limit(), "removed_entries",
        (json_int_t)report->removed.entries, "removed_bytes", (json_int_t)report->removed.bytes);
}

static struct rung_table *report_table(const struct report *report, bool exact)
{
    static const struct rung_column columns[] = {
        {"what",  "WHAT",  false},
        {"value", "VALUE", false}
    };
    struct rung_table *table = rung_table_new(columns, 2);
    const struct {
        const char *what;
        uint64_t value;
        bool is_size, shown;
    } lines[] = {
        {"removed entries", report->removed.entries, false, report->action[0] != 's'},
        {"removed",         report->removed.bytes,   true,  report->action[0] != 's'},
        {"entries",         report->usage.entries,   false, true                    },
        {"size",            report->usage.bytes,     true,  true                    },
        {"limit",           rung_cache_limit(),      true,  true                    },
        {"damaged entries", report->usage.damaged,   false, true                    },
    };
    rung_table_row(table);
    rung_table_text(table, "folder");
    rung_table_text(table, report->folder);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char size[32];
        if (!lines[i].shown)
            continue;
        write_size(size, lines[i].value);
        rung_table_row(table);
        rung_table_text(table, lines[i].what);
        if (lines[i].is_size && !exact)
            rung_table_text(table, size);
        else
            rung_table_format(table, "%" PRIu64, lines[i].value);
    }
    return table;
}

static enum rung_status print_report(const struct report *report, int argc, char **argv,
                                     const struct rung_output *output, struct rung_error *err)
{
    if (output->format == RUNG_FORMAT_JSON)
        return rung_document_print(
            rung_document("cache", argc, argv, rung_environment(NULL, NULL), report_json(report)),
            output->stream, err);
    struct rung_table *table = report_table(report, output->format == RUNG_FORMAT_CSV);
    enum rung_status status = rung_table_print(table, output->format, output->stream, err);
    rung_table_free(table);
    return status;
}

static enum rung_status check(const struct arguments *arguments, uint64_t *to,
                              struct rung_error *err)
{
    static const char *const actions[] = {"show", "path", "prune", "clear"};
    bool known = false;
    for (size_t i = 0; i < 4; i++)
        known = known || strcmp(arguments->action, actions[i]) == 0;
    if (!known)
        return rung_fail(err, RUNG_USAGE, "action '%s': allowed are show, path, prune, clear",
                         arguments->action);
    if (arguments->to && strcmp(arguments->action, "prune") != 0)
        return rung_fail(err, RUNG_USAGE, "--to belongs to prune, not to %s", arguments->action);
    *to = strcmp(arguments->action, "clear") == 0 ? 0 : rung_cache_limit();
    struct rung_error why = {0};
    if (arguments->to && rung_parse_n(to, arguments->to, &why) != RUNG_OK)
        return rung_fail(err, RUNG_USAGE, "--to: %s", why.text);
    return RUNG_OK;
}

static enum rung_status act(struct report *report, struct rung_cache *cache, uint64_t to,
                            struct rung_error *err)
{
    enum rung_status status = RUNG_OK;
    if (report->action[0] != 's')
        status = rung_cache_prune(&report->removed, cache, to, err);
    if (status == RUNG_OK && strcmp(report->action, "prune") == 0)
        status = rung_cache_drop_damaged(&report->removed, cache, err);
    if (status == RUNG_OK)
        status = rung_cache_inspect(&report->usage, cache, err);
    return status;
}

enum rung_status rung_cmd_cache(int argc, char **argv, struct rung_error *err)
{
    struct arguments arguments = {0};
    struct rung_output output = {0};
    struct rung_cache *cache = NULL;
    enum rung_format format;
    uint64_t to = 0;
    char why[256];
    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    if (!arguments.action)
        arguments.action = "show";
    enum rung_status status = check(&arguments, &to, err);
    if (status == RUNG_OK)
        status = rung_format_parse(&format, arguments.selection.format, err);
    if (status != RUNG_OK)
        return status;
    rung_cache_open(&cache, NULL, why);
    if (!cache)
        return rung_fail(err, RUNG_UNABLE, "no cache: %s", why);
    struct report report = {.action = arguments.action, .folder = rung_cache_folder(cache)};
    status = rung_output_open(&output, format, arguments.selection.output, err);
    if (status == RUNG_OK && strcmp(report.action, "path") == 0) {
        fprintf(output.stream, "%s\n", report.folder);
    } else if (status == RUNG_OK) {
        status = act(&report, cache, to, err);
        if (status == RUNG_OK)
            status = print_report(&report, argc, argv, &output, err);
    }
    enum rung_status closed = rung_output_close(&output, status == RUNG_OK, err);
    rung_cache_close(cache);
    return status != RUNG_OK ? status : closed;
}
