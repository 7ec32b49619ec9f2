/* Waits until a job can be attached to. */
#ifndef FAIRLEAD_CLI_TERMINAL_WAIT_H
#define FAIRLEAD_CLI_TERMINAL_WAIT_H

#include "cli/job_watch.h"
#include "cli/terminal_link.h"

enum terminal_wait { TERMINAL_WAIT_CONNECTED, TERMINAL_WAIT_ENDED, TERMINAL_WAIT_SIGNAL };

/* Connects out_link to the relay of the job as soon as there is one, and shows meanwhile what the job waits for.
 * out_watch: of a job that has ended before. out_signal: that this command has got. Goes on while no instance answers.
 * ERR_UNAVAILABLE: the job runs, and has no relay. */
int terminal_wait(struct call *call, const char *id, const char *directory, struct terminal_link *out_link,
                  struct job_watch *out_watch, int *out_signal, enum terminal_wait *out, struct err *e);

/* Microseconds since some time. */
int64_t terminal_wait_now_us(void);

#endif
