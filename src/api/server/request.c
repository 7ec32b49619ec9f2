/* Parked requests: libmicrohttpd does not run suspended connections (server.c, invariants 1 and 2). Requests that
 * change something wait in the queue until the daemon takes them, and then for its answer. All functions are O(1). */
#include <sys/eventfd.h>

#include "api/server/internal.h"
#include "base/ensure.h"

void request_park(struct request *r, enum stage stage)
{
    struct server *s = r->server;
    ensure(!r->is_parked && r->reply == NULL);
    MHD_suspend_connection(r->connection);
    r->is_parked = true;
    r->stage = stage;
    r->previous = NULL;
    r->next = s->parked;
    if (r->next) r->next->previous = r;
    s->parked = r;
}

void request_unpark(struct request *r)
{
    struct server *s = r->server;
    bool goes_on = r->stage == STAGE_READ_IN_THREAD || r->stage == STAGE_IDENTIFYING || r->stage == STAGE_PLANNING;
    ensure(r->is_parked && (r->reply != NULL || r->is_gone || goes_on));
    if (r->next) r->next->previous = r->previous;
    if (r->previous) {
        r->previous->next = r->next;
    } else {
        s->parked = r->next;
    }
    r->is_parked = false;
    r->stage = STAGE_REPLIED;
    MHD_resume_connection(r->connection);
    /* libmicrohttpd resumes the connection in its next run; wake_fd makes the caller's loop run it. */
    if (!s->is_woken) eventfd_write(s->wake_fd, 1);
    s->is_woken = true;
}

void request_queue(struct request *r)
{
    buf_release(&r->body);
    request_park(r, STAGE_QUEUED);
    *array_add(&r->server->queue) = r;
}

struct request *server_take(struct server *s)
{
    if (s->queue_first == s->queue.count) {
        array_clear(&s->queue);
        s->queue_first = 0;
        return NULL;
    }
    struct request *r = s->queue.items[s->queue_first++];
    ensure(r->stage == STAGE_QUEUED);
    r->stage = STAGE_TAKEN;
    return r;
}

const struct event *request_event(const struct request *r)
{
    ensure(r->event != NULL);
    return r->event;
}

const struct actor *request_actor(const struct request *r)
{
    return &r->actor;
}

const struct request_script *request_script(const struct request *r)
{
    return r->script;
}
