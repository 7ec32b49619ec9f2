/* Limits that several tables of fields share. */
#ifndef FAIRLEAD_FIELDS_LIMITS_H
#define FAIRLEAD_FIELDS_LIMITS_H

#include "base/quantity.h"

enum {
    NAME_BYTES_MAX = 64,      /* of accounts, users and everything else that an administrator names */
    CPUS_MAX = 65536,         /* of a job or host; no host has more */
    GPUS_MAX = 1024,          /* of a job or host */
    ARRAY_TASK_MAX = 4000000, /* of a task number, and of an array's limit */
    NICE_MAX = 2147483645,    /* also the limit of a site factor, and negated the minimum of both; as in Slurm */
    JOB_FACTOR_MAX = 65533,   /* of PriorityJobFactor and PriorityTier; as in Slurm */
    POSIX_PRIORITY_MIN = -1023,
    POSIX_PRIORITY_MAX = 1024,
};

#define RATE_MAX 1e33                             /* of a billing: more than all TRES by the largest weights */
#define MEM_MIB_MAX 1099511627776.0               /* 2^40 */
#define TIME_LIMIT_S_MAX ((double)DURATION_S_MAX) /* ten years */
#define TASK_USAGE_MAX 1e18                       /* GiB-seconds and the like: far above what a task can use */
#define WHOLE_REAL_MAX 9007199254740992.0         /* 2^53: a double holds every whole number up to this one */
#define TIME_US_MAX 253402300799000000.0          /* the last second of the year 9999, in microseconds */

#endif
