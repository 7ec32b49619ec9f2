/* The override policy: tickets that an administrator gives outright. Private to the ticket policies of this folder. */
#ifndef FAIRLEAD_POLICY_OVERRIDE_TICKETS_H
#define FAIRLEAD_POLICY_OVERRIDE_TICKETS_H

#include "policy/ticket_run.h"

/* Gives override tickets to the running jobs. O(n). */
void override_tickets_running(struct ticket_run *run);

/* Gives override tickets to the pending jobs. is_dependent: they depend on the tickets so far, and are added to them.
 * O(n log n). */
void override_tickets_pending(struct ticket_run *run, bool is_dependent);

#endif
