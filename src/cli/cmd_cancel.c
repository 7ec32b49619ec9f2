/* cancel, hold, release, requeue. */
#include "cli/ended_jobs.h"
#include "cli/foreign_syntax.h"
#include "cli/job_change.h"

static const struct option_row hold_options[] = {JOB_CHANGE_SELECTION,
                                                 {.name = "state",
                                                  .letter = 's',
                                                  .argument = "STATE",
                                                  .value = TEXT_IN(struct job_change_values, state),
                                                  .is_once = true,
                                                  .help = "instead of ids: pending jobs (PD), the only ones"},
                                                 {0}};

static const struct option_row cancel_options[] = {
    JOB_CHANGE_SELECTION,
    {.name = "state",
     .letter = 's',
     .argument = "STATE,...",
     .value = TEXT_IN(struct job_change_values, state),
     .is_once = true,
     .help = "instead of ids: pending tasks (PD), running ones (R), also suspended, both, or only suspended ones (S)"},
    {0},
};

static const struct option_row requeue_options[] = {
    JOB_CHANGE_SELECTION,
    {.name = "hold",
     .letter = 'H',
     .value = FLAG_IN(struct job_change_values, has_hold),
     .help = "hold the jobs, or the tasks, then (fairlead release)"},
    {.name = "state",
     .letter = 's',
     .argument = "STATE[,STATE]",
     .value = TEXT_IN(struct job_change_values, state),
     .is_once = true,
     .help = "instead of ids: jobs that ended so, such as FAILED,TIMEOUT; or running ones"},
    {0},
};

static int cancel_run(struct call *call, struct err *e)
{
    static const struct job_change cancel = {
        .target = API_JOBS_CANCEL,
        .shape = &api_cancel_shape,
        .done = "Cancelled",
        .verb = "cancel",
        .states = "pending,running,suspended,pd,r,s",
        .state_help = "pending, running or suspended (PD, R, S); a cancelled job gets SIGTERM, and SIGKILL after the "
                      "setting grace_s"};
    return job_change_run(call, &cancel, 0, 0, e);
}

/* Of hold and release, which change what is pending in any case. */
static int check_pending(const struct call *call, const char *verb, struct err *e)
{
    const char *text = ((const struct job_change_values *)call->values)->state;
    if (text == NULL || field_choice_index("pending,pd", str(text)) >= 0) return 0;
    return err_value(e, "--state", str(text), "pending (PD): only pending jobs can be %s", verb);
}

static int hold_run(struct call *call, struct err *e)
{
    static const struct job_change hold = {
        .target = API_JOBS_HOLD, .shape = &api_jobs_shape, .done = "Held", .verb = "hold"};
    if (check_pending(call, "held", e) != 0) return -1;
    return job_change_run(call, &hold, 0, 0, e);
}

static int release_run(struct call *call, struct err *e)
{
    static const struct job_change release = {
        .target = API_JOBS_RELEASE, .shape = &api_jobs_shape, .done = "Released", .verb = "release"};
    if (check_pending(call, "released", e) != 0) return -1;
    return job_change_run(call, &release, 0, 0, e);
}

static int requeue_run(struct call *call, struct err *e)
{
    static const struct job_change requeue = {
        .target = API_JOBS_REQUEUE, .shape = &api_requeue_shape, .done = "Requeued", .verb = "requeue"};
    const struct job_change_values *values = call->values;
    uint32_t states = 0;
    bool is_of_live = values->state == NULL || field_choice_index("running,r", str(values->state)) >= 0;
    if (!is_of_live && ended_jobs_read_states(values->state, &states, e) != 0) return -1;
    return job_change_run(call, &requeue, states, 0, e);
}

static const struct command_example cancel_examples[] = {
    {.line = "fairlead cancel 5 6_3", .meaning = "job 5 and task 3 of job 6"},
    {.line = "fairlead cancel 6_[10-19]", .meaning = "ten tasks of job 6"},
    {.line = "fairlead cancel --all", .meaning = "all your jobs"},
    {.line = "fairlead cancel --state pending -J sweep", .meaning = "what has not started of the jobs named sweep"},
    {.line = "fairlead cancel -A physics --dry-run", .meaning = "list what would be cancelled"},
    {0},
};

const struct command cmd_cancel = {
    .name = "cancel",
    .group = GROUP_JOBS,
    .summary = "cancel pending and running jobs",
    .usage = "ID... | --all | OPTION...",
    .description =
        "A pending job is CANCELLED at once. A running job gets SIGTERM and, after the grace time (setting grace_s), SIGKILL; "
        "it is COMPLETING until its last process has ended. A suspended job runs on for that.\n\n"
        "With options instead of ids, all jobs are cancelled that fit each of them and that you may cancel. A job that does not "
        "exist, has ended or belongs to another user is reported, and the others are cancelled.",
    .options = cancel_options,
    .values_size = sizeof(struct job_change_values),
    .operands_max = OPERANDS_ANY,
    .examples = cancel_examples,
    .exits = job_change_exits,
    .explain = foreign_syntax_cancel_option,
    .see_also = "queue hold wait",
    .run = cancel_run,
};

static const struct command_example hold_examples[] = {
    {.line = "fairlead hold 5", .meaning = "job 5 stays pending until it is released"},
    {.line = "fairlead hold 6_[1-3,7]", .meaning = "four tasks of array 6; the others go on"},
    {0},
};

const struct command cmd_hold = {
    .name = "hold",
    .group = GROUP_JOBS,
    .summary = "keep pending jobs from starting",
    .usage = "ID... | --all | OPTION...",
    .description =
        "A held job keeps its time of submission. Tasks of an array that have started continue; the others stay pending. A task that is "
        "held alone (6_3) is a row of its own in 'fairlead queue'; the other tasks of its array go on.\n\n"
        "A hold and a release of a job move it to the end of the scheduler's list. In the tickets model the list decides which of "
        "a user's jobs has more tickets where nothing else does, as in Grid Engine.",
    .options = hold_options,
    .values_size = sizeof(struct job_change_values),
    .operands_max = OPERANDS_ANY,
    .examples = hold_examples,
    .exits = job_change_exits,
    .explain = foreign_syntax_cancel_option,
    .see_also = "release queue submit",
    .run = hold_run,
};

static const struct command_example release_examples[] = {
    {.line = "fairlead release 5 6", .meaning = "both jobs may start"},
    {.line = "fairlead release 6_3", .meaning = "task 3 of array 6 may start; what else is held of it stays so"},
    {0},
};

const struct command cmd_release = {
    .name = "release",
    .group = GROUP_JOBS,
    .summary = "let held jobs start",
    .usage = "ID... | --all | OPTION...",
    .description =
        "The age of a released job starts again at 0. The job moves to the end of the scheduler's list ('fairlead help hold').\n\n"
        "The id of an array releases it and all its tasks. A task that is released alone (6_3) leaves the other tasks of a "
        "held array held, each for itself.\n\n"
        "Where jobs are selected ('--all' and options), those that a quarantine holds ('fairlead status') go back to what they were before it: "
        "those that a person had held stay held, until they are released once more. A job that is named by its id is released.",
    .options = hold_options,
    .values_size = sizeof(struct job_change_values),
    .operands_max = OPERANDS_ANY,
    .examples = release_examples,
    .exits = job_change_exits,
    .explain = foreign_syntax_cancel_option,
    .see_also = "hold queue",
    .run = release_run,
};

static const struct command_example requeue_examples[] = {
    {.line = "fairlead requeue 5", .meaning = "end job 5 if it runs, and let it start again"},
    {.line = "fairlead requeue --hold 5", .meaning = "let it start again once it is released"},
    {.line = "fairlead requeue 6_3", .meaning = "one task of array 6"},
    {.line = "fairlead requeue --hold 6_3", .meaning = "likewise, once that task is released"},
    {.line = "fairlead requeue 6_[3,7-9] --dry-run", .meaning = "whether four tasks of array 6 can be requeued"},
    {.line = "fairlead requeue --state FAILED,NODE_FAIL -J sweep --dry-run",
     .meaning = "list what failed of the jobs named sweep"},
    {0},
};

const struct command cmd_requeue = {
    .name = "requeue",
    .group = GROUP_JOBS,
    .summary = "let running or ended jobs start again",
    .usage = "[--hold] ID... | --all | OPTION...",
    .description =
        "A running job gets SIGTERM and, after the grace time, SIGKILL, and is pending then. It starts again after the time "
        "of the setting requeue_delay_s at the earliest; of an array only its requeued tasks wait. Each start is an "
        "attempt with a record and a usage of its own ('fairlead history', state REQUEUED), and the job finds the number of "
        "attempts before in FAIRLEAD_RESTART_COUNT. Its output file is written anew.\n\n"
        "A job that has ended is pending again after the same time, with its id, script, environment and request: the id of "
        "a job or an array that has ended stands for all its tasks, 6_3 for one task, also while other tasks of the array "
        "run. Submit limits may refuse it. Jobs whose wait for it is already met do not wait again. A job that was "
        "cancelled while it waited for other jobs, or that names a partition, an account or anything else that was deleted "
        "since, is refused; so is one that was submitted with --no-requeue.\n\n"
        "Options that select jobs select running ones; with --state and states in which jobs end, those whose last attempt ended "
        "so, of arrays only such tasks, and --partition means where they ran. Many are requeued in several requests, 1000 at a time.\n\n"
        "A job can be requeued by itself, too: 'fairlead submit --requeue' after the host or the job's keeper failed, "
        "--requeue-exit with exit statuses that mean so, --retry after failures.",
    .options = requeue_options,
    .values_size = sizeof(struct job_change_values),
    .operands_max = OPERANDS_ANY,
    .examples = requeue_examples,
    .exits = job_change_exits,
    .explain = foreign_syntax_cancel_option,
    .see_also = "submit release cancel",
    .run = requeue_run,
};
