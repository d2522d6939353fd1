/* Asking ptxas whether it takes a text. */
#define _GNU_SOURCE
#include "image/ptxas.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/program.h"

static char *folder_of(const char *base, const char *below)
{
    return base && base[0] ? rung_path_join(base, below) : NULL;
}

char *rung_ptxas_find(void)
{
    const char *chosen = getenv("RUNG_PTXAS");
    if (chosen && chosen[0])
        return access(chosen, X_OK) == 0 ? strdup(chosen) : NULL;
    char *program = rung_program_folder();
    char *folders[] = {folder_of(program, "cuda/nvidia/cu13/bin"),
                       folder_of(program, "../cuda/nvidia/cu13/bin"),
                       folder_of(getenv("CUDA_HOME"), "bin"), folder_of(getenv("CUDA_PATH"), "bin"),
                       folder_of("/usr/local/cuda", "bin")};
    size_t n = sizeof folders / sizeof folders[0];
    char *path = rung_program_find("ptxas", (const char *const *)folders, n);
    for (size_t i = 0; i < n; i++)
        free(folders[i]);
    free(program);
    return path;
}

static enum rung_status write_temporary(char name[64], const char *text, size_t length,
                                        struct rung_error *err)
{
    const char *folder = getenv("TMPDIR");
    int n = snprintf(name, 64, "%s/rung-XXXXXX.ptx", folder && folder[0] ? folder : "/tmp");
    if (n >= 64)
        strcpy(name, "/tmp/rung-XXXXXX.ptx");
    int fd = mkostemps(name, 4, 0);
    if (fd < 0)
        return rung_fail(err, RUNG_IO, "cannot make %s: %s", name, strerror(errno));
    FILE *file = fdopen(fd, "w");
    bool written = file && fwrite(text, 1, length, file) == length;
    if (file ? fclose(file) != 0 : close(fd) != 0)
        written = false;
    if (written)
        return RUNG_OK;
    unlink(name);
    return rung_fail(err, RUNG_IO, "cannot write %s: %s", name, strerror(errno));
}

enum rung_status rung_ptxas_check(const char *ptxas, const char *text, size_t length,
                                  const char *target, struct rung_error *err)
{
    char name[64], option[32];
    struct rung_text said = {0};
    int result = 0;
    enum rung_status status = write_temporary(name, text, length, err);
    if (status != RUNG_OK)
        return status;
    snprintf(option, sizeof option, "-arch=%s", target);
    char *argv[] = {(char *)ptxas, option, name, "-o", "/dev/null", NULL};
    status = rung_program_run(&result, &said, argv, err);
    unlink(name);
    if (status == RUNG_OK && result != 0)
        status = rung_fail(err, RUNG_COMPILE, "%s refuses it for %s (exit status %d):\n%s", ptxas,
                           target, result, rung_text_string(&said));
    rung_text_release(&said);
    return status;
}
