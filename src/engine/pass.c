#include "engine/pass.h"

#include "engine/closed_times.h"
#include "engine/delay_ends.h"
#include "engine/immediate.h"
#include "engine/limit_end.h"
#include "engine/min_priority.h"
#include "engine/pass_limits.h"

static bool has_threshold_qos(const struct state *s)
{
    for (uint32_t i = 0; i < s->objects[OBJECT_QOS].count; i++) {
        const struct object_row *qos = &s->objects[OBJECT_QOS].items[i];
        if (!qos->is_deleted && (qos->qos_flags & QOS_ENFORCE_USAGE_THRESHOLD) != 0) return true;
    }
    return false;
}

static void begin(struct pass *p)
{
    struct state *s = p->c->s;
    pending_update(s, p->c->now_us, !min_priority_is_kept(s));
    s->pending->jobs_started = 0;
    s->pending->pass_count++;
    p->cluster = live_cluster_update(s, p->c->now_us);
    pass_count_host_tickets(p);
    pass_limits_begin(p);
    pass_lines_begin(p);
    run_begin(&p->run, &p->cluster->model.cluster, &p->cluster->rules, p->c->now_us, &s->cycle);
}

static int64_t schedule_interval_us(const struct state *s)
{
    return setting_number(&s->settings, SET_GE_SCHEDULE_INTERVAL) * US_PER_S;
}

/* The load adjustment of jobs that have started fades, and closed queues open. What else keeps jobs waiting that would
 * fit are reservations. They change when a booked end passes without an event, and with the order of priorities. */
static void want_later_pass(struct pass *p)
{
    const struct live_cluster *l = p->cluster;
    if (p->c->s->pending->by_id.count > 0 && live_cluster_is_adjusted(l))
        state_want_pass_at(p->c->s, p->c->now_us + schedule_interval_us(p->c->s));
    int64_t opening_us = closed_times_next_opening(p->c->s, p->c->now_us);
    if (p->c->s->pending->by_id.count > 0 && opening_us != 0) state_want_pass_at(p->c->s, opening_us);
    if (p->reservations.count == 0) return;
    state_want_pass_at(p->c->s, p->c->now_us + USAGE_WAIT_US);
    int64_t end_us = live_cluster_next_end_us(p->cluster);
    if (end_us != 0) state_want_pass_at(p->c->s, end_us);
}

/* Reservations are not kept. */
static void end(struct pass *p)
{
    want_later_pass(p);
    run_end(&p->run);
    for (uint32_t i = p->reservations.count; i-- > 0;) {
        const struct pass_reservation *r = &p->reservations.items[i];
        live_cluster_unbook(p->cluster, r->demand, &r->allocation, r->start_us);
    }
    array_release(&p->reservations);
}

/* While launches back off: the next probe is due at a time, unless one is under way, whose end makes a pass due. A job
 * that was left out is tried if no other one could be. */
static void want_probe(struct pass *p)
{
    struct state *s = p->c->s;
    struct launch_backoff *b = &s->launch_backoff;
    if (!launch_backoff_is_waiting(b) || b->probe_id != 0) return;
    if (p->c->now_us < b->retry_us) state_want_pass_at(s, b->retry_us);
    if (!p->has_skipped_job) return;
    b->skipped_id = 0;
    s->pass_is_due = true;
}

static void run_pass(struct apply_context *c, const char *boot_id, const struct ticket_plan *plan)
{
    struct pass p = {.c = c,
                     .boot_id = boot_id,
                     .plan = plan,
                     .start_room = launch_backoff_room(&c->s->launch_backoff, c->now_us),
                     .has_threshold_qos = has_threshold_qos(c->s)};
    bool has_ready_tasks = delay_ends_apply(c);
    if (has_ready_tasks && plan != NULL) c->s->pass_is_due = true; /* the plan does not know them */
    limit_end_tasks(c);
    if (min_priority_is_kept(c->s)) {
        pass_begin_ranking(&p);
        min_priority_raise_all(c, &p.multifactor);
    }
    /* On full hosts also no begin matters: the end of a task makes a pass due. */
    bool is_full = c->s->free_cpu_count == 0 && !pass_lines_are_wanted(c->s);
    if (is_full || p.start_room == 0) {
        want_probe(&p);
        return;
    }
    begin(&p);
    if (pending_next_begin_us(c->s) != 0) state_want_pass_at(c->s, pending_next_begin_us(c->s));
    bool decides = p.run.open_count > 0 || p.is_listed;
    if (decides && c->s->policy.model == MODEL_TICKETS)
        pass_by_tickets(&p);
    else if (decides)
        pass_by_priority(&p);
    pass_lines_end(&p);
    want_probe(&p);
    end(&p);
}

static bool pass_is_due(const struct state *s, int64_t now_us)
{
    int64_t due_us = rhythm_due_us(&s->rhythm, &s->settings, s->pass_is_due, s->next_due_us);
    return due_us != 0 && due_us <= now_us;
}

/* Whether a pass needs a ticket plan: at least two jobs could start now, or one unless another one's reservation is in
 * its way, so that the pass has to rank them; also if the schedule file is to have all reservations. */
static bool needs_plan(struct state *s, int64_t now_us)
{
    struct apply_context c = {.s = s, .now_us = now_us};
    struct pass p = {.c = &c, .start_room = launch_backoff_room(&s->launch_backoff, now_us)};
    if ((s->free_cpu_count == 0 && !pass_lines_are_wanted(s)) || p.start_room == 0) return false;
    begin(&p);
    uint32_t min = p.is_listed ? 0 : pass_ranks_all(&p) ? 1 : 2;
    bool result = !pass_needs_no_plan(&p) && pass_count_fitting(&p, min) == min;
    end(&p);
    return result;
}

struct ticket_plan *ticket_plan_make(struct state *s, int64_t now_us, uint32_t min)
{
    arena_clear(&s->cycle);
    if (s->policy.model != MODEL_TICKETS || !pass_is_due(s, now_us) || !needs_plan(s, now_us)) return NULL;
    if (s->job_by_id.count < min && ticket_entry_count(s, now_us) < min) return NULL;
    s->pass_is_due = false;
    rhythm_begin_pass(&s->rhythm);
    return ticket_plan_new(s, now_us);
}

/* Whether the rules have changed since the plan was made. A plan after a dropped one is used in any case, until a pass
 * has run (ticket_plan.h). */
static bool must_drop(const struct state *s, const struct ticket_plan *plan)
{
    return plan->rules_edition != s->rules_edition && !s->dropped_plan;
}

int apply_time(struct apply_context *c, const struct event *event)
{
    struct state *s = c->s;
    const struct ticket_plan *plan = s->policy.model == MODEL_TICKETS ? event->time.plan : NULL;
    if (plan != NULL && must_drop(s, plan)) {
        s->dropped_plan = s->pass_is_due = true;
        rhythm_restart(&s->rhythm);
        return 0;
    }
    if (event->time.has_kept) s->pass_is_due = true;
    immediate_cancel_late(c);
    if (plan == NULL && !pass_is_due(s, c->now_us)) return 0;
    s->dropped_plan = false;
    if (plan == NULL) { /* with a plan, ticket_plan_make has done both */
        s->pass_is_due = false;
        rhythm_begin_pass(&s->rhythm);
    }
    s->next_due_us = 0; /* set again by the pass */
    s->kept_back = event->time.kept_back;
    s->kept_back_count = event->time.kept_back_count;
    run_pass(c, event->time.boot_id, plan);
    s->kept_back_count = 0;
    immediate_cancel_refused(c, plan);
    s->rhythm.last_pass_us = c->now_us;
    cpu_weight_update(c);
    return 0;
}
