/* The launcher's table of launches, and what the daemon is told of them. Each launch has a start line in the record log
 * (segments.h), and a running keeper or an end. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_LAUNCH_TABLE_H
#define FAIRLEAD_EXEC_LAUNCHER_LAUNCH_TABLE_H

#include "base/map.h"
#include "exec/launcher/cgroup.h"
#include "exec/launcher/job_process.h"
#include "exec/launcher/keeper_orders.h"
#include "exec/launcher/process_identity.h"
#include "exec/launcher/segments.h"

/* A launch whose control groups a keeper removes after its end; launch_id 0: none. */
struct left_groups {
    uint64_t launch_id;
    char key[LAUNCH_KEY_SIZE];
};

enum launch_entry_state {
    ENTRY_STARTING,       /* it has no keeper yet */
    ENTRY_KEPT,           /* its keeper runs, and is watched */
    ENTRY_KEEPER_UNKNOWN, /* its lock is taken, but the keeper is not known yet; or the segment cannot be read now */
    ENTRY_ORPHANED,       /* no keeper and no end: its orphans are being killed */
    ENTRY_UNREADABLE,     /* an older launch whose directory cannot be read now, so its state is not known */
    ENTRY_ENDED           /* no keeper, and its record is the last one */
};

struct launch_entry {
    uint64_t id;
    enum launch_entry_state state;
    struct log_segment *segment;       /* has its records; NULL: it is an older launch (older_launches.h) */
    struct process_identity *identity; /* owned; NULL for an older launch that is not ENTRY_ORPHANED */
    pid_t keeper_pid;                  /* 0: no keeper is watched */
    int keeper_pidfd;                  /* -1: the keeper is a child of this launcher, or is not watched */
    int next_fd;                       /* where the keeper gets the next launch (next_launch.h); -1: it gets none */
    int64_t keeper_since_us;           /* CLOCK_BOOTTIME: when this launcher gave the launch to it; 0: an earlier one */
    struct left_groups left;           /* of the launch that the keeper has kept before; launch_id 0: none */
    uint32_t stop_count;
    bool has_script; /* launches/ID.script is to be removed */
    bool has_record;
    bool is_acknowledged; /* to be forgotten once the keeper has exited */
    bool is_hidden;       /* its keeper is in another pid namespace: it can be neither watched nor signalled */
    bool is_record_due;   /* its lines were cut away, and it is not known yet whether it has started */
    int64_t found_us;     /* CLOCK_BOOTTIME: since when, if is_record_due */
    bool is_unread;       /* of an older launch: it has a record that could not be read */
    bool is_of_scan;      /* it was found when the launcher started, and has not been resolved since */
    bool has_copy;        /* its start line is in several segments: records of all of them count */
    bool is_end_unsynced; /* its end is in the segment, and not known to survive power loss */
    bool is_report_due;   /* of its last record */
    bool has_kernel_kill; /* the kernel has killed a process of it for memory: seen after its keeper was killed */
    bool is_limit_due;    /* time_limit_us could not be sent to the keeper yet */
    bool is_weight_due;   /* likewise cpu_weight */
    bool is_suspension_due, is_signal_due;  /* likewise the next two */
    int64_t suspension_value, signal_value; /* of keeper_orders.h, as last ordered */
    uint32_t cpu_weight;                    /* as last ordered */
    bool has_end_order, is_order_sent;
    int64_t mem_limit_kib, mem_poll_us;      /* of the launch; 0: none */
    int64_t time_limit_us;                   /* as last ordered */
    int64_t end_grace_us;                    /* of the order */
    int64_t end_seen_us;                     /* CLOCK_BOOTTIME: when its end was read, if is_end_unsynced */
    uint32_t round_count, empty_round_count; /* of ENTRY_ORPHANED: all; the last ones in a row that found no orphan */
    struct launch_record record;             /* if has_record */
};

/* A keeper that waits for the next launch (idle_keepers.h). */
struct idle_keeper {
    pid_t pid;
    int next_fd;
    int64_t since_us;        /* CLOCK_BOOTTIME */
    struct left_groups left; /* of the launch that has ended */
};

/* A launch that is ENTRY_STARTING, and the bytes of its message START. The memory is the caller's. */
struct starting_launch {
    struct launch launch;
    struct str frame;
};

enum {
    LAUNCHES_TICK_MS = 20,    /* between two rounds of killing orphans, and two looks for an unknown keeper */
    LAUNCHES_RETRY_MS = 200,  /* between two looks at what could not be read, or two orders that could not be sent */
    LAUNCHES_COMMIT_MS = 200, /* for the daemon's commit of an end; then the end is synced */
    LAUNCHES_START_MS = 20,   /* until a start line is synced, at the most */
    LAUNCH_STOPS_MAX = 100    /* of one keeper; then it is killed */
};

/* The control groups of a launch that has ended, which the kernel did not let go yet. */
struct unremoved_groups {
    uint64_t launch_id;
    struct process_identity identity;
};

struct launches {
    const struct spool *spool;
    const struct cgroup_parent *cgroups;
    const struct inherited_attributes *inherited;
    const struct identity_rules *rules;
    int epoll_fd;             /* watches the pidfds of keepers, with the launch id as data */
    int events_fd, signal_fd; /* for keepers */
    char boot_id[BOOT_ID_SIZE];
    struct buf instance_id; /* empty: not read yet */
    struct log_segments segments;
    struct buf *out; /* gets the records for the daemon; NULL: no daemon is connected */
    ARRAY(struct launch_entry) list;
    struct map index_by_id;      /* from launch id to index in list */
    struct map index_by_child;   /* from the pid of a keeper that is a child of this launcher to index in list */
    ARRAY(uint64_t) reports_due; /* the launches with is_report_due */
    ARRAY(struct starting_launch) starting;
    ARRAY(struct idle_keeper) idle; /* the one that has waited for the longest first */
    uint32_t next_fd_count;         /* the sockets of these and of entries */
    int64_t next_close_us;          /* CLOCK_BOOTTIME: when it looks next for sockets that can be spared */
    uint32_t needs_tick_count;      /* entries that launches_tick looks at every LAUNCHES_TICK_MS */
    uint32_t unsynced_end_count;    /* entries with is_end_unsynced */
    bool wants_retry;           /* it looks at entries that could not be read, and at orders, every LAUNCHES_RETRY_MS */
    bool is_log_unread;         /* a segment could not be read yet */
    bool seeks_strays;          /* not all keepers without a record have ended yet (strays.h) */
    uint32_t stray_round_count; /* of ending them */
    ARRAY(struct unremoved_groups) unremoved; /* to be tried again */
    uint32_t group_sweep_count; /* how often it looks again for groups of launches that have ended; 0: none is left */
    int64_t tick_us, retry_us;  /* CLOCK_BOOTTIME: when it does so next, at the earliest */
    int64_t sync_us;            /* likewise: when it looks at the ends that are not synced */
    int64_t start_sync_us;      /* likewise: when it syncs start lines; 0: all of them are synced */
    int64_t memory_look_us;     /* likewise: when it looks at the memory of launches; 0: none is to be looked at */
    int64_t memory_rest_us;     /* likewise: not before that time */
};

/* The entry of a launch, NULL if it is not known. launches_add: adds one that is not, as ENTRY_ENDED, and returns its
 * index. segment: see struct launch_entry. Both pointers and indices are valid until an entry is added or forgotten. */
struct launch_entry *launches_find(struct launches *l, uint64_t id);
uint32_t launches_add(struct launches *l, uint64_t id, struct log_segment *segment);
void launches_release(struct launches *l);

/* launches_set_ended also frees what an orphaned launch has. */
void launches_set_state(struct launches *l, struct launch_entry *entry, enum launch_entry_state state);
void launches_set_ended(struct launches *l, struct launch_entry *entry);

/* To be called after a failure that may pass: launches_tick looks at the entry again. */
void launches_retry_later(struct launches *l);

/* Removes the entry, whose keeper is gone, and the directory of an older launch. The last entry moves to its index.
 * launches_forget_if_done: only if it is still known, its end is acknowledged and its keeper is gone. */
void launches_forget(struct launches *l, uint32_t index);
void launches_forget_if_done(struct launches *l, uint64_t id);

/* Opens a pidfd of the keeper, which epoll watches. False: it cannot, and the entry is as before.
 * launches_watch_child: of a child of this launcher, whose end SIGCHLD tells. launches_unwatch: forgets the keeper,
 * which gets no launch any more. */
bool launches_watch(struct launches *l, struct launch_entry *entry, pid_t pid);
void launches_watch_child(struct launches *l, struct launch_entry *entry, pid_t pid);
void launches_unwatch(struct launches *l, struct launch_entry *entry);

/* Sends a signal, or an order, to the keeper that is watched. False: it cannot be sent now. */
void launch_entry_signal(const struct launch_entry *entry, int signal);
bool launch_entry_order(const struct launch_entry *entry, enum keeper_order order, int64_t value);

/* Whether the last record of every launch has been read, and what runs without a record has ended. Until then the
 * daemon must not be told that every launch has been reported. O(launches) while something could not be read. */
bool launches_are_read(const struct launches *l);

/* Whether the keeper of any launch runs. O(launches). */
bool launches_have_keeper(const struct launches *l);

/* Report the last record of a launch, or of every one, that has one and is not acknowledged. */
void launches_report(struct launches *l, const struct launch_entry *entry);
void launches_report_all(struct launches *l);

/* Stores a record, unless it is no newer than the stored one. launches_report_due: reports the last record of each
 * launch that got one since. */
void launches_update(struct launches *l, struct launch_entry *entry, const struct launch_record *record);
void launches_report_due(struct launches *l);

/* The end of a launch is on disk, or its commit is. */
void launches_set_end_synced(struct launches *l, struct launch_entry *entry);

/* Reports the end of a launch without an entry. end: see launch_record_never_ran. */
void launches_report_never_ran(struct launches *l, uint64_t id, enum launch_end end, const char *detail);

#endif
