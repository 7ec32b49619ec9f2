/* Tickets: each job's tickets from Grid Engine's three policies at one time.
 *
 *     tickets(job) = override + functional + share
 *
 *     share       a pool that is divided down the share tree; users who used less than their part get more
 *     functional  a pool that is divided by the shares of the job's user, project, department, job class and its own
 *     override    tickets that an administrator gives outright
 *
 * Pending jobs are ranked as if they started one after another: the more jobs of the same user come before a job, the
 * fewer tickets it gets. policy_hierarchy decides the order among the jobs of one user.
 *
 *     tickets.c             the order of the policies, and the sum       ticket_run.c            the orders of the jobs
 *     share_targets.c       how the share tree divides its pool          share_tickets.c         each job's part of it
 *     functional_tickets.c  the functional policy                        override_tickets.c      the override policy
 *     ticket_selection.c    selects jobs one by one, for these two       tournament.c            the best of many jobs
 *     share_order.c         the share tree's order of jobs, one by one
 *
 * Source: docs/formulas.md 5; Grid Engine 8.1.9, cases c1 to c5, d1 to d4, e1, e2. */
#ifndef FAIRLEAD_POLICY_TICKETS_H
#define FAIRLEAD_POLICY_TICKETS_H

#include "policy/share_nodes.h"
#include "policy/ticket_usage.h"

enum compensation_rule { COMPENSATION_PROGRAM, COMPENSATION_MANUAL };

/* Filled from the settings (policy/policy.h). */
struct ticket_rules {
    double share_pool, functional_pool; /* weight_tickets_share, weight_tickets_functional */
    bool share_functional_shares, share_override_tickets;
    uint32_t max_functional_jobs, max_pending_tasks;
    char hierarchy[4]; /* "OFS"; "" is NONE */
    double weight_user, weight_project, weight_department, weight_job, weight_job_class;
    double compensation_factor;
    enum compensation_rule compensation_rule;
    bool report_pending;                      /* report_pjob_tickets; this and the next two are for the caller */
    bool charges_reserved, accounts_reserved; /* SHARETREE_RESERVED_USAGE, ACCT_RESERVED_USAGE */
    struct usage_weights usage_weights;
    struct ticket_decay decay;
};

/* A user, project, department or job class (partition), as the policies see it. */
struct ticket_member {
    double fshare, oticket;
};

/* The kinds of members, in the order in which the policies add them up. */
enum ticket_member_kind { MEMBER_USER, MEMBER_DEPARTMENT, MEMBER_PROJECT, MEMBER_JOB_CLASS, MEMBER_KIND_COUNT };

/* A node of the active tree: the caller's share_nodes with their combined usage, and a virtual node for each user with
 * running or pending jobs that a `default` node serves. Parents come before children. */
struct ticket_node {
    uint32_t parent; /* the root's is NONE */
    double shares, usage;
    bool is_group; /* its usage is the sum of its children's */
};

struct ticket_job {
    uint32_t id, task; /* ties: smaller first */
    int64_t submit_us; /* ties: earlier first */
    bool is_running;
    uint32_t member[MEMBER_KIND_COUNT]; /* indices into the input's members, or NONE */
    uint32_t node;                      /* the leaf that serves it, or NONE */
    double job_share, override_tickets; /* -js, -ot */
    uint32_t slots;                     /* the minimum of its first range; 1 for a serial job */
};

/* All that tickets depend on. Each ranked pending task of an array (ticket_tasks_counted) is a job of its own. */
struct ticket_input {
    const struct ticket_rules *rules;
    const struct ticket_member *members[MEMBER_KIND_COUNT];
    uint32_t member_count[MEMBER_KIND_COUNT];
    const struct ticket_node *nodes;
    uint32_t node_count; /* 0: no share tree */
    const struct ticket_job *jobs;
    uint32_t job_count;
    /* Indices of the pending jobs in the order of the scheduler's list: by submission, except that changed jobs come
     * last. An entry for each pending job; the caller's. NULL: in the order of jobs. */
    const uint32_t *list;
    /* By node: the jobs that it serves, if only some of its pending jobs, at least its first one, are in jobs. Their
     * share tickets are then of no use; all other results are right. NULL: those in jobs. */
    const uint32_t *node_jobs;
};

struct tickets {
    double override, functional, share, total;
};

/* Computes the tickets of all jobs. out_tickets: an entry for each job, in the same order. No number of the input may
 * be negative. Returns the number of tickets that is normalised to 1 (docs/formulas.md 5.7). O(n log n) for n jobs, and
 * O(n) for each level of the tree. In addition, each selection of the functional policy updates every set of jobs
 * (ticket_selection.h). */
double tickets_compute(const struct ticket_input *in, struct arena *arena, struct tickets *out_tickets);

/* The same. out_counted: an entry for each job, whether it is a pending one that the functional policy counted
 * (max_functional_jobs of them); NULL: not wanted. */
double tickets_compute_counted(const struct ticket_input *in, struct arena *arena, struct tickets *out_tickets,
                               bool *out_counted);

/* The most memory that tickets_compute takes of its arena. O(jobs). */
size_t tickets_memory(const struct ticket_input *in);

/* The number of an array's pending tasks that are ranked. */
uint32_t ticket_tasks_counted(const struct ticket_rules *r, uint64_t free_slots, uint32_t pending_tasks);

#endif
