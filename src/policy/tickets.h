/* Tickets: what each job gets of Grid Engine's three policies, at one moment.
 *
 *     tickets(job) = override + functional + share
 *
 *     share       a pool divided down the share tree; who used less than his part gets more for now
 *     functional  a pool divided by the shares of the job's user, project, department, job class and its own
 *     override    given outright by an administrator
 *
 * Pending jobs are ranked as though they started one after another: the more of somebody's jobs stand before, the fewer
 * tickets. In which order somebody's own jobs stand is what policy_hierarchy decides.
 * Source: docs/formulas.md 5; Grid Engine 8.1.9, cases c1 to c5, d1 to d4, e1, e2. */
#ifndef FAIRLEAD_POLICY_TICKETS_H
#define FAIRLEAD_POLICY_TICKETS_H

#include "policy/share_nodes.h"
#include "policy/ticket_usage.h"

enum compensation_rule { COMPENSATION_PROGRAM, COMPENSATION_MANUAL };

/* From settings (policy/policy.h). */
struct ticket_rules {
    double share_pool, functional_pool; /* weight_tickets_share, weight_tickets_functional */
    bool share_functional_shares, share_override_tickets;
    uint32_t max_functional_jobs, max_pending_tasks;
    char hierarchy[4]; /* "OFS"; "" is NONE */
    double weight_user, weight_project, weight_department, weight_job, weight_job_class;
    double compensation_factor;
    enum compensation_rule compensation_rule;
    bool report_pending; /* report_pjob_tickets; the caller's business */
    double usage_weights[USAGE_RESOURCE_COUNT];
    struct ticket_decay decay;
};

/* A user, project, department or job class (partition) by what the policies give it. */
struct ticket_member {
    double fshare, oticket;
};

/* The kinds of members, in the order the policies add them up. */
enum ticket_member_kind { MEMBER_USER, MEMBER_DEPARTMENT, MEMBER_PROJECT, MEMBER_JOB_CLASS, MEMBER_KIND_COUNT };

/* A node of the active tree: the caller's share_nodes with a virtual node per user where `default` serves, and combined
 * usage. Parents before children. */
struct ticket_node {
    uint32_t parent; /* root: NONE */
    double shares, usage;
    bool is_group;   /* its usage is the sum of its children's */
    bool is_virtual; /* there while its user has jobs: where only running jobs count, only with running ones */
};

struct ticket_job {
    uint32_t id, task; /* ties: smaller first */
    int64_t submit_us; /* ties: earlier first */
    bool is_running;
    uint32_t member[MEMBER_KIND_COUNT]; /* indices into the question's members, or NONE */
    uint32_t node;                      /* the leaf that serves it, or NONE */
    double job_share, override_tickets; /* -js, -ot */
    uint32_t slots;                     /* the least of its first range; 1 for a serial job */
};

/* Jobs in the scheduler's list order: by id, but one that was changed stands last. An array's pending tasks are jobs of their
 * own here, as many as count (ticket_tasks_counted). */
struct ticket_input {
    const struct ticket_rules *rules;
    const struct ticket_member *members[MEMBER_KIND_COUNT];
    uint32_t member_count[MEMBER_KIND_COUNT];
    const struct ticket_node *nodes; /* may be none: no share tree */
    uint32_t node_count;
    const struct ticket_job *jobs;
    uint32_t job_count;
};

struct tickets {
    double override, functional, share, total;
};

/* out: an entry for each job, in the same order. O(n log n) for n jobs, and O(n) for each level of the tree; choices that
 * the functional policy makes look at every set of jobs besides (ticket_selection.h). Nothing in it may be negative. */
void tickets_compute(const struct ticket_input *q, struct arena *arena, struct tickets *out_tickets);

/* How many of an array's pending tasks take part. */
uint32_t ticket_tasks_counted(const struct ticket_rules *r, uint64_t free_slots, uint32_t pending_tasks);

/* Long and short term targets of every node, of all jobs given: what the share policy divides by. Any out may be NULL. */
void share_targets(const struct ticket_rules *r, const struct ticket_node *nodes, uint32_t count,
                   const uint32_t *active_jobs /* by node, of jobs that it serves itself */, struct arena *arena,
                   double *out_long_term, double *out_short_term);

#endif
