/* Stops the processes of a suspended job, and signals those of a job, by order and before its time limit. For its
 * keeper. Times are of CLOCK_BOOTTIME. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_JOB_STOP_H
#define FAIRLEAD_EXEC_LAUNCHER_JOB_STOP_H

#include <sys/types.h>

#include "exec/launch.h"
#include "exec/launcher/job_groups.h"

struct job_stop {
    bool is_wanted;       /* as last ordered: it is to be stopped */
    int64_t suspended_us; /* likewise: how long it was suspended before */
    bool is_stopped;
    bool has_signals;     /* it is stopped by signals: rounds are needed as long as it is */
    int64_t wait_us;      /* until the next round */
    int64_t round_us;     /* of the next round; INT64_MAX: none */
    uint32_t warn_signal; /* sent once, warn_before_us before the time limit; 0: none, or it was sent */
    int64_t warn_before_us;
    bool is_warn_to_first;
    int64_t warn_us; /* when it is due; INT64_MAX: never */
};

/* Of a launch that begins. */
struct job_stop job_stop_of(const struct launch *launch);

/* Takes the value of an order (keeper_orders.h). False: it is out of range. */
bool job_stop_take(struct job_stop *stop, int64_t value);

/* Does what was ordered last: stops all processes below this one, and those that they fork, or lets them run. parents,
 * launch_id: for the control group of version 1, which is created if that is needed. */
void job_stop_apply(struct job_stop *stop, const struct cgroup_parent *parents, uint64_t launch_id,
                    const struct process_identity *identity, struct job_groups *groups);

/* Lets all processes run, because the job is being ended. There is no warning any more. */
void job_stop_end(struct job_stop *stop, const struct process_identity *identity, const struct job_groups *groups);

/* limit_us: when the job is ended by its time limit; INT64_MAX: never. */
void job_stop_set_warning(struct job_stop *stop, int64_t limit_us);

/* When job_stop_follow has something to do next; INT64_MAX: never. */
int64_t job_stop_next_us(const struct job_stop *stop);

/* Sends the warning, and stops what has been forked or continued since the last round, if they are due. first_pid: the
 * job's first process; 0: it is gone. O(threads of the job) */
void job_stop_follow(struct job_stop *stop, pid_t first_pid);

/* Sends the signal of an order; does nothing if its value is out of range. */
void job_stop_send(int64_t value, pid_t first_pid);

#endif
