/* The launcher's part of the state directory, and the directory of each launch in it.
 *
 *     DIR/launcher.lock         held by the one launcher (flock)
 *     DIR/launcher.sock         where the daemon connects
 *     DIR/launcher.events       fifo: a keeper that wrote a record puts its launch id here (8 bytes)
 *     DIR/launches/ID/lock      held by the keeper (flock); its text: the keeper's process id, its control group
 *     DIR/launches/ID/script    what the job runs
 *     DIR/launches/ID/control   fifo: orders to the keeper, a line each
 *     DIR/launches/ID/start, completing, end      records (record.h): start durable, the others when they are settled
 *
 * Directories are 0700 and files 0600. */
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

struct spool {
    const char *path; /* absolute; the caller's */
    int fd;           /* DIR */
    int launches_fd;  /* DIR/launches */
    int lock_fd;
};

/* Opens DIR, makes launches/ and takes launcher.lock. ERR_DENIED: DIR is not ours or open to others. ERR_CONFLICT:
 * another launcher holds it. */
int spool_open(struct spool *s, const char *path, struct err *e);
void spool_release(struct spool *s);

/* The fifo of events, made where it is missing, opened for reading (and for writing, so that it never ends). */
int spool_open_events(const struct spool *s, int *out_fd, struct err *e);

/* Ids of all launches that have a directory, in no order. */
struct launch_ids {
    ARRAY(uint64_t) list;
};
int spool_list_launches(const struct spool *s, struct launch_ids *out, struct err *e);

/* One launch's directory, open. */
struct launch_dir {
    uint64_t id;
    int fd;
    int lock_fd;    /* -1: not ours */
    int control_fd; /* -1: not open */
};

/* A new one with its control fifo, its lock held. ERR_EXISTS: there is one. On failure nothing of it is left. */
int launch_dir_create(const struct spool *s, uint64_t id, struct launch_dir *out, struct err *e);

/* An old one, not locked. */
int launch_dir_open(const struct spool *s, uint64_t id, struct launch_dir *out, struct err *e);

/* Takes the lock if nobody has it: true. False: its keeper lives. */
bool launch_dir_lock(struct launch_dir *d);
void launch_dir_close(struct launch_dir *d); /* gives the lock back unless a keeper has it too */

/* Removes the directory; the end record goes last (see spool.c). */
void launch_dir_remove(const struct spool *s, uint64_t id);

/* What the keeper noted in the lock file: its process id, 0 when it did not come so far, and the control group that it
 * was about to make, or none. */
pid_t launch_dir_read_keeper(const struct launch_dir *d, struct cgroup *out_group);
int launch_dir_write_keeper(const struct launch_dir *d, const struct cgroup *group, struct err *e); /* our process id */

/* The last record there is: end, else completing, else start. *out_text gets the text of the start record as well, or
 * stays empty. *out_found false: no record at all. An end or completing without any text is as none: power was lost before
 * it was on disk. ERR_INTERNAL, ERR_IO: one cannot be read, and none after it; *out_found then says whether *out is the one
 * before it. */
int launch_dir_read_last(const struct launch_dir *d, struct launch_record *out, struct buf *out_start_text,
                         bool *out_found, struct err *e);

/* Sends the keeper a line. ERR_UNAVAILABLE: there is none to read it. */
int launch_dir_send(const struct launch_dir *d, const char *line, struct err *e);

#endif
