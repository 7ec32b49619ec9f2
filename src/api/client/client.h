/* A client of an instance: sends requests over its Unix socket, one after the other, and reads their replies.
 *
 *     struct client client;
 *     if (client_open(&client, socket_given, &arena, e) != 0) return -1;
 *     if (client_request(&client, "GET", "/v1/jobs", str(""), e) == 0)
 *         while ((status = client_row(&client, &row, e)) > 0) ...
 *     client_close(&client);
 *
 * A listing is read row by row, and the client holds only the row and what was received with it. It is a small client
 * of its own, because a program that is linked to libcurl takes 10 ms to start. One thread at a time, also with several
 * clients: receiving uses a static buffer. */
#ifndef FAIRLEAD_API_CLIENT_CLIENT_H
#define FAIRLEAD_API_CLIENT_CLIENT_H

#include <jansson.h>
#include <sys/types.h>

#include "api/client/http_reply.h"
#include "base/arena.h"

enum {
    CLIENT_TIMEOUT_S = 120, /* without a byte from the instance; see client_wait_long */
    CLIENT_SLOW_S = 5,
    CLIENT_EXPECTED_ANY_S = -1,       /* client.expected_s: as long as it takes */
    CLIENT_REPLY_MAX = 256 * 1048576, /* bytes that are held of one reply, or of one row of a listing */
};

struct client {
    const char *socket; /* the path; not owned */
    int fd;             /* -1: not connected */
    bool asks_once;     /* set by the caller: connections are closed after one reply, which costs the instance less */
    struct http_reply reply;
    struct buf body;   /* as received */
    size_t read_bytes; /* of body, by the caller */
    int expected_s;    /* so long it may well wait for a byte; 0: CLIENT_SLOW_S */
};

/* Called once for each reply of which no byte has come for so long as may be expected; NULL: not called. The caller
 * goes on waiting. */
extern void (*client_on_slow)(const struct client *c, int seconds);

/* Finds the instance (api/client/address.h) and connects. socket_given: NULL, or the only socket to try. The paths are
 * in memory of arena, which must live as long as the client. ERR_UNAVAILABLE: no instance answers. ERR_DENIED: this
 * user may not connect. After -1 the client is closed. */
int client_open(struct client *c, const char *socket_given, struct arena *arena, struct err *e);

/* Connects to this socket only. The path must live as long as the client. Errors as client_open. */
int client_connect(struct client *c, const char *socket, struct err *e);

/* Disconnects and frees the memory. Does nothing for a closed client. */
void client_close(struct client *c);

/* Sends a request and reads the head of the reply; body: JSON, or empty. Drops what is unread of the previous reply,
 * and connects again if necessary. 0: success, and the body can be read. -1: *e is the instance's own error, or
 * ERR_UNAVAILABLE: the connection was lost, and the request may or may not have been carried out. */
int client_request(struct client *c, const char *method, const char *target, struct str body, struct err *e);

/* Reads the next line of the body, without its end. 1: a line; 0: the body has ended; -1 with *e. out_line is valid
 * until the next call. */
int client_line(struct client *c, struct str *out_line, struct err *e);

/* Reads the next row of a listing, {"NAME":[<line end>ROW,<line end>ROW<line end>]}, without the comma. Results as
 * client_line. */
int client_row(struct client *c, struct str *out_row, struct err *e);

/* Reads the rest of the body; out_body is valid until the next call. */
int client_rest(struct client *c, struct str *out_body, struct err *e);

/* Reads what has arrived of the body, and waits if that is nothing. Results as client_line. */
int client_piece(struct client *c, struct str *out_piece, struct err *e);

/* Waits for replies on this connection without a limit: of requests that take as long as the history is. */
void client_wait_long(struct client *c);

/* How many bytes of a body with a length are unread. */
uint64_t client_unread(const struct client *c);

/* Reads the rest of the body as a JSON object, which the caller owns. */
int client_json(struct client *c, json_t **out_object, struct err *e);

/* client_request, then client_json. */
int client_ask(struct client *c, const char *method, const char *target, struct str body, json_t **out_object,
               struct err *e);

/* The time: that of the pretend instance that has answered last, else the time of day. */
int64_t client_now_us(void);

/* The process that listens at the other end, from the kernel (SO_PEERCRED); -1: unknown. It is the one that began to
 * listen, which may have ended. client_peer_uid: its user then; (uid_t)-1: unknown. */
pid_t client_peer(const struct client *c);
uid_t client_peer_uid(const struct client *c);

/* Append to a request's target, percent-encoded: "?name=value", or "&name=value" if it has a query; "/segment". */
void client_add_query(struct buf *target, const char *name, const char *value);
void client_add_segment(struct buf *target, const char *segment);

#endif
