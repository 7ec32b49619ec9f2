/* What submit and resubmit share once the body of the request is made. */
#ifndef FAIRLEAD_CLI_CMD_SUBMIT_H
#define FAIRLEAD_CLI_CMD_SUBMIT_H

#include "api/bodies.h"
#include "cli/command.h"
#include "cli/submit_options.h"

/* Options that exclude each other: ERR_USAGE. */
int cmd_submit_check(const struct submit_values *values, struct err *e);

/* Submits the job, or tries it, and prints the answer; with --wait it waits for the end. Returns the exit status, or -1
 * with *e. */
int cmd_submit_send(struct call *call, const struct submit_values *values, struct api_submit *body, struct err *e);

#endif
