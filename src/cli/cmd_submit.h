/* What submit, resubmit and run have in common. */
#ifndef FAIRLEAD_CLI_CMD_SUBMIT_H
#define FAIRLEAD_CLI_CMD_SUBMIT_H

#include "api/bodies.h"
#include "cli/command.h"
#include "cli/submit_options.h"

/* Fills a body, which is clear, from the call's operands, its job options and its values, which begin with a struct
 * submit_values. call->parsed.is_after_dashes: the operands are a command, else a script. */
int cmd_submit_fill(struct call *call, struct api_submit *body, struct err *e);

/* Gives the job a text, as its option would. */
void cmd_submit_set_text(struct api_submit *body, enum job_field f, const char *text);

/* Options that exclude each other: ERR_USAGE. */
int cmd_submit_check(const struct submit_values *values, struct err *e);

/* Submits the job, or tries it, and prints the answer; with --wait it waits for the end. Returns the exit status, or -1
 * with *e. */
int cmd_submit_send(struct call *call, const struct submit_values *values, struct api_submit *body, struct err *e);

#endif
