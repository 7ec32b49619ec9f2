/* A keeper's records: written to its launch's directory, told to the launcher. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_JOURNAL_H
#define FAIRLEAD_EXEC_LAUNCHER_JOURNAL_H

#include "exec/launcher/cgroup.h"
#include "exec/launcher/spool.h"

enum { KEY_TEXT = 33 };

/* What the start record says besides: how to find what is left of a job whose keeper was killed. */
struct traces {
    char key[KEY_TEXT]; /* FAIRLEAD_LAUNCH_KEY in the environment of all its processes */
    uint64_t born;      /* of the main process: process.born */
    char boot_id[64];   /* of the machine's run in which it was started */
    struct cgroup cgroup;
};

/* Of the start record's text; what is missing is empty. */
void traces_parse(struct str text, struct traces *out);

/* The id of this run of the machine, or "". */
void boot_id_read(char out[64]);

struct journal {
    const struct launch_dir *dir;
    int spool_fd;
    struct launch_record record; /* as last written */
    bool told;                   /* a launcher was there to hear of it */
    bool notice_due;             /* the launcher's fifo was full: journal_notice once more */
};

/* Writes the record and tells the launcher; journal_start does so in phase STARTED, now, and syncs it before it tells.
 * journal_write does not sync: see journal.c. ERR_IO: it is not there; the journal still has what was last written. */
int journal_start(struct journal *j, struct launch_record record, const struct traces *traces, struct err *e);
int journal_write(struct journal *j, struct launch_record record, struct err *e);

/* What was last written survives power loss from here on. ERR_IO: it may not. */
int journal_settle(const struct journal *j, struct err *e);

/* Tells a launcher, if there is one, that there is something new; one that comes later looks by itself. */
void journal_notice(struct journal *j);

#endif
