/* Which jobs an event about many of them means (EVENT_CANCEL, HOLD, RELEASE, REQUEUE), and how much there is to do for
 * each, so that the daemon can cut it into slices (daemon/bulk_changes.h). */
#ifndef FAIRLEAD_ENGINE_JOB_SELECTION_H
#define FAIRLEAD_ENGINE_JOB_SELECTION_H

#include "engine/event.h"

/* Whether the actor may change a job: it is the user's own, or the actor is an operator. */
bool job_selection_permits(const struct state *s, const struct actor *actor, const struct job *j);

/* Whether the event, with `all`, means a job: it lives, the actor may change it, and the selection fits. O(partitions
 * of the job) */
bool job_selection_fits(const struct state *s, const struct event *event, const struct job *j);

/* Whether what the selection names exists. ERR_NOT_FOUND */
int job_selection_check(const struct state *s, const struct job_selection *selection, struct err *e);

/* The jobs that an event with `all` means now, in order of ids. Returns their number; out_refs: in memory of arena.
 * -1 with *e as job_selection_check. O(jobs) */
int job_selection_list(const struct state *s, const struct event *event, struct arena *arena,
                       const struct job_ref **out_refs, uint32_t *out_count, struct err *e);

/* How much there is to do for a reference: about the number of rows that are written, at least 1. Of an ended job that
 * is in no row of memory, as the event brings it. O(log jobs) */
uint64_t job_selection_weight(const struct state *s, const struct event *event, struct job_ref ref);

/* The same for a further task of the job that the reference before names; weight: what job_selection_weight says of it.
 * The row is written once for all of them. */
uint64_t job_selection_task_weight(uint64_t weight);

/* Whether its job is in a row of memory: it lives, or has ended lately. O(log jobs) */
bool job_selection_is_known(const struct state *s, struct job_ref ref);

#endif
