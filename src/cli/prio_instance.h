/* fairlead prio: the priorities of a service's jobs, by the model in force. */
#ifndef FAIRLEAD_CLI_PRIO_INSTANCE_H
#define FAIRLEAD_CLI_PRIO_INSTANCE_H

#include "cli/command.h"

/* Asks for them and prints every row; job_id 0: of all jobs, else of that one. */
int prio_instance_run(struct call *call, uint32_t job_id, bool is_normalized, const struct listing_values *form,
                      struct err *e);

/* Prints the weights of the model in force, which are settings. */
int prio_weights_run(struct call *call, const struct listing_values *form, struct err *e);

#endif
