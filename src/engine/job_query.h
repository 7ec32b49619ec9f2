/* Queries for rows of jobs and tasks (struct job_row), and the interface through which listings read them. The store
 * reads them from a snapshot of the database, so that all rows of a listing are of the same time. */
#ifndef FAIRLEAD_ENGINE_JOB_QUERY_H
#define FAIRLEAD_ENGINE_JOB_QUERY_H

#include "fields/job_fields.h"

/* The rows wanted. 0 and NULL do not restrict them, except for task_id and state. */
struct job_query {
    enum { JOBS_LIVE, JOBS_ENDED, JOBS_ALL } which;
    const uint32_t *job_ids; /* only these jobs */
    uint32_t job_id_count;
    uint32_t task_id;           /* with one job id: only this task; NONE: all */
    const char *account, *user; /* one or several names, separated by commas */
    enum job_state state;       /* only this one; JOB_STATE_COUNT: any */
    int64_t since_us, until_us; /* ended from since_us to until_us */
    int64_t now_us;             /* the time of the query, for jobs that begin later */
    bool newest_first;          /* otherwise in order of id */
    uint32_t limit;             /* maximum number of rows; 0: all */
};

/* The source of rows: the store, or that of a test. A cursor has a snapshot. next returns 1 with a row; 0 at the end; 2
 * after it has skipped many rows, so that the caller can do other work and call it again; -1 with *e. */
struct job_reader {
    void *context;
    void *(*open)(void *context, const struct job_query *query, struct err *e); /* a cursor; NULL with *e */
    int (*next)(void *cursor, struct job_row *out_row, struct err *e);          /* texts: valid until the next call */
    void (*close)(void *cursor);
};

#endif
