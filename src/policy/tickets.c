#include "policy/tickets.h"

uint32_t ticket_tasks_considered(const struct ticket_rules *r, uint64_t free_slots, uint32_t pending_tasks)
{
    uint64_t most = free_slots < UINT32_MAX ? free_slots + 1 : UINT32_MAX;
    if (most > r->max_pending_tasks) most = r->max_pending_tasks;
    return most < pending_tasks ? (uint32_t)most : pending_tasks;
}

void share_targets(const struct ticket_rules *r, const struct ticket_node *nodes, uint32_t count,
                   const uint32_t *active_jobs, struct arena *arena, double *out_long_term, double *out_short_term)
{
    (void)r, (void)nodes, (void)active_jobs, (void)arena;
    for (uint32_t i = 0; i < count; i++) {
        if (out_long_term != NULL) out_long_term[i] = 0.0;
        if (out_short_term != NULL) out_short_term[i] = 0.0;
    }
}

void tickets_compute(const struct ticket_question *q, struct arena *arena, struct tickets *out_tickets)
{
    (void)arena;
    for (uint32_t i = 0; i < q->job_count; i++) out_tickets[i] = (struct tickets){0};
}
