/* The pass of the tickets model: tasks in the order of their priorities. If the first tasks of each group of equal jobs
 * can stand for the others, it is found by ticket_order.h, O(groups); otherwise by a ticket plan, which ranks all
 * waiting tasks, because the tickets of each depend on all of them. Both find the same order. With a single job that
 * fits nothing has to be ranked. */
#include "engine/pass.h"

#include "engine/pass_limits.h"
#include "engine/ticket_order.h"

/* Whether neither its fair-share factor nor a limit keeps a job waiting in a group. */
static bool may_start_in(struct pass *p, uint32_t job, uint32_t group)
{
    return pass_admits(p, &p->c->s->pending->groups.items[group]) &&
           pass_limits_admit(p, job, group, pass_group_demand(p, group));
}

/* Starts tasks of a job, at most max, in the first of its partitions where they fit. Returns false if nothing fits for
 * the job, and so nothing for those of its group that come after it. */
static bool start_job(struct pass *p, const struct pending_job *job, uint32_t max)
{
    struct state *s = p->c->s;
    uint32_t index = state_find_job(s, job->job_id);
    if (index == NONE) return true;
    bool ranks_all = pass_ranks_all(p), fits = false, is_admitted = false;
    for (uint32_t i = 0; i < job->group_count && !is_admitted; i++)
        is_admitted = may_start_in(p, index, pending_job_group(job, i));
    if (!is_admitted || state_user_room(s, s->jobs.items[index].assoc) == 0) return false;
    if (ranks_all && !pass_may_try(p, index)) return true;
    for (uint32_t i = 0; i < job->group_count; i++) {
        const struct demand *d = pass_group_demand(p, pending_job_group(job, i));
        if (!pass_admits(p, &s->pending->groups.items[pending_job_group(job, i)])) continue;
        if (!ranks_all && !run_may_start(&p->run, d)) continue;
        enum run_outcome outcome = pass_decide(p, index, pending_job_group(job, i), &max);
        if (outcome == RUN_STARTS) return true;
        fits |= outcome == RUN_RESERVED;
    }
    return fits;
}

/* When only one job fits, and no other one could get a reservation. */
static void start_fitting(struct pass *p)
{
    const struct pending *pending = p->c->s->pending;
    for (uint32_t i = 0; i < pending->jobs.count; i++) {
        if (pending->jobs.items[i].job_id != 0) (void)start_job(p, &pending->jobs.items[i], UINT32_MAX);
    }
}

/* Whether tickets decide on which host a job starts. */
static bool host_tickets_count(const struct pass *p)
{
    const struct live_cluster *l = p->cluster;
    bool is_by_share = l->rules.load.order == ORDER_BY_SHARE && l->model.cluster.hosts.count > 1;
    return is_by_share && p->c->s->policy.model == MODEL_TICKETS;
}

void pass_count_host_tickets(struct pass *p)
{
    struct state *s = p->c->s;
    struct live_cluster *l = p->cluster;
    struct cluster *c = &l->model.cluster;
    if (l->rules.load.order != ORDER_BY_SHARE) return;
    for (uint32_t h = 0; h < c->hosts.count; h++) c->hosts.items[h].tickets = 0.0;
    if (!host_tickets_count(p)) return;
    const double *tickets = ticket_ranks_of_running(s, p->c->now_us, &s->cycle);
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        uint32_t booking = map_get_u64(&l->by_launch, s->tasks.items[i].launch_id);
        if (booking == NONE) continue; /* it has ended */
        const struct allocation *a = &l->bookings.items[booking].allocation;
        for (uint32_t k = 0; k < a->part_count; k++) {
            uint32_t host = c->instances.items[a->parts[k].instance].host;
            c->hosts.items[host].tickets += tickets[i] * a->parts[k].slots / a->slots;
        }
    }
}

/* When nothing can start any more, a job with a reservation may still get an earlier one in another of its partitions,
 * which matters for the schedule file. */
static bool goes_on(const struct pass *p)
{
    if (p->start_room == 0) return false;
    return !run_is_over(&p->run) || (p->is_listed && p->reservations.count > 0);
}

/* Each task of an array has its own tickets; the last entry stands for the following tasks too. */
static void start_by_plan(struct pass *p, const struct ticket_plan *plan)
{
    const struct pending *pending = p->c->s->pending;
    for (uint32_t i = 0; i < plan->task_count && goes_on(p) && !run_has_tried_all(&p->run); i++) {
        const struct planned_task *k = &plan->tasks[i];
        uint32_t job = map_get_u64(&pending->by_id, plan->job_ids[k->job]);
        p->run.tickets = k->tickets;
        if (job != NONE) (void)start_job(p, &pending->jobs.items[job], k->is_last ? UINT32_MAX : 1);
    }
}

static const struct pending_job *pending_job_of(const struct pending *pending, uint32_t job_id)
{
    return &pending->jobs.items[map_get_u64(&pending->by_id, job_id)];
}

/* Whether jobs of a group may start or get reservations in this pass, in any of their partitions. Only in the schedule
 * file one that may not can make a difference: the run ends after it if the host is full. */
static bool takes_part(struct pass *p, uint32_t group)
{
    struct pending *pending = p->c->s->pending;
    const struct pending_group *g = &pending->groups.items[group];
    bool reserves = p->cluster->rules.reservations == RUN_RESERVE_ALL ||
                    (p->cluster->rules.reservations == RUN_RESERVE_REQUESTED && g->is_reserving);
    if (p->is_listed || reserves || run_may_start(&p->run, pass_group_demand(p, group))) return true;
    if (!g->has_more_partitions) return false;
    uint32_t first = queue_next(&pending->queue, group, 0);
    const struct pending_job *job =
        pending_job_of(pending, pending->queue.groups.items[group].entries.items[first].job);
    for (uint32_t i = 1; i < job->group_count; i++) {
        if (run_may_start(&p->run, pass_group_demand(p, pending_job_group(job, i)))) return true;
    }
    return false;
}

static void start_by_order(struct pass *p, struct ticket_order *order)
{
    const struct pending *pending = p->c->s->pending;
    struct ticket_next next;
    for (uint32_t g = 0; g < pending->queue.groups.count; g++) {
        bool is_first = pending->queue.groups.items[g].key != NULL && pending->groups.items[g].place == 0;
        if (is_first && takes_part(p, g)) ticket_order_offer(order, g);
    }
    ticket_order_begin(order);
    while (goes_on(p) && ticket_order_next(order, &next)) {
        const struct pending_job *job = pending_job_of(pending, next.job_id);
        p->run.tickets = next.tickets;
        if (!start_job(p, job, next.is_last ? UINT32_MAX : 1)) ticket_order_drop(order, next.group);
    }
}

/* Returns false, and starts nothing, if the share tree has no order that can be found so. */
static bool start_without_plan(struct pass *p)
{
    struct ticket_order order;
    bool has_order = ticket_order_make(&order, p->c->s, p->c->now_us);
    if (has_order) start_by_order(p, &order);
    ticket_order_release(&order);
    return has_order;
}

bool pass_needs_no_plan(const struct pass *p)
{
    struct state *s = p->c->s;
    return ticket_heads_are_few(s) && ticket_heads_apply(s) && !run_counts_tests(&p->cluster->rules);
}

/* A job that became eligible after the plan is ranked by the next one. */
void pass_by_tickets(struct pass *p)
{
    struct state *s = p->c->s;
    uint32_t fitting = pass_count_fitting(p, 2);
    if (fitting == 0 && !p->is_listed) return;
    if (fitting == 1 && !pass_ranks_all(p) && !host_tickets_count(p)) {
        start_fitting(p);
        return;
    }
    if (p->plan != NULL) {
        start_by_plan(p, p->plan);
        s->pass_is_due |= p->plan->pending_added != s->pending->added;
        return;
    }
    if (pass_needs_no_plan(p) && start_without_plan(p)) return;
    struct ticket_plan *plan = ticket_plan_new(s, p->c->now_us);
    ticket_plan_run(plan);
    start_by_plan(p, plan);
    ticket_plan_free(plan);
}
