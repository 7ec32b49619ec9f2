/* Jobs that start in time or not at all (submit --immediate):
 *
 *     within seconds    cancelled when they are over, before a pass that comes later could start the job
 *     at once (0)       cancelled after the first pass that has looked at the job, which comes with its submission;
 *                       if none has within IMMEDIATE_PASS_MAX_S, as after a crash, cancelled then
 *
 * A cancelled job keeps the reason why it did not start. A job that is requeued, after it has started or ended, waits
 * as any other; so a restart of the daemon, which knows only the rows, changes nothing.
 * state_next_due_us knows when the next one has to be cancelled. */
#ifndef FAIRLEAD_ENGINE_IMMEDIATE_H
#define FAIRLEAD_ENGINE_IMMEDIATE_H

#include "engine/ranking.h"

/* Cancels those whose time is over. */
void immediate_cancel_late(struct apply_context *c);

/* After a pass, cancels those that had to start in it. plan: that of the pass, which does not know jobs that were
 * submitted since it was made; NULL: it had none. */
void immediate_cancel_refused(struct apply_context *c, const struct ticket_plan *plan);

#endif
