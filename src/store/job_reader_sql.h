/* The statements behind job listings, one per part of a job and way to get at it. */
#ifndef FAIRLEAD_STORE_JOB_READER_SQL_H
#define FAIRLEAD_STORE_JOB_READER_SQL_H

#include "base/text.h"
#include "engine/job_query.h"

/* A job's rows in a listing: one per task that started, one for what is pending, one for what was cancelled unstarted. */
enum reader_part { PART_TASKS, PART_PENDING, PART_CANCELLED, PART_COUNT };

/* By one job's id; all by id; one association's by id; all by time of their end; one association's or one state's by
 * that. */
enum reader_access { BY_JOB, BY_ID, BY_ID_IN_ASSOC, BY_TIME, BY_TIME_IN_ASSOC, BY_TIME_OF_STATE, ACCESS_COUNT };

/* The columns that every statement gives, by number. Those from COLUMN_STATE on are a task's (see reader_sql.c). */
enum reader_column {
    COLUMN_JOB_ID,
    COLUMN_TASK_ID, /* pending, cancelled: NULL */
    COLUMN_END_US,
    COLUMN_WANTED, /* 0: a filter leaves the row out, and nothing else of it is right but the three above */
    COLUMN_TASKS,  /* pending, cancelled: their set; tasks: NULL */
    COLUMN_LIVE,   /* pending: how many tasks run, where there is a limit */
    COLUMN_ASSOC_ID,
    COLUMN_ACCOUNT,
    COLUMN_USER,
    COLUMN_UID,
    COLUMN_NAME,
    COLUMN_COMMAND,
    COLUMN_DIRECTORY,
    COLUMN_OUT_PATTERN,
    COLUMN_ERR_PATTERN,
    COLUMN_CPU_COUNT,
    COLUMN_GPU_COUNT,
    COLUMN_MEM_MIB,
    COLUMN_TIME_LIMIT_S,
    COLUMN_SUBMIT_US,
    COLUMN_IS_HELD,
    COLUMN_IS_ARRAY,
    COLUMN_ARRAY_LIMIT,
    COLUMN_BEGIN_US,
    COLUMN_DEADLINE_US,
    COLUMN_QOS,
    COLUMN_PROJECT,
    COLUMN_NICE,
    COLUMN_SITE,
    COLUMN_SET_PRIORITY, /* NULL: computed */
    COLUMN_POSIX_PRIORITY,
    COLUMN_JOB_SHARE,
    COLUMN_OVERRIDE_TICKETS,
    COLUMN_SLOTS_MAX,
    COLUMN_REQUESTS,
    COLUMN_STATE,
    COLUMN_START_US,
    COLUMN_CPUS,
    COLUMN_GPUS,
    COLUMN_EXIT_STATUS,
    COLUMN_SIGNAL,
    COLUMN_CPU_US,
    COLUMN_MAX_RSS_KIB,
    COLUMN_DETAIL,
    COLUMN_LAUNCH_ID,
    COLUMN_PARTITION, /* pending, cancelled: those asked for, by commas */
    COLUMN_TRES,
    COLUMN_BILLING
};

/* Whether a query can have rows of this part at all. */
bool reader_wants(enum reader_part part, const struct job_query *query);

/* How a query is best read: is_single says that the rows of one association are wanted. */
enum reader_access reader_choose_access(const struct job_query *query, bool is_single);

/* The statement's text. It has only those of the parameters :job :association :task :state :account :user :since :until
 * that it needs. */
void reader_compose(enum reader_part part, enum reader_access access, const struct job_query *query, struct buf *out);

#endif
