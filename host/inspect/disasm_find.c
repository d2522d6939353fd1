/* Where nvdisasm is. */
#define _GNU_SOURCE
#include "inspect/disasm.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

#define NAME "nvdisasm"

static bool take(struct rung_disasm *out, const char *folder, const char *below)
{
    if (!folder || !folder[0])
        return false;
    int length = snprintf(out->path, sizeof out->path, "%s%s/" NAME, folder, below);
    return length > 0 && (size_t)length < sizeof out->path && access(out->path, X_OK) == 0;
}

static bool take_beside_program(struct rung_disasm *out)
{
    char *folder = rung_program_folder();
    bool found = take(out, folder, "/cuda/nvidia/cu13/bin");
    free(folder);
    return found;
}

static bool take_from_path(struct rung_disasm *out)
{
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t length = strcspn(path, ":");
        char *folder = strndup(path, length);
        bool found = take(out, folder, "");
        free(folder);
        if (found)
            return true;
        path += length + (path[length] == ':');
    }
    return false;
}

enum rung_status rung_disasm_find(struct rung_disasm *out, const char *path, struct rung_error *err)
{
    *out = (struct rung_disasm){0};
    const char *asked = path ? path : getenv("RUNG_NVDISASM");
    if (asked && asked[0]) {
        if (strlen(asked) < sizeof out->path && access(asked, X_OK) == 0) {
            strcpy(out->path, asked);
            return RUNG_OK;
        }
        return rung_fail(err, RUNG_UNABLE, "%s, named as nvdisasm, is not a program", asked);
    }
    if (take_beside_program(out) || take(out, getenv("CUDA_HOME"), "/bin") ||
        take(out, getenv("CUDA_PATH"), "/bin") || take(out, "/usr/local/cuda", "/bin") ||
        take_from_path(out))
        return RUNG_OK;
    out->path[0] = '\0';
    return rung_fail(err, RUNG_UNABLE,
                     "no nvdisasm: not beside the program, in a CUDA toolkit or on PATH "
                     "(tools/setup installs it; or set RUNG_NVDISASM)");
}
