/* What is executed for a launch: paths, arguments and environment. Built before the fork, because no memory can be
 * allocated after it. Pure. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_LAUNCH_COMMAND_H
#define FAIRLEAD_EXEC_LAUNCHER_LAUNCH_COMMAND_H

#include "base/arena.h"
#include "exec/launch.h"

enum { LAUNCH_RELAY_SOCKET_SIZE = 12 };

/* Every list ends with NULL. */
struct launch_command {
    char **programs;        /* the paths to try, in order */
    char **arguments;       /* arguments[0] is the program as it was given */
    char **shell_arguments; /* to run a text file without "#!": "/bin/sh", [1] left for its path, then the arguments */
    char **environment;
    char *relay_socket; /* one of the arguments, for the number of the relay's socket; NULL: there is no relay */
};

/* Of a launch with a terminal, the relay is what is executed, by this program (terminal/relay.h), and it gets the
 * launch's own command as arguments.
 * script_path: the file with the launch's script, if it has one. key: what marks this launch's processes
 * (process_identity.h). All memory is the arena's or the launch's. O(size of the launch). */
void launch_command_build(const struct launch *launch, const char *script_path, const char *key, struct arena *a,
                          struct launch_command *out);

/* Reads the program and its one optional argument from a script's "#!" line, as Linux does (binfmt_script): blanks
 * around both are dropped, and the argument may contain blanks. False, with the outputs untouched, if there is no such
 * line. */
bool launch_command_parse_shebang(struct str script, struct str *out_program, struct str *out_argument);

#endif
