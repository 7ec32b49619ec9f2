/* What the files of the client share. client.c calls reply.c, and both call connection.c. */
#ifndef FAIRLEAD_API_CLIENT_INTERNAL_H
#define FAIRLEAD_API_CLIENT_INTERNAL_H

#include "api/client/client.h"

/* connection.c: sends head and body, with one system call if the kernel accepts all. 0 also if the instance no longer
 * reads: it may have sent its reply. */
int connection_send(struct client *c, struct str head, struct str body, struct err *e);

/* connection.c: waits for a part of the reply and feeds it to c->reply, which must not be done. */
int connection_receive(struct client *c, struct err *e);

/* reply.c: reads the body of a refusal into *e. Always -1. */
int reply_refusal(struct client *c, struct err *e);

#endif
