/* The functional policy: each job's tickets from the functional pool. Private to the ticket policies of this folder. */
#ifndef FAIRLEAD_POLICY_FUNCTIONAL_TICKETS_H
#define FAIRLEAD_POLICY_FUNCTIONAL_TICKETS_H

#include "policy/ticket_run.h"

/* Gives functional tickets to the running jobs. O(n). */
void functional_tickets_running(struct ticket_run *run);

/* Gives functional tickets to the pending jobs. is_dependent: they depend on the tickets so far, and are added to them.
 * O(n log n) plus the cost of the selections (ticket_selection.h). */
void functional_tickets_pending(struct ticket_run *run, bool is_dependent);

#endif
