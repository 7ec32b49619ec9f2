/* Facts about jobs that have ended, for submissions and updates that wait for them: the engine holds live jobs only.
 * They are read when the event is decided, so nothing ends between the look and the decision: what has ended in the
 * same turn is still in memory, and what ended before it is committed. */
#include "daemon/daemon.h"
#include "daemon/log.h"
#include "engine/dependencies.h"

void daemon_read_ends(void *daemon, struct event *event, struct arena *arena)
{
    const struct daemon *d = daemon;
    const uint32_t *ids = NULL;
    struct err e;
    uint32_t count = dependencies_list_ended(&d->state, event, arena, &ids), known = 0;
    struct event_end *ends = arena_alloc(arena, (count + (size_t)1) * sizeof *ends);
    for (uint32_t i = 0; i < count; i++) {
        if (store_job_end(d->store, ids[i], &ends[known], &e) == 0)
            known++;
        else
            log_line(LOG_ERROR, "end-unknown", " job=%u error=\"%s\"", ids[i], ERR_SENTENCE(&e));
    }
    event->ends = ends;
    event->end_count = known;
}

void daemon_release_ends(struct event *event)
{
    struct event_end *ends = (struct event_end *)event->ends;
    for (uint32_t i = 0; i < event->end_count; i++) store_job_end_release(&ends[i]);
}
