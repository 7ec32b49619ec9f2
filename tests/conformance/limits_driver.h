/* The state of the program that runs recorded cases of limits (limits_driver.c), and its listings. */
#ifndef FAIRLEAD_TESTS_LIMITS_DRIVER_H
#define FAIRLEAD_TESTS_LIMITS_DRIVER_H

#include "store/store.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* A launch, as the pretend executor knows it. */
struct launched {
    uint64_t launch_id;
    int64_t started_us, run_us, ends_us;
    enum job_state end;
    int64_t suspended_us; /* how long it was suspended before */
    bool is_suspended;
};

struct submission {
    uint32_t job_id;
    int64_t run_us; /* its own run time */
};

struct driver {
    struct state s;
    struct store *store;
    struct outcome out;
    bool has_no_passes;
    uint32_t decisions_done; /* of out.decisions, carried out */
    struct event_result result;
    struct err e;
    int64_t now_us;
    struct arena arena, lasting; /* of the command; of all */
    ARRAY(struct launched) runs;
    ARRAY(struct submission) submissions;
    ARRAY(struct job_ref) starts;   /* since the last listing of them; task_id NONE: a plain job */
    ARRAY(struct event_host) hosts; /* attached ones; names in lasting */
};

/* Prints one line for each task: job, task ("-": none), state, pending reason ("-": it is not pending), CPUs, nodes,
 * time limit in seconds, account, user, QOS, partition, billing units a second, usage factor, TRES. An array's pending
 * tasks have a line each. */
void listing_jobs(struct driver *d);

/* Prints one line with the job and the task of each start since the last call, in order. */
void listing_starts(struct driver *d);

/* Prints one line for each association, each QOS, and each user and account of a QOS, with what limits count there
 * (limits_counters.c), as NAME|JOBS|SUBMITTED|USAGE|WALL|TRES|TRES_USAGE|RESERVED: running jobs, all jobs, usage in
 * billing-seconds, run time in seconds; TRES of running jobs, usage and reserve in TRES-seconds as lists. A user or an
 * account of a QOS has neither usage nor reserve. */
void listing_counters(struct driver *d);

#endif
