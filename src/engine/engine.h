/* The only entry point that changes the state. Deciding is a pure function of the state, the time and the event: no clock,
 * no I/O, no random numbers. So the daemon, the simulator, dry runs and crash tests run the same code.
 *
 *     for each event:  engine_apply(...)          the state is ahead of the store
 *     engine_apply(... EVENT_TIME ...)            the scheduling pass
 *     store_commit(changes); act(decisions); reply
 *     engine_forget(state)                        frees ended rows
 */
#ifndef FAIRLEAD_ENGINE_ENGINE_H
#define FAIRLEAD_ENGINE_ENGINE_H

#include "engine/event.h"

/* Decides one event at now_us (above 0). Returns 0, appends the changed rows and the decisions to out, and fills *out_result
 * (may be NULL). Or returns -1 with *e, and the state and out are as before.
 * Errors: ERR_INPUT, ERR_NOT_FOUND, ERR_EXISTS, ERR_CONFLICT, ERR_DENIED, ERR_TOO_LARGE.
 * The cost is that of the event's texts and lists, plus O(depth of the tree), except for
 *     EVENT_TIME with a pass due                   see pass.c
 *     EVENT_CANCEL of a job with live tasks        O(tasks) for each such job
 *     EVENT_CANCEL, HOLD and RELEASE with `all`    O(jobs), plus the above
 *     EVENT_ACCOUNT_*, EVENT_USER_*                O(associations x depth), and the next state_tree is O(associations)
 *     RawUsage=0 of a user or project              O(usage owners), times the user's projects
 *     EVENT_SETTINGS                               O(settings + objects); of a half-life, or a decay rule of the share
 *                                                  tree, O(associations + usage owners + tasks)
 *     EVENT_OBJECT_MODIFY of NoDecay               O(tasks); EVENT_OBJECT_DELETE of a department: O(users)
 *     EVENT_HOST                                   O(tasks)
 *     EVENT_SYNCED                                 O(tasks)
 *     EVENT_RESET                                  O(associations + usage owners) */
int engine_apply(struct state *s, int64_t now_us, const struct event *event, struct outcome *outcome,
                 struct event_result *out_result, struct err *e);

/* Frees ended rows, once they are more than a quarter of the rows of jobs and tasks. Indices into jobs and tasks change.
 * Amortised O(1) for each row. */
void engine_forget(struct state *s);

#endif
