/* fairlead prio -f: priorities of the jobs in a document, without a service. */
#ifndef FAIRLEAD_CLI_PRIO_SCENARIO_H
#define FAIRLEAD_CLI_PRIO_SCENARIO_H

#include "cli/command.h"
#include "cli/prio_instance.h"

/* Reads the scenario at path ("-": standard input) and writes a row for each of its jobs, or for one of them. Writes nothing
 * when anything is wrong: -1 with *e, whose text has the place in the document (call->error_has_place). */
int prio_scenario_run(struct call *call, const char *path, const struct prio_wanted *wanted,
                      const struct listing_values *how, struct err *e);

#endif
