/* What somebody gives of a job (struct job_values), checked and put into a row: of a submission into one with the defaults,
 * of an update into a copy of the job's. Who may set a field, until when, and which values it takes is in the table of job
 * fields; here is what needs the state. What is read is borrowed or in memory of the cycle, so a refusal leaves no trace.
 *
 *     both         ranges; objects that exist; what can be given at all: the host's size, amounts of resources, MaxTime
 *     users        nice only upwards, POSIX priority only downwards; a deadline only where their user object says so
 *     an update    a value that stays as it is changes nothing, whoever gives it and whenever */
#ifndef FAIRLEAD_ENGINE_JOB_EDIT_H
#define FAIRLEAD_ENGINE_JOB_EDIT_H

#include "engine/handlers.h"

/* The row of a submission but for its id, association and tasks. */
int job_edit_submission(struct apply_context *c, const struct actor *actor, const struct job_values *given,
                        struct job *out_row);

/* row: a copy of the job j, whose fields it changes. */
int job_edit_update(struct apply_context *c, const struct actor *actor, const struct job *j,
                    const struct job_values *given, struct job *row);

#endif
