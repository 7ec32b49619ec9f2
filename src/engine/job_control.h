/* What the events about jobs by id share (job_control.c, job_update.c). */
#ifndef FAIRLEAD_ENGINE_JOB_CONTROL_H
#define FAIRLEAD_ENGINE_JOB_CONTROL_H

#include "engine/handlers.h"

/* Finds the index of the job of a reference. The actor may change it, and the task of the reference, if it has one, has
 * not ended. ERR_NOT_FOUND, ERR_DENIED. */
int job_control_find(struct apply_context *c, const struct actor *actor, struct job_ref ref, uint32_t *out_job);

/* A change by hand moves a job to the end of the scheduler's list, as Grid Engine's qhold, qrls and qalter do (recorded
 * cases e2, h_11). */
void job_control_move_to_list_end(struct state *s, struct job *j);

#endif
