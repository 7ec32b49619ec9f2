/* Between client.c, which has the socket, and reply.c, which has the replies' meaning. */
#ifndef FAIRLEAD_API_CLIENT_INTERNAL_H
#define FAIRLEAD_API_CLIENT_INTERNAL_H

#include "api/client/client.h"

/* Waits for more of the reply and feeds it. The reply is not done. */
int reply_receive(struct client *c, struct err *e);

/* Reads the refusal that the reply is, into *e. Returns -1. */
int reply_refusal(struct client *c, struct err *e);

#endif
