/* The private instance that start and stop mean. Never the system's: root's "fairlead stop" must not end it by mistake. */
#ifndef FAIRLEAD_CLI_PRIVATE_INSTANCE_H
#define FAIRLEAD_CLI_PRIVATE_INSTANCE_H

#include "cli/instance.h"

struct private_instance {
    const char *state_directory, *socket;
    bool is_standard; /* commands find it without being told */
};

/* Socket: --socket, else DIR/fairlead.sock with --state DIR, else FAIRLEAD_SOCKET, else the standard directory's. */
int private_instance_find(struct call *call, const char *state_given, struct private_instance *out_instance,
                          struct err *e);

/* Connects and asks how it is. On failure the client is closed. */
int private_instance_ask(struct call *call, const struct private_instance *instance, struct client *out_client,
                         struct api_status *out_status, struct err *e);

#endif
