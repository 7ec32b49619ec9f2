/* Ended jobs of another instance, whose records a user moves into this one. Nothing of them decides anything: they are
 * history. What a record says is a claim of the user, so it is checked like a submission, and names no user: the job
 * becomes one of whoever sends it. */
#ifndef FAIRLEAD_ENGINE_MOVED_JOBS_H
#define FAIRLEAD_ENGINE_MOVED_JOBS_H

#include "base/err.h"
#include "fields/job_fields.h"

enum {
    MOVED_JOBS_ROWS_MAX = 256,      /* jobs and starts of tasks in one request */
    MOVED_JOBS_INSTANCE_LENGTH = 32 /* hex digits of an instance's id */
};

/* The account that listings show: no account has these jobs, and no shares depend on them. */
#define MOVED_JOBS_ACCOUNT "moved-in"

struct moved_job {
    uint32_t id;                    /* in the other instance */
    const struct job_values *job;   /* those of fields/moved_fields.h */
    const struct job_values *tasks; /* one for each start, perhaps not all of them */
    uint32_t task_count;
};

struct moved_jobs {
    const char *instance; /* its id */
    const struct moved_job *jobs;
    uint32_t count;
};

/* Whether an id is one of an instance. */
bool moved_jobs_is_instance(const char *id);

/* Checks what the fields' own types do not: the order of times, none of which is after now_us; states, exit statuses,
 * numbers of tasks, names of hosts. ERR_INPUT names the job and the field; ERR_TOO_LARGE: more rows than one request
 * may have. O(bytes) */
int moved_jobs_check(const struct moved_jobs *m, int64_t now_us, struct err *e);

#endif
