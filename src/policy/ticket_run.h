/* The data that the ticket policies share for one input: the orders of its jobs, and the tickets so far. Private to the
 * ticket policies of this folder. */
#ifndef FAIRLEAD_POLICY_TICKET_RUN_H
#define FAIRLEAD_POLICY_TICKET_RUN_H

#include "base/sort.h"
#include "policy/tickets.h"

struct ticket_run {
    const struct ticket_input *in;
    struct arena *arena;
    struct tickets *tickets;                    /* by job: the result */
    double *tickets_so_far;                     /* by job: those of the listed policies so far */
    uint32_t pending_count;                     /* the next three orders have the pending jobs */
    uint32_t *by_list, *by_id, *by_age;         /* the list; by id and task; by submission, then id and task */
    uint32_t *id_position, *age_position;       /* by job: its position in by_id and in by_age */
    uint32_t *running_count[MEMBER_KIND_COUNT]; /* by member: its running jobs */
    bool *counted;                              /* by job: the functional policy has counted it; NULL: not wanted */
    struct sort_record *records, *scratch;      /* room for job_count each, for each policy to sort with */
};

/* Puts the jobs of the input in their orders. All memory is arena's. O(n). */
struct ticket_run ticket_run_begin(const struct ticket_input *in, struct arena *arena, struct tickets *out_tickets);

/* The memory that ticket_run_begin takes. */
size_t ticket_run_memory(const struct ticket_input *in);

/* The pending jobs in the order that decides among the jobs of one user: if the policy is dependent, by the tickets so
 * far, highest first, and then by age; otherwise as listed. O(n). */
const uint32_t *ticket_run_order(const struct ticket_run *run, bool is_dependent);

#endif
