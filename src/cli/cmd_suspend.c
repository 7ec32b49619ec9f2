/* suspend, resume, signal. */
#include <string.h>

#include "api/bodies.h"
#include "cli/foreign_syntax.h"
#include "cli/job_change.h"
#include "fields/signal_text.h"

static const struct option_row suspend_options[] = {
    JOB_CHANGE_SELECTION,
    {.name = "state",
     .letter = 's',
     .argument = "STATE",
     .value = TEXT_IN(struct job_change_values, state),
     .is_once = true,
     .help = "instead of ids: running jobs (R), also suspended ones, or only suspended ones (S)"},
    {0},
};

static const struct option_row signal_options[] = {
    JOB_CHANGE_SELECTION,
    {.name = "state",
     .letter = 's',
     .argument = "STATE",
     .value = TEXT_IN(struct job_change_values, state),
     .is_once = true,
     .help = "instead of ids: running jobs (R)"},
    {.name = "batch",
     .letter = 'b',
     .value = FLAG_IN(struct job_change_values, is_batch),
     .help = "only the first process of each job: the script, not what it started"},
    {0},
};

#define STARTED_STATES "running,suspended,r,s"
#define STATE_HELP "running or suspended (R, S)"

static int suspend_run(struct call *call, struct err *e)
{
    static const struct job_change suspend = {.target = API_JOBS_SUSPEND,
                                              .shape = &api_suspend_shape,
                                              .done = "Suspended",
                                              .verb = "suspend",
                                              .states = STARTED_STATES,
                                              .state_help = STATE_HELP};
    return job_change_run(call, &suspend, 0, 0, e);
}

static int resume_run(struct call *call, struct err *e)
{
    static const struct job_change resume = {.target = API_JOBS_RESUME,
                                             .shape = &api_suspend_shape,
                                             .done = "Resumed",
                                             .verb = "resume",
                                             .states = STARTED_STATES,
                                             .state_help = STATE_HELP};
    return job_change_run(call, &resume, 0, 0, e);
}

/* What surprises of a signal. */
static void remark(uint32_t number)
{
    const char *name = signal_text_name(number);
    if (strcmp(name, "STOP") == 0 || strcmp(name, "TSTP") == 0)
        output_note(
            "the job stays RUNNING, is charged, and its time limit goes on; 'fairlead suspend' stops that, too");
    if (strcmp(name, "KILL") == 0)
        output_note("the job ends as FAILED, without a grace; 'fairlead cancel' ends it as CANCELLED");
}

static int signal_run(struct call *call, struct err *e)
{
    struct job_change signal = {.target = API_JOBS_SIGNAL,
                                .shape = &api_signal_shape,
                                .done = "Signalled",
                                .verb = "signal",
                                .states = STARTED_STATES,
                                .state_help = STATE_HELP};
    if (call->parsed.operand_count == 0)
        return err_set(e, ERR_USAGE, "missing signal; give its name or number first, such as USR1");
    if (signal_text_parse(str(call->parsed.operands[0]), "signal", &signal.signal, e) != 0) return -1;
    int status = job_change_run(call, &signal, 0, 1, e);
    if (status == 0) remark(signal.signal);
    return status;
}

static const struct command_example suspend_examples[] = {
    {.line = "fairlead suspend 5 6_3", .meaning = "stop job 5 and task 3 of job 6"},
    {.line = "fairlead suspend -p batch --dry-run", .meaning = "list what would be suspended in partition batch"},
    {0},
};

const struct command cmd_suspend = {
    .name = "suspend",
    .group = GROUP_JOBS,
    .summary = "stop running jobs until they are resumed",
    .usage = "ID... | --all | OPTION...",
    .description =
        "All processes of a job are stopped, with the freezer of its control group where the machine has one, otherwise with "
        "SIGSTOP ('fairlead status' says which). The job is SUSPENDED: it keeps its CPUs, memory and GPUs and counts for limits, but its "
        "time limit stands still, and it is charged nothing unless the setting charge_suspended says so.\n\n"
        "You may suspend and resume your own jobs, and operators those of all. A job that an operator has suspended "
        "is resumed by operators only. What of an array is pending is not suspended: hold it ('fairlead hold'). "
        "A suspended job can be cancelled and requeued.",
    .options = suspend_options,
    .values_size = sizeof(struct job_change_values),
    .operands_max = OPERANDS_ANY,
    .examples = suspend_examples,
    .exits = job_change_exits,
    .explain = foreign_syntax_cancel_option,
    .see_also = "resume hold signal cancel",
    .run = suspend_run,
};

static const struct command_example resume_examples[] = {
    {.line = "fairlead resume 5", .meaning = "job 5 runs on"},
    {.line = "fairlead resume --all", .meaning = "all your suspended jobs run on"},
    {0},
};

const struct command cmd_resume = {
    .name = "resume",
    .group = GROUP_JOBS,
    .summary = "let suspended jobs run on",
    .usage = "ID... | --all | OPTION...",
    .description = "The job is RUNNING again, and its time limit goes on.",
    .options = suspend_options,
    .values_size = sizeof(struct job_change_values),
    .operands_max = OPERANDS_ANY,
    .examples = resume_examples,
    .exits = job_change_exits,
    .explain = foreign_syntax_cancel_option,
    .see_also = "suspend queue",
    .run = resume_run,
};

static const struct command_example signal_examples[] = {
    {.line = "fairlead signal USR1 5", .meaning = "all processes of job 5"},
    {.line = "fairlead signal --batch HUP 6_3", .meaning = "the script of task 3 of job 6"},
    {.line = "fairlead signal 12 -J sweep", .meaning = "all your running jobs named sweep"},
    {0},
};

const struct command cmd_signal = {
    .name = "signal",
    .group = GROUP_JOBS,
    .summary = "send a signal to the processes of running jobs",
    .usage = "[--batch] SIGNAL ID... | SIGNAL --all | SIGNAL OPTION...",
    .description =
        "SIGNAL is a name, with or without SIG, or a number: HUP (1), INT (2), QUIT (3), ILL (4), TRAP (5), ABRT (6), BUS (7), FPE (8), "
        "KILL (9), USR1 (10), SEGV (11), USR2 (12), PIPE (13), ALRM (14), TERM (15), STKFLT (16), CHLD (17), CONT (18), STOP (19), TSTP (20), "
        "TTIN (21), TTOU (22), URG (23), XCPU (24), XFSZ (25), VTALRM (26), PROF (27), WINCH (28), IO (29), PWR (30), SYS (31).\n\n"
        "A job that a signal ends is FAILED: use 'fairlead cancel' to cancel it. A job that STOP stops stays RUNNING, "
        "and its time limit goes on: use 'fairlead suspend'. A suspended job gets no signals. A signal is sent once; if the launcher is gone at "
        "that moment, it is lost.",
    .options = signal_options,
    .values_size = sizeof(struct job_change_values),
    .operands_max = OPERANDS_ANY,
    .examples = signal_examples,
    .exits = job_change_exits,
    .explain = foreign_syntax_cancel_option,
    .see_also = "cancel suspend submit",
    .run = signal_run,
};
