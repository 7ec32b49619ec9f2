/* Why a job can never run, as the cluster is: the first of these that holds. Each is looked at only where those before
 * it leave the job a place.
 *
 *     its partitions    time limit against MaxTime, lists of users, hosts that run jobs
 *     its queues        --queues, features of hosts, master queues, pe_list
 *     one need          a value that no host has, or an amount beyond the largest host, for one slot
 *     some needs        that no host has together
 *     its slots         a rule of a parallel environment, the slots of a queue, the CPUs of a host, the number of hosts
 *     needs x slots     what all slots on a host need together */
#ifndef FAIRLEAD_ENGINE_NEVER_CAUSE_H
#define FAIRLEAD_ENGINE_NEVER_CAUSE_H

#include "engine/never_runs.h"
#include "fields/job_fields.h"

enum { CAUSE_FIELDS_MAX = 4 };

struct never_cause {
    const char *text;                        /* "asks for 96 slots on one host; the largest has 64" */
    enum job_field fields[CAUSE_FIELDS_MAX]; /* that can be at fault, the likeliest first */
    uint32_t field_count;                    /* at least 1 */
    bool is_of_partitions;                   /* it names a partition that is closed to the job */
    const char *request;                     /* the requested resource at fault, "fan=2"; NULL: none */
};

/* d: of the job, and n describes the same cluster. only: the partition of the demand, or NONE. The job can never run.
 * The cause is in memory of arena. */
void never_cause_find(const struct never_runs *n, const struct job_demands *demands, const struct job *j, uint32_t only,
                      const struct demand *d, struct arena *arena, struct never_cause *out);

#endif
