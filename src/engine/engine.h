/* The only entry point that changes the state. Deciding is a pure function of the state, the time and the event: no
 * clock, no I/O, no random numbers. So the daemon, the simulator, dry runs and crash tests run the same code.
 *
 *     for each event:  engine_apply(...)          the state is ahead of the store
 *     engine_apply(... EVENT_TIME ...)            the scheduling pass
 *     store_commit(changes); act(decisions); reply
 *     engine_forget(state)                        frees ended rows
 */
#ifndef FAIRLEAD_ENGINE_ENGINE_H
#define FAIRLEAD_ENGINE_ENGINE_H

#include "engine/event.h"

/* Applies one event at now_us, which is above 0. Returns 0, appends the changed rows and the decisions to outcome, and
 * sets *out_result (which may be NULL). Or returns -1 with *e, and changes neither the state nor outcome nor
 * *out_result. The errors are ERR_INPUT, ERR_NOT_FOUND, ERR_EXISTS, ERR_CONFLICT, ERR_DENIED and ERR_TOO_LARGE.
 *
 * The cost is linear in the event's texts and lists, the depth of the tree, and the number of objects of the kinds that
 * the event refers to, except for
 *     EVENT_TIME with a pass due                      see pass.c
 *     EVENT_UPDATE                                    O(the job's texts and ranges of tasks): the job is copied
 *     EVENT_UPDATE of the time limit                  O(tasks), if tasks of the job are live
 *     EVENT_CANCEL of jobs with live tasks            O(tasks) for each of these jobs
 *     EVENT_CANCEL, HOLD, RELEASE, REQUEUE with `all` O(jobs), plus the above
 *     EVENT_ACCOUNT_DELETE, EVENT_USER_MODIFY         O(associations)
 *     EVENT_USER_DELETE                               O(associations)
 *     EVENT_ACCOUNT_MODIFY with a parent              O(associations x depth)
 *     a reset of an account or a user                 O(associations x depth), for each association of the user
 *     a reset of a user or a project                  O(usage owners), for a user times the user's projects
 *     EVENT_SETTINGS                                  O(settings + objects). A new half-life: O(tasks), or, of less
 *                                                     than a day or none, O(associations + tasks).
 *                                                     Another decay rule of the share tree: O(usage owners + tasks).
 *                                                     PriorityUsageResetPeriod=NOW: O(associations + usage owners).
 *                                                     Host sizes: O(tasks). INCR_ONLY removed: O(jobs).
 *     EVENT_OBJECT_MODIFY of NoDecay                  O(tasks)
 *     EVENT_OBJECT_DELETE of a department             O(users)
 *     EVENT_HOST, EVENT_HOSTS, EVENT_SYNCED           O(hosts + tasks)
 *     EVENT_LOAD                                      O(load values + hosts + different demands of pending jobs)
 *     EVENT_RESET                                     O(associations + usage owners)
 *     EVENT_USAGE_ROWS                                O(the rows that it may write)
 * An event that changes accounts, users or shares makes the next state_tree O(associations). A charge moves the decay
 * reference once in hundreds of half-lives, which is O(associations). */
int engine_apply(struct state *s, int64_t now_us, const struct event *event, struct outcome *outcome,
                 struct event_result *out_result, struct err *e);

/* Frees the rows of ended jobs once they are more than a quarter of all, and those of ended tasks once they are more
 * than half; and what is kept of jobs that are gone. Indices into jobs and tasks change. Amortised O(1) for each row.
 * Returns whether it has moved rows, which takes some 5 ms for 10^5. */
bool engine_forget(struct state *s);

#endif
