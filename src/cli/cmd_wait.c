/* fairlead wait: waits until jobs have ended. */
#include "cli/job_end.h"
#include "cli/job_ids.h"
#include "cli/job_wait.h"

struct wait_values {
    uint64_t retry_s;
};

static const struct option_row wait_options[] = {
    {.name = "retry",
     .argument = "SECONDS",
     .value = U64_IN(struct wait_values, retry_s, 0, 1000000),
     .help = "time to retry while no instance answers (60 by default)"},
    {0},
};

static int wait_run(struct call *call, struct err *e)
{
    const struct wait_values *values = call->values;
    uint64_t retry_s = options_given(&call->parsed, "retry") ? values->retry_s : 60;
    struct wire_list ids;
    if (job_ids_parse(call, 0, &ids, e) != 0) return -1;
    return job_wait(call, &ids, retry_s, e);
}

static const struct command_example wait_examples[] = {
    {.line = "fairlead wait 5 && echo done", .meaning = "continue if job 5 succeeded"},
    {.line = "fairlead wait $(fairlead submit --parsable job.sh)", .meaning = "submit a job and wait"},
    {0},
};

const struct command cmd_wait = {
    .name = "wait",
    .group = GROUP_JOBS,
    .summary = "wait until jobs have ended and return their exit status",
    .usage = "ID...",
    .description =
        "The exit status is 0 if all jobs succeeded, else that of the first failed job in the order given; for an array, that of "
        "the first failed task.\n\n"
        "The statuses 1 and 2 can also mean that wait itself failed. Standard error then has a line that begins with 'fairlead "
        "wait:'.\n\n"
        "While the daemon is restarted, wait retries and then continues. SIGINT (^C) ends wait with the status 130; the jobs go on.",
    .options = wait_options,
    .values_size = sizeof(struct wait_values),
    .operands_min = 1,
    .operands_max = OPERANDS_ANY,
    .examples = wait_examples,
    .exits = job_end_exits,
    .see_also = "submit queue history",
    .run = wait_run,
};
