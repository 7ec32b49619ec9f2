/* What the files of the client share: client.c stands on reply.c, and both on connection.c. */
#ifndef FAIRLEAD_API_CLIENT_INTERNAL_H
#define FAIRLEAD_API_CLIENT_INTERNAL_H

#include "api/client/client.h"

/* connection.c: sends both parts, in one call when the kernel takes them. */
int connection_send(struct client *c, struct str head, struct str body, struct err *e);

/* connection.c: waits for more of the reply and feeds it. The reply is not done. */
int connection_receive(struct client *c, struct err *e);

/* reply.c: reads the refusal that the reply is, into *e. Returns -1. */
int reply_refusal(struct client *c, struct err *e);

#endif
