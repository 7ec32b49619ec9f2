/* The exit status of a command whose session has ended. */
#ifndef FAIRLEAD_CLI_TERMINAL_END_H
#define FAIRLEAD_CLI_TERMINAL_END_H

#include "cli/command.h"
#include "cli/terminal_session.h"

enum { TERMINAL_END_REQUEUED = -2 };
#define TERMINAL_END_ANY (INT64_MAX - 1) /* below that of a job that waits (job_watch.restarts) */

extern const struct command_exit terminal_end_exits[]; /* of run and attach; ends with {0} */

/* Says what has become of the job, unless its program has just ended, and returns the exit status of the command: that
 * of the job as the instance has it, or if no instance answers that of its program. attempt: how often the job had been
 * requeued before the session, or TERMINAL_END_ANY. TERMINAL_END_REQUEUED: the job waits again, or runs again (unless
 * the attempt is not known). -1 with *e: nothing is known of the job's end. */
int terminal_end_status(struct call *call, const char *id, int64_t attempt, const struct terminal_end *end,
                        struct err *e);

/* Says how a job has ended that this command did not reach before, and returns its status. */
struct job_watch;
int terminal_end_report(const struct call *call, const char *id, const struct job_watch *w);

/* Reads "~", or "none" (0). NULL is the default. */
int terminal_end_read_escape(const char *text, char *out, struct err *e);

#endif
