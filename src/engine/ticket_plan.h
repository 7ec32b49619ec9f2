/* A pass of the tickets model in two halves. Its dear half, a ranking of everybody who waits, needs no state but a copy of
 * what it asks, so the caller may let another thread do it and go on serving meanwhile:
 *
 *     the loop    make -- events -- events -- EVENT_TIME with the plan: who starts     1-10 ms each at 10^5 jobs
 *     a thread       \--- run ---/                                                     some 60 ms
 *
 * What has changed since
 *   jobs         are found again by id. Whether they could start is decided when the plan is used; those that came later are
 *                ranked by the next one, and the pass stays due for them.
 *   host         starts go by what is free when the plan is used.
 *   rules        settings, objects and associations that an operator changed, usage that was reset: the plan is dropped and
 *                the pass is due, so that a change takes effect at once. But where no pass was run since the last one that
 *                was dropped it is used: somebody who goes on changing rules does not keep jobs from starting.
 *   model        another one needs no plan: the pass is run as it is.
 *
 * Making a plan takes the wish for a pass over: what state.pass_is_due says from then on came later. So one plan at a time,
 * and no EVENT_TIME without it until it is used; or load the state anew, where a pass is due. */
#ifndef FAIRLEAD_ENGINE_TICKET_PLAN_H
#define FAIRLEAD_ENGINE_TICKET_PLAN_H

#include "engine/engine.h"

struct ticket_plan;

/* Below so many tasks that wait or run, a pass is cheaper than what a plan costs beside (about 1 ms). */
enum { TICKET_PLAN_WORTH = 1000 };

/* What a pass at now_us would rank (pass.c says so); NULL: no pass is due, or it ranks nothing, or fewer than least tasks.
 * O(jobs + associations) */
struct ticket_plan *ticket_plan_make(struct state *s, int64_t now_us, uint32_t min);

/* The ranking, by any thread: it looks at the plan alone. O(n log n) */
void ticket_plan_run(struct ticket_plan *plan);

void ticket_plan_free(struct ticket_plan *plan); /* NULL is allowed */

#endif
