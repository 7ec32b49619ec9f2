/* Requests to the instance: a body and a reply by their wire shapes, or the reply copied unread for --json. */
#ifndef FAIRLEAD_CLI_INSTANCE_H
#define FAIRLEAD_CLI_INSTANCE_H

#include "api/bodies.h"
#include "api/client/client.h"
#include "cli/command.h"

/* Connects to the socket of --socket, else to the first instance that api/client/address.h finds. To be closed with
 * client_close. ERR_UNAVAILABLE: no instance answers. */
int instance_open(struct call *call, struct client *out_client, struct err *e);

/* The instance's time, for times that are relative to it: that of a pretend instance, else the time of day. call: a
 * struct call, with the options before the one that is read. */
int64_t instance_now_us(void *call);

/* Sends one request. body has body_shape (both NULL: no body). The reply is read by reply_shape into out_reply; its
 * texts and rows are in the call's arena. Fails with the instance's error, or as client_request does. */
int instance_request(struct call *call, struct client *c, const char *method, const char *target,
                     const struct wire_shape *body_shape, const void *body, const struct wire_shape *reply_shape,
                     void *out_reply, struct err *e);

/* The same on a connection of its own. */
int instance_request_once(struct call *call, const char *method, const char *target,
                          const struct wire_shape *body_shape, const void *body, const struct wire_shape *reply_shape,
                          void *out_reply, struct err *e);

/* GET on a connection of its own; copies the reply to standard output, unread. */
int instance_copy(struct call *call, const char *target, struct err *e);

/* Copies the text of a target to the call's arena and releases the buffer. */
const char *instance_target(struct call *call, struct buf *target);

/* What is known of an instance whose replies this command cannot read. */
struct instance_version {
    const char *version; /* memory of the arena */
    pid_t pid;           /* as it says itself; 0: it does not */
};

/* Asks for the version without the shape of a status. Returns -1 if there is no such answer; leaves errors to the
 * caller. */
int instance_version_read(struct call *call, struct client *c, struct instance_version *out);

#endif
