/* Checks the given fields of a job (struct job_values) and sets them in a row: of a submission in a row with the
 * defaults, of an update in a copy of the job's row. The table of job fields has the range of each field, who may set
 * it and until when; the checks here need the state. The row borrows texts or has them in memory of the cycle, so a
 * refused event changes nothing.
 *
 *     both         ranges; objects exist; the request can be satisfied: the host's size, amounts of resources, MaxTime
 *     users        may only raise nice and only lower the POSIX priority, and the time limit of a job that has started;
 *                  may have a deadline if their user object allows it
 *     an update    the current value of a field that updates may set is accepted from any actor at any time, and
 *                  changes nothing; but a time limit that is given replaces the default even where it equals
 *                  that of the first partition, because the other partitions have defaults of their own */
#ifndef FAIRLEAD_ENGINE_JOB_EDIT_H
#define FAIRLEAD_ENGINE_JOB_EDIT_H

#include "engine/handlers.h"

/* Makes the row of a submission, without its id and tasks. Its association, QOS and defaults are those of its first
 * partition. out_is_new_user: the user has no association yet; the row has that of the account. ERR_INPUT,
 * ERR_NOT_FOUND, ERR_DENIED, ERR_TOO_LARGE. */
int job_edit_submission(struct apply_context *c, const struct actor *actor, const struct job_values *given,
                        struct job *out_row, bool *out_is_new_user);

/* Makes the whole row of an EVENT_SUBMIT, without its id. Its association is NONE if the user has none yet, and one in
 * DEFAULT_ACCOUNT would be added. The sets of tasks are the caller's. Errors as above (submit.c). */
int submit_make_row(struct apply_context *c, const struct event *event, struct job *out_row);

/* Whether the user may have one more live job (max_jobs, max_u_jobs). ERR_TOO_LARGE. */
int submit_check_counts(struct apply_context *c, const char *user, uint32_t input_bytes);

/* enforce_user: whether the user has an object, or gets one. ERR_DENIED, ERR_INPUT. The second one creates it. */
int submit_check_user(struct apply_context *c, const char *user);
void submit_ensure_user(struct apply_context *c, const char *user);

/* Changes fields in row, a copy of the job j. ERR_CONFLICT in addition: the field cannot change after the start. */
int job_edit_update(struct apply_context *c, const struct actor *actor, const struct job *j,
                    const struct job_values *given, struct job *row);

#endif
