/* Selects pending jobs one after another, where each selected job reduces the values of the jobs of the same user,
 * project, department and job class. The functional policy and the shared override policy select the best job, count it
 * as running, and repeat.
 *
 * Jobs with the same shares of their own and the same members that have shares form a group, which is a line. Only the
 * first job of a group competes. Groups that differ only in the user form a set, and are the players of one tournament
 * (tournament.h): all other terms of their values are equal. The sets are in a heap, by the value that each had at its
 * last update. Values never rise.
 *
 *     set      p1, no department, -js 0        p1, no department, -js 100
 *     groups   ua: 7 8 12   ub: 9   uc: 10     ua: 11
 */
#ifndef FAIRLEAD_POLICY_TICKET_SELECTION_H
#define FAIRLEAD_POLICY_TICKET_SELECTION_H

#include "policy/ticket_run.h"
#include "policy/tournament.h"

/* The key of a group: the members that have shares, NONE for the others, and the job's own shares. */
struct job_key {
    uint32_t member[MEMBER_KIND_COUNT];
    double own;
};

/* A job in line. */
struct ticket_selection_job {
    double tickets_so_far; /* added to its value */
    uint32_t job;
    uint32_t rank; /* among jobs of equal value, the smallest comes first */
};

/* A user with shares. */
struct ticket_selection_user {
    double amount;
    uint32_t counted; /* jobs that run or were taken */
    uint32_t member;  /* index among the input's users */
};

struct ticket_selection_group {
    uint32_t user; /* index among the selection's users, or NONE */
    uint32_t set;
    uint32_t next, end; /* its jobs still in line are the selection's jobs [next, end) */
};

struct ticket_selection_set {
    struct job_key key; /* the user is NONE */
    uint32_t first_group, group_count;
    struct tournament tournament; /* player i: group first_group + i */
    double value;                 /* of its best job, at the last update */
    uint32_t rank;                /* of that job */
};

/* A policy: the jobs that compete, and their values. */
struct ticket_selection_rules {
    const void *policy;
    /* Fills the key of a job. False: the job does not compete. */
    bool (*key_of)(const void *policy, const struct ticket_job *j, struct job_key *out_key);
    /* The present context of a set's tournament. */
    struct tournament_context (*context_of)(const void *policy, const struct job_key *set);
    /* The share of each of a user's jobs, or if is_divided, of the first one. */
    double (*amount_of)(const void *policy, uint32_t member);
    bool is_divided;              /* the n-th job of a user has the n-th part */
    const double *tickets_so_far; /* by job; NULL: 0 */
    const uint32_t *rank;         /* by job */
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

/* Groups the pending jobs. order: the order of the jobs within a group. rules has to live as long as the result.
 * O(n log n). */
struct ticket_selection ticket_selection_make(const struct ticket_run *run, const uint32_t *order,
                                              const struct ticket_selection_rules *rules);

/* The most memory that ticket_selection_make takes of the arena. O(jobs). */
size_t ticket_selection_memory(const struct ticket_input *in);

/* The group whose first job is the best one, or NONE. out_value: that job's value, including its tickets so far; may be
 * NULL. O(log n), plus an update of each set whose last value is larger than the value of the best job. */
uint32_t ticket_selection_best(struct ticket_selection *s, double *out_value);

/* The key of the group's first job, with its user. */
struct job_key ticket_selection_key(const struct ticket_selection *s, uint32_t group);

/* The present value of the group's first job, without its tickets so far. */
double ticket_selection_value(const struct ticket_selection *s, uint32_t group);

/* Removes the group's first job from its line and counts it for its user. The policy counts it for the other
 * members. */
void ticket_selection_take(struct ticket_selection *s, uint32_t group);

#endif
