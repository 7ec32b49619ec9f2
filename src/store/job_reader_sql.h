/* The statements behind job listings, one per part of a job and way to get at it. */
#ifndef FAIRLEAD_STORE_JOB_READER_SQL_H
#define FAIRLEAD_STORE_JOB_READER_SQL_H

#include "base/text.h"
#include "engine/job_query.h"
#include "store/job_rows.h"

/* A job's rows in a listing: one per task that started, one for what is pending, one for what was cancelled unstarted. */
enum reader_part { PART_TASKS, PART_PENDING, PART_CANCELLED, PART_COUNT };

/* By one job's id; all by id; one association's by id; all by time of their end; one association's or one state's by
 * that. */
enum reader_access { BY_JOB, BY_ID, BY_ID_IN_ASSOC, BY_TIME, BY_TIME_IN_ASSOC, BY_TIME_OF_STATE, ACCESS_COUNT };

/* The columns of every statement, by number; from COLUMN_FIELDS on those of job_reader_sql_columns, in their order. */
enum reader_column {
    COLUMN_JOB_ID,
    COLUMN_TASK_ID, /* pending, cancelled: NULL */
    COLUMN_END_US,
    COLUMN_WANTED, /* 0: a filter leaves the row out, and nothing else of it is right but the three above */
    COLUMN_TASKS,  /* pending, cancelled: their set; tasks: NULL */
    COLUMN_LIVE,   /* pending: number of running tasks, where there is a limit */
    COLUMN_ACCOUNT,
    COLUMN_USER,
    COLUMN_FIELDS
};

/* The fields that a listing reads for rows of a part: those that it shows, and those that it computes others from. Of a
 * task's fields, only tasks that have started have more than a state and a partition. */
struct job_columns job_reader_sql_columns(enum reader_part part);

/* Whether a query can have rows of this part at all. */
bool job_reader_sql_wants(enum reader_part part, const struct job_query *query);

/* How a query is best read: is_single says that the rows of one association are wanted. */
enum reader_access job_reader_sql_choose_access(const struct job_query *query, bool is_single);

/* The statement's text. It has only those of the parameters :job :association :task :state :account :user :since :until
 * that it needs. */
void job_reader_sql_compose(enum reader_part part, enum reader_access access, const struct job_query *query,
                            struct buf *out);

#endif
