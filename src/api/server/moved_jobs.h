/* Moved jobs (engine/moved_jobs.h) as bodies of requests, and back. */
#ifndef FAIRLEAD_API_SERVER_MOVED_JOBS_H
#define FAIRLEAD_API_SERVER_MOVED_JOBS_H

#include "api/bodies.h"
#include "engine/moved_jobs.h"

/* The jobs of a body, which has to live as long as they do, as have their lists in memory of arena. */
void moved_jobs_of(const struct api_move_in *body, struct arena *arena, struct moved_jobs *out);

/* Appends a job as an item of a body's list. ERR_INPUT: a text is not UTF-8. */
int moved_jobs_write(const struct moved_job *job, struct buf *out, struct err *e);

#endif
