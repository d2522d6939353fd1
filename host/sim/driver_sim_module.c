/* Modules and functions: loading PTX with the options and logs of the driver's own compiler, and
 * what a loaded function says of itself. */
#define _GNU_SOURCE /* clock_gettime */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "sim/driver_state.h"

/* The options of one load. A log is written where the caller said, and its size where the caller
 * gave the room: options take numbers and results in the slots of the value array. */
struct jit_log {
    char *buffer;
    void **size; /* the slot: room on entry, bytes written on return */
};

struct jit_options {
    struct jit_log info, error;
    void **wall_time;
    bool verbose;
    unsigned target; /* 0 where not asked for */
};

static CUresult read_options(struct jit_options *out, unsigned n_options,
                             const CUjit_option *options, void **values)
{
    *out = (struct jit_options){0};
    if (n_options && (!options || !values))
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < n_options; i++) {
        switch ((int)options[i]) {
        case CU_JIT_WALL_TIME:
            out->wall_time = &values[i];
            break;
        case CU_JIT_INFO_LOG_BUFFER:
            out->info.buffer = values[i];
            break;
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
            out->info.size = &values[i];
            break;
        case CU_JIT_ERROR_LOG_BUFFER:
            out->error.buffer = values[i];
            break;
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            out->error.size = &values[i];
            break;
        case CU_JIT_LOG_VERBOSE:
            out->verbose = values[i] != NULL;
            break;
        case CU_JIT_TARGET:
            out->target = (unsigned)(uintptr_t)values[i];
            break;
        default: /* how to generate code: there is none to generate */
            if ((int)options[i] < 0 || options[i] >= CU_JIT_NUM_OPTIONS)
                return CUDA_ERROR_INVALID_VALUE;
        }
    }
    return CUDA_SUCCESS;
}

static void write_log(const struct jit_log *log, const char *text)
{
    size_t room = log->size ? (unsigned)(uintptr_t)*log->size : 0, length = strlen(text);
    if (!log->buffer || room == 0)
        return;
    if (length > room - 1)
        length = room - 1;
    memcpy(log->buffer, text, length);
    log->buffer[length] = '\0';
    *log->size = (void *)(uintptr_t)(length ? length + 1 : 0);
}

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void write_wall_time(const struct jit_options *jit, double began_ms)
{
    float wall_ms = (float)(now_ms() - began_ms);
    if (jit->wall_time)
        memcpy(jit->wall_time, &wall_ms, sizeof wall_ms);
}

/* The text of a verbose load, shaped as the driver's: what each entry needs. */
static void describe(struct rung_text *text, const struct rung_sim_program *program)
{
    const struct rung_ptx_module *module = rung_sim_program_module(program);
    for (uint32_t i = 0; i < module->n_functions; i++) {
        const struct rung_ptx_function *function = module->functions[i];
        const struct rung_sim_kernel *kernel =
            function->is_entry ? rung_sim_program_kernel(program, function->name) : NULL;
        struct rung_sim_kernel_facts facts;
        if (!kernel)
            continue;
        rung_sim_kernel_facts(&facts, kernel);
        rung_text_format(text,
                         "info    : Compiling entry function '%s' for 'sm_%u' (simulated)\n"
                         "info    : Used %u registers, %llu bytes smem\n",
                         facts.name, rung_sim_process.settings.target->cc, facts.registers,
                         (unsigned long long)facts.shared_bytes);
    }
}

/* How many bytes the image has. Only text has an end that can be found; of a binary the magic
 * number is enough to refuse it. */
static size_t image_length(const void *image)
{
    static const unsigned char elf[4] = {0x7f, 'E', 'L', 'F'}, fatbin[4] = {0x50, 0xed, 0x55, 0xba};
    const unsigned char *bytes = image;
    for (size_t i = 0; i < 4 && bytes[i]; i++)
        if (i == 3 && (memcmp(bytes, elf, 4) == 0 || memcmp(bytes, fatbin, 4) == 0))
            return 4;
    return strlen(image);
}

static CUresult load_program(struct rung_sim_program **out, const void *image,
                             const struct jit_options *jit)
{
    unsigned cc = rung_sim_process.settings.target->cc;
    struct rung_error err = {0};
    struct rung_text log = {0};
    double began_ms = now_ms();
    enum rung_status status =
        rung_sim_program_load(out, &rung_sim_process.memory, image, image_length(image), cc, &err);
    CUresult code = CUDA_SUCCESS;
    if (status == RUNG_MEMORY)
        code = CUDA_ERROR_OUT_OF_MEMORY;
    else if (status != RUNG_OK)
        code = err.native ? (CUresult)err.native : CUDA_ERROR_INVALID_PTX;
    if (code == CUDA_SUCCESS && jit->target && jit->target != cc) {
        rung_fail(&err, RUNG_DRIVER, "compiled for sm_%u, which does not run on sm_%u", jit->target,
                  cc);
        rung_sim_program_release(*out);
        code = CUDA_ERROR_INVALID_SOURCE;
    }
    if (code != CUDA_SUCCESS)
        rung_text_format(&log, "error   : %s\n", err.text);
    write_log(&jit->error, rung_text_string(&log));
    rung_text_clear(&log);
    if (code == CUDA_SUCCESS && jit->verbose)
        describe(&log, *out);
    write_log(&jit->info, code == CUDA_SUCCESS ? rung_text_string(&log) : "");
    rung_text_release(&log);
    write_wall_time(jit, began_ms);
    return code;
}

CUresult rung_sim_module_load(struct rung_sim_context *context, CUmodule *out, const void *image,
                              unsigned n_options, const CUjit_option *options, void **values)
{
    struct jit_options jit;
    if (!out || !image)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult code = read_options(&jit, n_options, options, values);
    if (code != CUDA_SUCCESS)
        return code;
    struct rung_sim_module *module = calloc(1, sizeof *module);
    if (!module)
        return CUDA_ERROR_OUT_OF_MEMORY;
    code = load_program(&module->program, image, &jit);
    if (code == CUDA_SUCCESS &&
        !rung_sim_object_add(&module->object, RUNG_SIM_HANDLE_MODULE, context)) {
        rung_sim_program_release(module->program);
        code = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (code == CUDA_SUCCESS)
        *out = module->object.handle;
    else
        free(module);
    return code;
}

void rung_sim_module_free(struct rung_sim_module *module)
{
    struct rung_sim_object *object;
    for (size_t cursor = 0; (object = rung_sim_object_next(module->object.owner, &cursor));) {
        struct rung_sim_function *function = (struct rung_sim_function *)object;
        if (object->kind != RUNG_SIM_HANDLE_FUNCTION || function->module != module)
            continue;
        rung_sim_object_remove(object);
        free(function);
    }
    rung_sim_program_release(module->program);
    rung_sim_object_remove(&module->object);
    free(module);
}

CUresult rung_sim_cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int n_options,
                                     CUjit_option *options, void **values)
{
    struct rung_sim_context *context;
    CUresult code = rung_sim_enter(&context);
    if (code == CUDA_SUCCESS)
        code = rung_sim_module_load(context, module, image, n_options, options, values);
    return rung_sim_leave(code);
}

CUresult rung_sim_cuModuleUnload(CUmodule module)
{
    struct rung_sim_context *context;
    CUresult code = rung_sim_enter_release(&context);
    struct rung_sim_module *old =
        code == CUDA_SUCCESS ? rung_sim_object_of(RUNG_SIM_HANDLE_MODULE, module) : NULL;
    if (code == CUDA_SUCCESS && !old)
        code = CUDA_ERROR_INVALID_HANDLE;
    if (code == CUDA_SUCCESS) {
        rung_sim_module_free(old);
        code = context->dead;
    }
    return rung_sim_leave(code);
}

/* The same handle for the same kernel, however often it is asked for. */
static struct rung_sim_function *find_function(const struct rung_sim_module *module,
                                               const struct rung_sim_kernel *kernel)
{
    struct rung_sim_object *object;
    for (size_t cursor = 0; (object = rung_sim_object_next(module->object.owner, &cursor));) {
        struct rung_sim_function *function = (struct rung_sim_function *)object;
        if (object->kind == RUNG_SIM_HANDLE_FUNCTION && function->module == module &&
            function->kernel == kernel)
            return function;
    }
    return NULL;
}

CUresult rung_sim_function_get(CUfunction *out, struct rung_sim_module *module, const char *name)
{
    const struct rung_sim_kernel *kernel = rung_sim_program_kernel(module->program, name);
    if (!kernel)
        return CUDA_ERROR_NOT_FOUND;
    struct rung_sim_function *function = find_function(module, kernel);
    if (!function) {
        function = calloc(1, sizeof *function);
        if (!function || !rung_sim_object_add(&function->object, RUNG_SIM_HANDLE_FUNCTION,
                                              module->object.owner)) {
            free(function);
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        function->module = module;
        function->kernel = kernel;
        rung_sim_kernel_facts(&function->facts, kernel);
        if (function->facts.shared_bytes < RUNG_SIM_SHARED_DEFAULT)
            function->dynamic_bytes_max = RUNG_SIM_SHARED_DEFAULT - function->facts.shared_bytes;
    }
    *out = function->object.handle;
    return CUDA_SUCCESS;
}

CUresult rung_sim_cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    struct rung_sim_context *context;
    CUresult code = rung_sim_enter(&context);
    struct rung_sim_module *from =
        code == CUDA_SUCCESS ? rung_sim_object_of(RUNG_SIM_HANDLE_MODULE, module) : NULL;
    if (code == CUDA_SUCCESS && (!function || !name))
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS)
        code = from ? rung_sim_function_get(function, from, name) : CUDA_ERROR_INVALID_HANDLE;
    return rung_sim_leave(code);
}

static int attribute_of(const struct rung_sim_function *function, int attribute)
{
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        return (int)function->facts.max_threads;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        return (int)function->facts.shared_bytes;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
        return (int)function->facts.const_bytes;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        return (int)function->facts.local_bytes;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
        return (int)function->facts.registers;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
        return (int)function->facts.ptx_version;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        return (int)rung_sim_process.settings.target->cc;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        return (int)function->dynamic_bytes_max;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        return function->carveout;
    default:
        return 0;
    }
}

CUresult rung_sim_enter_function(CUfunction handle, struct rung_sim_function **function)
{
    struct rung_sim_context *context;
    CUresult code = rung_sim_enter(&context);
    *function = code == CUDA_SUCCESS ? rung_sim_object_of(RUNG_SIM_HANDLE_FUNCTION, handle) : NULL;
    return code == CUDA_SUCCESS && !*function ? CUDA_ERROR_INVALID_HANDLE : code;
}

CUresult rung_sim_cuFuncGetAttribute(int *value, CUfunction_attribute attribute,
                                     CUfunction function)
{
    struct rung_sim_function *of;
    CUresult code = rung_sim_enter_function(function, &of);
    if (code == CUDA_SUCCESS &&
        (!value || (int)attribute < 0 || attribute >= CU_FUNC_ATTRIBUTE_MAX))
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS)
        *value = attribute_of(of, (int)attribute);
    return rung_sim_leave(code);
}

/* There is nothing to link: the simulator runs PTX, and makes no cubin. */
CUresult rung_sim_cuLinkCreate(unsigned int n_options, CUjit_option *options, void **values,
                               CUlinkState *state)
{
    (void)n_options, (void)options, (void)values, (void)state;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult rung_sim_cuLinkAddData(CUlinkState state, CUjitInputType type, void *data, size_t size,
                                const char *name, unsigned int n_options, CUjit_option *options,
                                void **values)
{
    (void)state, (void)type, (void)data, (void)size, (void)name;
    (void)n_options, (void)options, (void)values;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult rung_sim_cuLinkComplete(CUlinkState state, void **cubin, size_t *size)
{
    (void)state, (void)cubin, (void)size;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult rung_sim_cuLinkDestroy(CUlinkState state)
{
    (void)state;
    return CUDA_ERROR_NOT_SUPPORTED;
}
