/* The commit log, DIR/commits.log: what the last commits have started and ended. It is written after each commit,
 * without a sync, and reset when all commits are in the database file. If the write-ahead log of the database is
 * damaged, or an older database is put in its place, it says which commits are missing and what must not happen again
 * (engine/recovery.h). A line begins with the hash of its rest:
 *
 *     HASH since 120 6 8 ID           up to this commit, everything is in the database file; as of commit. ID: of the
 *                                     instance; a log of an older version has none
 *     HASH task job_id=5<tab>...      a row that was started or has ended (engine/task_text.h)
 *     HASH job 5                      a job that has ended
 *     HASH commit 121 6 9             the end of commit 121; the next job id and the next launch id */
#ifndef FAIRLEAD_DAEMON_COMMIT_LOG_H
#define FAIRLEAD_DAEMON_COMMIT_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/array.h"
#include "base/err.h"
#include "base/str.h"
#include "base/text.h"

/* What the log has of the commits after a number. */
struct commit_log_tail {
    uint64_t first, last;    /* the commits that are missing; last 0: none is */
    bool is_complete;        /* all of them are in the log, and no line is damaged */
    ARRAY(struct str) tasks; /* in text */
    ARRAY(uint32_t) ended_jobs;
    uint32_t next_job_id; /* 0: not known */
    uint64_t next_launch_id;
    struct str instance_id; /* in text; of length 0: a log of an older version */
    struct buf text;
};

/* Reads the log in a directory. after: the number of the last commit in the database. A log that does not exist says
 * nothing. ERR_IO: it cannot be read. */
int commit_log_read(const char *directory, uint64_t after, struct commit_log_tail *out, struct err *e);

/* Reads the text of a log, into a tail whose text stays empty: its tasks are in this text. Pure. O(length). */
void commit_log_parse(struct str text, uint64_t after, struct commit_log_tail *out);
void commit_log_tail_release(struct commit_log_tail *tail);

/* Append a line to the lines of a commit. commit_log_add_commit: the last of them. */
void commit_log_add_job(struct buf *lines, uint32_t job_id);
void commit_log_add_task(struct buf *lines, struct str row);
void commit_log_add_commit(struct buf *lines, uint64_t number, uint32_t next_job_id, uint64_t next_launch_id);

/* The log as it was last opened. It stays open, because opening it takes longer than writing to it. All zeros: closed;
 * descriptor 0 is never a log. */
struct commit_log {
    int fd;
    dev_t device;
    ino_t inode;
};

/* commit_log_begin: replaces the log by an empty one: up to this commit, everything is in the database file.
 * commit_log_append: appends the lines of a commit, to the file that the path leads to now.
 * ERR_IO: a later reader finds that commits are not in the log. */
int commit_log_begin(struct commit_log *log, const char *directory, const char *instance_id, uint64_t since,
                     uint32_t next_job_id, uint64_t next_launch_id, struct err *e);
int commit_log_append(struct commit_log *log, const char *directory, const struct buf *lines, struct err *e);
void commit_log_close(struct commit_log *log);

#endif
