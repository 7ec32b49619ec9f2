/* The question answered: the jobs are put in order once, each policy gives to the running jobs, then to the pending ones in
 * the order of policy_hierarchy:
 *
 *     hierarchy "SF":  share, then functional (by the share tickets), then override (by nothing, as O is not listed)
 *
 * A policy that is listed depends on the tickets of those before it: they decide which of somebody's jobs comes first, and
 * are part of the comparison when it takes the best. Those not listed follow, in the order O, F, S, and depend on nothing.
 * Invariant: held[job] is what the listed policies so far have given it. */
#include "policy/tickets.h"

#include <string.h>

#include "base/ensure.h"
#include "policy/ticket_run.h"

uint32_t ticket_tasks_counted(const struct ticket_rules *r, uint64_t free_slots, uint32_t pending_tasks)
{
    uint64_t max = free_slots < UINT32_MAX ? free_slots + 1 : UINT32_MAX;
    if (max > r->max_pending_tasks) max = r->max_pending_tasks;
    return max < pending_tasks ? (uint32_t)max : pending_tasks;
}

static void give_pending(struct ticket_run *run, char policy, bool is_dependent)
{
    switch (policy) {
    case 'O': override_tickets_pending(run, is_dependent); return;
    case 'F': functional_tickets_pending(run, is_dependent); return;
    case 'S': share_tickets_pending(run, is_dependent); return;
    default: ensure(!"a policy is O, F or S");
    }
}

/* The nodes as they are where only running jobs count: those above a virtual one whose user only waits are without what he
 * used. The question's own where there is no such node. */
static const struct ticket_node *nodes_of_running(const struct ticket_input *q, struct arena *arena)
{
    bool *is_running = arena_alloc(arena, q->node_count * sizeof *is_running);
    uint32_t absent = 0;
    for (uint32_t i = 0; i < q->job_count; i++) {
        const struct ticket_job *j = &q->jobs[i];
        if (j->is_running && j->node != NONE) is_running[j->node] = true;
    }
    for (uint32_t i = 0; i < q->node_count; i++) absent += q->nodes[i].is_virtual && !is_running[i];
    if (absent == 0) return q->nodes;

    struct ticket_node *nodes = arena_alloc(arena, q->node_count * sizeof *nodes);
    memcpy(nodes, q->nodes, q->node_count * sizeof *nodes);
    for (uint32_t i = 0; i < q->node_count; i++) {
        if (nodes[i].is_group || (nodes[i].is_virtual && !is_running[i])) nodes[i].usage = 0.0;
    }
    for (uint32_t i = q->node_count; i-- > 1;) {
        struct ticket_node *above = &nodes[nodes[i].parent];
        if (above->is_group) above->usage += nodes[i].usage;
    }
    return nodes;
}

static void give_running(struct ticket_run *run)
{
    const struct ticket_input *q = run->q;
    struct ticket_input of_running = *q;
    of_running.nodes = nodes_of_running(q, run->arena);
    run->q = &of_running;
    share_tickets_running(run);
    run->q = q;
    functional_tickets_running(run);
    override_tickets_running(run);
}

void tickets_compute(const struct ticket_input *q, struct arena *arena, struct tickets *out_tickets)
{
    for (uint32_t i = 0; i < q->job_count; i++) out_tickets[i] = (struct tickets){0};
    struct ticket_run run = ticket_run_begin(q, arena, out_tickets);
    give_running(&run);
    const char *listed = q->rules->hierarchy;
    for (const char *policy = listed; *policy != '\0'; policy++) give_pending(&run, *policy, true);
    for (const char *policy = "OFS"; *policy != '\0'; policy++) {
        if (strchr(listed, *policy) == NULL) give_pending(&run, *policy, false);
    }
    for (uint32_t i = 0; i < q->job_count; i++) {
        struct tickets *t = &out_tickets[i];
        t->total = t->share + t->functional + t->override;
    }
}
