/* Builds the input of the tickets model (struct ticket_snapshot of ranking.h), entry by entry: all waiting tasks
 * (ticket_snapshot_make), or some that stand for the others (ticket_heads.c). Internal to the engine. */
#ifndef FAIRLEAD_ENGINE_TICKET_SNAPSHOT_H
#define FAIRLEAD_ENGINE_TICKET_SNAPSHOT_H

#include "engine/ranking.h"
#include "engine/share_tree.h"
#include "engine/ticket_identities.h"

struct ticket_snapshot_builder {
    struct state *s;
    struct ticket_snapshot *snapshot;
    const struct ticket_identities *identities;
    struct ticket_job *jobs; /* the input's */
    uint32_t count, max_count;
    const struct job *last; /* the job of the last entries; NULL: there are none yet */
    bool is_listed;         /* the order of the entries so far is that of the list */
    bool has_tree;
    struct share_snapshot tree;
};

/* A snapshot with at most max_count entries: pending tasks, which the caller adds, then running ones. */
struct ticket_snapshot_builder ticket_snapshot_begin(struct ticket_snapshot *snapshot, struct state *s, int64_t now_us,
                                                     uint32_t max_count);
void ticket_snapshot_add(struct ticket_snapshot_builder *b, const struct ticket_job *job,
                         const struct ticket_entry *entry);
void ticket_snapshot_add_running(struct ticket_snapshot_builder *b);
void ticket_snapshot_end(struct ticket_snapshot_builder *b);

/* A job in an entry, without its task and node. */
struct ticket_job ticket_snapshot_job(const struct ticket_snapshot_builder *b, const struct job *j, uint32_t partition);

/* The entry of a job (its index). task: index of a running task, or NONE. */
struct ticket_entry ticket_snapshot_entry(struct ticket_snapshot_builder *b, uint32_t job, uint32_t task);

/* The node that serves a user's jobs in a project, or NONE. Adds a virtual node if needed. */
uint32_t ticket_snapshot_serve(struct ticket_snapshot_builder *b, uint32_t assoc, uint32_t project);

/* How many waiting tasks of a job have entries, of an array at most array_max. Without one it does not compete for
 * tickets. */
uint32_t ticket_snapshot_count_tasks(const struct state *s, const struct job *j, int64_t now_us, uint32_t array_max);

#endif
