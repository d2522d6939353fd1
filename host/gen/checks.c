/* The model as CUDA: one struct per phase, printed from the same expressions as the kernel, below
 * the counting functions of ptx_src/checks.cu.in, and the static_asserts over them. */
#include "gen/claims.h"
#include "gen/embedded.h"
#include "gen/emit.h"
#include "gen/model.h"

/* Prints the expressions of one kernel as functions of tid, with lets put in place. */
struct printer {
    struct rung_text *out;
    struct rung_kernel *kernel;
    struct rung_binding bindings[RUNG_NAMES_MAX];
};

static void begin(struct printer *p, struct rung_text *out, struct rung_kernel *kernel,
                  const struct rung_phase *phase)
{
    *p = (struct printer){.out = out, .kernel = kernel};
    rung_kernel_bind(p->bindings, kernel);
    p->bindings[RUNG_SLOT_WIDTH] =
        (struct rung_binding){.kind = RUNG_BIND_VALUE, .value = kernel->config.block};
    if (kernel->parameter >= 0)
        p->bindings[kernel->parameter] = (struct rung_binding){
            .kind = RUNG_BIND_VALUE, .value = kernel->values[kernel->parameter]};
    if (!phase)
        return;
    /* The loop variable is the member s, whatever it is named in the template. */
    p->bindings[phase->variable] = (struct rung_binding){.kind = RUNG_BIND_TEXT, .text = "s"};
    for (unsigned i = 0; i < phase->n_lets; i++)
        p->bindings[phase->lets[i].slot] =
            (struct rung_binding){.kind = RUNG_BIND_EXPR, .expr = phase->lets[i].value};
}

static void print(struct printer *p, const struct rung_expr *expr)
{
    rung_expr_print(p->out, expr, &p->kernel->scope, p->bindings);
}

/* A member function of tid that returns an expression, or `otherwise` where a condition fails. */
static void member(struct printer *p, const char *type, const char *name,
                   const struct rung_expr *expr, const struct rung_expr *only_if,
                   const char *otherwise)
{
    rung_text_format(p->out, "    __device__ constexpr %s %s(unsigned int tid) const { return ",
                     type, name);
    if (only_if) {
        print(p, only_if);
        rung_text_append(p->out, " ? int(");
    }
    print(p, expr);
    if (only_if)
        rung_text_format(p->out, ") : %s", otherwise);
    rung_text_append(p->out, "; }\n");
}

static void slot_member(struct printer *p, const char *name, const struct rung_operand *operand)
{
    if (operand->kind == RUNG_OPERAND_TILE)
        member(p, "int", name, operand->index, NULL, NULL);
}

static void copy_member(struct printer *p, const struct rung_statement *copy)
{
    if (!copy->line)
        return;
    if (copy->to.kind == RUNG_OPERAND_SUM)
        member(p, "int", "take", copy->from.index, copy->only_if, "identity");
    else
        member(p, "int", "store", copy->to.index, copy->only_if, "nothing");
}

static void shuffle_member(struct printer *p, const struct rung_operand *from)
{
    if (from->kind != RUNG_OPERAND_SHUFFLE)
        return;
    rung_text_append(p->out, "    __device__ constexpr unsigned int lane(unsigned int tid) const { "
                             "return tid % (");
    print(p, from->lanes);
    rung_text_append(p->out, ") + (");
    print(p, from->index);
    rung_text_append(p->out, ") < (");
    print(p, from->lanes);
    rung_text_append(p->out, ") ? tid + (");
    print(p, from->index);
    rung_text_append(p->out, ") : tid; }\n");
}

static void print_phase(struct rung_text *out, struct rung_kernel *kernel, unsigned index)
{
    const struct rung_phase *phase = &kernel->phases[index];
    struct printer p;
    begin(&p, out, kernel, phase->stepping ? phase : NULL);
    rung_text_format(out, "struct phase_%u : phase {\n", index + 1);
    if (phase->take.line || phase->put.line)
        rung_text_format(out, "    enum { copies = %s, puts = %s };\n",
                         phase->take.line ? "true" : "false", phase->put.line ? "true" : "false");
    if (phase->stepping) {
        rung_text_append(out, "    unsigned int s = ");
        print(&p, phase->first);
        rung_text_append(out, ";\n    __device__ constexpr bool more() const { return ");
        print(&p, phase->more);
        rung_text_format(out, "; }\n    __device__ constexpr void next() { s %s ",
                         phase->operation);
        print(&p, phase->update);
        rung_text_append(out, "; }\n");
    }
    if (phase->active)
        member(&p, "bool", "active", phase->active, NULL, NULL);
    copy_member(&p, &phase->take);
    slot_member(&p, "to", &phase->add.to);
    slot_member(&p, "from", &phase->add.from);
    shuffle_member(&p, &phase->add.from);
    slot_member(&p, "put", &phase->put.to);
    rung_text_append(out, "};\n");
}

/* namespace version_N { its phases; what it loads into and where its result is } */
static void print_version(struct rung_text *out, struct rung_kernel *kernel)
{
    struct printer p;
    begin(&p, out, kernel, NULL);
    rung_text_format(out, "\nnamespace version_%u {\n", kernel->tpl->version);
    for (unsigned i = 0; i < kernel->n_phases; i++)
        print_phase(out, kernel, i);
    rung_text_append(out, "struct kernel {\n    __device__ static constexpr int "
                          "load(unsigned int tid) { return ");
    if (kernel->loads[0].to.kind == RUNG_OPERAND_TILE)
        print(&p, kernel->loads[0].to.index);
    else
        rung_text_append(out, "nothing");
    rung_text_append(out, "; }\n    __device__ static constexpr int result() { return ");
    if (kernel->result.kind == RUNG_OPERAND_TILE)
        print(&p, kernel->result.index);
    else
        rung_text_append(out, "nothing");
    rung_text_format(out, "; }\n};\n} // namespace version_%u\n", kernel->tpl->version);
}

/* Whether the loads of a whole grid, and of one whose last block is ragged, read each element
 * once. */
static void print_loads(struct rung_text *out, struct rung_kernel *kernel)
{
    struct printer p;
    begin(&p, out, kernel, NULL);
    const unsigned grid = 2;
    unsigned n = grid * kernel->config.block * kernel->n_loads * (kernel->sweep ? 2 : 1) - 1;
    rung_text_format(out,
                     "\n// Two blocks read each of %u elements once.\n"
                     "__device__ constexpr bool reads_each_once()\n{\n"
                     "    constexpr unsigned long long grid = %u, n = %u;\n"
                     "    unsigned char times[n] = {};\n"
                     "    for (unsigned long long block = 0; block < grid; ++block)\n"
                     "        for (unsigned int tid = 0; tid < threads; ++tid) {\n"
                     "            unsigned long long i = ",
                     n, grid, n);
    print(&p, kernel->element);
    rung_text_append(out, ";\n");
    for (unsigned i = 0; i < kernel->n_loads; i++) {
        const char *indent = "            ";
        if (kernel->sweep && i == kernel->first_swept) {
            rung_text_format(out, "%sfor (i += ", indent);
            print(&p, kernel->sweep);
            rung_text_append(out, "; i < n; i += ");
            print(&p, kernel->sweep);
            rung_text_append(out, ")\n");
            indent = "                ";
        }
        rung_text_format(out, "%sif (", indent);
        print(&p, kernel->loads[i].from.index);
        rung_text_append(out, " < n)\n");
        rung_text_format(out, "%s    ++times[", indent);
        print(&p, kernel->loads[i].from.index);
        rung_text_append(out, "];\n");
    }
    rung_text_append(out, "        }\n    for (unsigned char count : times)\n"
                          "        if (count != 1)\n            return false;\n"
                          "    return true;\n}\n");
}

static void print_count(struct rung_text *out, const struct rung_kernel *kernel)
{
    unsigned version = kernel->tpl->version;
    rung_text_format(out, "    constexpr counts v%u = count<version_%u::kernel", version, version);
    for (unsigned i = 0; i < kernel->n_phases; i++)
        rung_text_format(out, ", version_%u::phase_%u", version, i + 1);
    rung_text_append(out, ">();\n");
}

/* Inside a function that nothing calls, so that the compiled module holds the kernel alone. */
static void print_asserts(struct rung_text *out, struct rung_kernel *kernel,
                          const struct rung_model *model, const struct rung_claims *claims)
{
    unsigned version = kernel->tpl->version;
    rung_text_append(out, "\n__device__ constexpr void held()\n{\n");
    for (unsigned i = 0; i < claims->n_others; i++)
        if (claims->others[i].counted)
            print_count(out, &claims->others[i].kernel);
    print_count(out, kernel);
    rung_text_format(out,
                     "    static_assert(v%u.reduces, \"every value reaches the result once, by %u "
                     "additions\");\n"
                     "    static_assert(reads_each_once(), \"every element is read once\");\n"
                     "    static_assert(v%u.additions == %llu && v%u.runs == %llu && "
                     "v%u.serialised == %llu,\n                  \"the counts above\");\n%s}\n",
                     version, kernel->config.block - 1, version,
                     (unsigned long long)model->tree_additions, version,
                     (unsigned long long)model->body_runs, version,
                     (unsigned long long)model->serialised, rung_text_string(&claims->text));
}

enum rung_status rung_emit_checks(struct rung_text *out, struct rung_arena *arena,
                                  struct rung_kernel *kernel, struct rung_error *err)
{
    const char *functions = rung_embedded_text("checks.cu.in");
    struct rung_model model = {0};
    struct rung_claims claims = {0};
    if (!functions)
        return rung_fail(err, RUNG_UNABLE, "checks.cu.in is not part of this build");
    enum rung_status status = rung_claims_make(&claims, arena, kernel, err);
    if (status == RUNG_OK)
        status = rung_model_block(&model, kernel->tpl, &kernel->config, err);
    if (status == RUNG_OK) {
        rung_text_format(out,
                         "\n// The model of this kernel, from the same directives as its text. If "
                         "it counts wrongly,\n// nothing here compiles.\nnamespace model {\n"
                         "enum : unsigned int { threads = %u, element_bytes = %zu };\n\n%s",
                         kernel->config.block, rung_type_size(kernel->config.type), functions);
        for (unsigned i = 0; i < claims.n_others; i++)
            if (claims.others[i].counted)
                print_version(out, &claims.others[i].kernel);
        print_version(out, kernel);
        print_loads(out, kernel);
        print_asserts(out, kernel, &model, &claims);
        rung_text_append(out, "} // namespace model\n");
    }
    rung_claims_release(&claims);
    return status;
}
