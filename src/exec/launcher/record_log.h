/* A keeper's records: written to its launch's directory, told to the launcher. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_RECORD_LOG_H
#define FAIRLEAD_EXEC_LAUNCHER_RECORD_LOG_H

#include "exec/launcher/cgroup.h"
#include "exec/launcher/spool.h"

enum { LAUNCH_KEY_SIZE = 33 };

/* What the start record says besides: how to find what is left of a job whose keeper was killed. */
struct process_identity {
    char key[LAUNCH_KEY_SIZE]; /* FAIRLEAD_LAUNCH_KEY in the environment of all its processes */
    uint64_t born;             /* of the main process: process.born */
    char boot_id[64];          /* of the machine's run in which it was started */
    struct cgroup cgroup;
};

/* Of the start record's text; what is missing is empty. */
void process_identity_parse(struct str text, struct process_identity *out);

/* The id of this run of the machine, or "". */
void process_identity_read_boot_id(char out[64]);

struct record_log {
    const struct launch_dir *dir;
    int spool_fd;
    struct launch_record record; /* as last written */
    bool told;                   /* a launcher was there to hear of it */
    bool notice_due;             /* the launcher's fifo was full: record_log_notify once more */
};

/* Writes the record and tells the launcher; record_log_write_start does so in phase STARTED, now, and syncs it before it tells.
 * record_log_write does not sync: see journal.c. ERR_IO: it is not there; the journal still has what was last written. */
int record_log_write_start(struct record_log *j, struct launch_record record, const struct process_identity *traces,
                           struct err *e);
int record_log_write(struct record_log *j, struct launch_record record, struct err *e);

/* What was last written survives power loss from here on. ERR_IO: it may not. */
int record_log_sync(const struct record_log *j, struct err *e);

/* Tells a launcher, if there is one, that there is something new; one that comes later looks by itself. */
void record_log_notify(struct record_log *j);

#endif
