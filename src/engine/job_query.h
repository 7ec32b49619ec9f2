/* A job or task as a person sees it: one row of a listing, joined from job, task and association, ready to print. The
 * store makes them from a snapshot, so a listing of any length is of one moment. */
#ifndef FAIRLEAD_ENGINE_JOB_QUERY_H
#define FAIRLEAD_ENGINE_JOB_QUERY_H

#include "engine/state.h"

/* One row: a started or ended task; or what of a job has not started (task_id NONE, state PENDING); or what of it was
 * cancelled before it started (task_id NONE, state CANCELLED). Text is never NULL; moments are 0 when there was none.
 * Pointers are good until the next row is asked for. */
struct job_view {
    uint32_t job_id, task_id;
    bool is_array;
    const char *tasks; /* of a row without task_id of an array: "3-9" */
    uint32_t array_limit;
    uint32_t task_count; /* how many tasks the row stands for */
    uint32_t assoc_id;
    const char *account, *user;
    uint32_t uid;
    const char *name, *command, *directory, *out_path, *err_path;
    enum job_state state;
    bool held;
    const char *reason;        /* why it waits: "JobHeldUser", "BeginTime", "JobArrayTaskLimit", "Resources"; else
                         "None" */
    const char *partition;     /* of a task; else those it asks for, by commas */
    const char *qos, *project; /* project "": none */
    const char *requests;      /* "license=2"; "": none */
    const char *tres;          /* what a task has; "": not started */
    double billing;            /* units a second of a task; 0: not started */
    int32_t nice, site, posix_priority;
    uint32_t set_priority; /* by hand; NONE: computed */
    uint32_t job_share, override_tickets, slots_max;
    int64_t begin_us, deadline_us; /* 0: none */
    struct capacity request;
    int64_t time_limit_s, submit_us, start_us, end_us;
    const char *cpus, *gpus; /* "0-3": which it has or had */
    int32_t exit_status, signal;
    int64_t cpu_us, max_rss_kib;
    const char *detail;
    uint64_t launch_id;
};

/* Which rows. Zero and NULL select all. */
struct job_query {
    enum { JOBS_LIVE, JOBS_ENDED, JOBS_ALL } which;
    const uint32_t *job_ids; /* only these jobs */
    uint32_t job_id_count;
    uint32_t task_id; /* with one job id: only this task; NONE: all */
    const char *account, *user;
    enum job_state state;       /* only this one; JOB_STATE_COUNT: any */
    int64_t since_us, until_us; /* ended in this window */
    int64_t now_us;             /* when it was asked: whether a job's begin is still to come */
    bool newest_first;          /* else by id */
    uint32_t limit;             /* rows at most; 0: all */
};

/* Where rows come from: the store behind the daemon, or whoever a test puts there. A cursor is a snapshot; it costs the
 * loop nothing until asked for a row. next: 1 a row; 0 no more; 2 not yet: so many rows were passed over that somebody else
 * may want a turn, ask again; -1 with *e. */
struct job_reader {
    void *context;
    void *(*open)(void *context, const struct job_query *query, struct err *e); /* a cursor, or NULL with *e */
    int (*next)(void *cursor, struct job_view *out_row, struct err *e);
    void (*close)(void *cursor);
};

#endif
