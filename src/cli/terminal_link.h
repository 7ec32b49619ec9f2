/* The connection to the relay of a job (terminal/relay.h). It does not go through the daemon. */
#ifndef FAIRLEAD_CLI_TERMINAL_LINK_H
#define FAIRLEAD_CLI_TERMINAL_LINK_H

#include "base/err.h"
#include "terminal/frames.h"

struct terminal_link {
    int fd;             /* -1: not connected */
    struct buf in, out; /* received and not read; to be sent */
    size_t in_used, out_sent;
};

/* Connects to the relay of a job or task. directory: with the sockets. Returns 1, or 0 if no relay is there, or -1:
 * ERR_DENIED: it is another user's. */
int terminal_link_open(struct terminal_link *l, const char *directory, const char *id, struct err *e);
void terminal_link_close(struct terminal_link *l);

/* Appends a frame to what is to be sent. */
void terminal_link_add(struct terminal_link *l, const struct frame *frame);

/* Sends what the socket takes. False: the relay is gone, and the rest is dropped; what it had sent can still be
 * read. */
bool terminal_link_send(struct terminal_link *l);

/* Sends all, and waits for that at most so long. */
void terminal_link_flush(struct terminal_link *l, int timeout_ms);

bool terminal_link_is_behind(const struct terminal_link *l);

/* Reads what has arrived. False: the relay is gone. The bytes of frames before are not valid any more. */
bool terminal_link_receive(struct terminal_link *l);

/* The next frame of what was received: 1 with *out, 0 if there is none, -1 if it is none of this protocol. */
int terminal_link_next(struct terminal_link *l, struct frame *out);

#endif
