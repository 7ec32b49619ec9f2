/* The record log: segments, DIR/launches/N.log, that are only appended to. Their lines: log_text.h.
 *
 *     start=ID <identity>          the launcher, before the keeper is forked (identity: process_identity.h)
 *     id=ID phase=started ...      the job's process, right before its exec
 *     id=ID phase=completing ...   the keeper
 *     id=ID phase=ended ...        the keeper; or the launcher, in the place of one that is gone
 *     acknowledged=ID              the launcher
 *
 * All records of a launch are in the segment in which it was started. A segment is removed once it has no launch that
 * is not acknowledged. The names of fields never change, and unknown lines and fields are skipped.
 *
 *  I1  A segment is opened with O_APPEND, keepers inherit the descriptor, and no segment is renamed or rewritten: a
 *      record goes behind all others, whoever else appends at the same time.
 *  I2  Before a launch is started, its segment has room for all of its records (fallocate), where the file system can
 *      do that.
 *  I3  A keeper has a lock on one byte of DIR/launches/keepers, its launch id: a lock of the process (fcntl), which no
 *      child inherits. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_SEGMENTS_H
#define FAIRLEAD_EXEC_LAUNCHER_SEGMENTS_H

#include "exec/launcher/process_identity.h"
#include "exec/launcher/spool.h"

struct log_segment {
    uint32_t number;
    int fd;
    uint32_t launch_count; /* of known launches: the caller's */
    size_t size, used;     /* bytes that are allocated, and those that its launches may need */
    int64_t read_offset;   /* up to here its lines were read */
    struct buf unread;     /* read, but not returned by segment_next */
    size_t unread_offset;  /* bytes of unread that were returned */
    struct buf unwritten;  /* lines that segments_flush appends */
    bool wants_read;       /* it may have new lines: the caller's */
    bool wants_sync;       /* it has an end that the daemon has not committed in time: the caller's */
    bool has_synced;       /* its last sync has succeeded */
    bool has_unsynced;     /* it has start lines that may be lost with the power: the caller's */
    bool is_read;          /* it has been read to its end at least once */
    bool is_own;           /* this launcher has created it */
    bool is_cut;           /* another program has truncated it, so records are missing */
    bool may_be_unwritten; /* a sync has failed, or one of an earlier launcher or a keeper may have: see segment_sync */
};

struct log_segments {
    const struct spool *spool;
    int keepers_fd;                      /* launches/keepers */
    struct process_identity_place place; /* of launches/ */
    ARRAY(struct log_segment *) list;    /* each one's memory is its own */
    struct log_segment *current;         /* takes new launches; NULL: none */
};

/* Opens launches/keepers. ERR_IO. */
int segments_init(struct log_segments *s, const struct spool *spool, struct err *e);
void segments_release(struct log_segments *s);

/* Opens the segments on disk that are not open yet, and reads those that have not been read, in the order of their
 * numbers. ERR_UNAVAILABLE: one cannot be opened or read now (shortage.h). ERR_IO: the directory cannot be listed. */
int segments_scan(struct log_segments *s, struct err *e);

/* Makes s->current a segment with room for the launches of so many start lines, and size bytes of these. A shortage
 * gives ERR_UNAVAILABLE, other failures ERR_NOT_FOUND or ERR_IO, and then s->current is NULL. */
int segments_make_room(struct log_segments *s, uint32_t launch_count, size_t size, struct err *e);

/* Appends lines. ERR_UNAVAILABLE or ERR_IO: they are not all there; a line that was cut off counts as none.
 * segment_sync: all that was appended survives power loss afterwards. After a sync that failed, the kernel takes what
 * it could not write for written, and the next sync succeeds without it; so it is written again before that.
 * segments_make_room makes another segment then. */
int segment_append(const struct log_segment *g, struct str lines, struct err *e);
int segment_sync(struct log_segment *g, struct err *e);

/* Reads what was appended. segment_next: the fields of the next line that was read; its text is NULL if there is none.
 * It is valid until the next call. False: it cannot be read now. */
bool segment_read(struct log_segment *g);
struct str segment_next(struct log_segment *g);

/* Appends what is unwritten, as far as that is possible, and removes segments that are of no further use. */
void segments_flush(struct log_segments *s);

/* Whether a segment has a record of a launch behind an offset, or may have one, because it cannot be read now. log_fd:
 * its descriptor. */
bool segment_has_record(int log_fd, int64_t offset, uint64_t launch_id);

/* Whether the segment still has the start line of a launch, or may have it. O(size of the segment). */
bool segment_has_start(const struct log_segment *g, uint64_t launch_id);

/* Takes over the descriptor of a segment whose name was removed. */
struct log_segment *segments_add_removed(struct log_segments *s, uint32_t number, int fd);

/* The processes with the lock of a keeper, except those of other pid namespaces. O(keepers^2). */
struct segments_keeper {
    uint64_t launch_id;
    pid_t pid;
};
struct segments_keepers {
    ARRAY(struct segments_keeper) list;
};
void segments_list_keepers(const struct log_segments *s, struct segments_keepers *out);

/* The process with the lock of a keeper; 0: none; SEGMENTS_KEEPER_HIDDEN: one of another pid namespace; -1: not known.
 */
enum { SEGMENTS_KEEPER_HIDDEN = -2 };
pid_t segments_find_keeper(const struct log_segments *s, uint64_t launch_id);

/* Takes the lock of a keeper, for this process. ERR_UNAVAILABLE: it cannot be had. */
int segments_lock_keeper(int keepers_fd, uint64_t launch_id, struct err *e);
void segments_unlock_keeper(int keepers_fd, uint64_t launch_id);

#endif
