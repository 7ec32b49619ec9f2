#include "api/server/moved_jobs.h"

/* A list of starts is an array of their values. */
_Static_assert(sizeof(struct api_moved_task) == sizeof(struct job_values), "a moved task has its values only");

void moved_jobs_of(const struct api_move_in *body, struct arena *arena, struct moved_jobs *out)
{
    const struct api_moved_job *items = body->jobs.items;
    struct moved_job *jobs = arena_alloc(arena, (body->jobs.count + (size_t)1) * sizeof *jobs);
    for (uint32_t i = 0; i < body->jobs.count; i++)
        jobs[i] = (struct moved_job){items[i].id, &items[i].job, items[i].tasks.items, items[i].tasks.count};
    *out = (struct moved_jobs){body->instance, jobs, body->jobs.count};
}

int moved_jobs_write(const struct moved_job *job, struct buf *out, struct err *e)
{
    const struct api_moved_job body = {
        .job = *job->job, .id = job->id, .tasks = {(void *)(uintptr_t)job->tasks, job->task_count}};
    return wire_request(&api_moved_job_shape, &body, out, e);
}
