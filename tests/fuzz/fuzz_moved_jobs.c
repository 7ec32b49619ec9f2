/* Bodies of move-in from arbitrary bytes. What is accepted is within the bounds that store and listings rely on, and a
 * job that is written is read as the same again. A refusal is one line, and the client's mistake. */
#include <string.h>

#include "api/server/moved_jobs.h"
#include "base/ensure.h"
#include "fields/limits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const int64_t now_us = 1800000000000000;

static void check_error(const struct err *e)
{
    ensure(ERR_SENTENCE(e)[0] != '\0' && strchr(ERR_SENTENCE(e), '\n') == NULL);
    ensure(e->code == ERR_INPUT || e->code == ERR_TOO_LARGE);
}

static void check_task(const struct job_values *job, const struct job_values *task)
{
    int64_t state = task->value[JOB_FIELD_STATE].number, end_us = task->value[JOB_FIELD_END].number;
    ensure(state < JOB_STATE_COUNT && job_state_is_end((enum job_state)state));
    ensure(end_us >= job->value[JOB_FIELD_SUBMIT].number && end_us <= now_us);
    ensure(task->value[JOB_FIELD_TASK_ID].number >= 0 && task->value[JOB_FIELD_TASK_ID].number <= ARRAY_TASK_MAX);
    ensure(!task->is_given[JOB_FIELD_USAGE_FACTOR] && !task->is_given[JOB_FIELD_LAUNCH_ID]);
}

static void check_job(const struct moved_job *job)
{
    struct buf first = {0}, second = {0};
    struct arena arena = {0};
    struct err e;
    struct api_moved_job again;
    ensure(job->id > 0 && job->id < NONE && !job->job->is_given[JOB_FIELD_UID]);
    for (uint32_t i = 0; i < job->task_count; i++) check_task(job->job, &job->tasks[i]);
    ensure(moved_jobs_write(job, &first, &e) == 0);
    ensure(wire_read_text(&api_moved_job_shape, (struct str){first.text, first.length}, &arena, &again, &e) == 0);
    const struct moved_job same = {again.id, &again.job, again.tasks.items, again.tasks.count};
    ensure(moved_jobs_write(&same, &second, &e) == 0);
    ensure(first.length == second.length && memcmp(first.text, second.text, first.length) == 0);
    buf_release(&first);
    buf_release(&second);
    arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct err e;
    struct api_move_in body;
    struct moved_jobs jobs;
    const char *copy = arena_copy(&arena, (struct str){(const char *)data, size});
    int status = wire_read_text(&api_move_in_shape, (struct str){copy, size}, &arena, &body, &e);
    if (status == 0) moved_jobs_of(&body, &arena, &jobs);
    if (status == 0) status = moved_jobs_check(&jobs, now_us, &e);
    if (status != 0) check_error(&e);
    for (uint32_t i = 0; status == 0 && i < jobs.count; i++) check_job(&jobs.jobs[i]);
    arena_release(&arena);
    return 0;
}
