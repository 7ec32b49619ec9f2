/* The jobs that wait and may start, as the pass looks at them (sched/queue.h): in each of its partitions a job is in
 * the group of those that differ only in their id, so the first one of each group is the next of it to start, and what
 * does not fit for it fits for none of the group.
 *
 * The groups follow the jobs lazily: a change of a job's row notes its id (pending_touch, from apply_note_change), and
 * the next pass takes the changes in (pending_update). A job whose begin is in the future waits for it in a heap.
 *
 * Invariants, after pending_update
 *   1. A job is in the groups of all its partitions if it has a pending task, is not held, waits for no other job, and
 *      its begin has come.
 *   2. Jobs of one group have equal priorities at equal ids, and a larger id never has a higher priority: the group's
 *      key has all that the priority depends on except the id and the time from which the age counts, which is that of
 *      the submission, or the same for all jobs of the group. With INCR_ONLY every job is a group of its own.
 * Derived from the rows; rebuilt after a restart, never stored. */
#ifndef FAIRLEAD_ENGINE_PENDING_H
#define FAIRLEAD_ENGINE_PENDING_H

#include "base/time_heap.h"
#include "engine/ranking.h"
#include "policy/multifactor.h"
#include "sched/demand.h"
#include "sched/queue.h"

/* What the jobs of a group have in common. */
struct pending_group {
    uint32_t partition;
    uint32_t place; /* of the partition among those of the jobs */
    uint32_t assoc, qos;
    bool has_more_partitions;    /* a job of the group has several */
    bool has_arrays;             /* whose tasks a limit may keep waiting */
    bool has_own_tickets;        /* job shares or override tickets of their own */
    bool is_reserving;           /* they ask for reservations */
    const struct demand *demand; /* of the live cluster, as of demand_made */
    uint32_t demand_made;        /* 0: none yet */
    /* The limit that kept them waiting when it was last looked at (pass_limits.h). */
    uint32_t blocked_counter, blocked_decrease_count, blocked_rules, blocked_rebuild;
    int64_t blocked_until_us;
    bool is_blocked;
    uint32_t entered_in; /* the last pass in which one of its jobs was a candidate (pass_priority.c) */
};

/* What bounds the place of a group's first job in the order. A pass reads that of every group, so it is small. */
struct pending_head {
    uint32_t edition;    /* of pending.head_edition; 0: to be made */
    uint32_t kind;       /* of its demand, without quotas (demand_bare_kind); NONE: there is no such group */
    int64_t duration_us; /* likewise */
    uint32_t node;       /* of the tree, whose factor counts; NONE: 0 */
    uint32_t partition;
    int64_t since_us;  /* the time from which its age counts; INT64_MAX: none */
    double rest;       /* the priority without age and fair share, not rounded */
    uint64_t position; /* that of pending_first */
};

/* The first job of a group, with what its place depends on. */
struct pending_first {
    uint32_t at;                    /* the job's entry in the group */
    uint64_t position;              /* and the place of the partition */
    int64_t since_us;               /* 0: none */
    uint32_t priority;              /* NONE: computed from terms */
    struct multifactor_terms terms; /* age and fair share do not count */
};

/* What the ticket policies see of a group's jobs (ticket_heads.c), side by side like the heads. */
struct pending_tickets {
    uint32_t edition; /* of state.rules_edition, as of which job and entry are made; NONE: not made yet */
    uint32_t depth;   /* how many of its first tasks the next pass ranks; 0: one */
    uint32_t assoc;
    bool has_rows;        /* what counts is in the rows: arrays, and requests */
    bool has_ends;        /* the next four are known */
    uint32_t first, last; /* the entries of the first job and of the last one */
    uint32_t job_count;
    int64_t last_submit_us;
    struct ticket_job job; /* the first one; the others differ only in id and submission */
    struct ticket_entry entry;
};

/* What the groups have of a job: the group in each of its partitions. */
struct pending_job {
    uint32_t job_id;
    uint32_t group_count;
    union {
        uint32_t only_group;  /* of one partition: without an allocation for each job */
        uint32_t *group_list; /* of several */
    };
    uint32_t reserved_in;       /* the last pass that reserved it (pending.pass_count) */
    uint32_t reserved_tasks;    /* in that pass */
    uint32_t first_reservation; /* in that pass: index in pass.reservations */
};

/* Its group in the i-th of its partitions. */
static inline uint32_t pending_job_group(const struct pending_job *job, uint32_t i)
{
    return job->group_count > 1 ? job->group_list[i] : job->only_group;
}

struct pending {
    struct queue queue;
    ARRAY(struct pending_group) groups;      /* by index of the queue's groups */
    ARRAY(struct pending_head) heads;        /* likewise */
    ARRAY(struct pending_first) firsts;      /* likewise */
    ARRAY(struct pending_tickets) tickets;   /* likewise */
    uint64_t head_source;                    /* what heads depend on beside the group's jobs */
    uint32_t head_edition;                   /* counts its changes */
    struct queue_shortlist fitting, blocked; /* of the current pass (pass_priority.c) */
    ARRAY(struct pending_job) jobs;          /* also unused ones: job_id 0 */
    ARRAY(uint32_t) unused;
    struct map by_id;        /* job id -> index in jobs */
    struct time_heap begins; /* of jobs whose begin is in the future; some may have changed since */
    ARRAY(uint32_t) touched; /* ids of jobs whose rows have changed */
    bool is_valid;           /* false: to be rebuilt from all rows */
    bool are_alike;          /* false: every job is a group of its own */
    bool is_unsteady;        /* a job was submitted at an earlier time than one with a smaller id */
    uint32_t newest_job_id;  /* of the jobs that were looked at, and its submission */
    int64_t newest_submit_us;
    uint32_t jobs_started; /* in the current pass; their entries are still there */
    uint64_t added;        /* counts the jobs that were added */
    uint32_t pass_count;
    struct buf key;
};

/* Notes that a job's row is new or has changed. O(1). */
void pending_touch(struct state *s, uint32_t job_id);

/* Takes in what was noted, and jobs whose begin has come. are_alike: whether jobs may share a group; not with
 * INCR_ONLY. O(jobs noted); O(jobs) the first time and when are_alike changes. */
void pending_update(struct state *s, int64_t now_us, bool are_alike);

/* The same if many changes were noted, to be called after each event: on full hosts, and while jobs are cancelled in
 * slices, no pass takes them in, and the next one would have 10^5 of them at once, 0.1 s. Returns whether there
 * were. */
bool pending_update_if_many(struct state *s, int64_t now_us, bool are_alike);

/* The next begin of a waiting job, or 0. */
int64_t pending_next_begin_us(const struct state *s);

/* The job of an entry of the queue. */
static inline const struct job *pending_entry_job(const struct state *s, const struct queue_entry *entry)
{
    return &s->jobs.items[state_find_job(s, entry->job)];
}

/* Drops all; the next update rebuilds them. */
void pending_invalidate(struct state *s);
void pending_free(struct pending *p); /* NULL is allowed */

#endif
