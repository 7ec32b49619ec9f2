/* The keys of a job in a document, as they are given: read, and checked one by one and against each other. Private to
 * the reading of jobs (read_jobs.c). */
#ifndef FAIRLEAD_SIM_READ_JOB_KEYS_H
#define FAIRLEAD_SIM_READ_JOB_KEYS_H

#include <string.h>

#include "engine/job_members.h"
#include "sim/document.h"

#define JOB_KEY_NEVER_US INT64_MAX /* of a time that is null */

/* A task of an instance that has started. */
struct task_keys {
    uint32_t task; /* its number in the array; NONE: not given */
    uint64_t launch;
    int64_t start_us;         /* INT64_MIN: not given */
    struct job_place *places; /* NULL: not given */
    uint32_t place_count;
    bool is_suspended;
    uint64_t suspended_us;             /* how long its earlier suspensions have lasted */
    double billing;                    /* NAN: not given */
    const char *allocated_tres;        /* NULL: not given */
    int64_t granted_time_s;            /* 0: not given */
    const char *association_partition; /* "": the association for all partitions; NULL: not given */
    uint32_t assoc_id;                 /* of that association; 0: of the partition that the task is in */
};

/* The minimum priority of a job in a partition. */
struct min_priority_key {
    uint32_t partition, priority;
};

/* The keys of a job. Names of objects are indices in the state; texts are the document's. */
struct job_keys {
    uint32_t id;
    const char *user, *account, *state, *suspended_by, *tres;
    int64_t submit_us, eligible_us, accrue_us, start_us, deadline_us; /* not given: INT64_MIN; deadline_us: 0 */
    int64_t cpus;                                                     /* -1: not given */
    uint32_t array_tasks, array_limit, running_tasks;
    uint64_t mem_mib, sequence; /* UINT64_MAX: not given */
    uint32_t *partitions;
    uint32_t partition_count, qos, project;
    uint32_t slots_min, slots_max;
    bool has_slots, has_slots_range, has_slots_rule;
    enum urgency_slots_rule slots_rule;
    uint32_t slots_number;
    struct job_request *requests;
    uint32_t request_count;
    const char *environment;
    bool has_partition;
    struct job_place *places;
    uint32_t place_count;
    struct gpu_amount *gpus;
    uint32_t gpu_count;
    bool has_gpus_per_slot;
    struct job_placing placing;
    struct job_values more;
    /* Of a job of an instance. */
    const char *tasks; /* the pending tasks of an array; NULL: not given */
    double billing;
    uint64_t launch, suspended_us;
    const char *allocated_tres;
    int64_t granted_time_s;
    const char *association_partition; /* of a running job that is no array, as in struct task_keys */
    struct task_keys *running;         /* the tasks of an array that have started; NULL: not given */
    uint32_t running_count;
    struct min_priority_key *min_priorities;
    uint32_t min_priority_count;
};

static inline bool job_keys_have_state(const struct job_keys *keys, const char *state)
{
    return keys->state != NULL && strcmp(keys->state, state) == 0;
}

/* A suspended job has its resources like one that runs. */
static inline bool job_keys_are_running(const struct job_keys *keys)
{
    return job_keys_have_state(keys, "RUNNING") || job_keys_have_state(keys, "SUSPENDED");
}

/* The minimum number of slots on the nodes that the job asks for. */
uint64_t job_keys_node_slots(const struct job_keys *keys);

/* Reads the keys; those that are not given have no value. ERR_INPUT: a key is unknown or invalid, or has no effect
 * beside the others. */
int job_keys_read(struct wire_reader *r, json_t *value, struct job_keys *out_keys);

#endif
