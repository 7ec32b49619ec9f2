/* cancel, hold, release: one request that names jobs, for all of them or none. */
#include "cli/instance.h"
#include "cli/job_ids.h"

struct cancel_values {
    bool all;
};

static const struct option_row cancel_options[] = {
    {.name = "all", .letter = 'a', .value = FLAG_IN(struct cancel_values, all), .help = "every job you may touch"},
    {0},
};

static int change_jobs(struct call *call, const char *target, const char *done, const char *verb, struct err *e)
{
    struct api_jobs body = {.all = ((const struct cancel_values *)call->values)->all};
    if (body.all && call->parsed.operand_count > 0) return err_set(e, ERR_USAGE, "either --all or jobs, not both");
    if (!body.all && call->parsed.operand_count == 0)
        return err_set(e, ERR_USAGE, "which job? 'fairlead queue' lists them, --all means every one");
    if (job_ids_parse(call, 0, &body.ids, e) != 0) return -1;

    struct api_count reply;
    if (instance_ask_once(call, "POST", target, &api_jobs_shape, &body, &api_count_shape, &reply, e) != 0) return -1;
    if (reply.count == 0) {
        buf_format(&call->out->text, "No jobs to %s\n", verb);
    } else {
        buf_format(&call->out->text, "%s %u job%s\n", done, reply.count, reply.count == 1 ? "" : "s");
    }
    return 0;
}

static int cancel_run(struct call *call, struct err *e)
{
    return change_jobs(call, API_JOBS_CANCEL, "Cancelled", "cancel", e);
}

static int hold_run(struct call *call, struct err *e)
{
    return change_jobs(call, API_JOBS_HOLD, "Held", "hold", e);
}

static int release_run(struct call *call, struct err *e)
{
    return change_jobs(call, API_JOBS_RELEASE, "Released", "release", e);
}

static const struct command_example cancel_examples[] = {
    {"fairlead cancel 5 6_3", "job 5, and task 3 of job 6"},
    {"fairlead cancel 6_[10-19]", "ten tasks of job 6"},
    {"fairlead cancel --all", "everything of yours"},
    {0},
};

const struct command cmd_cancel = {
    .name = "cancel",
    .group = GROUP_JOBS,
    .summary = "end running jobs and take waiting ones back",
    .usage = "ID... | --all",
    .text =
        "Waiting jobs are CANCELLED at once. Running ones get SIGTERM, and SIGKILL after the grace time (setting grace_s); "
        "until all of their processes are gone they are COMPLETING.\n\n"
        "When one of the jobs is unknown or somebody else's, nothing is cancelled.",
    .options = cancel_options,
    .values_size = sizeof(struct cancel_values),
    .operands_max = OPERANDS_ANY,
    .examples = cancel_examples,
    .see_also = "queue hold wait",
    .run = cancel_run,
};

static const struct command_example hold_examples[] = {
    {"fairlead hold 5", "job 5 waits until it is released"},
    {0},
};

const struct command cmd_hold = {
    .name = "hold",
    .group = GROUP_JOBS,
    .summary = "keep waiting jobs from starting",
    .usage = "ID... | --all",
    .text =
        "A held job keeps its place by the time it was submitted. Tasks of an array that run already run on; the others wait.",
    .options = cancel_options,
    .values_size = sizeof(struct cancel_values),
    .operands_max = OPERANDS_ANY,
    .examples = hold_examples,
    .see_also = "release queue submit",
    .run = hold_run,
};

static const struct command_example release_examples[] = {
    {"fairlead release 5 6", "both may start again"},
    {0},
};

const struct command cmd_release = {
    .name = "release",
    .group = GROUP_JOBS,
    .summary = "let held jobs start",
    .usage = "ID... | --all",
    .options = cancel_options,
    .values_size = sizeof(struct cancel_values),
    .operands_max = OPERANDS_ANY,
    .examples = release_examples,
    .see_also = "hold queue",
    .run = release_run,
};
