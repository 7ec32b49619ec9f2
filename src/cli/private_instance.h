/* The private instance of start and stop. It is never the system's instance: root's "fairlead stop" must not end that
 * by mistake. */
#ifndef FAIRLEAD_CLI_PRIVATE_INSTANCE_H
#define FAIRLEAD_CLI_PRIVATE_INSTANCE_H

#include "cli/instance.h"

struct private_instance {
    const char *state_directory, *socket;
    bool is_default; /* other commands find it without --socket and FAIRLEAD_SOCKET */
};

/* Finds the state directory and the socket, in the call's arena. state_given: of --state, or NULL. The socket is
 * --socket, else DIR/fairlead.sock with --state DIR, else FAIRLEAD_SOCKET, else that of the default state directory.
 * The state directory is that of --state, else the one of FAIRLEAD_SOCKET if that lies in one, else the default.
 * ERR_INPUT: no home directory, or a path that is too long. */
int private_instance_find(struct call *call, const char *state_given, struct private_instance *out_instance,
                          struct err *e);

/* The same for a pretend instance, which never has the directory of a real one: the state directory is that of --state,
 * else the one of FAIRLEAD_SOCKET if that is a pretend instance's, else the default with "-pretend" at its end. The
 * socket is --socket, else the one in the directory. */
int private_instance_find_pretend(struct call *call, const char *state_given, struct private_instance *out_instance,
                                  struct err *e);

/* Connects and requests the status. The client is closed on failure. ERR_UNAVAILABLE: it does not answer. */
int private_instance_connect(struct call *call, const struct private_instance *instance, struct client *out_client,
                             struct api_status *out_status, struct err *e);

/* Refuses a directory in which others could have put files, before anything is written there. An empty one that is open
 * to others is closed. ERR_DENIED: it belongs to another user, or is open to others and not empty. ERR_IO. */
int private_instance_check_directory(const char *path, struct err *e);

#endif
