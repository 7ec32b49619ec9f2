/* A conversation with an instance: requests over its Unix socket, one after the other, and their replies.
 *
 *     struct client client;
 *     if (client_open(&client, socket_given, &arena, e) != 0) return -1;
 *     if (client_request(&client, "GET", "/v1/jobs", str(""), e) == 0)
 *         while ((more = client_row(&client, &row, e)) > 0) ...
 *     client_close(&client);
 *
 * A listing is read row by row: the client holds the row and what the socket gave with it, whatever the listing's
 * length. Our own and small, because a program linked to libcurl takes 10 ms to start. Not for threads. */
#ifndef FAIRLEAD_API_CLIENT_CLIENT_H
#define FAIRLEAD_API_CLIENT_CLIENT_H

#include <jansson.h>
#include <sys/types.h>

#include "api/client/http_reply.h"
#include "base/arena.h"

enum {
    CLIENT_SILENCE_S = 120,           /* an instance that says nothing for longer does not answer */
    CLIENT_REPLY_MAX = 256 * 1048576, /* bytes of one reply, or one row, that we hold */
};

struct client {
    const char *socket; /* the path, somebody else's */
    int fd;             /* -1: not connected now */
    struct http_reply reply;
    struct buf body; /* came, taken up to here: */
    size_t taken;
};

/* Finds the instance (api/client/address.h) and connects. ERR_UNAVAILABLE: none answers; ERR_DENIED: not for us. On
 * failure the client is closed. */
int client_open(struct client *c, const char *socket_given, struct arena *a, struct err *e);

/* Connects to that socket only. The path must live as long as the client. */
int client_connect(struct client *c, const char *socket, struct err *e);

/* Disconnects and gives the memory back. Good for a client that is closed already. */
void client_close(struct client *c);

/* Sends a request (body: JSON, or empty) and reads the reply's head. 0: the answer is a success and its body can be
 * read. A refusal becomes *e, with the instance's own kind and words. What was unread of the reply before is dropped.
 * ERR_UNAVAILABLE: the connection broke; whether the request was carried out is then unknown. */
int client_request(struct client *c, const char *method, const char *target, struct str body, struct err *e);

/* The next line of the body without its end: 1; 0 at the body's end; -1. The view is good until the next call. */
int client_line(struct client *c, struct str *out_line, struct err *e);

/* The next row of a listing, {"NAME":[<line end>ROW,<line end>ROW<line end>]}: as client_line, the comma removed. */
int client_row(struct client *c, struct str *out_row, struct err *e);

/* All that is left of the body, in one piece; good until the next call. */
int client_rest(struct client *c, struct str *out_body, struct err *e);

/* All that is left, read as a JSON object: the caller's, to json_decref. */
int client_json(struct client *c, json_t **out_object, struct err *e);

/* Request and client_json in one. */
int client_ask(struct client *c, const char *method, const char *target, struct str body, json_t **out_object,
               struct err *e);

/* Who listens at the other end, by the kernel's word; -1 when it does not say. */
pid_t client_peer(const struct client *c);

/* Making targets: appends "?name=value" or, when there is one already, "&name=value", percent-encoded; the second
 * appends one segment of a path. */
void client_add_query(struct buf *target, const char *name, const char *value);
void client_add_segment(struct buf *target, const char *segment);

#endif
