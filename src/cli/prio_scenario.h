/* fairlead prio -f: priorities of the jobs in a document, without a service. */
#ifndef FAIRLEAD_CLI_PRIO_SCENARIO_H
#define FAIRLEAD_CLI_PRIO_SCENARIO_H

#include "cli/command.h"

/* Reads the scenario at path ("-": standard input) and prints its jobs, or one of them (job_id; 0: all). Prints nothing when
 * anything is wrong: -1 with *e, whose text has the place in the document (call->error_has_place). */
int prio_scenario_run(struct call *call, const char *path, uint32_t job_id, bool is_normalized,
                      const struct listing_values *form, struct err *e);

#endif
