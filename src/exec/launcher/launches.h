/* The launcher's table of launches. Each has a directory on disk, and a running keeper or an end. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_LAUNCHES_H
#define FAIRLEAD_EXEC_LAUNCHER_LAUNCHES_H

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

/* Finds the launches on disk. Removes those that never ran, and begins to end those without a keeper. ERR_IO: the
 * directory of launches cannot be listed. */
int launches_scan(struct launches *l, struct err *e);
void launches_release(struct launches *l);

/* Whether the last record of every launch has been read. Until then the daemon must not be told that every launch has
 * been reported. O(launches) while something could not be read. */
bool launches_are_read(const struct launches *l);

/* Whether the keeper of any launch runs. O(launches). */
bool launches_have_keeper(const struct launches *l);

/* Reports the last record of every launch that has one and is not acknowledged. */
void launches_report_all(struct launches *l);

/* The daemon's orders. launches_start: starts a launch; if its id is known already, reports its last record instead.
 * memory and bytes: see struct keeper_task. launches_acknowledge: the daemon has committed the end of this launch. */
void launches_start(struct launches *l, const struct launch *launch, struct arena *memory, struct buf *bytes);
void launches_end(struct launches *l, uint64_t id, int64_t grace_us);
void launches_acknowledge(struct launches *l, uint64_t id);
void launches_set_cpu_weight(struct launches *l, uint64_t id, uint32_t cpu_weight);
void launches_set_time_limit(struct launches *l, uint64_t id, int64_t time_limit_us);

/* Reports the usage of every launch that has started and whose keeper runs. O(processes of the machine). */
void launches_measure(struct launches *l);

/* To be called when a keeper has written a record, and when a keeper's pidfd has become readable. */
void launches_on_record(struct launches *l, uint64_t id);
void launches_on_keeper_exit(struct launches *l, uint64_t id);

/* To be called when a child of the launcher has ended or was stopped (SIGCHLD). O(launches) for one that was
 * stopped. */
void launches_on_child(struct launches *l);

/* launches_tick: to be called after each wait of the loop, which lasts at most launches_wait_ms; -1: without limit. */
enum { LAUNCHES_TICK_MS = 20, LAUNCHES_RETRY_MS = 200 };
void launches_tick(struct launches *l);
int launches_wait_ms(const struct launches *l);

#endif
