/* A pass of the tickets model in two halves. The expensive half, the ranking of all waiting jobs, reads only a snapshot
 * of the state, so the caller can run it in another thread and serve clients meanwhile:
 *
 *     the loop    make -- events -- events -- EVENT_TIME with the plan: tasks start    1-10 ms each at 10^5 jobs
 *     a thread       \--- run ---/                                                     about 60 ms
 *
 * Changes between the snapshot and the use of the plan
 *   jobs         are found again by id. Which of them can start is decided when the plan is used. Later jobs are ranked
 *                by the next plan, for which the pass stays due.
 *   host         the resources that are free when the plan is used decide what starts.
 *   rules        after an operator's change of settings, objects or associations, or a reset of usage, the plan is
 *                dropped and the pass stays due, so that the change takes effect at once. But if no pass has run since
 *                the last dropped plan, the plan is used, so that frequent changes of rules do not keep jobs from
 *                starting.
 *   model        another model does not need a plan; the pass runs without it.
 *
 * ticket_plan_make clears state.pass_is_due: a pass that is due afterwards is due to later events. Therefore only one
 * plan may exist at a time, and no EVENT_TIME without it may come before it is used. A plan may be lost only together
 * with something that makes a pass due: a change of the model, EVENT_SYNCED, loading the state again. */
#ifndef FAIRLEAD_ENGINE_TICKET_PLAN_H
#define FAIRLEAD_ENGINE_TICKET_PLAN_H

#include "engine/engine.h"

struct ticket_plan;

/* With fewer pending and running tasks, a pass is cheaper than the overhead of a plan (about 1 ms). */
enum { TICKET_PLAN_TASKS_MIN = 1000 };

/* A snapshot for a pass at now_us (pass.c). NULL: no pass is due, at most one job could start, so that nothing has to
 * be ranked, the pass finds the order without a plan (ticket_heads.h), or there are fewer than min tasks. O(jobs +
 * tasks + associations + owners). */
struct ticket_plan *ticket_plan_make(struct state *s, int64_t now_us, uint32_t min);

/* Computes the ranking, in any thread: it accesses only the plan. The costs are those of ticket_ranks_make, and of
 * sorting by a 64-bit key. */
void ticket_plan_run(struct ticket_plan *plan);

void ticket_plan_free(struct ticket_plan *plan); /* NULL is allowed */

#endif
