/* What a partition asks of its jobs, as Slurm's lines of partitions do: MaxNodes, MinNodes, MaxTime, MaxMemPerNode,
 * AllowAccounts, DenyAccounts, AllowQos, DenyQos; and what it gives to those that ask for nothing: DefaultTime.
 *
 *     a job         refused at submission, or waiting, by EnforcePartLimits (job_admission.h)
 *     a demand      has only the instances of partitions that admit the job (job_demand.h)
 *     a QOS         with the flag PartitionMaxNodes, PartitionMinNodes or PartitionTimeLimit exceeds that limit
 *
 * MaxCPUsPerNode is of all jobs of a partition on a host, so it limits the slots of its queue there (cluster_model.h).
 * A job without a number of nodes has one; one in a parallel environment has none, so limits of nodes do not count.
 * AllowGroups is not there: the engine knows users and their accounts, and no groups of the system.
 * Source: Slurm 22.05.8, slurm.conf(5) and recorded cases 18, 27, 99; docs/formulas.md 9.6. */
#ifndef FAIRLEAD_ENGINE_PARTITION_LIMITS_H
#define FAIRLEAD_ENGINE_PARTITION_LIMITS_H

#include "engine/state.h"
#include "fields/pending_reason.h"

/* What keeps a job from an instance, in the order in which it counts: its partition, then the instance. */
enum place_limit {
    LIMIT_PARTITION, /* it does not name the partition */
    LIMIT_MAX_NODES,
    LIMIT_MIN_NODES,
    LIMIT_MAX_TIME,
    LIMIT_MAX_MEM_PER_NODE,
    LIMIT_ACCOUNTS, /* AllowAccounts, DenyAccounts */
    LIMIT_QOS,      /* AllowQos, DenyQos */
    LIMIT_USERS,    /* user_lists, xuser_lists */
    LIMIT_QUEUES,
    LIMIT_CONSTRAINT,
    LIMIT_MASTER_QUEUES, /* of a serial job, which has its first slot where it has all of them */
    LIMIT_NONE
};

/* The state of a partition as a whole; those of its hosts are enum host_state. */
enum partition_state {
    PARTITION_IS_UP,
    PARTITION_IS_DOWN,    /* jobs are accepted, and wait */
    PARTITION_IS_DRAINED, /* no new job is accepted; those that wait start */
    PARTITION_IS_INACTIVE /* neither */
};

/* Reads a state in any case. ERR_INPUT names the field and the words that are accepted. */
int partition_limits_read_state(struct str text, enum partition_state *out, struct err *e);

/* The state of a partition (by index) as a whole. */
enum partition_state partition_limits_state(const struct state *s, uint32_t partition);

/* MaxTime of a partition, in seconds; INT64_MAX: unlimited. */
int64_t partition_limits_max_time_s(const struct state *s, uint32_t partition);

/* The time limit of a job in a partition, in seconds: its own; of one that gives none the partition's DefaultTime, or
 * the setting default_time_s, at most MaxTime, while it waits. Of a document 0: not known. */
int64_t partition_limits_time_s(const struct state *s, const struct job *j, uint32_t partition);

/* Appends where a default of time_s comes from, " (default_time_s)" or " (DefaultTime of partition 'vip')": nothing if
 * the partition has another one, because it was changed since or the time is of another partition of an array. */
void partition_limits_add_default(const struct state *s, uint32_t partition, int64_t time_s, struct buf *out);

/* Sets the time limit of a job that gave none to the default of its first partition; called after a start was undone
 * or its partitions changed. */
void partition_limits_reset_time(const struct state *s, struct job *j);

/* The range of nodes that a partition lets a job have. out_max: UINT32_MAX: any number. */
void partition_limits_nodes(const struct state *s, const struct job *j, uint32_t partition, uint32_t *out_min,
                            uint32_t *out_max);

/* The first limit of a partition, LIMIT_MAX_NODES to LIMIT_QOS, that a job exceeds. Without an association no account
 * is refused. LIMIT_NONE: it exceeds none. O(names in lists). */
enum place_limit partition_limits_find(const struct state *s, const struct job *j, uint32_t partition);

/* Whether it is one of those that partition_limits_find gives. */
bool partition_limits_is_own(enum place_limit limit);

/* The reason of a job that waits because of such a limit. */
enum pending_reason partition_limits_reason(enum place_limit limit);

/* Appends "its time limit, 02:00:00, exceeds MaxTime of partition 'main', 01:00:00", "partition 'vip' does not accept
 * account 'chem' (AllowAccounts physics)". */
void partition_limits_text(const struct state *s, const struct job *j, uint32_t partition, enum place_limit limit,
                           struct buf *out);

#endif
