#include "cli/terminal_end.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/quantity.h"
#include "cli/job_end.h"
#include "cli/job_watch.h"
#include "cli/terminal_signals.h"
#include "cli/terminal_wait.h"

enum {
    EXIT_SIGNAL = 128,
    PAUSE_MIN_MS = 5,
    PAUSE_MAX_MS = 100,
    AWAY_S = 2,      /* so long an instance may be away before the program's own status has to do */
    LEFT_S = 10,     /* so long processes that the program has left are waited for */
    UNKNOWN_S = 120, /* so long an instance may be away if nothing is known of the program's end */
};

const struct command_exit terminal_end_exits[] = {
    {.status = JOB_EXIT_OUT_OF_MEMORY, .meaning = "the job used more memory than it had asked for, and was ended"},
    {.status = JOB_EXIT_NOT_STARTED,
     .meaning = "the job failed before its program ran: its directory or output could not be opened"},
    {.status = JOB_EXIT_CANCELLED, .meaning = "the job was cancelled"},
    {.status = JOB_EXIT_TIMEOUT, .meaning = "the job reached its time limit"},
    {.status = JOB_EXIT_NODE_FAIL,
     .meaning = "the host or the job's keeper failed while the job ran, so its end is unknown"},
    {.status = 126, .meaning = "the program could not be executed"},
    {.status = 127, .meaning = "there is no such program"},
    {.status = 128, .meaning = "plus the number of a signal: it ended the job, or this command"},
    {0},
};

static void note_end(const struct call *call, const char *id, const struct job_watch *w)
{
    output_note("fairlead %s: job %s: %s", call->command->name, id, w->end);
}

int terminal_end_report(const struct call *call, const char *id, const struct job_watch *w)
{
    note_end(call, id, w);
    return w->status;
}

/* An exit status says itself how the program has ended, and a reader that has left needs no note. */
static int report(const struct call *call, const char *id, const struct terminal_end *end, const struct job_watch *w)
{
    bool is_own = w->has_program_status && (w->state == JOB_FAILED || w->state == JOB_COMPLETED);
    bool is_quiet =
        is_own && (w->status < EXIT_SIGNAL || (w->status == EXIT_SIGNAL + SIGPIPE && end->write_errno == EPIPE));
    if (!is_quiet) note_end(call, id, w);
    return w->status;
}

static int status_of(const struct terminal_end *end)
{
    return end->is_signal ? EXIT_SIGNAL + end->value : end->value;
}

/* The keeper needs a little to end what the program has left, and the instance to record the end. */
static int wait_for_end(struct call *call, const char *id, int64_t attempt, const struct terminal_end *end,
                        struct err *e)
{
    const bool is_known = end->outcome == TERMINAL_EXITED;
    const int64_t away_max_us = (is_known ? AWAY_S : UNKNOWN_S) * US_PER_S, begin_us = terminal_wait_now_us();
    int64_t answered_us = begin_us;
    for (int pause_ms = PAUSE_MIN_MS;; pause_ms = pause_ms * 2 < PAUSE_MAX_MS ? pause_ms * 2 : PAUSE_MAX_MS) {
        struct job_watch w;
        int answer = job_watch_read(call, id, &w, e);
        int64_t now_us = terminal_wait_now_us();
        if (answer < 0) return is_known ? status_of(end) : -1;
        if (answer > 0) answered_us = now_us;
        if (answer > 0 && job_watch_is_ended(&w)) return report(call, id, end, &w);
        if (answer > 0 && w.restarts > attempt) return TERMINAL_END_REQUEUED;
        if (is_known && now_us - begin_us > LEFT_S * US_PER_S) return status_of(end);
        if (now_us - answered_us > away_max_us) return is_known ? status_of(end) : -1;
        int number = terminal_signals_wait(pause_ms);
        if (number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT) return EXIT_SIGNAL + number;
    }
}

/* A standard output that could not be written is a failure, as of every command; one without a reader is none. */
static int with_output(const struct call *call, const struct terminal_end *end, int status)
{
    if (end->write_errno == 0 || end->write_errno == EPIPE || end->outcome == TERMINAL_HUNG_UP) return status;
    output_note("fairlead %s: cannot write standard output: %s", call->command->name, strerror(end->write_errno));
    return status == 0 ? 1 : status;
}

int terminal_end_status(struct call *call, const char *id, int64_t attempt, const struct terminal_end *end,
                        struct err *e)
{
    switch (end->outcome) {
    case TERMINAL_DETACHED:
        output_note("fairlead %s: detached; run 'fairlead attach %s' to return to job %s", call->command->name, id, id);
        return with_output(call, end, 0);
    case TERMINAL_HUNG_UP: return EXIT_SIGNAL + end->value;
    case TERMINAL_REFUSED:
        return err_set(e, ERR_CONFLICT,
                       "job %s was started by another version of Fairlead, whose terminal this one "
                       "cannot read; run 'fairlead log %s'",
                       id, id);
    default: break;
    }
    int status = wait_for_end(call, id, attempt, end, e);
    return status < 0 ? status : with_output(call, end, status);
}

int terminal_end_read_escape(const char *text, char *out, struct err *e)
{
    if (text != NULL && strcmp(text, "none") == 0) {
        *out = 0;
        return 0;
    }
    bool is_character = text == NULL || (strlen(text) == 1 && text[0] > ' ' && text[0] < 0x7f);
    if (!is_character) return err_value(e, "--escape", str(text), "one printable ASCII character, or none");
    *out = text == NULL ? '~' : text[0];
    return 0;
}
