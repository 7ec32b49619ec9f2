/* Sends requests, and builds their targets. connection.c has the socket, reply.c reads the bodies of replies. */
#include "api/client/client.h"

#include <string.h>
#include <time.h>

#include "api/client/internal.h"
#include "base/ensure.h"
#include "base/quantity.h"

/* From the time of day to that of the instance that has answered last. */
static int64_t time_offset_us;

static int64_t time_of_day_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * US_PER_S + now.tv_nsec / NS_PER_US;
}

int64_t client_now_us(void)
{
    return time_of_day_us() + time_offset_us;
}

int client_request(struct client *c, const char *method, const char *target, struct str body, struct err *e)
{
    bool has_asked = c->fd >= 0 && c->reply.state != HTTP_STATUS_LINE;
    bool is_unusable = has_asked && (!http_reply_is_done(&c->reply) || c->reply.closes || c->asks_once);
    if (is_unusable || c->fd < 0) {
        const char *socket = c->socket;
        client_close(c);
        if (client_connect(c, socket, e) != 0) return -1;
    }
    http_reply_release(&c->reply);
    buf_clear(&c->body);
    c->read_bytes = 0;

    struct buf head = {0};
    buf_format(&head, "%s %s HTTP/1.1\r\nHost: localhost\r\n", method, target);
    if (body.length > 0)
        buf_format(&head, "Content-Type: application/json\r\nContent-Length: %zu\r\n", body.length);
    else if (strcmp(method, "GET") != 0)
        buf_add_text(&head, "Content-Length: 0\r\n");
    if (c->asks_once) buf_add_text(&head, "Connection: close\r\n");
    buf_add_text(&head, "\r\n");
    int status = connection_send(c, (struct str){head.text, head.length}, body, e);
    buf_release(&head);
    if (status != 0) return -1;
    while (!http_reply_has_head(&c->reply)) {
        if (connection_receive(c, e) != 0) return -1;
    }
    if (c->reply.time_us != 0) time_offset_us = c->reply.time_us - time_of_day_us();
    return c->reply.status < 300 ? 0 : reply_refusal(c, e);
}

int client_ask(struct client *c, const char *method, const char *target, struct str body, json_t **out_object,
               struct err *e)
{
    if (client_request(c, method, target, body, e) != 0) return -1;
    return client_json(c, out_object, e);
}

static void add_escaped(struct buf *target, const char *text)
{
    static const char hex[] = "0123456789ABCDEF";
    for (const char *p = text; *p; p++) {
        unsigned char c = (unsigned char)*p;
        bool is_plain =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("-._~,", c) != NULL;
        if (is_plain) {
            buf_add_char(target, *p);
        } else {
            buf_add_char(target, '%');
            buf_add_char(target, hex[c >> 4]);
            buf_add_char(target, hex[c & 15]);
        }
    }
}

void client_add_query(struct buf *target, const char *name, const char *value)
{
    ensure(target->length > 0);
    buf_add_char(target, memchr(target->text, '?', target->length) ? '&' : '?');
    buf_add_text(target, name);
    buf_add_char(target, '=');
    add_escaped(target, value);
}

void client_add_segment(struct buf *target, const char *segment)
{
    buf_add_char(target, '/');
    add_escaped(target, segment);
}
