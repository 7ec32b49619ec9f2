/* The pass of the tickets model: tasks in the order of a ticket plan, which ranks all waiting tasks, because the
 * tickets of each depend on all of them. With a single job that fits nothing has to be ranked. */
#include "engine/pass.h"

/* Starts tasks of a job, at most max, in the first of its partitions where they fit. */
static void start_job(struct pass *p, const struct pending_job *job, uint32_t max)
{
    struct state *s = p->c->s;
    uint32_t index = state_find_job(s, job->job_id);
    if (index == NONE || !pass_admits(p, &s->pending->groups.items[job->groups[0]])) return;
    bool ranks_all = pass_ranks_all(p);
    if (ranks_all && !pass_may_try(p, index)) return;
    for (uint32_t i = 0; i < job->group_count && max > 0; i++) {
        const struct demand *d = pass_group_demand(p, job->groups[i]);
        if (ranks_all || run_may_start(&p->run, d)) (void)pass_decide(p, index, d, &max);
    }
}

/* When only one job fits, and no other one could get a reservation. */
static void start_fitting(struct pass *p)
{
    const struct pending *pending = p->c->s->pending;
    for (uint32_t i = 0; i < pending->jobs.count; i++) {
        if (pending->jobs.items[i].job_id != 0) start_job(p, &pending->jobs.items[i], UINT32_MAX);
    }
}

/* Each task of an array has its own tickets; the last entry stands for the following tasks too. */
static void start_by_plan(struct pass *p, const struct ticket_plan *plan)
{
    const struct pending *pending = p->c->s->pending;
    for (uint32_t i = 0; i < plan->task_count && !run_is_over(&p->run); i++) {
        const struct planned_task *k = &plan->tasks[i];
        uint32_t job = map_get_u64(&pending->by_id, plan->job_ids[k->job]);
        if (job != NONE) start_job(p, &pending->jobs.items[job], k->is_last ? UINT32_MAX : 1);
    }
}

/* A job that became eligible after the plan is ranked by the next one. */
void pass_by_tickets(struct pass *p)
{
    struct state *s = p->c->s;
    uint32_t fitting = pass_count_fitting(p, 2);
    if (fitting == 0 && !p->is_listed) return;
    if (fitting == 1 && !pass_ranks_all(p)) {
        start_fitting(p);
        return;
    }
    if (p->plan != NULL) {
        start_by_plan(p, p->plan);
        s->pass_is_due |= p->plan->pending_added != s->pending->added;
        return;
    }
    struct ticket_plan *plan = ticket_plan_new(s, p->c->now_us);
    ticket_plan_run(plan);
    start_by_plan(p, plan);
    ticket_plan_free(plan);
}
