/* Facts about jobs that have ended, for submissions and updates that wait for them, and for requeues: the engine holds
 * live jobs only. They are read when the event is decided, so nothing ends between the look and the decision: what has
 * ended in the same turn is still in memory, and what ended before it is committed. */
#include "daemon/daemon.h"
#include "daemon/log.h"
#include "engine/dependencies.h"
#include "engine/requeue_ended.h"

/* The rows of ended jobs that are to be requeued. */
static void read_ended_jobs(const struct daemon *d, struct event *event, struct arena *arena)
{
    const uint32_t *ids = NULL;
    struct err e;
    uint32_t count = requeue_ended_list(&d->state, event, arena, &ids), known = 0;
    event->ended_jobs = NULL;
    event->ended_job_count = 0;
    if (count == 0) return;
    struct event_ended_job *jobs = arena_alloc(arena, count * sizeof *jobs);
    for (uint32_t i = 0; i < count; i++) {
        if (store_ended_job(d->store, &d->state, ids[i], arena, &jobs[known], &e) == 0)
            known++;
        else if (e.code != ERR_NOT_FOUND) /* which is a job that was removed from the history */
            log_line(LOG_ERROR, "ended-job-unknown", " job=%u error=\"%s\"", ids[i], ERR_SENTENCE(&e));
    }
    event->ended_jobs = jobs;
    event->ended_job_count = known;
}

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
        else if (e.code == ERR_NOT_FOUND)
            ends[known++] = (struct event_end){.job_id = ids[i], .is_pruned = true};
        else
            log_line(LOG_ERROR, "end-unknown", " job=%u error=\"%s\"", ids[i], ERR_SENTENCE(&e));
    }
    bool needs_users = setting_text(&d->state.settings, SET_PRIVATE_DATA)[0] != '\0';
    for (uint32_t i = 0; needs_users && i < known; i++) ends[i].user = store_job_user(d->store, ends[i].job_id, arena);
    event->ends = ends;
    event->end_count = known;
    read_ended_jobs(d, event, arena);
}

int daemon_read_script(void *daemon, uint32_t job_id, struct arena *arena, struct request_script *out, struct err *e)
{
    const struct daemon *d = daemon;
    struct job_script script;
    if (store_read_script(d->state_dir.path, job_id, arena, &script, e) != 0) return -1;
    *out = (struct request_script){script.script,         script.script_name, script.arguments,
                                   script.argument_count, script.environment, script.environment_count};
    return 0;
}

void daemon_release_ends(struct event *event)
{
    struct event_end *ends = (struct event_end *)event->ends;
    for (uint32_t i = 0; i < event->end_count; i++) store_job_end_release(&ends[i]);
    struct event_ended_job *jobs = (struct event_ended_job *)event->ended_jobs;
    for (uint32_t i = 0; i < event->ended_job_count; i++) store_ended_job_release(&jobs[i]);
}
