/* Stops the processes of a suspended job, and signals those of a job. For its keeper. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_JOB_STOP_H
#define FAIRLEAD_EXEC_LAUNCHER_JOB_STOP_H

#include "exec/launcher/job_groups.h"

struct job_stop {
    bool is_stopped;
    bool has_signals; /* it is stopped by signals: rounds are needed as long as it is */
    int64_t wait_us;  /* until the next round */
};

/* Stops all processes below this one, and those that they fork. parents, launch_id: for the control group of version 1,
 * which is created if that is needed. */
void job_stop_begin(struct job_stop *stop, const struct cgroup_parent *parents, uint64_t launch_id,
                    const struct process_identity *identity, struct job_groups *groups);

/* With has_signals, after wait_us: stops what has been forked or continued since the last round. */
void job_stop_round(struct job_stop *stop);

/* Lets all processes run. Does nothing if they are not stopped. */
void job_stop_end(struct job_stop *stop, const struct process_identity *identity, const struct job_groups *groups);

/* Sends a signal to all processes below this one. O(threads of these) */
void job_stop_signal(int number);

#endif
