/* The program: finds the command, runs it, prints its error once and turns its status into the exit
 * status. Knows nothing of any command beyond its row in commands.def. */
#include "cli/command.h"

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
    fputs("\n`rung COMMAND --help` explains one command; `rung --version` prints the version.\n", to);
}

int main(int argc, char **argv)
{
    const char *verb = argc > 1 ? argv[1] : "--help";
    if (strcmp(verb, "--help") == 0 || strcmp(verb, "help") == 0) {
        print_help(stdout);
        return 0;
    }
    if (strcmp(verb, "--version") == 0) {
        puts("rung " RUNG_VERSION);
        return 0;
    }
    const struct rung_command *command = find(verb);
    if (!command) {
        fprintf(stderr, "rung: no command '%s'; `rung --help` lists them\n", verb);
        return rung_exit_status(RUNG_USAGE);
    }
    char name[64];
    snprintf(name, sizeof name, "rung %s", command->verb);
    argv[1] = name;
    struct rung_error err = {0};
    enum rung_status status = command->run(argc - 1, argv + 1, &err);
    if (err.text[0])
        fprintf(stderr, "rung %s: %s\n", command->verb, err.text);
    return rung_exit_status(status);
}
