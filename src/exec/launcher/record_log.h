/* The record log of a launch: the keeper's records, one file for each phase. Each record is written into the launch's
 * directory first, and then the launcher is notified. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_RECORD_LOG_H
#define FAIRLEAD_EXEC_LAUNCHER_RECORD_LOG_H

#include "exec/launcher/process_identity.h"
#include "exec/launcher/spool.h"

struct record_log {
    const struct launch_dir *dir;
    int spool_fd;
    struct launch_record record; /* as last written */
    bool is_launcher_notified;   /* of record: a launcher was running and could be notified */
    bool is_notice_due;          /* the launcher's fifo was full: call record_log_notify again */
};

/* Write a record and notify the launcher. record_log_write_start sets phase STARTED and the time, and syncs before it
 * notifies; record_log_write does not sync (see record_log.c). ERR_IO: the file was not written, and log->record stays;
 * or, at the start, it was written but perhaps not synced. */
int record_log_write_start(struct record_log *log, struct launch_record record, const struct process_identity *identity,
                           struct err *e);
int record_log_write(struct record_log *log, struct launch_record record, struct err *e);

/* Syncs the last record, so that it survives power loss. ERR_IO: it may not. */
int record_log_sync(const struct record_log *log, struct err *e);

/* Tells the launcher, if one is running, that this launch has a new record. A launcher that starts later reads all
 * records. */
void record_log_notify(struct record_log *log);

#endif
