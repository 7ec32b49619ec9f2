/* The instance that serves all users of the machine, as start --system and stop --system see it. */
#ifndef FAIRLEAD_CLI_SYSTEM_INSTANCE_H
#define FAIRLEAD_CLI_SYSTEM_INSTANCE_H

#include "cli/private_instance.h"

struct system_places {
    const char *state, *launcher_state; /* absolute; NULL: the default */
};

/* Fills out_instance with the paths of the system's instance; other commands find its default socket unasked. *places:
 * relative paths become absolute, and NULL the default. ERR_DENIED: this is not root. ERR_CONFLICT: systemd runs, and
 * the socket is the one of its unit; action: "start", "stop". ERR_INPUT: a path is too long. */
int system_instance_find(struct call *call, const char *action, struct system_places *places,
                         struct private_instance *out_instance, struct err *e);

/* Creates the launcher's directory, which is root's and where the daemon's log is. ERR_DENIED: it can be written by
 * others. ERR_IO. */
int system_instance_prepare(const char *launcher_state, struct err *e);

/* Starts the launcher of an instance that runs without one, which another program has killed, say, and waits until the
 * instance has found it. c: a connection to the instance. Does nothing if its launcher runs. ERR_UNAVAILABLE: it cannot
 * be started, or the instance says why it has none that this could start. */
int system_instance_start_launcher(struct call *call, const struct private_instance *instance, const struct client *c,
                                   const struct api_status *status, const char *launcher_state, bool allows_root,
                                   struct err *e);

/* Tells a user who has just started a private instance that the system has one, too, which their commands do not reach
 * as long as the private one runs. */
void system_instance_note_other(const struct private_instance *own);

#endif
