/* The limits that refuse a submission or an update: the numbers of jobs waiting and running, and with DenyOnLimit all
 * that a task by itself exceeds. Source: docs/formulas.md 9. */
#ifndef FAIRLEAD_ENGINE_LIMIT_SUBMIT_H
#define FAIRLEAD_ENGINE_LIMIT_SUBMIT_H

#include "engine/apply.h"
#include "engine/limits.h"

/* Checks a job with its tasks (job.array), its QOS and its association. new_user: its association is yet to be added,
 * and the row has the one above it; NULL: it exists. ERR_TOO_LARGE names the limit. */
int limit_submit_check(struct apply_context *c, const struct job *row, const char *new_user);

/* Checks an update that changes the QOS, the partitions or the account of a waiting job, or asks for more (asks_more).
 * Submit limits count where the job is not counted yet. Its time limit counts if it changes, and with what is asked for
 * more. ERR_TOO_LARGE. */
int limit_submit_check_update(struct apply_context *c, const struct job *old, const struct job *row, bool asks_more);

#endif
