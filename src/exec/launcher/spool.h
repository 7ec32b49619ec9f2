/* The launcher's part of the state directory, and the directory of each launch in it.
 *
 *     DIR/instance              the id of the instance (line "id="); the daemon's, or a system launcher's
 *     DIR/launcher.lock         locked by the one launcher (flock)
 *     DIR/launcher.sock         where the daemon connects
 *     DIR/launcher.events       fifo: a keeper that has written a record writes its launch id here (8 bytes)
 *     DIR/launches/N.log        a segment of the record log (segments.h)
 *     DIR/launches/keepers      locks of keepers (segments.h)
 *     DIR/launches/ID.script    the script of a job
 *     DIR/launches/JOB.tty      the socket of a job with a terminal (job_terminal.h)
 *
 * and of launches that an older launcher has started:
 *
 *     DIR/launches/ID/lock      locked by the keeper (flock); its text: the keeper's pid, its control group, and which
 *                               directory this is
 *     DIR/launches/ID/script    the job's script
 *     DIR/launches/ID/control   fifo: orders to the keeper, one line each
 *     DIR/launches/ID/start, completing, end      records (record.h); only the start was synced before it was told
 *
 * Directories have mode 0700 and files 0600. A system launcher's directories have mode 0711, so that its daemon reaches
 * the socket, which is the daemon's, and each user the scripts and sockets of their own jobs, which are the user's and
 * have mode 0400 and 0600. All else is root's. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_SPOOL_H
#define FAIRLEAD_EXEC_LAUNCHER_SPOOL_H

#include <limits.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/array.h"
#include "base/err.h"
#include "base/text.h"
#include "exec/launch.h"
#include "exec/launcher/cgroup.h"
#include "exec/launcher/process_identity.h"

struct spool {
    const char *path; /* absolute; the caller's */
    bool is_system;   /* of a launcher that serves all users */
    int fd;           /* DIR */
    int launches_fd;  /* DIR/launches */
    int lock_fd;      /* DIR/launcher.lock */
};

/* Opens DIR, creates launches/ and locks launcher.lock. ERR_DENIED: DIR belongs to another user or has another mode.
 * ERR_CONFLICT: another launcher has the lock. ERR_IO: a system call failed. */
int spool_open(struct spool *s, const char *path, bool is_system, struct err *e);
void spool_release(struct spool *s);

/* Opens the fifo of events, which is created if it is missing, for reading; also for writing, so that reading never
 * meets its end. */
int spool_open_events(const struct spool *s, int *out_fd, struct err *e);

/* Appends the id of the instance, or nothing if there is none: 32 hex digits. */
void spool_read_instance_id(const struct spool *s, struct buf *out);

/* Appends the ids of all launches that have a directory, in no particular order. O(launches). */
struct launch_ids {
    ARRAY(uint64_t) list;
};
int spool_list_launches(const struct spool *s, struct launch_ids *out, struct err *e);

/* The open directory of one launch. */
struct launch_dir {
    uint64_t id;
    int fd;
    int lock_fd; /* -1: this process has not locked it */
};

/* Opens an existing directory without locking it. ERR_NOT_FOUND: it does not exist. ERR_UNAVAILABLE: it cannot be
 * opened now (shortage.h). ERR_IO: it cannot be opened. */
int launch_dir_open(const struct spool *s, uint64_t id, struct launch_dir *out, struct err *e);

/* Which directory this is. launch_dir_is: whether it is the one with that place, or that place is not known. A copy of
 * a directory is another one; a directory that was renamed within its file system is the same. */
struct process_identity_place launch_dir_place(const struct launch_dir *d);
bool launch_dir_is(const struct launch_dir *d, struct process_identity_place place);

/* Tries to take the lock. False: the keeper has it, so the keeper is running; or the lock file cannot be opened. */
bool launch_dir_lock(struct launch_dir *d);

/* Closes the directory, and gives the lock back. */
void launch_dir_close(struct launch_dir *d);

/* Removes the directory; the end record goes last (see spool.c). */
void launch_dir_remove(const struct spool *s, uint64_t id);

/* What the keeper has written into the lock file: its pid, or 0 if the text is not complete or was copied with its
 * directory, and its control group, or none. */
pid_t launch_dir_read_keeper(const struct launch_dir *d, struct cgroup *out_group);

/* Reads the last record: end, else completing, else start. *out_found false: there is no record. out_start_text gets
 * the text of the start record, too, or stays empty. An end or completing without any text counts as none: power was
 * lost before the text was on disk. ERR_INTERNAL, ERR_IO: a record cannot be read, and there is none after it;
 * *out_found then says whether *out is the record before it. ERR_UNAVAILABLE: it cannot be read now (shortage.h). */
int launch_dir_read_last(const struct launch_dir *d, struct launch_record *out, struct buf *out_start_text,
                         bool *out_found, struct err *e);

/* Reads the newest record alone, of a launch whose keeper runs in this boot, so that no record is torn. Errors as
 * above. */
int launch_dir_read_newest(const struct launch_dir *d, struct launch_record *out, bool *out_found, struct err *e);

/* Sends the keeper a line. ERR_UNAVAILABLE: no keeper reads it. */
int launch_dir_send(const struct launch_dir *d, const char *line, struct err *e);

#endif
