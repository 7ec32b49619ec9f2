/* Reads the body of a reply: as lines, rows of a listing, a JSON object, or an error. */
#include <string.h>

#include "api/bodies.h"
#include "api/client/internal.h"
#include "base/ensure.h"

static struct str unread_body(const struct client *c)
{
    return (struct str){c->body.text + c->read_bytes, c->body.length - c->read_bytes};
}

int client_line(struct client *c, struct str *out_line, struct err *e)
{
    size_t searched = 0; /* bytes of the line without a line end */
    for (;;) {
        struct str rest = unread_body(c);
        const char *end = rest.length > searched ? memchr(rest.text + searched, '\n', rest.length - searched) : NULL;
        if (end) {
            *out_line = str_range(rest.text, end);
            c->read_bytes += out_line->length + 1;
            return 1;
        }
        if (http_reply_is_done(&c->reply)) {
            *out_line = rest;
            c->read_bytes += rest.length;
            return rest.length > 0;
        }
        searched = rest.length;
        if (connection_receive(c, e) != 0) return -1;
    }
}

/* The first line opens the listing, the last one closes it, and a comma follows each row but the last. */
int client_row(struct client *c, struct str *out_row, struct err *e)
{
    for (;;) {
        struct str line;
        int status = client_line(c, &line, e);
        if (status <= 0) return status;
        if (line.length >= 2 && line.text[0] == '{' && line.text[line.length - 1] == '[') continue;
        if (line.length == 0 || line.text[0] == ']') continue;
        if (line.text[line.length - 1] == ',') line.length--;
        if (line.length < 2 || line.text[0] != '{' || line.text[line.length - 1] != '}')
            return err_set(e, ERR_INTERNAL, "a row of the reply is not an object: '%.*s'",
                           (int)(line.length < 40 ? line.length : 40), line.text);
        *out_row = line;
        return 1;
    }
}

int client_rest(struct client *c, struct str *out_body, struct err *e)
{
    while (!http_reply_is_done(&c->reply)) {
        if (connection_receive(c, e) != 0) return -1;
    }
    *out_body = unread_body(c);
    c->read_bytes = c->body.length;
    return 0;
}

int client_piece(struct client *c, struct str *out_piece, struct err *e)
{
    while (unread_body(c).length == 0) {
        if (http_reply_is_done(&c->reply)) return 0;
        if (connection_receive(c, e) != 0) return -1;
    }
    *out_piece = unread_body(c);
    c->read_bytes = c->body.length;
    return 1;
}

uint64_t client_unread(const struct client *c)
{
    return unread_body(c).length + (c->reply.state == HTTP_BODY_LENGTH ? c->reply.left : 0);
}

int client_json(struct client *c, json_t **out_object, struct err *e)
{
    struct str body;
    if (client_rest(c, &body, e) != 0) return -1;
    json_error_t error;
    json_t *object = wire_parse(body, &error);
    if (!json_is_object(object)) {
        json_decref(object);
        return err_set(e, ERR_INTERNAL, "the reply of %s is not a JSON object: %s", c->socket,
                       object ? "another type" : error.text);
    }
    *out_object = object;
    return 0;
}

int reply_refusal(struct client *c, struct err *e)
{
    int status = c->reply.status;
    struct arena arena = {0};
    struct api_error reply;
    struct str body;
    if (client_rest(c, &body, e) != 0 || wire_read_text(&api_error_shape, body, &arena, &reply, e) != 0)
        err_set(e, ERR_INTERNAL, "the instance at %s answered with HTTP status %d", c->socket, status);
    else if (e != NULL)
        api_error_read(&reply, e);
    arena_release(&arena);
    return -1;
}
