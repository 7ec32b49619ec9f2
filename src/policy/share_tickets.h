/* The share tree policy: each job's tickets from the share tree's pool. Private to the ticket policies of this
 * folder. */
#ifndef FAIRLEAD_POLICY_SHARE_TICKETS_H
#define FAIRLEAD_POLICY_SHARE_TICKETS_H

#include "policy/ticket_run.h"

/* Gives share tickets to the running jobs. */
void share_tickets_running(struct ticket_run *run);

/* The most tickets that a running job has if the share tree divides its pool among the pending jobs, too. The
 * functional and override tickets of running jobs are computed before. */
double share_tickets_running_max(struct ticket_run *run);

/* The most memory that these functions take, each called once. */
size_t share_tickets_memory(const struct ticket_input *in);

/* Gives share tickets to the pending jobs. is_dependent: they depend on the tickets so far, and are added to them. O(n)
 * for each level of the tree. */
void share_tickets_pending(struct ticket_run *run, bool is_dependent);

#endif
