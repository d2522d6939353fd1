/* One compilation with an opened NVRTC, and the words for what can go wrong in it. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "nvrtc/internal.h"

#define OPTIONS_MAX 32
#define TARGET_SIZE 24
#define STACK_BYTES ((size_t)8 << 20) /* what a compiler may expect: the usual limit */

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Reads "sm_90", "compute_90a": two or three digits, then at most one of the suffixes a and f.
 * 0 if it is none of these. */
static unsigned target_number(const char *target)
{
    const char *digits = strncmp(target, "sm_", 3) == 0        ? target + 3
                         : strncmp(target, "compute_", 8) == 0 ? target + 8
                                                               : "";
    size_t n = strspn(digits, "0123456789");
    const char *suffix = digits + n;
    if (n < 2 || n > 3 || strspn(suffix, "af") != strlen(suffix) || strlen(suffix) > 1)
        return 0;
    return (unsigned)strtoul(digits, NULL, 10);
}

static bool has_target(const struct rung_nvrtc *nvrtc, unsigned number)
{
    for (size_t i = 0; i < nvrtc->n_targets; i++)
        if (nvrtc->targets[i] == number)
            return true;
    return false;
}

static enum rung_status check_target(const struct rung_nvrtc *nvrtc, const char *target,
                                     struct rung_error *err)
{
    unsigned number = target_number(target);
    if (number == 0)
        return rung_fail(err, RUNG_USAGE, "'%s' is no target; sm_75 or compute_75 is one", target);
    if (has_target(nvrtc, number))
        return RUNG_OK;
    struct rung_text list = {0};
    for (size_t i = 0; i < nvrtc->n_targets; i++)
        rung_text_format(&list, " %u", nvrtc->targets[i]);
    enum rung_status status =
        rung_fail(err, RUNG_UNABLE, "NVRTC %s (%s) has no target %s; it has%s", nvrtc->version,
                  nvrtc->path, target, rung_text_string(&list));
    rung_text_release(&list);
    return status;
}

/* The options of a job in the order in which NVRTC gets them. */
struct options {
    char architecture[TARGET_SIZE + 24];
    const char *list[OPTIONS_MAX];
    int count;
};

static enum rung_status collect_options(struct options *options, const struct rung_nvrtc *nvrtc,
                                        const struct rung_compile_job *job, struct rung_error *err)
{
    if (job->n_options > OPTIONS_MAX - 3)
        return rung_fail(err, RUNG_USAGE, "%zu compiler options, at most %d are taken",
                         job->n_options, OPTIONS_MAX - 3);
    snprintf(options->architecture, sizeof options->architecture, "--gpu-architecture=%s",
             job->target);
    options->list[options->count++] = options->architecture;
    options->list[options->count++] = "--std=c++17";
    /* From 12.9 NVRTC starts the driver to keep a cache of its own, which would also hide what a
     * compilation costs. Earlier releases refuse the option. */
    if (nvrtc->major > 12 || (nvrtc->major == 12 && nvrtc->minor >= 9))
        options->list[options->count++] = "--no-cache";
    for (size_t i = 0; i < job->n_options; i++)
        options->list[options->count++] = job->options[i];
    return RUNG_OK;
}

static char *program_log(const struct rung_nvrtc *nvrtc, nvrtcProgram program)
{
    size_t size = 0;
    if (nvrtc->api.GetProgramLogSize(program, &size) != NVRTC_SUCCESS)
        size = 0;
    char *log = calloc(size + 1, 1);
    if (log && size > 0 && nvrtc->api.GetProgramLog(program, log) != NVRTC_SUCCESS)
        log[0] = '\0';
    for (size_t end = log ? strlen(log) : 0; end > 0 && log[end - 1] == '\n'; end--)
        log[end - 1] = '\0';
    return log;
}

static enum rung_status refused(const struct rung_nvrtc *nvrtc, const struct rung_compile_job *job,
                                const struct options *options, nvrtcResult code, const char *log,
                                struct rung_error *err)
{
    struct rung_text with = {0};
    for (int i = 0; i < options->count; i++)
        rung_text_format(&with, " %s", options->list[i]);
    enum rung_status status;
    if (code == NVRTC_ERROR_BUILTIN_OPERATION_FAILURE) {
        const char *slash = strrchr(nvrtc->path, '/');
        int folder = slash ? (int)(slash - nvrtc->path) : 0;
        status =
            rung_fail_native(err, RUNG_UNABLE, (int)code,
                             "NVRTC %s (%s) is not whole: libnvrtc-builtins.so.%s must stand "
                             "beside it in %.*s\n%s",
                             nvrtc->version, nvrtc->path, nvrtc->version, folder, nvrtc->path, log);
    } else {
        status =
            rung_fail_native(err, RUNG_COMPILE, (int)code,
                             "%s does not compile for %s (NVRTC %s, %s; options%s):\n%s", job->name,
                             job->target, nvrtc->version, nvrtc->path, rung_text_string(&with),
                             log && log[0] ? log : "the compiler gives no reason");
    }
    rung_text_release(&with);
    return status;
}

static enum rung_status out_of_memory(const struct rung_compile_job *job, struct rung_error *err)
{
    return rung_fail(err, RUNG_MEMORY, "out of memory compiling %s", job->name);
}

static enum rung_status fetch(struct rung_compiled *out, const struct rung_nvrtc *nvrtc,
                              const struct rung_compile_job *job, nvrtcProgram program,
                              struct rung_error *err)
{
    size_t size = 0;
    nvrtcResult code = nvrtc->api.GetPTXSize(program, &size);
    if (code != NVRTC_SUCCESS)
        return rung_fail_native(err, RUNG_COMPILE, (int)code, "NVRTC gives no PTX of %s",
                                job->name);
    out->ptx = calloc(size + 1, 1);
    if (!out->ptx)
        return out_of_memory(job, err);
    code = nvrtc->api.GetPTX(program, out->ptx);
    if (code != NVRTC_SUCCESS)
        return rung_fail_native(err, RUNG_COMPILE, (int)code, "NVRTC gives no PTX of %s",
                                job->name);
    out->ptx_length = strlen(out->ptx);
    size = 0;
    if (!nvrtc->api.GetCUBINSize || !nvrtc->api.GetCUBIN || strncmp(job->target, "sm_", 3) != 0 ||
        nvrtc->api.GetCUBINSize(program, &size) != NVRTC_SUCCESS || size == 0)
        return RUNG_OK;
    out->cubin = malloc(size);
    if (!out->cubin)
        return out_of_memory(job, err);
    code = nvrtc->api.GetCUBIN(program, (char *)out->cubin);
    if (code != NVRTC_SUCCESS)
        return rung_fail_native(err, RUNG_COMPILE, (int)code, "NVRTC gives no cubin of %s",
                                job->name);
    out->cubin_length = size;
    return RUNG_OK;
}

static enum rung_status compile(struct rung_compiled *out, const struct rung_nvrtc *nvrtc,
                                const struct rung_compile_job *job, struct rung_error *err)
{
    *out = (struct rung_compiled){0};
    struct options options = {0};
    nvrtcProgram program = NULL;
    enum rung_status status = check_target(nvrtc, job->target, err);
    if (status == RUNG_OK)
        status = collect_options(&options, nvrtc, job, err);
    if (status != RUNG_OK)
        return status;

    double start_ms = now_ms();
    nvrtcResult code = nvrtc->api.CreateProgram(&program, job->source, job->name, 0, NULL, NULL);
    if (code == NVRTC_SUCCESS)
        code = nvrtc->api.CompileProgram(program, options.count, options.list);
    out->compile_ms = now_ms() - start_ms;
    out->log = program ? program_log(nvrtc, program) : calloc(1, 1);
    if (!out->log)
        status = out_of_memory(job, err);
    else if (code == NVRTC_ERROR_OUT_OF_MEMORY)
        status = out_of_memory(job, err);
    else if (code != NVRTC_SUCCESS)
        status = refused(nvrtc, job, &options, code, out->log, err);
    else
        status = fetch(out, nvrtc, job, program, err);
    if (program)
        nvrtc->api.DestroyProgram(&program);
    return status;
}

struct call {
    struct rung_compiled *out;
    const struct rung_nvrtc *nvrtc;
    const struct rung_compile_job *job;
    struct rung_error *err;
    enum rung_status status;
};

static void *answer(void *data)
{
    struct call *call = data;
    call->status = compile(call->out, call->nvrtc, call->job, call->err);
    return NULL;
}

/* On a stack of a known size: a compiler recurses, and the caller's stack may be small. */
enum rung_status rung_nvrtc_compile(struct rung_compiled *out, const struct rung_nvrtc *nvrtc,
                                    const struct rung_compile_job *job, struct rung_error *err)
{
    struct call call = {out, nvrtc, job, err, RUNG_OK};
    pthread_attr_t attributes;
    pthread_t thread;
    bool ready = pthread_attr_init(&attributes) == 0;
    bool made = ready && pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0 &&
                pthread_create(&thread, &attributes, answer, &call) == 0;
    if (ready)
        pthread_attr_destroy(&attributes);
    if (made)
        pthread_join(thread, NULL);
    else
        answer(&call);
    return call.status;
}

void rung_compiled_release(struct rung_compiled *compiled)
{
    free(compiled->ptx);
    free(compiled->cubin);
    free(compiled->log);
    *compiled = (struct rung_compiled){0};
}
