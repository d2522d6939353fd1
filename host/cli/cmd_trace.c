/* rung trace: one block, step by step, as text, JSON, a page or a picture. */
#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/select.h"
#include "cli/trace_print.h"
#include "gen/control.h"
#include "trace/capture.h"
#include "trace/input.h"

#define CONTROL_BLOCK                                                                              \
    64 /* of a negative control without --block: two warps, so that both can err */
#define OLDEST_TARGET 75 /* `native` on the simulator */
#define PAGE_TRACES 8    /* as many versions as fit beside each other */

struct trace_options {
    struct rung_selection selection; /* of it: where it runs, and the output */
    const char *n, *input, *input_b, *block;
    bool all;
    const char *ids[PAGE_TRACES];
    size_t n_ids;
};

enum { KEY_N = 0x200, KEY_INPUT, KEY_INPUT_B, KEY_BLOCK, KEY_ALL };

static const struct argp_option options[] = {
    {NULL,               0, NULL, 0, "What is traced:", 1},
    {"n",              KEY_N, "N", 0, "Elements (default what one block takes)", 1},
    {"input", KEY_INPUT, "INPUT", 0,
     "ones, iota (1, 2, 3, ...), alternating (2, 1, 2, 1, ...), random (whole numbers 0 to 99), a "
     "list 1,2,3 or a file of numbers (default iota)", 1},
    {"input-b",                  KEY_INPUT_B, "INPUT", 0, "The second vector of a dot product (default alternating)",
     1},
    {"block",KEY_BLOCK, "B", 0, "Threads of a negative control (default 64, or where it shows)",
     1},
    {"all",                 KEY_ALL, NULL, 0, "Text: fold nothing", 1},
    {0                }
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct trace_options *trace = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        for (int i = 0; i < 3; i++)
            state->child_inputs[i] = &trace->selection;
        return 0;
    case KEY_N:
        trace->n = arg;
        return 0;
    case KEY_INPUT:
        trace->input = arg;
        return 0;
    case KEY_INPUT_B:
        trace->input_b = arg;
        return 0;
    case KEY_BLOCK:
        trace->block = arg;
        return 0;
    case KEY_ALL:
        trace->all = true;
        return 0;
    case ARGP_KEY_ARG:
        if (trace->n_ids == PAGE_TRACES)
            argp_error(state, "'%s': at most %d ids can be traced together", arg, PAGE_TRACES);
        trace->ids[trace->n_ids++] = arg;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "an id is needed, such as v1-b8-const (rung list has all versions)");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* clang-format off */
static const struct argp_child children[] = {
    {&rung_where_argp, 0, NULL, 0},
    {&rung_seed_argp, 0, NULL, 0},
    {&rung_output_argp, 0, NULL, 0},
    {0},
};
/* clang-format on */

static const struct argp parser = {
    .options = options,
    .parser = parse_option,
    .args_doc = "ID...",
    .doc =
        "Show one block of a compiled kernel step by step: who adds what, what shared memory "
        "holds, which banks conflict."
        "\v-o FILE.html makes a page to step through, with several ids side by side; -o FILE.svg "
        "a picture; .json and .txt are what --format json and table print. The names of negative "
        "controls are ids too: they show the mistake where it "
        "happens.\n\n"
        "The block runs on the simulator, which also looks for races, unless --device cuda is "
        "given: then the kernel, compiled to write down what it does, runs on the card.\n\n"
        "Examples:\n"
        "  rung trace v3-b8-const-dot\n"
        "  rung trace v2-b256-const -o conflicts.html\n"
        "  rung trace v8-b256-const --device cuda\n"
        "  rung trace v1-b256-const v2-b256-const v3-b256-const -o ladder.html",
    .children = children};

/* --- what is asked for ----------------------------------------------------------------------- */

/* All that a command has open. */
struct session {
    const struct trace_options *options;
    struct rung_arena arena;
    struct rung_ladder ladder;
    struct rung_controls controls;
    struct rung_trace_input inputs[2];
    struct rung_nvrtc *nvrtc;
    struct rung_error no_nvrtc;
    struct rung_cache *cache;
    struct rung_device device;
    unsigned target;
    struct rung_trace traces[PAGE_TRACES];
};

static enum rung_status control_config(struct rung_config *out, const struct rung_control *control,
                                       const char *block, struct rung_error *err)
{
    uint64_t threads = control->block ? control->block : CONTROL_BLOCK;
    bool number = !block || rung_parse_n(&threads, block, NULL) == RUNG_OK;
    bool power = number && (threads & (threads - 1)) == 0;
    if (threads < RUNG_BLOCK_MIN || threads > RUNG_BLOCK_MAX || !power)
        return rung_fail(err, RUNG_USAGE,
                         "--block '%s': a power of two, %d to %d, must stand there", block,
                         RUNG_BLOCK_MIN, RUNG_BLOCK_MAX);
    *out = (struct rung_config){.version = rung_template_version(control->tpl),
                                .block = (unsigned)threads,
                                .variant = rung_template_variant(control->tpl)};
    return rung_template_supports(control->tpl, out, err);
}

static enum rung_status unknown_id(const struct session *session, const struct rung_error *why,
                                   struct rung_error *err)
{
    struct rung_text names = {0};
    for (size_t i = 0; i < session->controls.n_controls; i++)
        rung_text_format(&names, "%s%s", i ? ", " : "\nnegative controls are ids too: ",
                         session->controls.controls[i].name);
    rung_fail(err, RUNG_USAGE, "%s%s", why->text, rung_text_string(&names));
    rung_text_release(&names);
    return RUNG_USAGE;
}

/* An id, or the name of a negative control. */
static enum rung_status find_subject(struct rung_trace_request *out, const struct session *session,
                                     const char *id, struct rung_error *err)
{
    for (size_t i = 0; i < session->controls.n_controls; i++) {
        const struct rung_control *control = &session->controls.controls[i];
        if (strcmp(control->name, id) != 0)
            continue;
        *out = (struct rung_trace_request){
            .tpl = control->tpl, .id = control->name, .title = control->title, .control = true};
        return control_config(&out->config, control, session->options->block, err);
    }
    struct rung_error why = {0};
    *out = (struct rung_trace_request){.id = id};
    if (rung_config_parse_id(&out->config, id, &why) != RUNG_OK)
        return unknown_id(session, &why, err);
    if (session->options->block)
        return rung_fail(err, RUNG_USAGE, "--block is for negative controls: %s has its own", id);
    out->tpl = rung_ladder_find(&session->ladder, out->config.version, out->config.variant);
    if (!out->tpl)
        return rung_fail(err, RUNG_USAGE, "%s: there is no version %u with this variant", id,
                         out->config.version);
    out->title = rung_template_title(out->tpl);
    return rung_template_supports(out->tpl, &out->config, err);
}

static enum rung_status choose_n(struct rung_trace_request *request, const struct session *session,
                                 struct rung_error *err)
{
    const char *word = session->options->n;
    uint64_t usual, most;
    rung_trace_capacity(&usual, &most, request->tpl, &request->config);
    request->n = usual;
    if (word && (rung_parse_n(&request->n, word, NULL) != RUNG_OK || request->n > most))
        return rung_fail(err, RUNG_USAGE, "--n '%s': one block of %s takes 0 to %llu elements",
                         word, request->id, (unsigned long long)most);
    if (!word && session->inputs[0].pattern == RUNG_TRACE_LIST)
        request->n = session->inputs[0].n_values;
    if (request->n > most)
        return rung_fail(err, RUNG_USAGE,
                         "--input has %llu numbers, and one block of %s takes 0 to %llu elements",
                         (unsigned long long)request->n, request->id, (unsigned long long)most);
    return RUNG_OK;
}

static enum rung_status make_inputs(struct rung_trace_request *request, struct session *session,
                                    struct rung_error *err)
{
    static const char *const names[2] = {"--input", "--input-b"};
    unsigned vectors = request->config.op == RUNG_OP_DOT ? 2 : 1;
    if (vectors == 1 && session->options->input_b)
        return rung_fail(err, RUNG_USAGE, "--input-b is for dot products: %s is a sum",
                         request->id);
    enum rung_status status = choose_n(request, session, err);
    for (unsigned i = 0; i < vectors && status == RUNG_OK; i++) {
        request->input_names[i] = session->inputs[i].word;
        status = rung_trace_input_make(&request->inputs[i], &session->arena, &session->inputs[i],
                                       names[i], request->n, request->config.type,
                                       session->options->selection.seed + i, err);
    }
    return status;
}

/* Everything that a user can have got wrong, before anything is opened. */
static enum rung_status prepare(struct rung_trace_request requests[PAGE_TRACES],
                                struct session *session, struct rung_error *err)
{
    const struct trace_options *asked = session->options;
    enum rung_status status = rung_ladder_load(&session->ladder, &session->arena, err);
    if (status == RUNG_OK)
        status = rung_controls_load(&session->controls, &session->arena, err);
    if (status == RUNG_OK)
        status = rung_trace_input_read(&session->inputs[0], &session->arena, "--input",
                                       asked->input ? asked->input : "iota", err);
    if (status == RUNG_OK)
        status = rung_trace_input_read(&session->inputs[1], &session->arena, "--input-b",
                                       asked->input_b ? asked->input_b : "alternating", err);
    for (size_t i = 0; i < asked->n_ids && status == RUNG_OK; i++) {
        status = find_subject(&requests[i], session, asked->ids[i], err);
        requests[i].schedule_seed = asked->selection.seed;
        if (status == RUNG_OK)
            status = make_inputs(&requests[i], session, err);
    }
    return status;
}

/* --- what it runs on ------------------------------------------------------------------------- */

/* Where nothing is asked for a trace runs on the simulator, which also checks. */
static const char *machine(const struct rung_selection *selection)
{
    bool named = selection->device && strcmp(selection->device, "auto") != 0;
    return named ? selection->device : "sim";
}

static enum rung_status check_machine(const struct rung_selection *selection,
                                      struct rung_error *err)
{
    bool sim = strcmp(machine(selection), "sim") == 0;
    enum rung_image_kind kind;
    if (!sim && strncmp(machine(selection), "cuda", 4) != 0)
        return rung_fail(err, RUNG_USAGE,
                         "--device '%s': auto, sim, cuda or cuda:K must stand there",
                         selection->device);
    if (selection->driver && sim)
        return rung_fail(err, RUNG_USAGE,
                         "--driver '%s': a trace runs on the simulator; a driver is for --device "
                         "cuda",
                         selection->driver);
    if (rung_selection_image(&kind, selection, err) != RUNG_OK)
        return RUNG_USAGE;
    if (kind == RUNG_IMAGE_CUBIN && sim)
        return rung_fail(err, RUNG_USAGE, "--image cubin: the simulator executes PTX only");
    return RUNG_OK;
}

/* --target, one of them; where none is given, what suits the device. */
static enum rung_status choose_target(unsigned *out, const struct session *session,
                                      struct rung_error *err)
{
    const struct rung_selection *selection = &session->options->selection;
    unsigned supported[RUNG_TARGETS_MAX], *targets = NULL;
    size_t n_supported = session->nvrtc ? rung_nvrtc_targets(session->nvrtc, supported) : 0;
    size_t n_targets = 0;
    unsigned native = session->device.driver.sim ? OLDEST_TARGET : session->device.cc;
    *out = rung_trace_target(&session->device, session->nvrtc);
    if (!selection->target)
        return RUNG_OK;
    enum rung_status status = rung_selection_targets(&targets, &n_targets, selection, native,
                                                     supported, n_supported, err);
    if (status == RUNG_OK && n_targets != 1)
        status = rung_fail(err, RUNG_USAGE, "--target '%s': a trace is of one target",
                           selection->target);
    if (status == RUNG_OK)
        *out = targets[0];
    free(targets);
    return status;
}

static enum rung_status open_machine(struct session *session, struct rung_error *err)
{
    const struct rung_selection *selection = &session->options->selection;
    char why[512];
    rung_cache_open(&session->cache, NULL, why);
    if (rung_nvrtc_open(&session->nvrtc, selection->nvrtc, &session->no_nvrtc) != RUNG_OK &&
        selection->nvrtc)
        return rung_fail(err, session->no_nvrtc.status, "%s", session->no_nvrtc.text);
    return rung_device_open(&session->device, machine(selection), selection->driver, why, err);
}

static void close_session(struct session *session)
{
    rung_device_close(&session->device);
    rung_nvrtc_close(session->nvrtc);
    rung_cache_close(session->cache);
    rung_arena_release(&session->arena);
}

static enum rung_status capture_all(struct session *session, struct rung_trace_request *requests,
                                    struct rung_error *err)
{
    enum rung_status status = choose_target(&session->target, session, err);
    struct rung_image_source images = {.ladder = &session->ladder,
                                       .nvrtc = session->nvrtc,
                                       .nvrtc_why = session->no_nvrtc.text,
                                       .cache = session->cache};
    for (size_t i = 0; i < session->options->n_ids && status == RUNG_OK; i++) {
        requests[i].target = session->target;
        rung_selection_image(&requests[i].image, &session->options->selection, NULL);
        status = rung_trace_capture(&session->traces[i], &session->arena, &session->device, &images,
                                    &requests[i], err);
    }
    if (status == RUNG_OK && !session->device.driver.sim)
        fprintf(stderr, "rung trace: on a card nothing looks for races and wrong barriers; "
                        "--device sim does\n");
    return status;
}

static enum rung_status print(const struct session *session, int argc, char **argv,
                              enum rung_trace_form form, FILE *to, struct rung_error *err)
{
    struct rung_trace_print what = {.traces = session->traces,
                                    .n_traces = session->options->n_ids,
                                    .form = form,
                                    .all = session->options->all,
                                    .device = &session->device,
                                    .nvrtc = session->nvrtc,
                                    .target = session->target,
                                    .argc = argc,
                                    .argv = argv};
    return rung_trace_print(&what, to, err);
}

/* A wrong result has been shown; it is named here and in the exit status. */
static enum rung_status judge(const struct session *session, struct rung_error *err)
{
    for (size_t i = 0; i < session->options->n_ids; i++)
        if (session->traces[i].control && session->traces[i].correct &&
            !session->traces[i].n_findings_all)
            fprintf(stderr,
                    "rung trace: one block of %u threads shows nothing of %s: it takes more "
                    "elements, or more passes\n",
                    session->traces[i].config.block, session->traces[i].id);
    for (size_t i = 0; i < session->options->n_ids; i++) {
        const struct rung_trace *trace = &session->traces[i];
        char made[32], wanted[32];
        rung_trace_format_value(made, trace->result, trace->config.type);
        rung_trace_format_value(wanted, trace->expected, trace->config.type);
        if (!trace->correct)
            return rung_fail(err, RUNG_WRONG, "%s made %s of its input, not %s", trace->id,
                             trace->wrote ? made : "nothing", wanted);
        if (trace->n_findings_all)
            return rung_fail(err, RUNG_WRONG, "%s: %llu finding%s, the first: %s", trace->id,
                             (unsigned long long)trace->n_findings_all,
                             trace->n_findings_all == 1 ? "" : "s", trace->findings[0].text);
    }
    return RUNG_OK;
}

/* The form that an ending names; false where it names none that there is. */
static bool form_of_ending(enum rung_trace_form *out, const char *ending)
{
    static const struct {
        const char *ending;
        enum rung_trace_form form;
    } forms[] = {
        {"html", RUNG_TRACE_AS_HTML},
        {"svg",  RUNG_TRACE_AS_SVG },
        {"json", RUNG_TRACE_AS_JSON},
        {"txt",  RUNG_TRACE_AS_TEXT},
        {"",     RUNG_TRACE_AS_TEXT},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcasecmp(ending, forms[i].ending) == 0) {
            *out = forms[i].form;
            return true;
        }
    return false;
}

/* By the ending of -o, else by --format; both may stand there if they say the same. */
static enum rung_status choose_form(enum rung_trace_form *out, enum rung_format *format,
                                    const struct trace_options *asked, struct rung_error *err)
{
    const char *path = asked->selection.output, *word = asked->selection.format;
    const char *ending = rung_path_ending(path);
    bool known = form_of_ending(out, ending);
    if (rung_format_parse(format, word, NULL) != RUNG_OK || *format == RUNG_FORMAT_CSV ||
        *format == RUNG_FORMAT_MD)
        return rung_fail(err, RUNG_USAGE,
                         "--format '%s': a trace is table (its text) or json; -o FILE.html makes "
                         "a page and -o FILE.svg a picture",
                         word);
    if (!known && !word)
        return rung_fail(err, RUNG_USAGE,
                         "-o '%s': a trace is .html, .svg, .json or .txt; --format table or json "
                         "writes it under any other name",
                         path);
    enum rung_trace_form said =
        *format == RUNG_FORMAT_JSON ? RUNG_TRACE_AS_JSON : RUNG_TRACE_AS_TEXT;
    if (word && known && *ending && *out != said)
        return rung_fail(err, RUNG_USAGE, "-o '%s' and --format '%s' name two forms: give one",
                         path, word);
    *out = word ? said : *out;
    if (*out == RUNG_TRACE_AS_SVG && asked->n_ids > 1)
        return rung_fail(err, RUNG_USAGE,
                         "-o '%s': a picture shows one id; -o FILE.html shows several", path);
    if (asked->all && *out != RUNG_TRACE_AS_TEXT)
        return rung_fail(err, RUNG_USAGE,
                         "--all is of text: json, pages and pictures fold nothing");
    return RUNG_OK;
}

enum rung_status rung_cmd_trace(int argc, char **argv, struct rung_error *err)
{
    struct trace_options asked = {0};
    struct rung_output output = {0};
    struct rung_trace_request requests[PAGE_TRACES] = {0};
    enum rung_trace_form form = RUNG_TRACE_AS_TEXT;
    enum rung_format format;
    argp_parse(&parser, argc, argv, 0, NULL, &asked);
    struct session *session = calloc(1, sizeof *session);
    if (!session)
        return rung_fail(err, RUNG_MEMORY, "out of memory");
    session->options = &asked;
    enum rung_status status = choose_form(&form, &format, &asked, err);
    if (status == RUNG_OK)
        status = check_machine(&asked.selection, err);
    if (status == RUNG_OK)
        status = prepare(requests, session, err);
    if (status == RUNG_OK)
        status = rung_output_open(&output, format, asked.selection.output, err);
    if (status == RUNG_OK)
        status = open_machine(session, err);
    if (status == RUNG_OK)
        status = capture_all(session, requests, err);
    if (status == RUNG_OK)
        status = print(session, argc, argv, form, output.stream, err);
    enum rung_status closed = rung_output_close(&output, status == RUNG_OK, err);
    status = status == RUNG_OK ? closed : status;
    if (status == RUNG_OK)
        status = judge(session, err);
    close_session(session);
    free(session);
    return status;
}
