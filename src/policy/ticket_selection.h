/* Which pending job is next, where each one taken makes those of the same user, project, department and job class worth
 * less. Both the functional and the shared override policy take the best job, count it as running, and look again.
 *
 * Jobs of the same members with shares and the same shares of their own are a group and stand in line; only the first of a
 * group competes. Groups that differ in the user alone are a set and run one race (race.h): what else their value is made
 * of, they have in common. Sets wait in a heap by what they were worth when last looked at, which only ever shrinks.
 *
 *     set      p1, no department, -js 0        p1, no department, -js 100
 *     groups   ua: 7 8 12   ub: 9   uc: 10     ua: 11
 */
#ifndef FAIRLEAD_POLICY_TICKET_SELECTION_H
#define FAIRLEAD_POLICY_TICKET_SELECTION_H

#include "base/map.h"
#include "policy/ticket_run.h"
#include "policy/tournament.h"

/* What a job competes with: its members that have shares, NONE for the others, and its own shares. */
struct job_key {
    uint32_t member[MEMBER_KIND_COUNT];
    double own;
};

/* A job in line. */
struct ticket_selection_job {
    double held; /* counts for the comparison */
    uint32_t job, place;
};

/* A user with shares. */
struct ticket_selection_user {
    double amount;
    uint32_t counted; /* jobs that run, or were taken */
    uint32_t member;  /* who it is, among the question's users */
};

struct ticket_selection_group {
    uint32_t user; /* among the ticket_selection's, or NONE */
    uint32_t set;
    uint32_t next, end; /* its jobs still in line: next to end of the ticket_selection's jobs */
};

struct ticket_selection_set {
    struct job_key standing; /* user is NONE */
    uint32_t first_group, group_count;
    struct tournament race; /* racer i: group first_group + i */
    double value;           /* of the first, when last looked at */
    uint32_t place;
};

/* A policy: who competes, and what a job is worth. */
struct ticket_selection_rules {
    const void *policy;
    /* False: the job does not take part. */
    bool (*job_key_of)(const void *policy, const struct ticket_job *j, struct job_key *out);
    /* What the groups of a set have in common now. */
    struct tournament_context (*moment_of)(const void *policy, const struct job_key *set);
    /* What a user has: the share of each job, or where it is divided of the first. */
    double (*amount_of)(const void *policy, uint32_t member);
    bool is_divided;       /* a user's n-th job has the n-th part */
    const double *held;    /* by job; NULL: nothing is */
    const uint32_t *place; /* by job, among equals */
};

struct ticket_selection {
    const struct ticket_selection_rules *rules;
    struct ticket_selection_job *jobs; /* in line, group by group */
    uint32_t job_count;
    struct ticket_selection_group *groups; /* set by set */
    uint32_t group_count;
    struct ticket_selection_set *sets;
    uint32_t set_count;
    struct ticket_selection_user *users;
    uint32_t user_count;
    uint32_t *heap, heap_count; /* sets with a job left, the best first */
};

/* order: the pending jobs in the order in which those of a group stand in line. */
struct ticket_selection ticket_selection_make(const struct ticket_run *run, const uint32_t *order,
                                              const struct ticket_selection_rules *rules);

/* The group whose first job is best now, or NONE. out_value: what it is worth, with what it holds; may be NULL. */
uint32_t ticket_selection_best(struct ticket_selection *c, double *out_value);

/* What the group's first job competes with. */
struct job_key ticket_selection_key(const struct ticket_selection *c, uint32_t group);

/* What it is worth now, without what it holds. */
double ticket_selection_value(const struct ticket_selection *c, uint32_t group);

/* Takes it out of the line and counts it for its user; the policy has counted it for the others. */
void ticket_selection_take(struct ticket_selection *c, uint32_t group);

#endif
