/* What the instance says of a job now. An instance that is down keeps its jobs running, so no answer is no error. */
#ifndef FAIRLEAD_CLI_JOB_WATCH_H
#define FAIRLEAD_CLI_JOB_WATCH_H

#include "cli/command.h"
#include "fields/job_fields.h"

struct job_watch {
    enum job_state state; /* of its newest attempt, or of the one that waits */
    int64_t restarts;     /* attempts before that; INT64_MAX: it waits */
    bool has_terminal;
    int status;                /* of an end, as of 'fairlead wait' */
    bool has_program_status;   /* status is that of its program */
    char end[320];             /* of an end, "FAILED, exit status 3" */
    char reason[64];           /* why it waits */
    int64_t expected_start_us; /* 0: not known */
};

/* Asks once. 1: *out is known; 0: no instance answers; -1: it refuses to answer, as when there is no such job. */
int job_watch_read(struct call *call, const char *id, struct job_watch *out, struct err *e);

/* Whether the job's newest attempt has ended, and no other follows. */
bool job_watch_is_ended(const struct job_watch *w);

#endif
