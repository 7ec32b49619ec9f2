/* A client of a relay: what it has sent and not been told, and what it is to get. */
#ifndef FAIRLEAD_TERMINAL_RELAY_CLIENT_H
#define FAIRLEAD_TERMINAL_RELAY_CLIENT_H

#include "terminal/frames.h"
#include "terminal/ring.h"

enum relay_stream { RELAY_OUTPUT, RELAY_ERRORS, RELAY_STREAM_COUNT };

struct relay_client {
    int fd;
    bool is_greeted, reads_only, owns, is_detached;
    bool has_input_end;                    /* of its input, which may not have been given to the program yet */
    bool is_told;                          /* EXIT is in out */
    uint64_t position[RELAY_STREAM_COUNT]; /* of the next byte that it gets */
    uint32_t taken_count;                  /* bytes of its input that it has not been told of */
    struct buf received, input, out;       /* out: frames that are on the way */
    size_t received_used, input_used, out_sent;
};

/* Accepts a client that may connect (relay.h, I3). False: there is none. */
bool relay_client_accept(int listen_fd, struct relay_client *out);
void relay_client_close(struct relay_client *c);

/* Reads what has arrived. False: it has disconnected. */
bool relay_client_receive(struct relay_client *c);

/* The next frame of what was received: 1 with *out, 0 if there is none, -1 if the client does not speak the protocol.
 * The frame's bytes are valid until relay_client_receive. */
int relay_client_next(struct relay_client *c, struct frame *out);

/* Input that the program is still to get. */
struct str relay_client_input(const struct relay_client *c);
void relay_client_take_input(struct relay_client *c, size_t size);

/* Keeps input. False: the client has sent more than it may. */
bool relay_client_add_input(struct relay_client *c, struct str bytes);

/* Makes frames of the rings, and at the end that of the exit (NULL: not yet), and sends what the socket takes. False:
 * it has disconnected. */
bool relay_client_send(struct relay_client *c, const struct ring rings[RELAY_STREAM_COUNT], const struct frame *exit);

/* Appends one frame to those on the way. */
void relay_client_tell(struct relay_client *c, const struct frame *frame);

/* Whether frames are on the way. */
bool relay_client_is_behind(const struct relay_client *c);

#endif
