/* The ranking of a snapshot (ticket_snapshot.c): the tickets and the urgency of each entry, and the priority computed
 * from both. It reads only the snapshot, so that another thread can run it (ticket_plan.h). */
#include "engine/ranking.h"

static struct tickets *tickets_of(const struct ticket_snapshot *snapshot, struct arena *arena, double *out_max,
                                  bool *out_counted)
{
    struct ticket_input input = snapshot->input;
    struct tickets *tickets = arena_alloc(arena, (input.job_count + (size_t)1) * sizeof *tickets);
    input.rules = &snapshot->rules;
    *out_max = tickets_compute_counted(&input, arena, tickets, out_counted);
    return tickets;
}

static void urgency_of_entry(const struct ticket_snapshot *snapshot, uint32_t i, int64_t submit_us,
                             struct urgency *out_urgency)
{
    const struct ticket_job *j = &snapshot->input.jobs[i];
    const struct ticket_entry *e = &snapshot->entries[i];
    struct urgency_job job = {.slots_min = j->slots,
                              .slots_max = e->slots_max > j->slots ? e->slots_max : j->slots,
                              .requests = e->requests,
                              .request_count = e->request_count,
                              .submit_us = submit_us,
                              .deadline_us = e->deadline_us,
                              .posix_priority = e->posix_priority};
    struct urgency_rules rules = snapshot->urgency;
    rules.slots_rule = e->slots_rule;
    rules.slots_number = e->slots_number;
    urgency_of(&rules, snapshot->slots_urgency, snapshot->now_us, &job, out_urgency);
}

/* Where urgency has no weight and report_pjob_tickets is false, Grid Engine does not compute it: all its numbers are 0,
 * also those of running jobs (case h_13). */
static bool needs_urgency(const struct ticket_snapshot *snapshot)
{
    double weight = snapshot->urgency.weight_urgency;
    return snapshot->rules.report_pending || weight > 0.0 || weight < 0.0;
}

double ticket_ranks_urgency(const struct ticket_snapshot *snapshot, uint32_t entry, int64_t submit_us)
{
    struct urgency urgency = {0};
    if (needs_urgency(snapshot)) urgency_of_entry(snapshot, entry, submit_us, &urgency);
    return urgency.sum;
}

static double *alloc_doubles(uint32_t count, struct arena *arena)
{
    return arena_alloc(arena, (count + (size_t)1) * sizeof(double));
}

static void set_priorities(const struct ticket_snapshot *snapshot, struct arena *arena, struct ticket_ranks *r)
{
    double *tickets = alloc_doubles(r->count, arena), *urgency = alloc_doubles(r->count, arena);
    int32_t *posix = arena_alloc(arena, (r->count + (size_t)1) * sizeof *posix);
    r->norm_tickets = alloc_doubles(r->count, arena);
    r->norm_urgency = alloc_doubles(r->count, arena);
    r->norm_posix = alloc_doubles(r->count, arena);
    r->prior = alloc_doubles(r->count, arena);
    for (uint32_t i = 0; i < r->count; i++) {
        tickets[i] = r->tickets[i].total;
        urgency[i] = r->urgency[i].sum;
        posix[i] = snapshot->entries[i].posix_priority;
    }
    urgency_priorities(&snapshot->urgency, r->count, r->max_tickets, tickets, urgency, posix, r->norm_tickets,
                       r->norm_urgency, r->norm_posix, r->prior);
}

void ticket_ranks_make(const struct ticket_snapshot *snapshot, struct arena *arena, struct ticket_ranks *out_ranks)
{
    struct ticket_ranks r = {.entries = snapshot->entries, .count = snapshot->input.job_count};
    r.counted = arena_alloc(arena, r.count + (size_t)1);
    r.tickets = tickets_of(snapshot, arena, &r.max_tickets, r.counted);
    r.urgency = arena_alloc(arena, (r.count + (size_t)1) * sizeof *r.urgency);
    for (uint32_t i = 0; needs_urgency(snapshot) && i < r.count; i++)
        urgency_of_entry(snapshot, i, snapshot->input.jobs[i].submit_us, &r.urgency[i]);
    set_priorities(snapshot, arena, &r);
    for (uint32_t i = 0; !needs_urgency(snapshot) && i < r.count; i++) r.norm_urgency[i] = 0.0;
    *out_ranks = r;
}

double *ticket_ranks_of_running(struct state *s, int64_t now_us, struct arena *arena)
{
    struct ticket_snapshot snapshot;
    double *by_task = arena_alloc(arena, (s->tasks.count + (size_t)1) * sizeof *by_task);
    ticket_snapshot_make_running(&snapshot, s, now_us);
    double unused;
    const struct tickets *tickets = tickets_of(&snapshot, arena, &unused, NULL);
    for (uint32_t i = 0; i < snapshot.input.job_count; i++) by_task[snapshot.entries[i].task] = tickets[i].total;
    ticket_snapshot_release(&snapshot);
    return by_task;
}
