/* The launcher's table of launches, and what the daemon is told of them. Each launch has a directory on disk, and a
 * running keeper or an end. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_LAUNCH_TABLE_H
#define FAIRLEAD_EXEC_LAUNCHER_LAUNCH_TABLE_H

#include "base/map.h"
#include "exec/launcher/cgroup.h"
#include "exec/launcher/job_process.h"
#include "exec/launcher/process_identity.h"
#include "exec/launcher/spool.h"

enum launch_entry_state {
    ENTRY_KEPT,           /* its keeper runs; entry.keeper_pidfd becomes readable when it exits */
    ENTRY_KEEPER_UNKNOWN, /* its lock is taken, but the keeper is not known yet */
    ENTRY_ORPHANED,       /* no keeper and no end: its orphans are being killed */
    ENTRY_UNREADABLE,     /* its directory cannot be read now, so its state is not known */
    ENTRY_ENDED           /* no keeper, and its record is the last one */
};

struct launch_entry {
    uint64_t id;
    enum launch_entry_state state;
    int keeper_pidfd;   /* -1: none */
    pid_t keeper_pid;   /* for measuring; 0: not read yet */
    char *keeper_group; /* the path of its control group, owned; "" without one, NULL if keeper_pid is 0 */
    pid_t child_pid;    /* of the keeper, if this launcher has forked it; else 0 */
    uint32_t stop_count;
    bool has_record;
    bool is_acknowledged; /* to be forgotten once the keeper has exited */
    bool is_unread;       /* it has a record that could not be read */
    bool is_of_scan;      /* it was found when the launcher started, and has not been read since */
    bool is_limit_due;    /* time_limit_us could not be sent to the keeper yet */
    bool has_end_order, is_order_sent;
    int64_t time_limit_us;                   /* as last ordered */
    int64_t end_grace_us;                    /* of the order */
    struct process_identity *orphan;         /* of ENTRY_ORPHANED, owned; else NULL */
    uint32_t round_count, empty_round_count; /* of ENTRY_ORPHANED: all; the last ones in a row that found no orphan */
    struct launch_record record;             /* if has_record */
};

enum {
    LAUNCHES_TICK_MS = 20,   /* between two rounds of killing orphans, and two looks for an unknown keeper */
    LAUNCHES_RETRY_MS = 200, /* between two looks at what could not be read, or two orders that could not be sent */
    LAUNCH_STOPS_MAX = 100   /* of one keeper; then it is killed */
};

struct launches {
    const struct spool *spool;
    const struct cgroup_parent *cgroups;
    const struct inherited_attributes *inherited;
    int epoll_fd; /* watches the pidfds of keepers, with the launch id as data */
    char boot_id[BOOT_ID_SIZE];
    struct buf *out; /* gets the records for the daemon; NULL: no daemon is connected */
    ARRAY(struct launch_entry) list;
    struct map index_by_id;    /* from launch id to index in list */
    uint32_t needs_tick_count; /* entries that launches_tick looks at every LAUNCHES_TICK_MS */
    bool wants_retry;          /* it looks at entries that could not be read, and at orders, every LAUNCHES_RETRY_MS */
    int64_t tick_us, retry_us; /* CLOCK_BOOTTIME: when it does so next, at the earliest */
};

/* The entry of a launch, NULL if it is not known. launches_add: adds one that is not, as ENTRY_ENDED, and returns its
 * index. Both pointers and indices are valid until an entry is added or forgotten. */
struct launch_entry *launches_find(struct launches *l, uint64_t id);
uint32_t launches_add(struct launches *l, uint64_t id);
void launches_release(struct launches *l);

/* launches_set_ended also frees what an orphaned launch has. */
void launches_set_state(struct launches *l, struct launch_entry *entry, enum launch_entry_state state);
void launches_set_ended(struct launches *l, struct launch_entry *entry);

/* To be called after a failure that may pass: launches_tick looks at the entry again. */
void launches_retry_later(struct launches *l);

/* Removes the directory and the entry, whose keeper is gone. The last entry moves to its index.
 * launches_forget_if_done: only if it is still known, its end is acknowledged and its keeper is gone. */
void launches_forget(struct launches *l, uint32_t index);
void launches_forget_if_done(struct launches *l, uint64_t id);

/* Opens a pidfd of the keeper, which epoll watches. False: it cannot, and the entry is as before.
 * launch_entry_unwatch: closes it, and forgets the keeper's pid and group. */
bool launches_watch(struct launches *l, struct launch_entry *entry, pid_t pid);
void launch_entry_unwatch(struct launch_entry *entry);

/* Sends a signal to the keeper that is watched. */
void launch_entry_signal(const struct launch_entry *entry, int signal);

/* Whether the last record of every launch has been read. Until then the daemon must not be told that every launch has
 * been reported. O(launches) while something could not be read. */
bool launches_are_read(const struct launches *l);

/* Whether the keeper of any launch runs. O(launches). */
bool launches_have_keeper(const struct launches *l);

/* Report the last record of a launch, or of every one, that has one and is not acknowledged. */
void launches_report(struct launches *l, const struct launch_entry *entry);
void launches_report_all(struct launches *l);

/* Stores a record and reports it, unless it is no newer than the stored one. */
void launches_update(struct launches *l, struct launch_entry *entry, const struct launch_record *record);

/* Reports the end of a launch without an entry. end: see launch_record_never_ran. */
void launches_report_never_ran(struct launches *l, uint64_t id, enum launch_end end, const char *detail);

#endif
