/* Starts a launcher that outlives this process, and says where one listens. Private to exec/. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_SPAWN_H
#define FAIRLEAD_EXEC_LAUNCHER_SPAWN_H

#include <sys/un.h>

#include "base/err.h"

/* The address of directory/launcher.sock. ERR_INPUT: the path is too long. */
int launcher_spawn_address(const char *directory, struct sockaddr_un *out, struct err *e);

/* Starts a program with its arguments, of which [0] is its path. Its standard error is log_fd; it inherits no other
 * descriptor, its working directory is the root, and it is neither this process's child nor of its session. Returns
 * once the program has been executed. ERR_UNAVAILABLE: it cannot be; ERR_IO. */
int launcher_spawn(char *const arguments[], int log_fd, struct err *e);

/* Starts a private launcher, whose messages are appended to directory/launcher.log. */
int launcher_spawn_private(const char *directory, const char *program, struct err *e);

#endif
