/* Who comes first and why: every pending job in every partition it asks for, and with the tickets model and
 * CALCULATE_RUNNING every running one, with all the terms of the model in force. The pass sorts by it, `fairlead prio` shows
 * it. */
#ifndef FAIRLEAD_ENGINE_PRIORITIES_H
#define FAIRLEAD_ENGINE_PRIORITIES_H

#include "engine/state.h"

/* A job in one partition; or a running task. */
struct priority_row {
    uint32_t job;       /* index */
    uint32_t task;      /* index of a running task, or NONE */
    uint32_t partition; /* index of objects[OBJECT_PARTITION] */
    double priority; /* what is sorted by, highest first: whole in multifactor and basic, prior in tickets; 0: held */
    double billing;  /* what it costs or would cost there */
    /* By the model. */
    struct multifactor_factors factors;
    struct multifactor_terms terms;
    double *tres_terms; /* weighted, by index of policy.tres; NULL: none */
    struct tickets tickets;
    struct urgency urgency;
    double norm_tickets, norm_urgency, norm_posix;
};

struct priorities {
    enum priority_model model;
    struct priority_row *rows; /* by job, then in the order of the job's partitions; running tasks after pending */
    uint32_t count;
};

/* What is the caller's to know:
 *   tickets      an array that waits has the numbers of its first task; a job that asks for several partitions has the same in
 *                each, the first being its job class; what takes no part (held, not begun) has none
 *   INCR_ONLY    priority may be larger than terms.priority: it is at least the minimum priority. Reading raises nothing
 *   basic        the ids say who came first
 * Of all jobs; job_id not NONE: only that one's rows are kept (the numbers are the same). In memory of arena. O(associations
 * + jobs log jobs). */
void state_priorities(struct state *s, int64_t now_us, uint32_t job_id, struct arena *arena, struct priorities *out);

/* By priority/tickets, at most so many tasks take part: of an instance's arrays fewer do where there would be more; a document
 * with more is refused. And so many pending tasks of one array take part at most. O(tasks) */
enum { TICKET_ENTRIES_MAX = 1000000 };
uint32_t ticket_snapshot_tasks_max(const struct state *s);

/* What keeps a job from starting however much is free, in Slurm's words: "PartitionTimeLimit" (every partition's MaxTime is
 * below its time limit by now), "QOSUsageThreshold"; NULL: nothing of that kind, or no such job. factor: the fair-share
 * factor of its association. O(partitions of the job). */
const char *job_pending_reason(const struct state *s, uint32_t job_id, double factor);

#endif
