/* The ranking of a pass, beside the loop (engine/ticket_plan.h). One plan at a time:
 *
 *     turn: make it, begin -> a thread ranks -> turn: EVENT_TIME with it -> turn: the next one, if a pass is due
 *
 * However fast submissions come, each of which makes a pass due, the plan that is being ranked is used, and jobs start. */
#include "base/arena.h"
#include "base/ensure.h"
#include "daemon/daemon.h"
#include "daemon/log.h"
#include "engine/ticket_plan.h"

struct planning {
    uv_work_t work;
    struct daemon *d;
    struct ticket_plan *plan;
    bool is_abandoned; /* the state it was made from is gone */
    void (*when_done)(struct daemon *d);
};

static void in_thread(uv_work_t *work)
{
    struct planning *p = work->data;
    ticket_plan_run(p->plan);
}

static void in_loop(uv_work_t *work, int status)
{
    struct planning *p = work->data;
    struct daemon *d = p->d;
    ensure(status == 0); /* nobody cancels it */
    struct ticket_plan *plan = p->plan;
    bool is_abandoned = p->is_abandoned;
    void (*when_done)(struct daemon *) = p->when_done;
    mem_free(p);
    log_line(LOG_DEBUG, "plan-done", " abandoned=%d", is_abandoned);
    if (!is_abandoned) d->planning = NULL;
    if (is_abandoned || d->stopping) {
        ticket_plan_free(plan);
        return;
    }
    d->plan = plan;
    when_done(d);
}

bool planner_begin(struct daemon *d, void (*when_done)(struct daemon *d))
{
    struct ticket_plan *plan = ticket_plan_make(&d->state, d->now_us, TICKET_PLAN_TASKS_MIN);
    if (plan == NULL) return false;
    struct planning *p = d->planning = mem_resize(NULL, 0, sizeof *p);
    p->work.data = p;
    p->d = d;
    p->when_done = when_done;
    p->plan = plan;
    log_line(LOG_DEBUG, "plan-begun", " jobs=%u", d->state.job_by_id.count);
    ensure(uv_queue_work(&d->loop, &p->work, in_thread, in_loop) == 0);
    return true;
}

void planner_abandon(struct daemon *d)
{
    if (d->planning != NULL) d->planning->is_abandoned = true;
    d->planning = NULL;
    ticket_plan_free(d->plan);
    d->plan = NULL;
}
