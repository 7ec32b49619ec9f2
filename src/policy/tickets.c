/* The jobs are put in order once. Each policy then gives tickets to the running jobs, and after that to the pending
 * ones in the order of policy_hierarchy:
 *
 *     hierarchy "SF":  share, then functional (which depends on the share tickets), then override (which depends on
 *                      none, because O is not listed)
 *
 * A policy that is listed depends on the tickets that the policies before it gave. They decide the order among the jobs
 * of one user, and they count in the comparison when the policy selects the best job. Policies that are not listed
 * follow in the order O, F, S and depend on none.
 *
 * Invariant: tickets_so_far[job] is the sum of the tickets that the listed policies gave to a job so far. */
#include "policy/tickets.h"

#include <string.h>

#include "base/ensure.h"
#include "policy/functional_tickets.h"
#include "policy/override_tickets.h"
#include "policy/share_tickets.h"
#include "policy/ticket_selection.h"

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

double tickets_compute_counted(const struct ticket_input *in, struct arena *arena, struct tickets *out_tickets,
                               bool *out_counted)
{
    for (uint32_t i = 0; i < in->job_count; i++) out_tickets[i] = (struct tickets){0};
    for (uint32_t i = 0; out_counted != NULL && i < in->job_count; i++) out_counted[i] = false;
    struct ticket_run run = ticket_run_begin(in, arena, out_tickets);
    run.counted = out_counted;
    share_tickets_running(&run);
    functional_tickets_running(&run);
    override_tickets_running(&run);

    const char *listed = in->rules->hierarchy;
    for (const char *policy = listed; *policy != '\0'; policy++) give_pending(&run, *policy, true);
    for (const char *policy = "OFS"; *policy != '\0'; policy++) {
        if (strchr(listed, *policy) == NULL) give_pending(&run, *policy, false);
    }
    double max = run.pending_count > 0 ? share_tickets_running_max(&run) : 0.0;
    for (uint32_t i = 0; i < in->job_count; i++) {
        struct tickets *t = &out_tickets[i];
        t->total = t->share + t->functional + t->override;
        if (t->total > max) max = t->total;
    }
    return max;
}

/* The functional and the override policy each select once, with an order and a number for each job, and with two
 * numbers for each member. */
size_t tickets_memory(const struct ticket_input *in)
{
    size_t selection = ticket_selection_memory(in) + arena_size(in->job_count, sizeof(uint32_t)) +
                       arena_size(in->job_count, sizeof(double));
    for (int k = 0; k < MEMBER_KIND_COUNT; k++) selection += arena_size(in->member_count[k], 2 * sizeof(double));
    return ticket_run_memory(in) + share_tickets_memory(in) + 2 * selection;
}

double tickets_compute(const struct ticket_input *in, struct arena *arena, struct tickets *out_tickets)
{
    return tickets_compute_counted(in, arena, out_tickets, NULL);
}
