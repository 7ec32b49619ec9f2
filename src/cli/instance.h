/* The instance a command speaks to, and what every such command needs of it: one request with a body of a wire shape, one
 * reply of another, or the reply as it came for --json. */
#ifndef FAIRLEAD_CLI_INSTANCE_H
#define FAIRLEAD_CLI_INSTANCE_H

#include "api/bodies.h"
#include "api/client/client.h"
#include "cli/command.h"

/* Connects to the one --socket names, or the nearest (api/client/address.h). To be closed with client_close. */
int instance_open(struct call *call, struct client *out_client, struct err *e);

/* One request. body of body_shape (both NULL: none); the reply is read by reply_shape into out_reply, in the call's arena. */
int instance_ask(struct call *call, struct client *c, const char *method, const char *target,
                 const struct wire_shape *body_shape, const void *body, const struct wire_shape *reply_shape,
                 void *out_reply, struct err *e);

/* The same on a connection of its own. */
int instance_ask_once(struct call *call, const char *method, const char *target, const struct wire_shape *body_shape,
                      const void *body, const struct wire_shape *reply_shape, void *out_reply, struct err *e);

/* GET on a connection of its own; the reply goes to standard output as it comes. */
int instance_copy(struct call *call, const char *target, struct err *e);

/* The text of a target, in the call's arena; releases the buffer. */
const char *instance_target(struct call *call, struct buf *target);

#endif
