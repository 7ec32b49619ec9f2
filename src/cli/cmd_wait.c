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
     .help = "how long to try when the instance goes away (60)"},
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
    {"fairlead wait 5 && echo done", "go on when job 5 has ended well"},
    {"fairlead wait $(fairlead submit --parsable job.sh)", "submit and wait"},
    {0},
};

const struct command cmd_wait = {
    .name = "wait",
    .group = GROUP_JOBS,
    .summary = "wait until jobs have ended, and exit as they did",
    .usage = "ID...",
    .text =
        "The exit status is 0 when all ended well, else that of the first job, in the order given, that did not. Of an array, "
        "the first task that did not.\n\n"
        "Statuses 1 and 2 may also be wait's own; standard error then says so in a line that begins with 'fairlead wait:'.\n\n"
        "When the daemon is restarted its jobs run on; wait says that it waits for the instance and goes on.",
    .options = wait_options,
    .values_size = sizeof(struct wait_values),
    .operands_min = 1,
    .operands_max = OPERANDS_ANY,
    .examples = wait_examples,
    .exits = job_end_exits,
    .see_also = "submit queue history",
    .run = wait_run,
};
