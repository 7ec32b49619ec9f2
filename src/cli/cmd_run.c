/* run: submits a command, waits for its turn, and connects this terminal, or the pipes of this command, with it.
 *
 *     submit ── wait for the relay ── session ──┬── the job has ended: its exit status
 *                     ^                         ├── detached
 *                     └──── was requeued ───────┘
 */
#include <signal.h>
#include <unistd.h>

#include "cli/cmd_submit.h"
#include "cli/foreign_syntax.h"
#include "cli/instance.h"
#include "cli/job_end.h"
#include "cli/job_options.h"
#include "cli/limit_note.h"
#include "cli/submit_options.h"
#include "cli/terminal_end.h"
#include "cli/terminal_signals.h"
#include "cli/terminal_wait.h"
#include "fields/job_id.h"

enum { EXIT_SIGNAL = 128 };

struct run_values {
    struct submit_values submit; /* first, for cmd_submit_fill */
    bool has_pipes, detaches;
    const char *escape;
};

static const struct option_row run_options[] = {
    {.name = "chdir",
     .letter = 'D',
     .argument = "DIR",
     .value = TEXT_IN(struct run_values, submit.directory),
     .help = "directory to run in; by default the current directory"},
    {.name = "department",
     .argument = "NAME",
     .value = TEXT_IN(struct run_values, submit.department),
     .help = "checked only: submission fails unless NAME is the user's department"},
    {.name = "export",
     .argument = "LIST",
     .value = TEXT_IN(struct run_values, submit.export),
     .help = "environment of the job: ALL (default), NONE, or a list of NAME and NAME=VALUE, which may include ALL"},
    {.name = "pipes",
     .value = FLAG_IN(struct run_values, has_pipes),
     .help = "give the command pipes, also if this is a terminal"},
    {.name = "detach-on-hangup",
     .value = FLAG_IN(struct run_values, detaches),
     .help = "if this terminal or this command is lost, let the job go on ('fairlead attach')"},
    {.name = "escape",
     .argument = "CHAR",
     .value = TEXT_IN(struct run_values, escape),
     .help = "at a terminal, the character that begins '~.' and '~^Z' (~ by default), or none"},
    {0},
};

struct run_call {
    struct call *call;
    const char *directory; /* with the sockets of jobs */
    char id[JOB_ID_TEXT_SIZE];
    bool detaches;
    struct terminal_session_options session;
};

/* Where jobs have their sockets. */
static int find_directory(struct run_call *r, struct err *e)
{
    struct api_status status;
    if (instance_request_once(r->call, "GET", API_STATUS, NULL, NULL, &api_status_shape, &status, e) != 0) return -1;
    r->directory = status.terminals;
    if (r->directory == NULL)
        return err_set(e, ERR_CONFLICT, "in a pretend cluster no job really runs; run 'fairlead submit'");
    return 0;
}

static int submit(struct run_call *r, struct err *e)
{
    const struct run_values *values = r->call->values;
    struct api_submit body;
    struct api_submitted reply;
    bool has_pty = !values->has_pipes && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    static const char *const terminals[2][2] = {{"pipes", "pipes,detach"}, {"pty", "pty,detach"}};
    wire_clear(&api_submit_shape, &body);
    r->call->parsed.is_after_dashes = true; /* the operands are a command in any case */
    if (cmd_submit_fill(r->call, &body, e) != 0) return -1;
    if (body.job.is_given[JOB_FIELD_ARRAY])
        return err_set(e, ERR_USAGE, "--array: only one command can have the terminal; run 'fairlead submit'");
    r->session.expected = has_pty ? FRAME_MODE_PTY : FRAME_MODE_PIPES;
    cmd_submit_set_text(&body, JOB_FIELD_TERMINAL, terminals[has_pty][r->detaches]);
    terminal_signals_begin_request();
    int status =
        instance_request_once(r->call, "POST", API_JOBS, &api_submit_shape, &body, &api_submitted_shape, &reply, e);
    terminal_signals_end_request();
    if (status != 0) return job_options_explain(r->call->job, e);
    job_id_format(r->id, reply.job_id, NONE);
    limit_note_print(r->call->command->name, r->id, reply.limit, reply.limit_field);
    return 0;
}

static int cancel(struct run_call *r, struct err *e)
{
    struct buf target = {0};
    struct api_count reply;
    buf_add_text(&target, API_JOBS);
    client_add_segment(&target, r->id);
    terminal_signals_begin_request();
    int status = instance_request_once(r->call, "DELETE", instance_target(r->call, &target), NULL, NULL,
                                       &api_count_shape, &reply, e);
    terminal_signals_end_request();
    return status;
}

/* Before the job has started, a signal ends it together with this command. */
static int leave(struct run_call *r, int number)
{
    struct err e;
    const char *name = r->call->command->name;
    if (number == SIGHUP && r->detaches) return EXIT_SIGNAL + number;
    if (cancel(r, &e) == 0)
        output_note("fairlead %s: job %s was cancelled", name, r->id);
    else
        output_note("fairlead %s: job %s was not cancelled: %s; run 'fairlead cancel %s'", name, r->id,
                    ERR_SENTENCE(&e), r->id);
    return EXIT_SIGNAL + number;
}

/* The next attempt would read what is left of the input, or nothing, and might end well all the same. */
static int give_up(struct run_call *r)
{
    struct err e;
    bool is_cancelled = cancel(r, &e) == 0;
    output_note(
        "fairlead %s: job %s was requeued after it had read input, which cannot be given again; it was %scancelled%s%s",
        r->call->command->name, r->id, is_cancelled ? "" : "not ", is_cancelled ? "" : ": ",
        is_cancelled ? "" : ERR_SENTENCE(&e));
    return JOB_EXIT_CANCELLED;
}

static int attend(struct run_call *r, struct err *e)
{
    for (int64_t attempt = 0;;) {
        struct terminal_link link;
        struct terminal_end end;
        struct job_watch watch;
        enum terminal_wait found;
        int number = 0;
        if (terminal_wait(r->call, r->id, r->directory, &link, &watch, &number, &found, e) != 0) return -1;
        if (found == TERMINAL_WAIT_SIGNAL) return leave(r, number);
        if (found == TERMINAL_WAIT_ENDED) return terminal_end_report(r->call, r->id, &watch);
        terminal_session_run(&link, &r->session, &end);
        terminal_link_close(&link);
        int status = terminal_end_status(r->call, r->id, attempt++, &end, e);
        if (status != TERMINAL_END_REQUEUED) return status;
        if (end.has_sent_input && r->session.expected == FRAME_MODE_PIPES) return give_up(r);
        output_note("fairlead %s: job %s was requeued, and waits again", r->call->command->name, r->id);
    }
}

static int run_run(struct call *call, struct err *e)
{
    const struct run_values *values = call->values;
    struct run_call r = {.call = call, .detaches = values->detaches};
    r.session = (struct terminal_session_options){.id = r.id, .owns = true, .detaches = values->detaches};
    if (terminal_end_read_escape(values->escape, &r.session.escape, e) != 0 || find_directory(&r, e) != 0) return -1;
    r.session.signal_fd = terminal_signals_open();
    if (r.session.signal_fd < 0) return err_set(e, ERR_UNAVAILABLE, "this process can open no more files");
    if (submit(&r, e) != 0) return -1;
    return attend(&r, e);
}

static const struct command_example run_examples[] = {
    {.line = "fairlead run -n 4 --mem 8G -- bash", .meaning = "a shell with four CPUs, once it is its turn"},
    {.line = "fairlead run -- sort < big.txt > sorted.txt", .meaning = "a filter; its exit status is the command's"},
    {.line = "fairlead run --detach-on-hangup -t 8:00:00 -- python3",
     .meaning = "a session that outlives this terminal: 'fairlead attach'"},
    {0},
};

const struct command cmd_run = {
    .name = "run",
    .group = GROUP_JOBS,
    .summary = "run a command through the queue, at this terminal",
    .usage = "[OPTIONS] [--] COMMAND [ARGUMENT...]",
    .description =
        "Submits the command, waits for its turn, and is then as the command itself: its input, output, signals and exit status are "
        "the job's. While the job waits, a line on standard error says why, its rank and its expected start.\n\n"
        "If standard input and output are terminals, the job gets a pseudo-terminal, with the size of this one and its changes. At "
        "the beginning of a line, '~.' detaches: the job goes on, 'fairlead attach' returns to it, and the exit status is 0. '~^Z' stops "
        "this command, '~~' is one ~; --escape chooses another character. Otherwise the job gets three pipes, whose bytes are "
        "passed unchanged, and SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGUSR1 and SIGUSR2 are passed on.\n\n"
        "SIGINT (^C) before the start cancels the job. If the terminal or this command is lost, the job gets SIGHUP and, 5 "
        "seconds later, its end; with --detach-on-hangup it goes on. A job to whose terminal no command has come 120 seconds after its start "
        "ends, or with --detach-on-hangup begins.\n\n"
        "The daemon takes no part in what is passed: it can be killed and started again meanwhile. Output goes to the job's output "
        "file, too (-o), which 'fairlead log' prints.\n\n"
        "A job that is requeued waits and runs again, at the same terminal; with pipes, one that was given input is cancelled instead, "
        "because its input cannot be given again. If the job does not end by itself, standard error says how. "
        "The options of jobs are those of 'fairlead submit'.",
    .options = run_options,
    .job_options = JOB_OPTIONS_SUBMIT,
    .values_size = sizeof(struct run_values),
    .operands_min = 1,
    .operands_max = OPERANDS_ANY,
    .options_first = true,
    .explain = foreign_syntax_submit_option,
    .examples = run_examples,
    .exits = terminal_end_exits,
    .see_also = "attach submit log cancel",
    .run = run_run,
};
