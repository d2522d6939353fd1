/* Loading: what the driver would say of the text, variables in memory, every entry decoded. */
#include "sim/program.h"

#include <stdlib.h>
#include <string.h>

#include "sim/decode.h"

#define NO_BINARY_FOR_GPU 209
#define UNSUPPORTED_PTX_VERSION 222
#define VARIABLES_BYTES_MAX (UINT64_C(4) << 30)

/* Lowest .version for a .target, as ptxas 13.0 has them; suffixes a and f come later. */
static const struct {
    unsigned target;
    char suffix;
    unsigned version;
} floors[] = {
    {75,  0,   63},
    {80,  0,   70},
    {86,  0,   71},
    {87,  0,   74},
    {88,  0,   73},
    {89,  0,   78},
    {90,  0,   78},
    {90,  'a', 80},
    {100, 0,   86},
    {100, 'a', 86},
    {100, 'f', 88},
    {103, 0,   88},
    {103, 'a', 88},
    {110, 0,   90},
    {120, 0,   87},
    {120, 'a', 87},
    {120, 'f', 88},
    {121, 0,   88},
    {121, 'a', 88},
};

static char suffix_of(const struct rung_ptx_module *module)
{
    return module->target_word[strlen(module->target_word) - 1] > '9'
               ? module->target_word[strlen(module->target_word) - 1]
               : 0;
}

static enum rung_status refuse_image(const void *image, size_t length, struct rung_error *err)
{
    static const unsigned char elf[] = {0x7f, 'E', 'L', 'F'}, fatbin[] = {0x50, 0xed, 0x55, 0xba};
    const char *what = NULL;
    if (length >= sizeof elf && !memcmp(image, elf, sizeof elf))
        what = "a cubin";
    if (length >= sizeof fatbin && !memcmp(image, fatbin, sizeof fatbin))
        what = "a fatbin";
    if (!what)
        return RUNG_OK;
    return rung_fail_native(err, RUNG_COMPILE, NO_BINARY_FOR_GPU,
                            "the simulator runs PTX only, and this is %s", what);
}

static enum rung_status check_versions(const struct rung_ptx_module *module, unsigned cc,
                                       struct rung_error *err)
{
    char suffix = suffix_of(module);
    if (module->version > RUNG_SIM_ISA_VERSION)
        return rung_fail_native(err, RUNG_COMPILE, UNSUPPORTED_PTX_VERSION,
                                "Unsupported .version %u.%u; current version is '%u.%u'",
                                module->version / 10, module->version % 10,
                                RUNG_SIM_ISA_VERSION / 10, RUNG_SIM_ISA_VERSION % 10);
    if (module->target > cc)
        return rung_fail_native(err, RUNG_COMPILE, RUNG_PTX_INVALID,
                                "SM version specified by .target (%s) is higher than the sm_%u "
                                "that the simulator stands for",
                                module->target_word, cc);
    bool runs = suffix == 'a'   ? module->target == cc
                : suffix == 'f' ? module->target / 10 == cc / 10
                                : suffix == 0;
    if (!runs)
        return rung_fail_native(err, RUNG_COMPILE, RUNG_PTX_INVALID,
                                ".target %s is not portable to sm_%u", module->target_word, cc);
    for (size_t i = 0; i < sizeof floors / sizeof *floors; i++)
        if (floors[i].target == module->target && floors[i].suffix == suffix &&
            module->version < floors[i].version)
            return rung_fail_native(err, RUNG_COMPILE, RUNG_PTX_INVALID,
                                    "PTX .version %u.%u does not support .target %s",
                                    module->version / 10, module->version % 10,
                                    module->target_word);
    if (module->address_size != 64)
        return rung_fail_native(err, RUNG_COMPILE, RUNG_PTX_INVALID, "unsupported .address_size %u",
                                module->address_size);
    return RUNG_OK;
}

static enum rung_status place_variable(struct rung_sim_program *program,
                                       const struct rung_ptx_symbol *symbol, struct rung_error *err)
{
    if (symbol->init_has_names)
        return rung_fail_native(err, RUNG_COMPILE, RUNG_PTX_INVALID,
                                "line %u: unsupported: `%s` is initialised with addresses",
                                symbol->line, symbol->name);
    if (symbol->is_extern || symbol->bytes > VARIABLES_BYTES_MAX)
        return rung_fail_native(err, RUNG_COMPILE, RUNG_PTX_INVALID,
                                "line %u: `%s` is defined nowhere or too large", symbol->line,
                                symbol->name);
    uint64_t address = rung_sim_memory_alloc(program->memory, symbol->bytes, NULL);
    if (!address)
        return rung_fail_native(err, RUNG_MEMORY, 2, "out of memory for `%s`", symbol->name);
    program->variables[program->n_variables++] = (struct sim_variable){symbol, address};
    unsigned char *host = rung_sim_memory_at(program->memory, address, symbol->bytes);
    memset(host, 0, symbol->bytes);
    if (symbol->init_bytes)
        memcpy(host, symbol->init, symbol->init_bytes);
    if (symbol->space == RUNG_PTX_SPACE_CONST)
        program->const_bytes += symbol->bytes;
    return RUNG_OK;
}

static enum rung_status place_variables(struct rung_sim_program *program, struct rung_error *err)
{
    const struct rung_ptx_module *module = &program->module;
    program->variables =
        rung_arena_array(&program->arena, module->n_symbols, sizeof *program->variables);
    if (!program->variables)
        return rung_fail_native(err, RUNG_MEMORY, 2, "out of memory for variables");
    for (uint32_t i = 0; i < module->n_symbols; i++) {
        enum rung_ptx_space space = module->symbols[i]->space;
        if (space != RUNG_PTX_SPACE_GLOBAL && space != RUNG_PTX_SPACE_CONST)
            continue;
        enum rung_status status = place_variable(program, module->symbols[i], err);
        if (status != RUNG_OK)
            return status;
    }
    return RUNG_OK;
}

uint64_t rung_sim_program_address(const struct rung_sim_program *program,
                                  const struct rung_ptx_symbol *symbol)
{
    for (uint32_t i = 0; i < program->n_variables; i++)
        if (program->variables[i].symbol == symbol)
            return program->variables[i].address;
    return 0;
}

/* Finds the shared variables that an operand names. */
static void note_shared(struct rung_sim_kernel *kernel, const struct rung_ptx_operand *operand)
{
    for (uint32_t i = 0; i < operand->n_items; i++)
        note_shared(kernel, &operand->items[i]);
    const struct rung_ptx_symbol *symbol = operand->symbol;
    if (operand->kind != RUNG_PTX_SYMBOL || symbol->space != RUNG_PTX_SPACE_SHARED)
        return;
    for (uint32_t i = 0; i < kernel->n_shared; i++)
        if (kernel->shared[i].symbol == symbol)
            return;
    kernel->shared[kernel->n_shared++].symbol = symbol;
}

static uint64_t align_up(uint64_t at, uint64_t align)
{
    return align ? (at + align - 1) / align * align : at;
}

/* Static variables one after the other; `extern []` ones all begin behind them. */
static bool place_shared(struct rung_sim_kernel *kernel, const struct rung_ptx_module *module,
                         struct rung_arena *arena)
{
    const struct rung_ptx_function *function = kernel->function;
    uint64_t end = 0, dynamic_align = 1;
    kernel->shared = rung_arena_array(arena, (size_t)module->n_symbols + function->n_symbols,
                                      sizeof *kernel->shared);
    if (!kernel->shared)
        return false;
    for (uint32_t i = 0; i < function->n_instructions; i++)
        for (uint32_t k = 0; k < function->instructions[i].n_operands; k++)
            note_shared(kernel, &function->instructions[i].operands[k]);
    for (uint32_t i = 0; i < kernel->n_shared; i++) {
        struct sim_shared_symbol *at = &kernel->shared[i];
        bool dynamic = at->symbol->is_extern || !at->symbol->bytes;
        if (dynamic && at->symbol->align > dynamic_align)
            dynamic_align = at->symbol->align;
        if (dynamic)
            continue;
        at->offset = align_up(end, at->symbol->align);
        end = at->offset + at->symbol->bytes;
    }
    kernel->shared_bytes = end;
    for (uint32_t i = 0; i < kernel->n_shared; i++) {
        struct sim_shared_symbol *at = &kernel->shared[i];
        if (at->symbol->is_extern || !at->symbol->bytes)
            at->offset = align_up(end, dynamic_align);
    }
    return true;
}

static enum rung_status make_kernel(struct rung_sim_kernel *kernel,
                                    struct rung_sim_program *program,
                                    const struct rung_ptx_function *function,
                                    struct rung_error *err)
{
    struct rung_arena *arena = &program->arena;
    struct rung_ptx_flow flow;
    *kernel = (struct rung_sim_kernel){
        .program = program, .function = function, .const_bytes = program->const_bytes};
    if (function->needs_cluster)
        return rung_fail_native(err, RUNG_COMPILE, RUNG_PTX_INVALID,
                                "line %u: unsupported: `%s` runs in clusters", function->line,
                                function->name);
    if (!place_shared(kernel, &program->module, arena))
        return rung_fail_native(err, RUNG_MEMORY, 2, "out of memory while decoding PTX");
    if (kernel->shared_bytes > RUNG_SIM_SHARED_OPTIN)
        return rung_fail_native(err, RUNG_COMPILE, RUNG_PTX_INVALID,
                                "`%s` uses too much shared data (%llu bytes, %u max)",
                                function->name, (unsigned long long)kernel->shared_bytes,
                                RUNG_SIM_SHARED_OPTIN);
    if (!rung_sim_kernel_decode(kernel, program, function, arena, err))
        return err->status;
    enum rung_status status = rung_ptx_flow_make(&flow, function, err);
    if (status == RUNG_OK && (!rung_sim_kernel_segments(kernel, &flow, arena) ||
                              !rung_sim_kernel_classify(kernel, &flow, arena)))
        status = rung_fail_native(err, RUNG_MEMORY, 2, "out of memory while decoding PTX");
    rung_ptx_flow_release(&flow);
    return status;
}

static enum rung_status make_kernels(struct rung_sim_program *program, struct rung_error *err)
{
    const struct rung_ptx_module *module = &program->module;
    program->kernels =
        rung_arena_array(&program->arena, module->n_functions, sizeof *program->kernels);
    if (!program->kernels)
        return rung_fail_native(err, RUNG_MEMORY, 2, "out of memory for kernels");
    for (uint32_t i = 0; i < module->n_functions; i++) {
        const struct rung_ptx_function *function = module->functions[i];
        if (!function->is_entry || function->is_prototype)
            continue;
        enum rung_status status =
            make_kernel(&program->kernels[program->n_kernels], program, function, err);
        if (status != RUNG_OK)
            return status;
        program->n_kernels++;
    }
    return RUNG_OK;
}

enum rung_status rung_sim_program_load(struct rung_sim_program **out,
                                       struct rung_sim_memory *memory, const void *image,
                                       size_t length, unsigned cc, struct rung_error *err)
{
    struct rung_error own = {0};
    err = err ? err : &own;
    *out = NULL;
    enum rung_status status = refuse_image(image, length, err);
    if (status != RUNG_OK)
        return status;
    struct rung_sim_program *program = calloc(1, sizeof *program);
    if (!program)
        return rung_fail_native(err, RUNG_MEMORY, 2, "out of memory for a module");
    program->memory = memory;
    status = rung_ptx_parse(&program->module, image, length, err);
    if (status == RUNG_OK)
        status = check_versions(&program->module, cc, err);
    if (status == RUNG_OK)
        status = place_variables(program, err);
    if (status == RUNG_OK)
        status = make_kernels(program, err);
    if (status == RUNG_OK)
        *out = program;
    else
        rung_sim_program_release(program);
    return status;
}

void rung_sim_program_release(struct rung_sim_program *program)
{
    if (!program)
        return;
    for (uint32_t i = 0; i < program->n_variables; i++)
        rung_sim_memory_free(program->memory, program->variables[i].address);
    rung_arena_release(&program->arena);
    rung_ptx_module_release(&program->module);
    free(program);
}

const struct rung_ptx_module *rung_sim_program_module(const struct rung_sim_program *program)
{
    return &program->module;
}

const struct rung_sim_kernel *rung_sim_program_kernel(const struct rung_sim_program *program,
                                                      const char *name)
{
    for (uint32_t i = 0; i < program->n_kernels; i++)
        if (!strcmp(program->kernels[i].function->name, name))
            return &program->kernels[i];
    return NULL;
}

bool rung_sim_program_global(const struct rung_sim_program *program, const char *name,
                             uint64_t *address, uint64_t *bytes)
{
    for (uint32_t i = 0; i < program->n_variables; i++)
        if (!strcmp(program->variables[i].symbol->name, name)) {
            *address = program->variables[i].address;
            *bytes = program->variables[i].symbol->bytes;
            return true;
        }
    return false;
}

void rung_sim_kernel_facts(struct rung_sim_kernel_facts *out, const struct rung_sim_kernel *kernel)
{
    const struct rung_ptx_function *function = kernel->function;
    const uint32_t *shape = function->req_ntid[0] ? function->req_ntid : function->max_ntid;
    uint64_t most = (uint64_t)shape[0] * (shape[1] ? shape[1] : 1) * (shape[2] ? shape[2] : 1);
    *out = (struct rung_sim_kernel_facts){
        .name = function->name,
        .max_threads =
            most && most < RUNG_SIM_BLOCK_THREADS_MAX ? (unsigned)most : RUNG_SIM_BLOCK_THREADS_MAX,
        .shared_bytes = kernel->shared_bytes,
        .const_bytes = kernel->const_bytes,
        .registers = kernel->registers,
        .ptx_version = kernel->program->module.target,
        .n_params = function->n_params,
        .param_bytes = function->param_bytes,
        .function = function,
    };
}
