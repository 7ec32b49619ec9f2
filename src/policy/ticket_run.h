/* Inside the tickets: what the policies have in common while one question is answered, and their steps. Not for others.
 *
 *     tickets.c         the question, the order of the policies, the sum
 *     ticket_run.c      the orders jobs stand in
 *     share_targets.c   how the share tree's pool is divided          share_tickets.c   what each job gets of it
 *     functional.c      the functional policy                         override.c        the override policy
 *     ticket_selection.c         which pending job is next, of many, for the last two
 */
#ifndef FAIRLEAD_POLICY_TICKET_RUN_H
#define FAIRLEAD_POLICY_TICKET_RUN_H

#include "base/sort.h"
#include "policy/tickets.h"

struct ticket_run {
    const struct ticket_input *q;
    struct arena *arena;
    struct tickets *out;
    double *held;                          /* by job: tickets of the policies before, which its order depends on */
    uint32_t pending_count;                /* the three orders are of pending jobs */
    uint32_t *by_list, *by_id, *by_age;    /* as given; by id and task; by submission, then id and task */
    uint32_t *id_place, *age_place;        /* by job: its place in the last two */
    uint32_t *running[MEMBER_KIND_COUNT];  /* by member: its running jobs */
    struct sort_record *records, *scratch; /* room for pending_count each */
};

/* Puts the question's jobs in order once. */
struct ticket_run ticket_run_begin(const struct ticket_input *q, struct arena *arena, struct tickets *out_tickets);

/* Pending jobs in the order somebody's own jobs stand: dependent on the tickets held, the most first, then by age; else as
 * the list has them. */
const uint32_t *ticket_run_order(const struct ticket_run *run, bool is_dependent);

/* Targets of every node that has jobs at or below it; 0 elsewhere. Arrays by node. */
struct share_targets {
    uint32_t *active;                     /* jobs at or below the node */
    double *long_term, *short_term;       /* among siblings */
    double *overall_long, *overall_short; /* of the whole tree */
};
void share_targets_compute(const struct ticket_rules *r, const struct ticket_node *nodes, uint32_t count,
                           const uint32_t *own_jobs, struct arena *arena, struct share_targets *out_targets);

/* What each policy gives: to running jobs, and to pending ones. */
void share_tickets_running(struct ticket_run *run);
void share_tickets_pending(struct ticket_run *run, bool is_dependent);
void functional_tickets_running(struct ticket_run *run);
void functional_tickets_pending(struct ticket_run *run, bool is_dependent);
void override_tickets_running(struct ticket_run *run);
void override_tickets_pending(struct ticket_run *run, bool is_dependent);

#endif
