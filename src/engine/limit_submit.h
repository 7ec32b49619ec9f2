/* The limits that refuse a submission or an update: the numbers of jobs waiting and running, and with DenyOnLimit all
 * that a task by itself exceeds. Source: docs/formulas.md 9. */
#ifndef FAIRLEAD_ENGINE_LIMIT_SUBMIT_H
#define FAIRLEAD_ENGINE_LIMIT_SUBMIT_H

#include "engine/apply.h"
#include "engine/limits.h"

/* Checks a job with its tasks (job.array) before it has an association. account: as given; NULL: the user's default.
 * ERR_TOO_LARGE names the limit. */
int limit_submit_check(struct apply_context *c, const struct actor *actor, const char *account, const struct job *row);

/* Checks an update that changes the QOS, the partitions or the account of a waiting job. has_new_time: also its time
 * limit, which counts only then. */
int limit_submit_check_update(struct apply_context *c, const struct job *row, bool has_new_time);

#endif
