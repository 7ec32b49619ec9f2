/* The socket at which clients reach the relay of a job with a terminal (terminal/relay.h): DIR/launches/JOB.tty. The
 * keeper makes it, so that no user has to be able to create files there, and no user can take the name of another's
 * job. It belongs to the job's user and has mode 0600. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_JOB_TERMINAL_H
#define FAIRLEAD_EXEC_LAUNCHER_JOB_TERMINAL_H

#include "base/err.h"
#include "exec/launch.h"

/* Makes the socket of a launch, in the place of one that an earlier attempt of the job has left, and listens. state_fd:
 * DIR. ERR_UNAVAILABLE: it cannot be made. */
int job_terminal_open(int state_fd, const struct launch *launch, int *out_fd, struct err *e);

/* Removes the socket that this process has made, if it has. */
void job_terminal_remove(int state_fd);

/* Removes the sockets of keepers that were killed: nothing listens at them. One that is new may be about to be listened
 * at, and stays for the next time. */
void job_terminal_sweep(int launches_fd);

#endif
