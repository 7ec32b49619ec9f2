/* What run has in common with submit: a submission of a script or a command. */
#ifndef FAIRLEAD_CLI_CMD_SUBMIT_H
#define FAIRLEAD_CLI_CMD_SUBMIT_H

#include "api/bodies.h"
#include "cli/command.h"

/* Fills a body, which is clear, from the call's operands, its job options and its values, which begin with a struct
 * submit_values. call->parsed.is_after_dashes: the operands are a command, else a script. */
int cmd_submit_fill(struct call *call, struct api_submit *body, struct err *e);

void cmd_submit_set_text(struct api_submit *body, enum job_field f, const char *text);

#endif
