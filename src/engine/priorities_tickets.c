/* The answer to Grid Engine's question (ticket_snapshot.c): tickets and urgency of each entry, and the priority that they
 * make together. It looks at nothing but the question. */
#include "engine/ranking.h"

static struct tickets *tickets_of(const struct ticket_snapshot *a, struct arena *arena)
{
    struct ticket_input q = a->question;
    struct tickets *tickets = arena_alloc(arena, (q.job_count + (size_t)1) * sizeof *tickets);
    q.rules = &a->rules;
    tickets_compute(&q, arena, tickets);
    return tickets;
}

static void urgency_of_entry(const struct ticket_snapshot *a, uint32_t i, struct urgency *out)
{
    const struct ticket_job *j = &a->question.jobs[i];
    const struct ticket_entry *e = &a->entries[i];
    struct urgency_job asked = {.slots_min = j->slots,
                                .slots_max = e->slots_max > j->slots ? e->slots_max : j->slots,
                                .requests = e->requests,
                                .request_count = e->request_count,
                                .submit_us = j->submit_us,
                                .deadline_us = e->deadline_us,
                                .posix_priority = e->posix_priority};
    struct urgency_rules rules = a->urgency;
    rules.slots_rule = e->slots_rule;
    rules.slots_number = e->slots_number;
    urgency_of(&rules, a->slots_urgency, a->now_us, &asked, out);
}

static double *numbers(uint32_t count, struct arena *arena)
{
    return arena_alloc(arena, (count + (size_t)1) * sizeof(double));
}

static void set_priorities(const struct ticket_snapshot *a, struct arena *arena, struct ticket_ranks *r)
{
    double *tickets = numbers(r->count, arena), *urgency = numbers(r->count, arena);
    int32_t *posix = arena_alloc(arena, (r->count + (size_t)1) * sizeof *posix);
    r->norm_tickets = numbers(r->count, arena);
    r->norm_urgency = numbers(r->count, arena);
    r->norm_posix = numbers(r->count, arena);
    r->prior = numbers(r->count, arena);
    for (uint32_t i = 0; i < r->count; i++) {
        tickets[i] = r->tickets[i].total;
        urgency[i] = r->urgency[i].sum;
        posix[i] = a->entries[i].posix_priority;
    }
    urgency_priorities(&a->urgency, r->count, tickets, urgency, posix, r->norm_tickets, r->norm_urgency, r->norm_posix,
                       r->prior);
}

void ticket_ranks_make(const struct ticket_snapshot *a, struct arena *arena, struct ticket_ranks *out_ranks)
{
    struct ticket_ranks r = {.entries = a->entries, .count = a->question.job_count};
    r.tickets = tickets_of(a, arena);
    r.urgency = arena_alloc(arena, (r.count + (size_t)1) * sizeof *r.urgency);
    for (uint32_t i = 0; i < r.count; i++) urgency_of_entry(a, i, &r.urgency[i]);
    set_priorities(a, arena, &r);
    *out_ranks = r;
}

double *ticket_ranks_of_running(struct state *s, int64_t now_us, struct arena *arena)
{
    struct ticket_snapshot a;
    double *by_task = arena_alloc(arena, (s->tasks.count + (size_t)1) * sizeof *by_task);
    ticket_snapshot_make_running(&a, s, now_us);
    const struct tickets *tickets = tickets_of(&a, arena);
    for (uint32_t i = 0; i < a.question.job_count; i++) by_task[a.entries[i].task] = tickets[i].total;
    ticket_snapshot_release(&a);
    return by_task;
}
