/* rung list: the versions that exist, the values of each axis that they have, and the negative
 * controls. Everything comes from the templates. */
#include <argp.h>
#include <string.h>

#include "cli/command.h"
#include "cli/environment.h"
#include "cli/select.h"
#include "gen/control.h"

#define KEY_CONTROLS 0x200

struct arguments {
    struct rung_selection selection; /* --format and -o */
    bool controls;
};

struct listing {
    struct rung_arena arena;
    struct rung_ladder ladder;
    struct rung_controls controls;
    struct rung_output output;
};

static const struct argp_option options[] = {
    {"controls", KEY_CONTROLS, 0, 0, "The negative controls: kernels that are wrong on purpose", 0},
    {0        }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->selection;
        return 0;
    case KEY_CONTROLS:
        arguments->controls = true;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "'%s' is not expected: list takes options only", arg);
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
    .children = children,
    .doc = "The versions of the ladder: what each changes and which axes it has.\v"
           "Every version has every block size, both operations and all element types unless it "
           "says otherwise.\n",
};

/* The axes that a version may lack words of. */
static const struct axis {
    const char *name;
    const char *const *words;
} axes[] = {
    {"bound",     rung_bound_words    },
    {"unroll",    rung_unroll_words   },
    {"predicate", rung_predicate_words},
    {"op",        rung_op_words       },
    {"type",      rung_type_words     },
};
#define N_AXES (sizeof axes / sizeof *axes)

/* "const,runtime": the words of an axis that the version has. */
static void append_words(struct rung_text *text, const struct rung_template *tpl,
                         const struct axis *axis, const char *separator)
{
    bool any = false;
    for (const char *const *word = axis->words; *word; word++)
        if (!rung_template_lacks(tpl, *word)) {
            rung_text_format(text, "%s%s", any ? separator : "", *word);
            any = true;
        }
}

static bool is_base(const struct rung_template *tpl)
{
    return rung_template_variant(tpl) == RUNG_VARIANT_BASE;
}

static struct rung_shape shape_of(const struct rung_template *tpl)
{
    struct rung_shape shape;
    const struct rung_config config = {
        .version = rung_template_version(tpl), .variant = rung_template_variant(tpl), .block = 256};
    rung_template_shape(&shape, tpl, &config);
    return shape;
}

static const char *grid_word(const struct rung_template *tpl)
{
    return shape_of(tpl).grid_rule == RUNG_GRID_FIXED ? "fixed" : "tiles";
}

/* ---- JSON ---- */

static json_t *words_json(const struct rung_template *tpl, const struct axis *axis)
{
    json_t *words = json_array();
    for (const char *const *word = axis->words; *word; word++)
        if (!rung_template_lacks(tpl, *word))
            json_array_append_new(words, json_string(*word));
    return words;
}

static json_t *lacks_json(const struct rung_template *tpl)
{
    json_t *lacks = json_object();
    for (size_t i = 0; i < N_AXES; i++)
        for (const char *const *word = axes[i].words; *word; word++)
            if (rung_template_lacks(tpl, *word))
                json_object_set_new(lacks, *word, json_string(rung_template_lacks(tpl, *word)));
    return lacks;
}

static json_t *template_json(const struct rung_template *tpl)
{
    json_t *row = json_pack(
        "{s:i, s:s, s:s, s:s, s:s, s:i, s:s}", "version", (int)rung_template_version(tpl),
        "variant", rung_variant_word(rung_template_variant(tpl)), "title", rung_template_title(tpl),
        "change", rung_template_change(tpl), "file", rung_template_file(tpl), "elements_per_thread",
        (int)shape_of(tpl).elements_per_thread, "grid", grid_word(tpl));
    for (size_t i = 0; i < N_AXES; i++)
        json_object_set_new(row, axes[i].name, words_json(tpl, &axes[i]));
    json_object_set_new(row, "lacks", lacks_json(tpl));
    return row;
}

/* One row a version; its variants stand inside it. */
static json_t *versions_json(const struct rung_ladder *ladder)
{
    json_t *rows = json_array();
    json_t *variants = NULL; /* of the row before; borrowed */
    for (size_t i = 0; i < ladder->n_versions; i++) {
        const struct rung_template *tpl = ladder->versions[i];
        json_t *row = template_json(tpl);
        if (!is_base(tpl)) {
            json_array_append_new(variants, row);
            continue;
        }
        variants = json_array();
        json_object_set_new(row, "variants", variants);
        json_array_append_new(rows, row);
    }
    return rows;
}

static json_t *controls_json(const struct rung_controls *controls)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < controls->n_controls; i++) {
        const struct rung_control *control = &controls->controls[i];
        json_array_append_new(rows,
                              json_pack("{s:s, s:i, s:s, s:s, s:s}", "name", control->name,
                                        "version", (int)rung_template_version(control->tpl),
                                        "mistake", control->title, "caught_by", control->caught_by,
                                        "file", rung_template_file(control->tpl)));
    }
    return rows;
}

static enum rung_status print_json(const struct listing *listing, bool controls, int argc,
                                   char **argv, struct rung_error *err)
{
    json_t *rows = controls ? controls_json(&listing->controls) : versions_json(&listing->ladder);
    json_t *document = rung_document("list", argc, argv, rung_environment(NULL, NULL), rows);
    if (document && !controls)
        json_object_set_new(document, "controls", controls_json(&listing->controls));
    return rung_document_print(document, listing->output.stream, err);
}

/* ---- flat ---- */

static enum rung_status print_versions(const struct listing *listing, struct rung_error *err)
{
    static const struct rung_column columns[] = {
        {"version",             "version",   true },
        {"variant",             "variant",   false},
        {"title",               "title",     false},
        {"change",              "change",    false},
        {"bound",               "bound",     false},
        {"unroll",              "unroll",    false},
        {"predicate",           "predicate", false},
        {"op",                  "op",        false},
        {"type",                "type",      false},
        {"elements_per_thread", "elements",  true },
        {"grid",                "grid",      false},
        {"file",                "file",      false},
    };
    struct rung_table *table = rung_table_new(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < listing->ladder.n_versions; i++) {
        const struct rung_template *tpl = listing->ladder.versions[i];
        rung_table_row(table);
        rung_table_format(table, "%u", rung_template_version(tpl));
        rung_table_text(table, rung_variant_word(rung_template_variant(tpl)));
        rung_table_text(table, rung_template_title(tpl));
        rung_table_text(table, rung_template_change(tpl));
        for (size_t axis = 0; axis < N_AXES; axis++) {
            struct rung_text words = {0};
            append_words(&words, tpl, &axes[axis], " ");
            rung_table_text(table, rung_text_string(&words));
            rung_text_release(&words);
        }
        rung_table_format(table, "%u", shape_of(tpl).elements_per_thread);
        rung_table_text(table, grid_word(tpl));
        rung_table_text(table, rung_template_file(tpl));
    }
    enum rung_status status =
        rung_table_print(table, listing->output.format, listing->output.stream, err);
    rung_table_free(table);
    return status;
}

static enum rung_status print_controls(const struct listing *listing, struct rung_error *err)
{
    static const struct rung_column columns[] = {
        {"name",      "control",   false},
        {"version",   "version",   true },
        {"mistake",   "mistake",   false},
        {"caught_by", "caught by", false},
        {"file",      "file",      false},
    };
    struct rung_table *table = rung_table_new(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < listing->controls.n_controls; i++) {
        const struct rung_control *control = &listing->controls.controls[i];
        rung_table_row(table);
        rung_table_text(table, control->name);
        rung_table_format(table, "%u", rung_template_version(control->tpl));
        rung_table_text(table, control->title);
        rung_table_text(table, control->caught_by);
        rung_table_text(table, rung_template_file(control->tpl));
    }
    enum rung_status status =
        rung_table_print(table, listing->output.format, listing->output.stream, err);
    rung_table_free(table);
    return status;
}

/* ---- for a person ---- */

static void print_indented(FILE *to, const char *text, size_t indent)
{
    fprintf(to, "%*s", (int)indent, "");
    rung_print_wrapped(text, indent, indent, to);
}

/* Whether some version lacks a value of the axis: then each says what it has. */
static bool differs(const struct rung_ladder *ladder, const struct axis *axis)
{
    for (size_t i = 0; i < ladder->n_versions; i++)
        for (const char *const *word = axis->words; *word; word++)
            if (rung_template_lacks(ladder->versions[i], *word))
                return true;
    return false;
}

/* "--bound const, runtime; --unroll full, none": what there is to choose, of the axes on which the
 * versions differ or of those on which they agree. */
static void print_choices(FILE *to, const struct rung_ladder *ladder,
                          const struct rung_template *tpl, bool differing, int indent)
{
    struct rung_text choices = {0};
    for (size_t i = 0; i < N_AXES; i++) {
        struct rung_text words = {0};
        append_words(&words, tpl, &axes[i], ", ");
        if (differs(ladder, &axes[i]) == differing && strchr(rung_text_string(&words), ','))
            rung_text_format(&choices, "%s--%s %s", choices.length ? "; " : "", axes[i].name,
                             rung_text_string(&words));
        rung_text_release(&words);
    }
    if (choices.length)
        print_indented(to, rung_text_string(&choices), indent);
    rung_text_release(&choices);
}

static void print_versions_for_reader(const struct listing *listing)
{
    FILE *to = listing->output.stream;
    bool bold = rung_colour_wanted(to);
    for (size_t i = 0; i < listing->ladder.n_versions; i++) {
        const struct rung_template *tpl = listing->ladder.versions[i];
        fprintf(to, "%s%4u  %s%s", bold ? "\033[1m" : "", rung_template_version(tpl),
                rung_template_title(tpl), bold ? "\033[0m" : "");
        if (!is_base(tpl))
            fprintf(to, "  (--variant %s)", rung_variant_word(rung_template_variant(tpl)));
        fputc('\n', to);
        print_indented(to, rung_template_change(tpl), 6);
        print_choices(to, &listing->ladder, tpl, true, 6);
    }
    fputs("\nEvery version: --block 2, 4, 8 ... 1024\n", to);
    if (listing->ladder.n_versions > 0)
        print_choices(to, &listing->ladder, listing->ladder.versions[0], false, 15);
    fputs("An id names a configuration: v1-b256-const, then each axis that is not at its\n"
          "first value, as in v1-b256-runtime-mask-dot-f64.\n\n",
          to);
}

static void print_controls_for_reader(const struct listing *listing)
{
    FILE *to = listing->output.stream;
    fputs("Negative controls, wrong on purpose (rung verify --control NAME), and the check\n"
          "that must tell:\n",
          to);
    for (size_t i = 0; i < listing->controls.n_controls; i++) {
        const struct rung_control *control = &listing->controls.controls[i];
        fprintf(to, "  %-22s %s\n", control->name, control->caught_by);
        print_indented(to, control->title, 6);
    }
}

static enum rung_status print(const struct listing *listing, bool controls, int argc, char **argv,
                              struct rung_error *err)
{
    switch (listing->output.format) {
    case RUNG_FORMAT_JSON:
        return print_json(listing, controls, argc, argv, err);
    case RUNG_FORMAT_TABLE:
        if (!controls)
            print_versions_for_reader(listing);
        print_controls_for_reader(listing);
        return RUNG_OK;
    case RUNG_FORMAT_CSV:
    case RUNG_FORMAT_MD:
        break;
    }
    return controls ? print_controls(listing, err) : print_versions(listing, err);
}

enum rung_status rung_cmd_list(int argc, char **argv, struct rung_error *err)
{
    struct arguments arguments = {0};
    struct listing listing = {0};
    enum rung_format format = RUNG_FORMAT_TABLE;
    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    enum rung_status status = rung_format_parse(&format, arguments.selection.format, err);
    if (status == RUNG_OK)
        status = rung_ladder_load(&listing.ladder, &listing.arena, err);
    if (status == RUNG_OK)
        status = rung_controls_load(&listing.controls, &listing.arena, err);
    if (status == RUNG_OK)
        status = rung_output_open(&listing.output, format, arguments.selection.output, err);
    if (status == RUNG_OK) {
        status = print(&listing, arguments.controls, argc, argv, err);
        enum rung_status closed = rung_output_close(&listing.output, status == RUNG_OK, err);
        status = status == RUNG_OK ? closed : status;
    }
    rung_arena_release(&listing.arena);
    return status;
}
