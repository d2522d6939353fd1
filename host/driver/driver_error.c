/* What the driver's codes mean, in words that need no driver: the names, one sentence each, what
 * can be done, and for some codes what this machine says about it (variables, module version). */
#include "driver/driver.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

struct meaning {
    int code;
    const char *name;
    const char *text;
    const char *hint;
};

static const struct meaning meanings[] = {
#define CU_ERROR(name, code, meaning, hint) {code, "CUDA_ERROR_" #name, meaning, hint},
#include "driver/errors.def"
#undef CU_ERROR
};

static const struct meaning *find(CUresult code)
{
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++)
        if (meanings[i].code == (int)code)
            return &meanings[i];
    return NULL;
}

/* The answer of cuGetErrorName or cuGetErrorString, NULL unless it is a string. */
static const char *ask(CUresult (*function)(CUresult, const char **), CUresult code)
{
    const char *answer = NULL;
    if (!function || function(code, &answer) != CUDA_SUCCESS)
        return NULL;
    return answer;
}

const char *rung_cu_error_name(const struct rung_driver *driver, CUresult code)
{
    if (code == CUDA_SUCCESS)
        return "CUDA_SUCCESS";
    const struct meaning *meaning = find(code);
    if (meaning)
        return meaning->name;
    const char *name = driver ? ask(driver->cuGetErrorName, code) : NULL;
    return name ? name : "unknown CUDA error";
}

const char *rung_cu_error_text(const struct rung_driver *driver, CUresult code)
{
    if (code == CUDA_SUCCESS)
        return "no error";
    const struct meaning *meaning = find(code);
    if (meaning)
        return meaning->text;
    const char *text = driver ? ask(driver->cuGetErrorString, code) : NULL;
    return text ? text : "a code that this program does not know";
}

static void append_variable(struct rung_text *text, const char *name)
{
    const char *value = getenv(name);
    if (value)
        rung_text_format(text, "; %s is '%s'", name, value);
}

/* The first line of the kernel module's own account of itself. */
static void append_module_version(struct rung_text *text)
{
    char line[160];
    FILE *file = fopen("/proc/driver/nvidia/version", "r");
    if (!file)
        return;
    if (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        rung_text_format(text, "; kernel module: %s", line);
    }
    fclose(file);
}

static void append_machine(struct rung_text *text, const struct rung_driver *driver, CUresult code)
{
    switch ((int)code) {
    case CUDA_ERROR_NO_DEVICE:
        append_variable(text, "CUDA_VISIBLE_DEVICES");
        if (!getenv("CUDA_VISIBLE_DEVICES"))
            rung_text_append(text, "; CUDA_VISIBLE_DEVICES is not set; `nvidia-smi -L` lists cards "
                                   "and MIG instances");
        break;
    case CUDA_ERROR_JIT_COMPILATION_DISABLED:
        append_variable(text, "CUDA_DISABLE_PTX_JIT");
        append_variable(text, "CUDA_DISABLE_JIT");
        break;
    case CUDA_ERROR_STUB_LIBRARY:
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
        rung_text_format(text, "; library: %s", driver && driver->path[0] ? driver->path : "?");
        append_module_version(text);
        break;
    case CUDA_ERROR_MPS_CONNECTION_FAILED:
        append_variable(text, "CUDA_MPS_PIPE_DIRECTORY");
        append_variable(text, "CUDA_MPS_LOG_DIRECTORY");
        break;
    default:
        break;
    }
}

/* The codes by which a kernel's own mistake is told. */
static bool is_fault(CUresult code)
{
    return code == CUDA_ERROR_ILLEGAL_ADDRESS || code == CUDA_ERROR_LAUNCH_TIMEOUT ||
           (code >= CUDA_ERROR_HARDWARE_STACK_ERROR && code <= CUDA_ERROR_LAUNCH_FAILED);
}

static void append_fault(struct rung_text *text, const struct rung_driver *driver, CUresult code)
{
    char fault[256] = "";
    if (driver && driver->explain && is_fault(code))
        driver->explain(fault);
    if (fault[0])
        rung_text_format(text, "; %s", fault);
}

enum rung_status rung_driver_fail(struct rung_error *err, const struct rung_driver *driver,
                                  CUresult code, const char *call)
{
    struct rung_text more = {0};
    const struct meaning *meaning = find(code);
    append_fault(&more, driver, code);
    append_machine(&more, driver, code);
    if (meaning && meaning->hint)
        rung_text_format(&more, "; %s", meaning->hint);
    enum rung_status status = rung_fail_native(
        err, RUNG_DRIVER, (int)code, "%s: %s (%d), %s%s", call, rung_cu_error_name(driver, code),
        (int)code, rung_cu_error_text(driver, code), rung_text_string(&more));
    rung_text_release(&more);
    return status;
}
