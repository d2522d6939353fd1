/* The program: finds the command, runs it, prints its error once and turns its status into the exit
 * status. Knows nothing of any command beyond its row in commands.def. */
#include "cli/command.h"

#include <argp.h>
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

static const struct rung_command commands[] = {
#define COMMAND(verb, summary) {#verb, summary, rung_cmd_##verb},
#include "cli/commands.def"
#undef COMMAND
    {NULL, NULL, NULL},
};

static const struct rung_command *find(const char *verb)
{
    for (const struct rung_command *command = commands; command->verb; command++)
        if (strcmp(command->verb, verb) == 0)
            return command;
    return NULL;
}

static void print_help(FILE *to)
{
    fputs("Usage: rung COMMAND [OPTION...]\n"
          "Measure the parallel-reduction ladder, and know why.\n\nCommands:\n",
          to);
    for (const struct rung_command *command = commands; command->verb; command++)
        fprintf(to, "  %-9s %s\n", command->verb, command->summary);
    fputs("\nExit status: 0 all well; 1 a wrong sum or a failed check; 2 usage; 3 this\n"
          "machine, the compiler or the driver cannot; 4 finished incomplete;\n"
          "130 interrupted.\n"
          "\n`rung COMMAND --help` explains one command; `rung --version` prints the version.\n",
          to);
}

static int written(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    fprintf(stderr, "rung: cannot write standard output: %s\n", strerror(errno));
    return rung_exit_status(RUNG_IO);
}

static int usage_error(const char *kind, const char *word)
{
    fprintf(stderr, "rung: no %s '%s'; `rung --help` lists them\n", kind, word);
    return rung_exit_status(RUNG_USAGE);
}

static int run_command(const struct rung_command *command, int argc, char **argv)
{
    char name[64];
    snprintf(name, sizeof name, "rung %s", command->verb);
    argv[0] = name; /* what argp calls the program */
    struct rung_error err = {0};
    enum rung_status status = command->run(argc, argv, &err);
    if ((fflush(stdout) != 0 || ferror(stdout)) && status == RUNG_OK)
        status = rung_fail(&err, RUNG_IO, "cannot write standard output: %s", strerror(errno));
    if (err.text[0])
        fprintf(stderr, "rung %s: %s\n", command->verb, err.text);
    return rung_exit_status(status);
}

int main(int argc, char **argv)
{
    setlocale(LC_CTYPE, ""); /* widths of characters in tables; numbers stay as in C */
    argp_err_exit_status = rung_exit_status(RUNG_USAGE);
    if (argc < 2) {
        print_help(stderr);
        return rung_exit_status(RUNG_USAGE);
    }
    const char *verb = argv[1];
    if (strcmp(verb, "--version") == 0) {
        puts("rung " RUNG_VERSION);
        return written();
    }
    if (strcmp(verb, "--help") == 0 || (strcmp(verb, "help") == 0 && argc == 2)) {
        print_help(stdout);
        return written();
    }
    const char *wanted = strcmp(verb, "help") == 0 ? argv[2] : verb;
    const struct rung_command *command = find(wanted);
    if (!command)
        return usage_error(wanted[0] == '-' ? "option" : "command", wanted);
    if (wanted != verb) { /* rung help run */
        char help[] = "--help";
        char *words[] = {argv[2], help, NULL};
        return run_command(command, 2, words);
    }
    return run_command(command, argc - 1, argv + 1);
}
