/* Bodies of requests. Long ones are read in a thread of the host: JSON of 60 MiB takes 0.6 s to read, and no request
 * would be served meanwhile. The request is parked. Its arena and its body belong to the thread until read_done. */
#include <string.h>

#include "api/server/internal.h"
#include "base/ensure.h"

enum { LONG_BODY_BYTES = 32768 };

struct body_reading {
    bool is_done;
    int status;
    struct err err;
    void *value; /* of the route's shape */
};

struct str request_body_text(const struct request *r)
{
    return (struct str){r->body.text, r->body.length};
}

bool request_wants_thread(const struct request *r)
{
    return r->server->host.run_in_thread != NULL && r->reading == NULL && r->route->body_kind == BODY_OBJECT &&
           r->body.length >= LONG_BODY_BYTES;
}

static void read_in_thread(void *request)
{
    struct request *r = request;
    struct body_reading *reading = r->reading;
    reading->value = arena_alloc(&r->arena, r->route->body->size);
    reading->status = wire_read_text(r->route->body, request_body_text(r), &r->arena, reading->value, &reading->err);
    buf_release(&r->body); /* it takes 10 ms to free 60 MiB, too */
}

static void read_done(void *request)
{
    struct request *r = request;
    ensure(r->stage == STAGE_READ_IN_THREAD);
    r->reading->is_done = true;
    request_unpark(r);
}

void request_read_in_thread(struct request *r)
{
    const struct server_host *host = &r->server->host;
    r->reading = arena_alloc(&r->arena, sizeof *r->reading);
    request_park(r, STAGE_READ_IN_THREAD);
    host->run_in_thread(host->context, read_in_thread, read_done, r);
}

int request_read_body(struct request *r, void *out_value, struct err *e)
{
    const struct wire_shape *shape = r->route->body;
    const struct body_reading *reading = r->reading;
    if (reading == NULL) return wire_read_text(shape, request_body_text(r), &r->arena, out_value, e);
    ensure(reading->is_done);
    if (reading->status == 0)
        memcpy(out_value, reading->value, shape->size);
    else
        *e = reading->err;
    return reading->status;
}
