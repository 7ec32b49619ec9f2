/* Jobs in the document of an instance. Their rows are those of a database: an array is one job, with its pending tasks
 * and those that have started. */
#ifndef FAIRLEAD_SIM_INSTANCE_JOB_H
#define FAIRLEAD_SIM_INSTANCE_JOB_H

#include "sim/read_job_keys.h"

/* A task that has started, until all jobs have been read. */
struct instance_task {
    uint32_t job_id;
    struct task_keys keys; /* with all members */
};

struct instance_min_priority {
    uint32_t job_id;
    struct min_priority_key key;
};

/* What is restored after the jobs. */
struct instance_jobs {
    ARRAY(struct instance_task) tasks;
    ARRAY(struct instance_min_priority) min_priorities;
    struct map launches;
    uint64_t last_launch;
    ARRAY(struct capacity) taken; /* by host: the CPUs and GPUs of the tasks */
};

/* Checks the keys against each other, makes the row of the job, with sets in memory from mem_resize, and adds its
 * tasks. Fields that documents read by their table are not set. After an error the sets are to be released, too. */
int instance_job_make(struct wire_reader *r, const struct job_keys *keys, struct instance_jobs *jobs,
                      struct job *out_row);

/* Restores the tasks and the minimum priorities, when all jobs have been restored. */
void instance_job_restore_tasks(struct document *d, struct instance_jobs *jobs);
void instance_job_release(struct instance_jobs *jobs);

/* Computes what tasks have been allocated, where the document does not say it; after state_restore_done. */
void instance_job_finish_all(struct state *s);

#endif
