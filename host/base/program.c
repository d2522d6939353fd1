/* Other programs, found without a shell and run without one. */
#define _GNU_SOURCE
#include "base/program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

#define SAID_LIMIT ((size_t)1 << 20)

extern char **environ;

/* The path if it is a program that may be run; NULL if not. */
static char *program_in(const char *folder, const char *name)
{
    struct stat info;
    char *path = rung_path_join(folder, name);
    if (path && stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0)
        return path;
    free(path);
    return NULL;
}

char *rung_program_find(const char *name, const char *const *folders, size_t n_folders)
{
    for (size_t i = 0; i < n_folders; i++) {
        char *path = folders[i] && folders[i][0] ? program_in(folders[i], name) : NULL;
        if (path)
            return path;
    }
    const char *list = getenv("PATH");
    while (list && *list) {
        size_t length = strcspn(list, ":");
        char *folder = strndup(list, length);
        char *path = folder && folder[0] ? program_in(folder, name) : NULL;
        free(folder);
        if (path)
            return path;
        list += length + (list[length] == ':');
    }
    return NULL;
}

static void collect(int from, struct rung_text *said)
{
    char buffer[4096];
    ssize_t got;
    while ((got = read(from, buffer, sizeof buffer)) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return;
        if (said->length < SAID_LIMIT)
            rung_text_append_bytes(said, buffer, (size_t)got);
    }
}

static int wait_for(pid_t child)
{
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return 127;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* The child's mask of signals: ours, and SIGINT. A Ctrl-C reaches all processes of a terminal, and
 * what it means is for this one to say: the row at work is still finished. */
static int keep_from_interrupts(posix_spawnattr_t *attributes)
{
    sigset_t mask;
    int code = pthread_sigmask(SIG_SETMASK, NULL, &mask);
    sigaddset(&mask, SIGINT);
    if (code == 0)
        code = posix_spawnattr_setsigmask(attributes, &mask);
    return code == 0 ? posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK) : code;
}

static int spawn(pid_t *child, char *const *argv, int said_to)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int code = posix_spawn_file_actions_init(&actions);
    if (code != 0)
        return code;
    code = posix_spawnattr_init(&attributes);
    if (code == 0) {
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&actions, said_to, STDOUT_FILENO);
        posix_spawn_file_actions_adddup2(&actions, said_to, STDERR_FILENO);
        code = keep_from_interrupts(&attributes);
        if (code == 0)
            code = posix_spawn(child, argv[0], &actions, &attributes, argv, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

enum rung_status rung_program_run(int *exit_status, struct rung_text *said, char *const *argv,
                                  struct rung_error *err)
{
    int ends[2];
    pid_t child = -1;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return rung_fail(err, RUNG_IO, "cannot make a pipe: %s", strerror(errno));
    int code = spawn(&child, argv, ends[1]);
    close(ends[1]);
    if (code == 0) {
        collect(ends[0], said);
        *exit_status = wait_for(child);
    }
    close(ends[0]);
    return code == 0 ? RUNG_OK
                     : rung_fail(err, RUNG_IO, "cannot run %s: %s", argv[0], strerror(code));
}
