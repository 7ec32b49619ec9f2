/* The one door to the state. Deciding is a pure function of the state, the moment and the event: no clock, no I/O, no
 * chance. So daemon, simulator, what-if questions and crash tests run the same code.
 *
 *     for each event:  engine_apply(...)          the state is ahead of the store
 *     engine_apply(... EVENT_TIME ...)            the pass: who starts
 *     store_commit(changes); act(decisions); answer
 *     engine_forget(state)                        ended rows leave memory
 */
#ifndef FAIRLEAD_ENGINE_ENGINE_H
#define FAIRLEAD_ENGINE_ENGINE_H

#include "engine/event.h"

/* Decides one event at now_us. Returns 0 and appends to out what changed and what is to be done; *out_id (may be NULL) is
 * the id that a submission was given, else untouched. Or returns -1 with *e, and the state and out are as before.
 * Errors: ERR_INPUT, ERR_NOT_FOUND, ERR_EXISTS, ERR_CONFLICT, ERR_DENIED, ERR_TOO_LARGE. O(log n) amortised, but for
 * EVENT_TIME with a pass due: O(associations + pending jobs), and structural changes of the tree. */
int engine_apply(struct state *s, int64_t now_us, const struct event *event, struct outcome *out, uint32_t *out_id,
                 struct err *e);

/* Lets ended rows leave memory. Indices into jobs and tasks change. Amortised O(1) a row. */
void engine_forget(struct state *s);

/* Where a task's output goes: the pattern with %j (job id, or A_a for a task of an array), %A (job id), %a (task number),
 * %x (job name), %u (user) and %% replaced; relative paths get the job's directory in front. Slashes in names become '_'. */
void job_expand_path(const struct job *j, const char *user, uint32_t task_id, const char *pattern, struct buf *out);

#endif
