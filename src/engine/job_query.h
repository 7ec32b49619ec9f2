/* Which rows of jobs and tasks a listing has (struct job_row), and where they come from: the store makes them from a
 * snapshot, so a listing of any length is of one moment. */
#ifndef FAIRLEAD_ENGINE_JOB_QUERY_H
#define FAIRLEAD_ENGINE_JOB_QUERY_H

#include "fields/job_fields.h"

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
    int (*next)(void *cursor, struct job_row *out_row, struct err *e);          /* text: good until the next */
    void (*close)(void *cursor);
};

#endif
