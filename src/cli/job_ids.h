/* Job ids as operands of a command. */
#ifndef FAIRLEAD_CLI_JOB_IDS_H
#define FAIRLEAD_CLI_JOB_IDS_H

#include "cli/command.h"
#include "wire/wire.h"

/* Reads the operands from first_operand on, "5", "5_3" and "5_[1-3,7]", into a list of ids (const char *) "5", "5_3",
 * "5_1" ... in the call's arena. ERR_INPUT: not a job id, or more than 100,000 tasks in one operand. */
int job_ids_parse(struct call *call, uint32_t first_operand, struct wire_list *out_ids, struct err *e);

/* The same of texts. */
int job_ids_expand(struct call *call, const char *const *texts, uint32_t count, struct wire_list *out_ids,
                   struct err *e);

#endif
