/* A child process that costs little: it shares the memory of this one until it executes a program, as that of vfork
 * does, but on a stack of its own, and this process does not wait for it. No page tables are copied and dropped again,
 * and no page is copied because both write it: half of what a fork and an exec cost. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_PROCESS_CLONE_H
#define FAIRLEAD_EXEC_LAUNCHER_PROCESS_CLONE_H

#include <sys/types.h>

/* Calls child_main(argument) in a child, in a control group if group_fd, a descriptor of its directory, is not -1.
 * Returns the pid, -1 with errno: there is none; ENOSYS: not on this machine, or in a sanitized build.
 *
 * Until it executes a program or ends, by _exit:
 *   - errno is that of both processes: this one may not call what may fail, or may not rely on errno, and the child's
 *     errno is only right as long as it does not.
 *   - What child_main uses stays allocated, and only one of the two processes uses what the other one writes.
 *   - There is one such child at a time, because there is one stack. */
pid_t process_clone(int group_fd, void (*child_main)(void *argument), void *argument);

/* Like fork, but the child begins in a control group; group_fd: a descriptor of its directory. -1: it cannot; the
 * control group may be the reason. */
pid_t process_clone_fork(int group_fd);

#endif
