/* cancel, hold, release, requeue: one request that names jobs. It changes all of them or none. */
#include <string.h>

#include "cli/instance.h"
#include "cli/job_ids.h"

struct cancel_values {
    bool has_all, has_hold;
};

static const struct option_row cancel_options[] = {
    {.name = "all",
     .letter = 'a',
     .value = FLAG_IN(struct cancel_values, has_all),
     .help = "all your jobs; for operators, all jobs"},
    {0},
};

static const struct option_row requeue_options[] = {
    {.name = "all",
     .letter = 'a',
     .value = FLAG_IN(struct cancel_values, has_all),
     .help = "all your running jobs; for operators, all that run"},
    {.name = "hold",
     .letter = 'H',
     .value = FLAG_IN(struct cancel_values, has_hold),
     .help = "hold the jobs then (fairlead release)"},
    {0},
};

/* What the operands name: "job", or "task" if each of them names a task. */
static const char *noun_of(const struct call *call, uint32_t count)
{
    bool is_of_tasks = call->parsed.operand_count > 0;
    for (uint32_t i = 0; i < call->parsed.operand_count; i++)
        is_of_tasks = is_of_tasks && strchr(call->parsed.operands[i], '_') != NULL;
    return is_of_tasks ? count == 1 ? "task" : "tasks" : count == 1 ? "job" : "jobs";
}

/* verb: "cancel"; done: "Cancelled". */
static int change_jobs(struct call *call, const char *target, const struct wire_shape *shape, const char *done,
                       const char *verb, struct err *e)
{
    const struct cancel_values *values = call->values;
    struct api_jobs body = {.all = values->has_all, .hold = values->has_hold};
    if (body.all && call->parsed.operand_count > 0)
        return err_set(e, ERR_USAGE, "--all and job ids: only one of them is accepted");
    if (!body.all && call->parsed.operand_count == 0)
        return err_set(e, ERR_USAGE, "missing job id; run 'fairlead queue' to list jobs, or give --all");
    if (job_ids_parse(call, 0, &body.ids, e) != 0) return -1;

    struct api_count reply;
    if (instance_request_once(call, "POST", target, shape, &body, &api_count_shape, &reply, e) != 0) return -1;
    if (reply.count == 0)
        output_line(call->out, "No %s to %s", noun_of(call, 0), verb);
    else
        output_line(call->out, "%s %u %s", done, reply.count, noun_of(call, reply.count));
    return 0;
}

static int cancel_run(struct call *call, struct err *e)
{
    return change_jobs(call, API_JOBS_CANCEL, &api_jobs_shape, "Cancelled", "cancel", e);
}

static int hold_run(struct call *call, struct err *e)
{
    return change_jobs(call, API_JOBS_HOLD, &api_jobs_shape, "Held", "hold", e);
}

static int release_run(struct call *call, struct err *e)
{
    return change_jobs(call, API_JOBS_RELEASE, &api_jobs_shape, "Released", "release", e);
}

static int requeue_run(struct call *call, struct err *e)
{
    return change_jobs(call, API_JOBS_REQUEUE, &api_requeue_shape, "Requeued", "requeue", e);
}

static const struct command_example cancel_examples[] = {
    {.line = "fairlead cancel 5 6_3", .meaning = "job 5 and task 3 of job 6"},
    {.line = "fairlead cancel 6_[10-19]", .meaning = "ten tasks of job 6"},
    {.line = "fairlead cancel --all", .meaning = "all your jobs"},
    {0},
};

const struct command cmd_cancel = {
    .name = "cancel",
    .group = GROUP_JOBS,
    .summary = "cancel pending and running jobs",
    .usage = "ID... | --all",
    .description =
        "A pending job is CANCELLED at once. A running job gets SIGTERM and, after the grace time (setting grace_s), SIGKILL; "
        "it is COMPLETING until its last process has ended.\n\n"
        "If one of the jobs does not exist or belongs to another user, none is cancelled.",
    .options = cancel_options,
    .values_size = sizeof(struct cancel_values),
    .operands_max = OPERANDS_ANY,
    .examples = cancel_examples,
    .see_also = "queue hold wait",
    .run = cancel_run,
};

static const struct command_example hold_examples[] = {
    {.line = "fairlead hold 5", .meaning = "job 5 stays pending until it is released"},
    {0},
};

const struct command cmd_hold = {
    .name = "hold",
    .group = GROUP_JOBS,
    .summary = "keep pending jobs from starting",
    .usage = "ID... | --all",
    .description =
        "A held job keeps its time of submission. Tasks of an array that have started continue; the others stay pending.\n\n"
        "A hold and a release move the job to the end of the scheduler's list. In the tickets model the list decides which of "
        "a user's jobs has more tickets where nothing else does, as in Grid Engine.",
    .options = cancel_options,
    .values_size = sizeof(struct cancel_values),
    .operands_max = OPERANDS_ANY,
    .examples = hold_examples,
    .see_also = "release queue submit",
    .run = hold_run,
};

static const struct command_example release_examples[] = {
    {.line = "fairlead release 5 6", .meaning = "both jobs may start"},
    {0},
};

const struct command cmd_release = {
    .name = "release",
    .group = GROUP_JOBS,
    .summary = "let held jobs start",
    .usage = "ID... | --all",
    .description =
        "The age of a released job starts again at 0. The job moves to the end of the scheduler's list ('fairlead help hold').",
    .options = cancel_options,
    .values_size = sizeof(struct cancel_values),
    .operands_max = OPERANDS_ANY,
    .examples = release_examples,
    .see_also = "hold queue",
    .run = release_run,
};

static const struct command_example requeue_examples[] = {
    {.line = "fairlead requeue 5", .meaning = "end job 5 and let it start again"},
    {.line = "fairlead requeue --hold 5", .meaning = "let it start again once it is released"},
    {.line = "fairlead requeue 6_3", .meaning = "one task of array 6"},
    {0},
};

const struct command cmd_requeue = {
    .name = "requeue",
    .group = GROUP_JOBS,
    .summary = "end running jobs and let them start again",
    .usage = "[--hold] ID... | --all",
    .description =
        "A running job gets SIGTERM and, after the grace time, SIGKILL, and is pending then. It starts again after the time "
        "of the setting requeue_delay_s at the earliest; tasks of an array start again without a delay. Each start is an "
        "attempt with a record and a usage of its own ('fairlead history', state REQUEUED), and the job finds the number of "
        "attempts before in FAIRLEAD_RESTART_COUNT. Its output file is written anew.\n\n"
        "A job can be requeued by itself, too: 'fairlead submit --requeue' after the host or the job's keeper failed, "
        "--requeue-exit with exit statuses that mean so.",
    .options = requeue_options,
    .values_size = sizeof(struct cancel_values),
    .operands_max = OPERANDS_ANY,
    .examples = requeue_examples,
    .see_also = "submit release cancel",
    .run = requeue_run,
};
