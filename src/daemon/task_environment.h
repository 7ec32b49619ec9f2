/* The environment of a task: the submitter's, and the variables that the daemon sets itself. */
#ifndef FAIRLEAD_DAEMON_TASK_ENVIRONMENT_H
#define FAIRLEAD_DAEMON_TASK_ENVIRONMENT_H

#include "daemon/daemon.h"

/* Entries "NAME=value" in memory of arena; the caller releases the array. */
struct task_environment {
    struct arena *arena;
    ARRAY(char *) entries;
};

/* Copies the variables of the submission that the daemon does not set. May run in any thread. */
void task_environment_add_submitted(const struct job_script *script, struct task_environment *env);

/* Adds those that the daemon sets. */
void task_environment_add_own(const struct daemon *d, const struct job *j, const struct task *k,
                              struct task_environment *env);

#endif
