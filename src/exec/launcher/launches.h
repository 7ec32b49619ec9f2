/* The launcher's table of launches: each is a directory on disk, and a keeper or an end. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_LAUNCHES_H
#define FAIRLEAD_EXEC_LAUNCHER_LAUNCHES_H

#include "base/map.h"
#include "exec/launcher/cgroup.h"
#include "exec/launcher/job_process.h"
#include "exec/launcher/spool.h"

enum entry_state {
    ENTRY_KEPT,   /* its keeper lives, and entry.pidfd will say when it does not */
    ENTRY_UNSURE, /* somebody holds the lock, but who is not known yet */
    ENTRY_LOSING, /* no keeper, no end: what is left of the job is being killed */
    ENTRY_ENDED   /* its record is the last one */
};

struct entry {
    uint64_t id;
    enum entry_state state;
    int pidfd; /* -1: none */
    bool has_record;
    bool acknowledged;           /* to be forgotten as soon as the keeper is gone */
    uint32_t rounds, quiet;      /* of losing: all, and those in a row that found nobody */
    struct launch_record record; /* if has_record */
};

struct launches {
    const struct spool *spool;
    const struct cgroup_parent *cgroups;
    const struct inherited_attributes *inherited;
    int epoll_fd; /* a keeper's pidfd is added with its launch id as data */
    char boot_id[64];
    struct buf *out; /* where records for the daemon go; NULL: no daemon */
    ARRAY(struct entry) list;
    struct map by_id;  /* to the index in list */
    uint32_t restless; /* entries that launches_tick has to look at */
};

/* Finds the launches on disk. Those that never ran are removed, those without a keeper are brought to an end. */
int launches_scan(struct launches *l, struct err *e);
void launches_release(struct launches *l);

/* Whether a keeper lives. */
bool launches_have_keeper(const struct launches *l);

/* Tells the last record of every launch that has one. */
void launches_report_all(struct launches *l);

/* Starts it, unless it is known: then its last record is told. memory and bytes: see struct keeper_task. */
void launches_start(struct launches *l, const struct launch *launch, struct arena *memory, struct buf *bytes);
void launches_end(struct launches *l, uint64_t id, int64_t grace_us);
void launches_acknowledge(struct launches *l, uint64_t id); /* the daemon has committed its end */
void launches_set_cpu_weight(struct launches *l, uint64_t id, uint32_t cpu_weight);

/* A keeper has written something; a keeper's pidfd has become readable. */
void launches_on_record(struct launches *l, uint64_t id);
void launches_on_keeper_exit(struct launches *l, uint64_t id);

/* To be called every LAUNCHES_TICK_MS while restless is not 0. */
enum { LAUNCHES_TICK_MS = 20 };
void launches_tick(struct launches *l);

#endif
