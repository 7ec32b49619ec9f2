/* The statements of job listings: one for each part of a job and each way to read it. */
#ifndef FAIRLEAD_STORE_JOB_READER_SQL_H
#define FAIRLEAD_STORE_JOB_READER_SQL_H

#include "base/text.h"
#include "engine/job_query.h"
#include "store/job_rows.h"

/* A job's rows in a listing: one for each task that has started, one for all pending tasks, one for all tasks that were
 * cancelled before they started. */
enum reader_part { PART_TASKS, PART_PENDING, PART_CANCELLED, PART_COUNT };

/* Which rows are read, in which order. */
enum reader_access {
    BY_JOB,           /* one job's */
    BY_ID,            /* all, by job id */
    BY_ID_IN_ASSOC,   /* one association's, by job id */
    BY_TIME,          /* all, by the time of their end */
    BY_TIME_IN_ASSOC, /* one association's, by that time */
    BY_TIME_OF_STATE, /* one state's, by that time */
    ACCESS_COUNT
};

/* The columns of every statement, by number; from READER_COLUMN_FIELDS on those of job_reader_sql_columns, in their
 * order. */
enum reader_column {
    READER_COLUMN_JOB_ID,
    READER_COLUMN_TASK_ID, /* pending, cancelled: NULL */
    READER_COLUMN_END_US,
    READER_COLUMN_WANTED,   /* 0: a filter excludes the row, and only the three columns above are valid */
    READER_COLUMN_TASKS,    /* pending, cancelled: the set of tasks; tasks: NULL */
    READER_COLUMN_LIVE,     /* pending: number of running tasks if the array has a limit */
    READER_COLUMN_RESTARTS, /* tasks: the number of the attempt; pending, cancelled: 0 */
    READER_COLUMN_ACCOUNT,
    READER_COLUMN_USER,
    READER_COLUMN_FIELDS
};

/* The fields that a listing reads for rows of a part: those that it shows, and those that it computes others from. Of a
 * task's fields, only tasks that have started have more than a state and a partition. */
struct job_row_columns job_reader_sql_columns(enum reader_part part);

/* Whether a query can have rows of this part at all. */
bool job_reader_sql_wants(enum reader_part part, const struct job_query *query);

/* The cheapest way to read a query's rows. is_single: only the rows of one association. */
enum reader_access job_reader_sql_choose_access(const struct job_query *query, bool is_single);

/* Appends the statement. Of the parameters :job :association :task :state :since :until it has only those that it
 * needs; for names of accounts and users it has :account0, :account1, ... and :user0, ... */
void job_reader_sql_compose(enum reader_part part, enum reader_access access, const struct job_query *query,
                            struct buf *out);

/* Appends " AND account IN (...) AND user IN (...)", with the same parameters, for the names that the query has. */
void job_reader_sql_add_names(const struct job_query *query, struct buf *out);

#endif
