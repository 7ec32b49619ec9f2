/* What is executed for a launch: worked out before the fork, for afterwards no memory may be asked for. Pure. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_LAUNCH_COMMAND_H
#define FAIRLEAD_EXEC_LAUNCHER_LAUNCH_COMMAND_H

#include "base/arena.h"
#include "exec/launch.h"

struct launch_command {
    char **programs;  /* paths to try in order, closed by NULL */
    char **arguments; /* closed by NULL */
    char *
        *shell_arguments; /* for a program that is text without "#!": "/bin/sh", its path to be put at [1], the rest */
    char **environment;   /* closed by NULL */
};

/* script_path: where the launch's script is, if it has one. key: what marks this launch's processes. All memory is a's
 * or the launch's. */
void launch_command_build(const struct launch *launch, const char *script_path, const char *key, struct arena *a,
                          struct launch_command *out);

/* The program and the one optional argument in a script's "#!" line, as Linux reads it (binfmt_script): blanks around
 * both are dropped, the argument may hold blanks. False: no such line. */
bool launch_command_parse_shebang(struct str script, struct str *out_program, struct str *out_argument);

#endif
