/* The commands of `rung`. Adding one is a file cmd_<verb>.c and a row in commands.def. */
#ifndef RUNG_CLI_COMMAND_H
#define RUNG_CLI_COMMAND_H

#include "base/error.h"

/* A command gets its own argv (argv[0] is "rung <verb>") and returns the status that becomes the
 * exit status; `err` is printed by main, once, as "rung <verb>: text". */
typedef enum rung_status rung_command_fn(int argc, char **argv, struct rung_error *err);

struct rung_command {
    const char *verb;
    const char *summary; /* one line for help */
    rung_command_fn *run;
};

#define COMMAND(verb, summary) rung_command_fn rung_cmd_##verb;
#include "cli/commands.def"
#undef COMMAND

#endif
