/* Runs the ranking half of a pass in a thread of libuv's pool (engine/ticket_plan.h), one plan at a time:
 *
 *     turn: snapshot -> thread: ranking -> turn: EVENT_TIME with the plan -> turn: the next snapshot, if a pass is due
 *
 * Each submission makes a pass due. The plan in flight is used nevertheless, so jobs start however fast submissions
 * arrive. */
#include "base/arena.h"
#include "base/ensure.h"
#include "daemon/daemon.h"
#include "daemon/log.h"
#include "engine/ticket_plan.h"

struct ranking {
    uv_work_t work;
    struct daemon *d;
    struct ticket_plan *plan;
    bool is_abandoned; /* free the plan instead of using it */
    void (*when_done)(struct daemon *d);
};

static void run_in_thread(uv_work_t *work)
{
    struct ranking *p = work->data;
    ticket_plan_run(p->plan);
}

static void finish_in_loop(uv_work_t *work, int status)
{
    struct ranking *p = work->data;
    struct daemon *d = p->d;
    ensure(status == 0); /* not UV_ECANCELED: the daemon calls no uv_cancel */
    struct ticket_plan *plan = p->plan;
    bool is_abandoned = p->is_abandoned;
    void (*when_done)(struct daemon *) = p->when_done;
    mem_free(p);
    log_line(LOG_DEBUG, "plan-done", " abandoned=%d", is_abandoned);
    if (!is_abandoned) d->ranking = NULL;
    if (is_abandoned || d->is_stopping) {
        ticket_plan_free(plan);
        return;
    }
    d->plan = plan;
    when_done(d);
}

bool ranking_thread_begin(struct daemon *d, void (*when_done)(struct daemon *d))
{
    ensure(d->ranking == NULL && d->plan == NULL);
    struct ticket_plan *plan = ticket_plan_make(&d->state, d->now_us, TICKET_PLAN_TASKS_MIN);
    if (plan == NULL) return false;
    struct ranking *p = d->ranking = mem_resize(NULL, 0, sizeof *p);
    p->work.data = p;
    p->d = d;
    p->when_done = when_done;
    p->plan = plan;
    log_line(LOG_DEBUG, "plan-begun", " jobs=%u", d->state.job_by_id.count);
    ensure(uv_queue_work(&d->loop, &p->work, run_in_thread, finish_in_loop) == 0);
    return true;
}

void ranking_thread_abandon(struct daemon *d)
{
    if (d->ranking != NULL) d->ranking->is_abandoned = true;
    d->ranking = NULL;
    ticket_plan_free(d->plan);
    d->plan = NULL;
}
