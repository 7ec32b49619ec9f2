/* Rows of 'fairlead top' that no listing of the instance has: a task with what it uses now, and what an association was
 * promised and has received. */
#ifndef FAIRLEAD_CLI_TOP_COLUMNS_H
#define FAIRLEAD_CLI_TOP_COLUMNS_H

#include "fields/column.h"

enum top_job_field {
    TOP_JOB_ID, /* "5", "5_3", "5_[3-9%2]" */
    TOP_JOB_USER,
    TOP_JOB_ACCOUNT,
    TOP_JOB_NAME,
    TOP_JOB_PARTITION,
    TOP_JOB_STATE,
    TOP_JOB_ELAPSED,
    TOP_JOB_TIME_LIMIT,
    TOP_JOB_CPUS,
    TOP_JOB_CPUS_USED, /* absent: not known, or it does not run */
    TOP_JOB_MEM_MIB,
    TOP_JOB_MEM_USED_KIB,
    TOP_JOB_GPUS,
    TOP_JOB_GPUS_USED,
    TOP_JOB_RANK, /* absent: it runs, or may not start */
    TOP_JOB_REASON,
    TOP_JOB_COUNT
};

enum top_share_field {
    TOP_SHARE_ACCOUNT,
    TOP_SHARE_USER, /* absent: the account's own row */
    TOP_SHARE_DEPTH,
    TOP_SHARE_PROMISED, /* percent of the whole tree */
    TOP_SHARE_RECEIVED,
    TOP_SHARE_FAIR_SHARE,
    TOP_SHARE_RUNNING_CPUS,
    TOP_SHARE_RUNNING,
    TOP_SHARE_PENDING,
    TOP_SHARE_COUNT
};

extern const struct column_table top_columns_jobs, top_columns_shares;

#endif
