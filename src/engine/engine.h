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

/* Decides one event at now_us. Returns 0 and appends to out what changed and what is to be done; *out_result (may be NULL)
 * answers the event. Or returns -1 with *e, and the state and out are as before.
 * Errors: ERR_INPUT, ERR_NOT_FOUND, ERR_EXISTS, ERR_CONFLICT, ERR_DENIED, ERR_TOO_LARGE.
 * Cost: amortised O(log n), but
 *     EVENT_TIME with a pass due                   O(associations + pending jobs)
 *     EVENT_CANCEL of a job with running tasks     O(tasks) a job
 *     "all" of EVENT_CANCEL, HOLD and RELEASE      O(jobs), and for a cancellation O(tasks) a job with running tasks
 *     changes of accounts, users and settings      O(associations), and the next reading of the tree as much
 *     EVENT_SYNCED                                 O(tasks) */
int engine_apply(struct state *s, int64_t now_us, const struct event *event, struct outcome *out,
                 struct event_result *out_result, struct err *e);

/* Lets ended rows leave memory. Indices into jobs and tasks change. Amortised O(1) a row. */
void engine_forget(struct state *s);

#endif
